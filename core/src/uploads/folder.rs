//! A folder of parts, as WebDAV clients make it: parts have names, come in any order, and are joined by a move.

use super::append::{guard, refused, stamp};
use super::create::{Create, NewRow, may_write};
use super::row::{Open, look_up};
use super::{Kind, MAX_PARTS, Upload};
use crate::auth;
use crate::blobs::{BlobRow, NewBlob};
use crate::error::{Error, Result};
use crate::files::commit::write_once;
use crate::ids::{BlobId, SpaceId, UploadId};
use crate::ingest::{Body, Door, Expected, Permit, Room, receive};
use crate::jobs;
use crate::ports::{Db, Host, Platform, Statement, Timestamp, Upload as Incoming};
use crate::token::Token;
use crate::versions::remove_unused_pages;

/// A folder that is to be made.
#[derive(Debug, Clone)]
pub struct NewFolder {
    /// Whose request.
    pub token: Token,
    /// The space that the file will be in.
    pub space: SpaceId,
    /// What the client calls it.
    pub name: String,
    /// How long the file will be, where the client says so: no folder is made for what the quota doesn't allow.
    pub total_bytes: Option<u64>,
}

/// Makes a folder. Two round trips.
///
/// # Errors
/// [`crate::error::Conflict::NameTaken`] where there is one.
pub async fn make_folder<P: Platform>(platform: &P, folder: &NewFolder) -> Result<Upload> {
    let caller = may_write(platform, &folder.token, &folder.space).await?;
    let total = i128::from(folder.total_bytes.unwrap_or(0));
    if caller.free_bytes.is_some_and(|free| total > i128::from(free)) {
        return Err(Error::QuotaExceeded);
    }
    let id = UploadId::new(platform.host());
    let (name, kind) = (Some(folder.name.as_str()), Kind::Folder);
    let create = Create {
        token: folder.token.clone(),
        space: folder.space.clone(),
        target: None,
        length_bytes: None,
        metadata: String::new(),
    };
    let row = NewRow { id, name, kind, caller: &caller, reserved_bytes: 0 };
    row.insert(platform, &create).await.map(|(upload, _)| upload)
}

/// A part that is to be put into a folder.
#[derive(Debug, Clone)]
pub struct PutPart {
    /// Whose request.
    pub token: Token,
    /// The folder's name.
    pub folder: String,
    /// The part's name.
    pub name: String,
    /// The body's size, where it is known.
    pub length: Option<u64>,
    /// Digests that the body must have.
    pub expected: Vec<Expected>,
}

/// A part that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPart {
    /// Whether there was none of that name before.
    pub created: bool,
    /// Its entity tag, without quotes.
    pub etag: String,
}

/// Puts a part, in place of one with that name: whole, or not at all. Two round trips, and one for each 8 MiB.
///
/// # Errors
/// [`Error::NotFound`] where there is no such folder.
pub async fn put_part<P: Platform, U: Incoming>(
    platform: &P,
    request: &PutPart,
    upload: U,
) -> Result<StoredPart> {
    let place = place(&request.name);
    let now = platform.host().now();
    let there = Statement::new(
        "select u.parts, (select p.size_bytes from upload_parts p where p.upload = u.id and p.place = ?4 and p.name = ?3) as size
           from tokens k cross join uploads u on u.account_id = k.account_id and u.name = ?2 where k.hash = ?1",
    )
    .bind(request.token.hash().to_string())
    .bind(request.folder.as_str())
    .bind(request.name.as_str())
    .bind(place.as_str());
    let results = platform.db().read(vec![look_up(&request.token, &request.folder, now), there]).await?;
    let open = folder(results.first().map(Vec::as_slice).unwrap_or_default())?;
    let row = results.get(1).and_then(|rows| rows.first()).ok_or(Error::NotFound)?;
    let replaced = row.integer_or_null("size")?.and_then(|size| u64::try_from(size).ok());
    if replaced.is_none() && row.unsigned("parts")? >= MAX_PARTS as u64 {
        return Err(Error::invalid("path", format!("a folder has {MAX_PARTS} parts at most")));
    }
    let wanted = request.length.unwrap_or(0).saturating_sub(replaced.unwrap_or(0));
    if open.free_bytes.is_some_and(|free| i128::from(wanted) > i128::from(free)) {
        return Err(Error::QuotaExceeded);
    }
    let permit = Permit::take(platform.settings(), request.length)?;
    let mut door = Door::opens_for(&request.token, &open.upload.space);
    let room = Room { space_key: open.space_key, door: &mut door, permit: &permit };
    let body = Body { upload, length: request.length, expected: request.expected.clone() };
    let stored = match receive(platform, room, body).await {
        Ok(received) => {
            let blob = NewBlob::received(received, door.ingest())?;
            let part = NewPart { request, place: &place, blob: &blob };
            part.commit(platform, &open, replaced).await.map(|()| blob.etag)
        }
        Err(error) => Err(error),
    };
    match stored {
        Ok(etag) => Ok(StoredPart { created: replaced.is_none(), etag }),
        Err(error) => {
            if let Some(ingest) = door.ingest() {
                let whose = (&open.account, &open.upload.space);
                jobs::discard_ingest(platform, ingest, whose, &error).await;
            }
            Err(error)
        }
    }
}

struct NewPart<'a> {
    request: &'a PutPart,
    place: &'a str,
    blob: &'a NewBlob,
}

