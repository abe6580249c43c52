//! What an import has come to, and what it has refused.

use super::Counts;
use crate::auth::{self, Right};
use crate::doctor::DEFAULT;
use crate::error::{Error, Result};
use crate::ids::{JobId, SpaceId};
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;

/// The most refused keys in a page.
pub const MAX_REFUSED: u64 = 1000;

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its id, and its job's.
    pub id: JobId,
    /// The bucket's name in the configuration.
    pub bucket: String,
    /// What the keys begin with.
    pub prefix: String,
    /// Where it went: names between slashes, each behind one.
    pub into: String,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// So far.
    pub counts: Counts,
    /// A page of what was refused, in the order of the keys.
    pub refused: Vec<Refused>,
    /// Behind which of them there are more.
    pub next: Option<u64>,
}

/// An object that didn't become a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its key.
    pub key: String,
    /// What the reason is called: `not_a_name`, `too_deep`, `taken`, `twin`.
    pub code: String,
    /// The reason, for people.
    pub reason: String,
}

/// Reports on an import, with the refused keys behind the first `after`; `limit` is at most [`MAX_REFUSED`]. For owners, since
/// keys of a bucket are shown. One round trip.
///
/// # Errors
/// [`Error::NotFound`] where the space has no such import.
pub async fn report<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    id: &JobId,
    after: u64,
    limit: u64,
) -> Result<Report> {
    let look = Statement::new(
        "select i.prefix, i.folder, i.created_at, i.files, i.folders, i.bytes, i.unchanged, i.own, i.refused,
                (select b.name from buckets b where b.n = i.bucket) as bucket
           from imports i where i.id = ?1 and i.space_id = ?2",
    );
    let refused = Statement::new(
        "select n, key, code, reason from import_refusals where import = ?1 and n >= ?2 order by n limit ?3",
    );
    let batch = vec![
        auth::look_up(token, space, platform.host().now()),
        look.bind(id).bind(space),
        refused.bind(id).bind(after).bind(limit + 1),
    ];
    let results = platform.db().read(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Own)?;
    let row = rows(1).first().ok_or(Error::NotFound)?;
    let refused = rows(2).iter().take(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(Report {
        id: id.clone(),
        bucket: row.text_or_null("bucket")?.unwrap_or(DEFAULT).to_owned(),
        prefix: row.text("prefix")?.to_owned(),
        into: format!("/{}", row.text("folder")?),
        created_at: Timestamp(row.integer("created_at")?),
        counts: Counts {
            files: row.unsigned("files")?,
            folders: row.unsigned("folders")?,
            bytes: row.unsigned("bytes")?,
            unchanged: row.unsigned("unchanged")?,
            own: row.unsigned("own")?,
            refused: row.unsigned("refused")?,
        },
        refused: refused.map(Refused::read).collect::<Result<_>>()?,
        next: (rows(2).len() as u64 > limit).then_some(after + limit),
    })
}

impl Refused {
    fn read(row: &Row) -> Result<Self> {
        let text = |column| Ok::<_, Error>(row.text(column)?.to_owned());
        Ok(Self { key: text("key")?, code: text("code")?, reason: text("reason")? })
    }
}
