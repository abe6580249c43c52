//! Beginning: the URLs.

use super::Part;
use super::parts::check;
use crate::auth::{self, Right};
use crate::error::{Conflict, Error, Result};
use crate::ids::{SpaceId, UploadId};
use crate::ingest::Ingest;
use crate::manifest;
use crate::ports::{Bucket, Db, Direct, Host, PRESIGNED_SECS, Platform, Presigned, Statement, Timestamp};
use crate::token::Token;
use crate::uploads::MAX_OPEN;

/// A direct upload that was begun.
#[derive(Debug)]
pub struct Begun {
    /// Its id.
    pub id: UploadId,
    /// Until when the requests may be begun.
    pub expires_at: Timestamp,
    /// A request for each segment.
    pub puts: Vec<Presigned>,
}

/// Gives a request for each segment, and reserves their bytes of the quota. Two round trips.
///
/// # Errors
/// [`Conflict::NotDirect`] where the operator or the bucket doesn't allow it; [`Error::NotFound`] for a token that is
/// limited to a folder; [`Error::QuotaExceeded`]; [`Error::TooManyUploads`].
pub async fn begin<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    parts: &[Part],
) -> Result<Begun> {
    let host = platform.host();
    let now = host.now();
    let batch = vec![auth::look_up(token, space, now), Ingest::open(host, token, space, now)];
    let results = platform.db().write(batch).await?;
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let ingest = first(1).map(Ingest::read).transpose()?;
    let begun = match (auth::authorise(first(0), Right::Write), &ingest) {
        (Ok(_), Some(ingest)) => open(platform, (token, space), ingest, parts, now).await,
        (Ok(_), None) => Err(Error::NotFound),
        (Err(error), _) => Err(error),
    };
    if begun.is_err() {
        Ingest::forget(ingest.as_ref(), platform).await;
    }
    begun
}

async fn open<P: Platform>(
    platform: &P,
    (token, space): (&Token, &SpaceId),
    ingest: &Ingest,
    parts: &[Part],
    now: Timestamp,
) -> Result<Begun> {
    if !platform.settings().direct_uploads {
        return Err(Error::Conflict(Conflict::NotDirect));
    }
    let size_bytes = check(parts)?;
    let bucket = platform.bucket_of(ingest.bucket_name())?;
    let put = |(n, part): (u64, &Part)| {
        let direct = Direct::Put { size_bytes: part.size_bytes(), sha256: part.sha256 };
        bucket.presign(&ingest.segment_key(n), &direct)
    };
    let puts: Option<Vec<Presigned>> = (0..).zip(parts).map(put).collect();
    let puts = puts.ok_or(Error::Conflict(Conflict::NotDirect))?;
    let id = UploadId::new(platform.host());
    let insert = Statement::new(format!(
        "insert into direct_uploads (id, ingest, space_id, size_bytes, segments)
         select ?4, ?5, ?2, ?6, ?7
          where {}
            and (select count(*) from direct_uploads where space_id = ?2) < ?8
            and (select used_bytes + reserved_bytes + ?6 <= quota_bytes from spaces where id = ?2) is not 0
         returning id",
        auth::STILL_WRITES_ALL
    ))
    .bind(token.hash().to_string())
    .bind(space)
    .bind(now)
    .bind(&id)
    .bind(ingest.id)
    .bind(size_bytes)
    .bind(manifest::to_json(&Part::to_row(parts))?)
    .bind(MAX_OPEN);
    let open = Statement::new("select count(*) as open from direct_uploads where space_id = ?1").bind(space);
    let results = platform.db().write(vec![insert, open]).await?;
    if results.first().is_none_or(Vec::is_empty) {
        let row = results.get(1).and_then(|rows| rows.first());
        let open = row.map(|row| row.unsigned("open")).transpose()?.unwrap_or_default();
        return Err(if open >= MAX_OPEN { Error::TooManyUploads } else { Error::QuotaExceeded });
    }
    Ok(Begun { id, expires_at: now.plus_secs(PRESIGNED_SECS), puts })
}
