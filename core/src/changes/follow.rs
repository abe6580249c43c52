//! The feed: what changed in a space after a cursor, in the order of the commits.
//!
//! A row says that a node changed; the node is shown as it is when the feed is read. So one that changed twice is shown
//! twice as it is now, and whoever has read to the end has every node as it is: its last row was written by the last
//! commit that changed it. A token that is limited to a folder is shown the nodes that are in the folder now, and those
//! that left a folder in it, without a name: of a tree that left with what it holds, its top.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::What;
use crate::auth::{self, Right, in_scope, scope};
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::manifest;
use crate::ports::{Db, DbError, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;
use crate::tree::{self, Entry, entry_columns};

/// The most changes of a page.
pub const MAX_LIMIT: u32 = 1000;
/// The longest that a request waits: proxies and clients give up after 30 seconds.
pub const MAX_WAIT_SECS: u32 = 25;

/// How long to wait before the database is asked again: at first, and later.
const PAUSES_MILLIS: [u64; 4] = [1000, 1500, 2000, 3000];

/// Which changes.
#[derive(Debug, Clone)]
pub struct Follow {
    /// The caller's token.
    pub token: Token,
    /// The space.
    pub space: SpaceId,
    /// Those after this cursor; None for where the feed ends now.
    pub since: Option<String>,
    /// The most, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// How long to wait for one where there is none, at most [`MAX_WAIT_SECS`].
    pub wait_secs: u32,
}

/// A node that a commit changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The commit's number.
    pub seq: u64,
    /// When it was.
    pub at: Timestamp,
    /// What it did.
    pub what: What,
    /// The node.
    pub id: NodeId,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether all that is below the node is meant as well.
    pub subtree: bool,
    /// The folder that it was in before, where it went elsewhere and the caller may see that one.
    pub from: Option<NodeId>,
    /// The node as it is now; None where it isn't there any more, or isn't there for the caller.
    pub node: Option<Entry>,
}

/// A part of the feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The oldest first.
    pub changes: Vec<Change>,
    /// Where the next page begins.
    pub cursor: String,
    /// Whether there is a next page already.
    pub more: bool,
}

/// A place in the feed: all up to it has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    space_key: i64,
    seq: u64,
    /// The last row of that commit that was read; None for all of it.
    place: Option<u64>,
}

/// Reads the feed. One round trip; where there is nothing to read, one more for each time that the database is asked
/// again, and one for the page.
///
/// # Errors
/// [`Error::ChangesGone`] where changes after the cursor aren't kept any more.
pub async fn follow<P: Platform>(platform: &P, request: &Follow) -> Result<Page> {
    let mut cursor = request.since.as_deref().map(Cursor::parse).transpose()?;
    let until = platform.host().now().plus_secs(i64::from(request.wait_secs));
    let mut pauses = PAUSES_MILLIS.into_iter();
    loop {
        let page = read(platform, request, cursor).await?;
        let Some(read_to) = cursor.filter(|_| page.changes.is_empty() && !page.more) else { return Ok(page) };
        // What was passed by isn't for this caller.
        let end = Cursor::parse(&page.cursor).unwrap_or(read_to);
        cursor = Some(end);
        loop {
            let left = u64::try_from(until.0 - platform.host().now().0).unwrap_or(0);
            if left == 0 {
                return Ok(page);
            }
            let [.., longest] = PAUSES_MILLIS;
            platform.host().sleep(left.min(pauses.next().unwrap_or(longest))).await;
            let newer = Statement::new("select 1 from spaces where id = ?1 and change_seq > ?2");
            let newer = newer.bind(&request.space).bind(end.seq);
            if platform.db().read(vec![newer]).await?.iter().any(|rows| !rows.is_empty()) {
                break;
            }
        }
    }
}

const ENDS: &str = "select n, change_seq, changes_gone_seq from spaces where id = ?1";

