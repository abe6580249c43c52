//! The platform around which a request with a key takes effect once.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Answer, Claim, Earlier, rows};
use crate::error::{Error, Result};
use crate::ports::{Db, DbError, Host, Platform, Rows, Statement};
use crate::settings::Settings;

/// Why a request breaks off that was answered before.
const ANSWERED_BEFORE: &str = "answered_before";

/// A platform whose database looks for an earlier answer with every read, and stores this one with the commit. Without
/// a claim it is the platform itself.
pub struct Once<'a, P: Platform> {
    inner: &'a P,
    db: OnceDb<'a, P>,
}

/// Its database.
pub struct OnceDb<'a, P: Platform> {
    inner: &'a P,
    claim: Option<Claim>,
    /// Random: tells this attempt's own row from another one's, when the commit's answer was lost.
    attempt: String,
    answer: RefCell<Option<Answer>>,
    earlier: RefCell<Option<Earlier>>,
}

impl<'a, P: Platform> Once<'a, P> {
    /// A request's own platform.
    pub fn new(inner: &'a P, claim: Option<Claim>) -> Self {
        let mut random = [0; 16];
        if claim.is_some() {
            inner.host().random(&mut random);
        }
        let attempt = format!("{:032x}", u128::from_be_bytes(random));
        let (answer, earlier) = (RefCell::default(), RefCell::default());
        Self { inner, db: OnceDb { inner, claim, attempt, answer, earlier } }
    }

    /// The same platform for a request with a key. All requests have this one type, so that each use case is compiled once.
    pub fn claiming(&self, claim: Claim) -> Self {
        Self::new(self.inner, Some(claim))
    }

    /// What the answer will be if the commit that follows succeeds. Call it before each.
    pub fn note(&self, answer: Answer) {
        *self.db.answer.borrow_mut() = Some(answer);
    }

    /// There is no commit under way any more: what is written next is none.
    pub fn forget(&self) {
        *self.db.answer.borrow_mut() = None;
    }

    /// What an earlier request came to: the answer to this one, whatever its use case ended with.
    pub fn into_earlier(self) -> Option<Earlier> {
        self.db.earlier.into_inner()
    }
}

impl<'a, P: Platform> Platform for Once<'a, P> {
    type Db = OnceDb<'a, P>;
    type Bucket = P::Bucket;
    type Queue = P::Queue;
    type Host = P::Host;

    fn db(&self) -> &Self::Db {
        &self.db
    }
    fn bucket(&self) -> &P::Bucket {
        self.inner.bucket()
    }
    fn queue(&self) -> &P::Queue {
        self.inner.queue()
    }
    fn host(&self) -> &P::Host {
        self.inner.host()
    }
    fn settings(&self) -> &Rc<Settings> {
        self.inner.settings()
    }
}

impl<P: Platform> OnceDb<'_, P> {
    /// Keeps what the look-up found, and breaks the request off if that answers it.
    fn find(&self, claim: &Claim, found: Option<Rows>) -> Result<(), DbError> {
        let Some(row) = found.as_ref().and_then(|rows| rows.first()) else { return Ok(()) };
        let Some(earlier) = rows::read(claim, &self.attempt, row)? else { return Ok(()) };
        *self.earlier.borrow_mut() = Some(earlier);
        Err(DbError::Violated(ANSWERED_BEFORE.to_owned()))
    }
}

impl<P: Platform> Db for OnceDb<'_, P> {
    type Detached = <P::Db as Db>::Detached;

    /// What runs beside the answer is no part of the request.
    fn detached(&self) -> Self::Detached {
        self.inner.db().detached()
    }

    async fn read(&self, mut batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        let Some(claim) = &self.claim else { return self.inner.db().read(batch).await };
        batch.push(rows::look_up(claim, self.inner.host().now()));
        let mut results = self.inner.db().read(batch).await?;
        self.find(claim, results.pop())?;
        Ok(results)
    }

    async fn write(&self, mut batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        let Some(claim) = &self.claim else { return self.inner.db().write(batch).await };
        // What comes before the answer is known is no commit: it makes nothing that a client sees.
        let Some(answer) = self.answer.borrow().clone() else { return self.inner.db().write(batch).await };
        let now = self.inner.host().now();
        let own = rows::store(claim, &self.attempt, &answer, now).map_err(rejected)?;
        let kept = batch.len();
        batch.extend(own);
        match self.inner.db().write(batch).await {
            Ok(mut results) => {
                results.truncate(kept);
                Ok(results)
            }
            // Another request with this key was faster.
            Err(DbError::Duplicate(what)) if what.contains(rows::TABLE) => {
                let found = self.inner.db().read(vec![rows::look_up(claim, now)]).await?.pop();
                self.find(claim, found)?;
                Err(DbError::Unavailable("an answer that was stored is gone".to_owned()))
            }
            Err(error) => Err(error),
        }
    }
}

fn rejected(error: Error) -> DbError {
    DbError::Rejected(error.to_string())
}
