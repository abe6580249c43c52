//! Ingest: the only place where content passes through core.
//!
//! The body is cut into chunks as it streams; chunks that the space knows are referenced, the others are packed
//! into segments of about 8 MiB. Nothing refers to them until a commit does, and until then the ingest's row knows
//! where they are.

mod budget;
mod digests;
mod door;
mod receive;
mod store;
mod stream;

pub use digests::{Algorithm, Expected};

pub(crate) use budget::Permit;
pub(crate) use door::Door;
#[allow(unused_imports, reason = "what edits need")]
pub(crate) use receive::{Body, Chain, Content, Received, Room, Source, inline_etag, receive};
pub(crate) use store::{Chunked, NewChunk, NewSegment, Store, index_form};
pub(crate) use stream::{Old, Sources, stream};

use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;

/// Content of at most this size is kept in the blob's row: two round trips and no bucket operation.
pub const INLINE_BYTES: usize = 4096;

/// A segment's size at most. One bucket request each; larger ones would not fit an isolate's memory twice per upload.
pub(crate) const BUFFER_BYTES: usize = 8 * 1024 * 1024;

/// How long an upload in one piece may take before its leftovers count as abandoned.
const TTL_SECS: i64 = 24 * 60 * 60;

/// No put begins in the last part of that time: each has arrived, or never will, when the ingest expires.
const LAST_PUT_SECS: i64 = 15 * 60;

/// Segments and pages of one ingest have consecutive ids from here on: enough for 8 TiB of full segments.
const IDS_PER_INGEST: u64 = 1 << 20;

/// An upload under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ingest {
    /// Its row.
    pub(crate) id: u64,
    /// The random part of its segments' keys.
    pub(crate) key: String,
    /// When it counts as abandoned.
    pub(crate) expires_at: Timestamp,
    /// Where its segments go; None: into the default bucket.
    pub(crate) bucket: Option<BucketRow>,
}

/// A bucket that isn't the default one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BucketRow {
    /// Its row: what segments refer to.
    pub(crate) n: i64,
    /// Its name in the configuration.
    pub(crate) name: String,
}

/// What [`Ingest::read`] reads of a row of `ingests`.
macro_rules! returned {
    () => {
        " returning id, key, expires_at, bucket,
                    (select b.name from buckets b where b.n = ingests.bucket) as bucket_name"
    };
}

impl Ingest {
    /// Opens an ingest, if the token may write to the space; returns the row that [`Ingest::read`] understands.
    pub(crate) fn open(host: &impl Host, token: &Token, space: &SpaceId, now: Timestamp) -> Statement {
        Statement::new(format!(
            "insert into ingests (key, space_id, expires_at, bucket)
             select ?4, ?2, ?5, (select bucket from spaces where id = ?2) where {}{}",
            crate::auth::STILL_UPLOADS,
            returned!()
        ))
        .bind(token.hash().to_string())
        .bind(space)
        .bind(now)
        .bind(random_key(host))
        .bind(now.plus_secs(TTL_SECS))
    }

    /// Opens an ingest for what the drive stores itself, in no space of its own, in that bucket.
    pub(crate) fn open_for_repack(host: &impl Host, expires_at: Timestamp, bucket: Option<i64>) -> Statement {
        Statement::new(concat!(
            "insert into ingests (key, space_id, expires_at, bucket) values (?1, '', ?2, ?3)",
            returned!()
        ))
        .bind(random_key(host))
        .bind(expires_at)
        .bind(bucket)
    }

    /// Reads the row of [`Ingest::open`].
    pub(crate) fn read(row: &Row) -> Result<Self> {
        Ok(Self {
            id: row.unsigned("id")?,
            key: row.text("key")?.to_owned(),
            expires_at: Timestamp(row.integer("expires_at")?),
            bucket: match (row.integer_or_null("bucket")?, row.text_or_null("bucket_name")?) {
                (Some(n), Some(name)) => Some(BucketRow { n, name: name.to_owned() }),
                _ => None,
            },
        })
    }

    /// The name of the bucket that its segments go into.
    pub(crate) fn bucket_name(&self) -> Option<&str> {
        self.bucket.as_ref().map(|bucket| bucket.name.as_str())
    }

    /// Whether a segment may still be put: what arrives after the sweep has looked would be lost from sight.
    ///
    /// # Errors
    /// The upload has taken too long.
    pub(crate) fn may_put(&self, now: Timestamp) -> Result<()> {
        if now.plus_secs(LAST_PUT_SECS) < self.expires_at {
            return Ok(());
        }
        Err(expired())
    }

    /// Removes the row: its segments are a version's now, or there are none.
    pub(crate) fn close(&self) -> Statement {
        Statement::new("delete from ingests where id = ?1").bind(self.id)
    }

    /// Removes the row of one that has stored nothing. Where that fails, the row expires.
    pub(crate) async fn forget<P: Platform>(ingest: Option<&Self>, platform: &P) {
        if let Some(ingest) = ingest {
            let _expires = platform.db().write(vec![ingest.close()]).await;
        }
    }

    /// The key of its `n`th segment.
    pub(crate) fn segment_key(&self, n: u64) -> String {
        format!("{}{n}", prefix(&self.key))
    }

    /// The id of its `n`th segment, or of its `n`th page; `n` is below [`IDS_PER_INGEST`].
    pub(crate) fn nth_id(&self, n: u64) -> u64 {
        self.id * IDS_PER_INGEST + n
    }
}

fn random_key(host: &impl Host) -> String {
    let mut random = [0; 16];
    host.random(&mut random);
    data_encoding::HEXLOWER.encode(&random)
}

/// The upload has taken too long.
pub(crate) fn expired() -> Error {
    Error::invalid("body", "the upload took longer than a day")
}

/// Where all segments of the ingest with this random part are.
pub fn prefix(key: &str) -> String {
    format!("ledge/seg/{key}/")
}
