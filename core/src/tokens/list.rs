//! The account's tokens, newest first, without their secrets.

use super::{Entry, Protocols};
use crate::auth::{self, within};
use crate::error::Result;
use crate::ids::{NodeId, SpaceId, TokenId};
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;
use crate::tree::id;

/// A part of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The tokens, newest first.
    pub tokens: Vec<Entry>,
    /// Whether older ones follow.
    pub more: bool,
}

const NEWEST: &str = concat!(
    "select c.id, c.name, c.created_at, c.expires_at, c.space_id, c.folder_id, c.rights, c.protocols,
            c.id = asker.id as current
       from tokens asker cross join tokens c on c.account_id = asker.account_id
      where asker.hash = ?1 and (c.created_at, c.id) < (?2, ?3) and ",
    within!(),
    " order by c.created_at desc, c.id desc limit ?4"
);

/// Lists the tokens that may do no more than the one that asks, older than `after`, at most `limit`. One round trip.
pub async fn list<P: Platform>(
    platform: &P,
    asking: &Token,
    after: Option<(Timestamp, TokenId)>,
    limit: u64,
) -> Result<Page> {
    let (time, last) = match &after {
        Some((time, id)) => (*time, id.as_str()),
        // Later than any: 2^53, and what follows every id.
        None => (Timestamp(1 << 53), "~"),
    };
    let newest = Statement::new(NEWEST)
        .bind(asking.hash().to_string())
        .bind(time)
        .bind(last)
        .bind(limit.saturating_add(1));
    let look_up = auth::look_up_account(asking, platform.host().now());
    let mut results = platform.db().read(vec![look_up, newest]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::limits(rows().first())?;
    let mut tokens = rows().iter().map(entry).collect::<Result<Vec<_>>>()?;
    let more = tokens.len() as u64 > limit;
    tokens.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Page { tokens, more })
}

fn entry(row: &Row) -> Result<Entry> {
    Ok(Entry {
        id: id(row, "id", TokenId::parse)?,
        name: row.text("name")?.to_owned(),
        created_at: Timestamp(row.integer("created_at")?),
        expires_at: row.integer_or_null("expires_at")?.map(Timestamp),
        space: row.text_or_null("space_id")?.and_then(SpaceId::parse),
        folder: row.text_or_null("folder_id")?.and_then(NodeId::parse),
        writes: row.text("rights")? == "write",
        protocols: Protocols::read(row.text("protocols")?),
        current: row.integer("current")? == 1,
    })
}
