//! Stores a pack of chunks that nothing refers to yet.
//!
//! Their segments begin as `doomed`: look-ups find their chunks, a commit that refers to them makes them live, and what
//! nobody has committed goes when the grace time is over. Until then they count against the quota.

use std::collections::HashSet;

use super::look_up;
use super::pack::{MAX_PACK_BYTES, Pack};
use crate::auth::{self, Caller, Right};
use crate::blobs::rows;
use crate::digest::Sha256;
use crate::error::{Conflict, Error, Result};
use crate::ids::SpaceId;
use crate::ingest::{self, BUFFER_BYTES, Door, Ingest, NewChunk, NewSegment, Permit, Store};
use crate::jobs;
use crate::manifest;
use crate::once::write_once;
use crate::ports::{Db, DbError, Host, Platform, Statement, Timestamp, Upload};
use crate::settings::Settings;
use crate::token::Token;

/// What the index says of the cuts of chunks that a client sent: they may be anyone's.
pub(super) const CUT_BY_A_CLIENT: u32 = 0;

/// What became of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// How many bytes of content it had.
    pub size_bytes: u64,
    /// The chunks that the space didn't know, in their order.
    pub stored: Vec<Sha256>,
    /// How many bytes they are.
    pub stored_bytes: u64,
}

/// Whose chunks, and where they go.
struct Sender<'a> {
    token: &'a Token,
    space: &'a SpaceId,
    caller: Caller,
    ingest: Ingest,
}

/// Verifies and stores the chunks of a pack. All of them, or none: then what was put is discarded.
///
/// Two round trips, one more for each 8 MiB, and a bucket operation for each 8 MiB of chunks that weren't known.
///
/// # Errors
/// [`Error::Invalid`] where the body isn't a pack or a chunk isn't what its hash says, [`Error::BodyTooLarge`],
/// [`Error::QuotaExceeded`], [`Error::NotFound`] for a token that is limited to a folder.
pub async fn keep<P: Platform, U: Upload>(
    platform: &P,
    (token, space): (&Token, &SpaceId),
    length: Option<u64>,
    upload: U,
) -> Result<Kept> {
    if length.is_some_and(|length| length > MAX_PACK_BYTES) {
        return Err(Error::BodyTooLarge { limit_bytes: MAX_PACK_BYTES });
    }
    let now = platform.host().now();
    let batch = vec![auth::look_up(token, space, now), Ingest::open(platform.host(), token, space, now)];
    let results = platform.db().write(batch).await?;
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let ingest = first(1).map(Ingest::read).transpose()?;
    let admitted =
        auth::authorise(first(0), Right::Write).and_then(|caller| admit(platform.settings(), caller, length));
    let (caller, permit, ingest) = match (admitted, ingest) {
        (Ok((caller, permit)), Some(ingest)) => (caller, permit, ingest),
        (Ok(_), None) => return Err(Error::NotFound),
        (Err(error), ingest) => {
            Ingest::forget(ingest.as_ref(), platform).await;
            return Err(error);
        }
    };
    let sender = Sender { token, space, caller, ingest };
    let kept = sender.run(platform, &permit, length, upload).await;
    drop(permit);
    if let Err(error) = &kept {
        jobs::discard_ingest(platform, &sender.ingest, (&sender.caller.account, space), error).await;
    }
    kept
}

/// Whether there is room for the pack, before any of it is read.
fn admit(settings: &Settings, caller: Caller, length: Option<u64>) -> Result<(Caller, Permit)> {
    let wanted = length.map(i128::from);
    if wanted.zip(caller.free_bytes).is_some_and(|(wanted, free)| wanted > i128::from(free)) {
        return Err(Error::QuotaExceeded);
    }
    let permit = Permit::take(settings, length)?;
    Ok((caller, permit))
}

/// Verifies and puts all chunks: one buffer fills while the one before it is stored. Returns how many bytes they are.
async fn receive<P: Platform, U: Upload>(
    store: &mut Store<'_, P>,
    permit: &Permit,
    length: Option<u64>,
    upload: U,
) -> Result<u64> {
    let mut pack = Pack::new(upload);
    let capacity = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    let (mut filling, mut next) = (Vec::with_capacity(capacity.min(BUFFER_BYTES)), Vec::new());
    let mut chunks = pack.fill(&mut filling, BUFFER_BYTES).await?;
    let mut size_bytes = 0;
    loop {
        size_bytes += filling.len() as u64;
        if pack.ended() {
            store.put_claimed(&mut filling, &chunks).await?;
            return Ok(size_bytes);
        }
        if permit.has_two_buffers() {
            next.reserve_exact(BUFFER_BYTES.saturating_sub(next.len()));
            // Both to their ends, as for any upload: no put may be under way behind the back of whoever cleans up.
            let (stored, filled) =
                futures::join!(store.put_claimed(&mut filling, &chunks), pack.fill(&mut next, BUFFER_BYTES));
            stored?;
            chunks = filled?;
            std::mem::swap(&mut filling, &mut next);
        } else {
            store.put_claimed(&mut filling, &chunks).await?;
            chunks = pack.fill(&mut filling, BUFFER_BYTES).await?;
        }
    }
}