impl NewPart<'_> {
    /// Parts come side by side, and none gets in another one's way: what is guarded is that the folder is open, and that
    /// what the part adds to it is within the quota.
    async fn commit<P: Platform>(&self, platform: &P, open: &Open, replaced: Option<u64>) -> Result<()> {
        let host = platform.host();
        let (now, id, upload) = (host.now(), BlobId::new(host), &open.upload.id);
        let more = self.blob.size_bytes.saturating_sub(replaced.unwrap_or(0));
        let row = BlobRow { id: &id, media_type: "application/octet-stream", space_key: open.space_key, now };
        let mut batch = vec![guard(&self.request.token, &open.upload, None, now, more)];
        batch.extend(self.blob.guard(now)?);
        batch.extend(self.blob.rows(&row)?);
        let part = Statement::new(
            "insert into upload_parts (upload, name, place, blob_id, size_bytes, stored_at)
             values (?1, ?2, ?3, ?4, ?5, ?6)
             on conflict (upload, place, name) do update set blob_id = excluded.blob_id,
               size_bytes = excluded.size_bytes, stored_at = excluded.stored_at",
        );
        batch.push(
            part.bind(upload)
                .bind(self.request.name.as_str())
                .bind(self.place)
                .bind(&id)
                .bind(self.blob.size_bytes)
                .bind(now),
        );
        // Another stamp: what was about to be joined isn't all any more.
        batch.push(
            Statement::new("update uploads set stamp = ?2, expires_at = ?3 where id = ?1")
                .bind(upload)
                .bind(stamp(host))
                .bind(now.plus_secs(platform.settings().upload_ttl_secs)),
        );
        batch.extend(remove_unused_pages());
        let happened = Statement::new("select 1 from blobs where id = ?1").bind(&id);
        write_once(platform, batch, &happened).await.map_err(refused)
    }
}

/// A part, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// When it was put.
    pub stored_at: Timestamp,
}

/// A folder and its parts, in the order in which they will be joined. One round trip.
pub async fn parts<P: Platform>(platform: &P, token: &Token, name: &str) -> Result<(Upload, Vec<Part>)> {
    let list = Statement::new(
        "select p.name, p.size_bytes, p.stored_at, b.etag
           from tokens k cross join uploads u on u.account_id = k.account_id and u.name = ?2
          cross join upload_parts p on p.upload = u.id cross join blobs b on b.id = p.blob_id
          where k.hash = ?1 order by p.place, p.name",
    )
    .bind(token.hash().to_string())
    .bind(name);
    let results = platform.db().read(vec![look_up(token, name, platform.host().now()), list]).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let open = folder(rows(0))?;
    let part = |row: &crate::ports::Row| -> Result<Part> {
        Ok(Part {
            name: row.text("name")?.to_owned(),
            size_bytes: row.unsigned("size_bytes")?,
            etag: row.text("etag")?.to_owned(),
            stored_at: Timestamp(row.integer("stored_at")?),
        })
    };
    Ok((open.upload, rows(1).iter().map(part).collect::<Result<_>>()?))
}

/// The names of the caller's open folders, at most [`super::MAX_OPEN`]. One round trip.
pub async fn folders<P: Platform>(platform: &P, token: &Token) -> Result<Vec<String>> {
    let now = platform.host().now();
    let names = Statement::new(
        "select u.name from tokens k cross join uploads u on u.account_id = k.account_id
          where k.hash = ?1 and u.finished is null and u.kind = 'folder' and u.expires_at > ?2
            and (u.token_id = k.id
                 or k.folder_id is null and (k.space_id is null or k.space_id = u.space_id))
          order by u.name",
    )
    .bind(token.hash().to_string())
    .bind(now);
    let results = platform.db().read(vec![auth::look_up_account(token, now), names]).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::limits(rows(0).first())?;
    rows(1).iter().map(|row| Ok(row.text("name")?.to_owned())).collect()
}

/// Reads a folder that is open.
pub(super) fn folder(rows: &[crate::ports::Row]) -> Result<Open> {
    let open = Open::read(rows)?;
    let is_open = open.upload.kind == Kind::Folder && open.upload.finished.is_none();
    if is_open { Ok(open) } else { Err(Error::NotFound) }
}

/// Where a part stands: numbers by their size, whatever zeros are before them, all else by its characters.
pub(super) fn place(name: &str) -> String {
    let mut place = String::new();
    let mut digits = String::new();
    let flush = |digits: &mut String, place: &mut String| {
        if !digits.is_empty() {
            let number = digits.trim_start_matches('0');
            // Its length first: 1, 2, 10.
            place.push_str(&format!("{:03}{number}", number.len()));
            digits.clear();
        }
    };
    for character in name.chars() {
        if character.is_ascii_digit() {
            digits.push(character);
        } else {
            flush(&mut digits, &mut place);
            place.push(character);
        }
    }
    flush(&mut digits, &mut place);
    place
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn parts_stand_in_the_order_of_their_numbers() {
        for names in [
            &["1", "2", "10", "11", "100"][..],
            &["00001", "00002", "00010"],
            &["000000000000000-000000010485759", "000000010485760-000000020971519"],
            &["9-10", "10-11"],
            &["chunk1", "chunk2", "chunk10"],
        ] {
            let places: Vec<String> = names.iter().map(|name| place(name)).collect();
            assert!(places.is_sorted(), "{places:?}");
        }
    }
}
