//! The row of an upload, with who asks for it and what has arrived.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::draft::{Draft, Stored};
use super::{Finished, Kind, Target, Upload};
use crate::blobs::Base;
use crate::error::{Error, Result};
use crate::ids::{AccountId, BlobId, SpaceId, UploadId};
use crate::manifest;
use crate::ports::{Row, Statement, Timestamp};
use crate::token::Token;
use crate::tree::id;

/// The upload that the account of the token ?1 calls ?4, with the token's rights and the ends of the draft's pages. The
/// token's protocol is ?2, the time ?3. A token with limits finds the uploads that it has begun itself; one without a
/// folder those in its spaces, too. The last two pages are all that an addition at the end can touch.
const LOOK: &str = "select k.account_id as caller, k.rights, k.protocols = 'all' or k.protocols = ?2 as speaks,
        m.role, s.n as space_key, s.quota_bytes - s.used_bytes - s.reserved_bytes as free_bytes,
        u.id, u.kind, u.space_id, u.target, u.metadata, u.length_bytes, u.received_bytes, u.reserved_bytes, u.tail,
        u.stamp, u.finished, u.created_at, u.expires_at,
        b.id as blob_id, b.size_bytes, b.etag, b.inline, b.pages,
        (select json_group_array(json_array(p.id, json(p.extents)))
           from json_each(b.pages) e cross join pages p on p.id = json_extract(e.value, '$[1]')
          where e.key >= json_array_length(b.pages) - 2) as loaded
   from tokens k
   left join uploads u on u.account_id = k.account_id and u.name = ?4 and u.expires_at > ?3
                      and (u.token_id = k.id
                           or k.folder_id is null and (k.space_id is null or k.space_id = u.space_id))
   left join members m on m.account_id = k.account_id and m.space_id = u.space_id
   left join spaces s on s.id = m.space_id
   left join blobs b on b.id = u.blob_id
  where k.hash = ?1 and (k.expires_at is null or k.expires_at > ?3)";

/// Asks for an upload.
pub(super) fn look_up(token: &Token, name: &str, now: Timestamp) -> Statement {
    Statement::new(LOOK).bind(token.hash().to_string()).bind(token.protocol().name()).bind(now).bind(name)
}

/// An upload whose owner asks, and may write.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) upload: Upload,
    pub(super) account: AccountId,
    pub(super) space_key: i64,
    /// What the quota leaves; None where there is none.
    pub(super) free_bytes: Option<i64>,
    pub(super) reserved_bytes: u64,
    pub(super) stamp: String,
    pub(super) draft: Draft,
}

impl Open {
    /// Reads the rows of [`look_up`], and decides whether the caller may.
    ///
    /// # Errors
    /// [`Error::NotFound`] where there is no such upload, or not for them.
    pub(super) fn read(rows: &[Row]) -> Result<Self> {
        let row = rows.first().ok_or(Error::Unauthenticated)?;
        if row.integer("speaks")? != 1 {
            return Err(Error::TokenForbids { needs: "access by this protocol" });
        }
        if row.text_or_null("id")?.is_none() {
            return Err(Error::NotFound);
        }
        match row.text_or_null("role")? {
            Some("writer" | "owner") => {}
            Some("reader") => return Err(Error::Forbidden { role: "reader" }),
            _ => return Err(Error::NotFound),
        }
        if row.text("rights")? != "write" {
            return Err(Error::TokenForbids { needs: "the right to write" });
        }
        Ok(Self {
            upload: upload(row)?,
            account: id(row, "caller", AccountId::parse)?,
            space_key: row.integer("space_key")?,
            free_bytes: row.integer_or_null("free_bytes")?,
            reserved_bytes: row.unsigned("reserved_bytes")?,
            stamp: row.text("stamp")?.to_owned(),
            draft: draft(row)?,
        })
    }

    /// What must still arrive; None where that isn't known.
    pub(super) fn missing_bytes(&self) -> Option<u64> {
        self.upload.length_bytes.map(|length| length.saturating_sub(self.upload.received_bytes))
    }
}

fn upload(row: &Row) -> Result<Upload> {
    let json = |column| row.text_or_null(column);
    let finished: Option<Finished> = json("finished")?.map(manifest::from_json).transpose()?;
    let target: Option<Target> = json("target")?.map(manifest::from_json).transpose()?;
    let length = row.integer_or_null("length_bytes")?;
    Ok(Upload {
        id: id(row, "id", UploadId::parse)?,
        kind: Kind::read(row.text("kind")?),
        space: id(row, "space_id", SpaceId::parse)?,
        target,
        metadata: row.text("metadata")?.to_owned(),
        length_bytes: length.and_then(|length| u64::try_from(length).ok()),
        received_bytes: row.unsigned("received_bytes")?,
        created_at: Timestamp(row.integer("created_at")?),
        expires_at: Timestamp(row.integer("expires_at")?),
        finished,
    })
}

fn draft(row: &Row) -> Result<Draft> {
    let tail = row.text_or_null("tail")?.map(decode).transpose()?.unwrap_or_default();
    Ok(Draft { stored: stored(row)?, tail })
}

/// The blob of a row that has `blob_id` and the columns of `blobs`, and `loaded`, the pages at its ends.
pub(super) fn stored(row: &Row) -> Result<Option<Stored>> {
    if row.text_or_null("blob_id")?.is_none() {
        return Ok(None);
    }
    Ok(Some(Stored { id: id(row, "blob_id", BlobId::parse)?, content: Base::of_row(row)? }))
}

fn decode(text: &str) -> Result<Vec<u8>> {
    STANDARD.decode(text).map_err(|error| Error::Internal(format!("an upload's tail: {error}")))
}
