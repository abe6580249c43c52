//! Where an upload's segments go: an ingest that is open, or one that opens when there is something to store.

use super::Ingest;
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ports::{Db, Host, Platform, Rows, Statement};
use crate::token::Token;

/// An ingest, when it is needed. Whoever owns it knows afterwards whether there is one to discard.
#[derive(Debug)]
pub(crate) struct Door {
    opened: Option<Ingest>,
    /// For whom one may be opened.
    may_open: Option<(Token, SpaceId)>,
}

impl Door {
    /// The ingest that was opened, if there was room for more than a row; it opens none.
    pub(crate) fn open_already(ingest: Option<Ingest>) -> Self {
        Self { opened: ingest, may_open: None }
    }

    /// Opens one with the first look-up, at no round trip of its own.
    pub(crate) fn opens_for(token: &Token, space: &SpaceId) -> Self {
        Self { opened: None, may_open: Some((token.clone(), space.clone())) }
    }

    /// The ingest, if there is one.
    pub(crate) fn ingest(&self) -> Option<&Ingest> {
        self.opened.as_ref()
    }

    /// The ingest, by a round trip where there is none.
    pub(super) async fn open<P: Platform>(&mut self, platform: &P) -> Result<&Ingest> {
        if self.opened.is_none() {
            let opening = self.opening(platform.host())?;
            let results = platform.db().write(vec![opening]).await?;
            self.read(results.first())?;
        }
        self.opened.as_ref().ok_or(Error::NotFound)
    }

    /// Runs a statement, and opens the ingest in the same round trip where there is none.
    pub(super) async fn open_with<P: Platform>(
        &mut self,
        platform: &P,
        statement: Statement,
    ) -> Result<Rows> {
        let mut batch = vec![statement];
        if self.opened.is_none() {
            batch.push(self.opening(platform.host())?);
        }
        let mut results = platform.db().write(batch).await?.into_iter();
        let found = results.next().unwrap_or_default();
        if self.opened.is_none() {
            self.read(results.next().as_ref())?;
        }
        Ok(found)
    }

    fn opening(&self, host: &impl Host) -> Result<Statement> {
        let (token, space) = self
            .may_open
            .as_ref()
            .ok_or_else(|| Error::invalid("Content-Length", "the body is longer than announced"))?;
        Ok(Ingest::open(host, token, space, host.now()))
    }

    /// Whoever may no longer write gets none.
    fn read(&mut self, rows: Option<&Rows>) -> Result<()> {
        let row = rows.and_then(|rows| rows.first()).ok_or(Error::NotFound)?;
        self.opened = Some(Ingest::read(row)?);
        Ok(())
    }
}