impl Sender<'_> {
    async fn run<P: Platform, U: Upload>(
        &self,
        platform: &P,
        permit: &Permit,
        length: Option<u64>,
        upload: U,
    ) -> Result<Kept> {
        let mut door = Door::open_already(Some(self.ingest.clone()));
        let mut store = Store::new(platform, self.caller.space_key, &mut door);
        let size_bytes = receive(&mut store, permit, length, upload).await?;
        let (segments, chunks) = store.stored();
        self.commit(platform, segments, chunks).await?;
        Ok(Kept {
            size_bytes,
            stored: chunks.iter().map(|chunk| look_up::hash(&chunk.hash)).collect::<Result<_>>()?,
            stored_bytes: segments.iter().map(|segment| segment.size_bytes).sum(),
        })
    }

    /// Enters segments and chunks into the index. Where all chunks were known, there is nothing to enter.
    async fn commit<P: Platform>(
        &self,
        platform: &P,
        segments: &[NewSegment],
        chunks: &[NewChunk],
    ) -> Result<()> {
        let Some(first) = segments.first() else {
            Ingest::forget(Some(&self.ingest), platform).await;
            return Ok(());
        };
        let now = platform.host().now();
        let mut batch = vec![self.guard(now)];
        batch.extend(rows::segments(segments, &HashSet::new(), now)?);
        batch.extend(rows::chunks(chunks, self.caller.space_key, CUT_BY_A_CLIENT, now)?);
        batch.push(reserve(segments, self.caller.space_key)?);
        batch.push(self.guard_quota());
        batch.push(self.ingest.close());
        let happened = Statement::new("select 1 from segments where id = ?1").bind(first.id);
        let happened = async || -> Result<bool, DbError> {
            Ok(platform.db().read(vec![happened.clone()]).await?.iter().any(|rows| !rows.is_empty()))
        };
        match write_once(platform.db(), batch, happened).await {
            Err(DbError::Violated(why)) => Err(self.refusal(platform, &why).await),
            done => Ok(done?),
        }
    }

    fn guard(&self, now: Timestamp) -> Statement {
        Statement::new(format!(
            "insert into guard (why) select why from (select case
               when not {} then 'access_gone'
               when not exists (select 1 from ingests where id = ?4 and expires_at > ?3) then 'ingest_gone'
             end as why) where why is not null",
            auth::STILL_WRITES_ALL
        ))
        .bind(self.token.hash().to_string())
        .bind(self.space)
        .bind(now)
        .bind(self.ingest.id)
    }

    fn guard_quota(&self) -> Statement {
        Statement::new(
            "insert into guard (why)
             select 'quota_exceeded' from spaces where n = ?1 and used_bytes + reserved_bytes > quota_bytes",
        )
        .bind(self.caller.space_key)
    }

    async fn refusal<P: Platform>(&self, platform: &P, why: &str) -> Error {
        match why {
            "quota_exceeded" => Error::QuotaExceeded,
            "ingest_gone" => ingest::expired(),
            "access_gone" => {
                let look_up = auth::look_up(self.token, self.space, platform.host().now());
                let found = match platform.db().read(vec![look_up]).await {
                    Ok(results) => results,
                    Err(error) => return error.into(),
                };
                let row = found.first().and_then(|rows| rows.first());
                auth::authorise(row, Right::Write).err().unwrap_or(Error::Conflict(Conflict::Contended))
            }
            other => Error::Internal(format!("a pack was refused: {other}")),
        }
    }
}

/// What nothing refers to yet counts too, or a quota could be overrun by packs. Triggers add it up in the space's row,
/// and take it away when the segment is needed or goes.
pub(super) fn reserve(segments: &[NewSegment], space_key: i64) -> Result<Statement> {
    let rows: Vec<(u64, u64)> = segments.iter().map(|segment| (segment.id, segment.size_bytes)).collect();
    Ok(Statement::new(
        "insert into packs (segment, space, size_bytes)
         select json_extract(value, '$[0]'), ?2, json_extract(value, '$[1]') from json_each(?1)",
    )
    .bind(manifest::to_json(&rows)?)
    .bind(space_key))
}