/// At most ?5 changes after the commit ?3 and its place ?4.
const PAGE: &str = concat!(
    "with ",
    scope!(),
    ", page as (
       select changes.*, ",
    in_scope!("changes.node_id"),
    " as lives, ",
    in_scope!("changes.from_id"),
    " as was_in, scope.root, scope.top
         from scope cross join changes
        where changes.space = scope.space and (changes.seq, changes.place) > (?3, ?4)
        order by changes.seq, changes.place limit ?5
     )
     select p.seq, p.place, p.at, p.what, p.node_id, p.is_folder, p.subtree,
            case when p.was_in or p.root = p.top then p.from_id end as from_id,
            p.root = p.top or p.lives or p.was_in or p.node_id = p.top as shown, p.node_id = p.top as is_top, ",
    entry_columns!(),
    "  from page p
       left join nodes n on n.id = p.node_id and p.lives
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      order by p.seq, p.place"
);

async fn read<P: Platform>(platform: &P, request: &Follow, cursor: Option<Cursor>) -> Result<Page> {
    let look_up = auth::look_up_nodes(&request.token, &request.space, platform.host().now());
    let mut batch = vec![look_up, Statement::new(ENDS).bind(&request.space)];
    batch.extend(cursor.map(|cursor| {
        Statement::new(PAGE)
            .bind(&request.space)
            .bind(request.token.hash().to_string())
            .bind(cursor.seq)
            .bind(cursor.place.unwrap_or(1 << 53))
            .bind(i64::from(request.limit) + 1)
    }));
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    let ends = rows();
    let ends = ends.first().ok_or(Error::NotFound)?;
    let end = Cursor { space_key: ends.integer("n")?, seq: ends.unsigned("change_seq")?, place: None };
    let gone = ends.unsigned("changes_gone_seq")?;
    if let Some(cursor) = cursor {
        cursor.check(end, gone)?;
    }
    let mut rows = rows();
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    let cursor = match rows.last().filter(|_| more) {
        Some(last) => Cursor { seq: last.unsigned("seq")?, place: Some(last.unsigned("place")?), ..end },
        None => end,
    };
    let changes = rows.iter().filter_map(|row| change(row).transpose()).collect::<Result<_>>()?;
    Ok(Page { changes, cursor: cursor.write()?, more })
}

/// None where the caller may not see it.
fn change(row: &Row) -> Result<Option<Change>> {
    if row.integer("shown")? != 1 {
        return Ok(None);
    }
    let what = row.text("what")?;
    let mut node = row.text_or_null("id")?.map(|_| Entry::read(row)).transpose()?;
    if let Some(top) = node.as_mut().filter(|_| row.integer("is_top") == Ok(1)) {
        top.parent = None;
    }
    Ok(Some(Change {
        seq: row.unsigned("seq")?,
        at: Timestamp(row.integer("at")?),
        what: What::parse(what).ok_or_else(|| DbError::Rejected(format!("column what: found {what}")))?,
        id: tree::id(row, "node_id", NodeId::parse)?,
        is_folder: row.integer("is_folder")? == 1,
        subtree: row.integer("subtree")? == 1,
        from: row.text_or_null("from_id")?.and_then(NodeId::parse),
        node,
    }))
}

impl Cursor {
    fn parse(text: &str) -> Result<Self> {
        let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| Self::invalid())?;
        let (kind, space_key, seq, place): (String, i64, u64, Option<u64>) =
            serde_json::from_slice(&json).map_err(|_| Self::invalid())?;
        if kind != "changes" || seq > 1 << 53 || place.is_some_and(|place| place > 1 << 53) {
            return Err(Self::invalid());
        }
        Ok(Self { space_key, seq, place })
    }

    fn write(self) -> Result<String> {
        let cursor = manifest::to_json(&("changes", self.space_key, self.seq, self.place))?;
        Ok(URL_SAFE_NO_PAD.encode(cursor))
    }

    fn invalid() -> Error {
        Error::invalid("since", "not a cursor of this space's changes: begin without one")
    }

    /// Whether nothing after the cursor is missing from the feed that ends at `end`, and whose commits up to `gone`
    /// aren't all kept.
    fn check(self, end: Self, gone: u64) -> Result<()> {
        if self.space_key != end.space_key {
            return Err(Self::invalid());
        }
        // Later than the feed's end: the database was restored to an earlier time.
        let missed = self.seq < gone || (self.seq == gone && self.place.is_some()) || self.seq > end.seq;
        if missed { Err(Error::ChangesGone) } else { Ok(()) }
    }
}
