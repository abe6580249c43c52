//! A part of an upload: what arrives is put behind what is there.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::draft::{Draft, Stored};
use super::finish::{Ending, finish};
use super::incoming::Incoming;
use super::row::{Open, look_up};
use super::{Finished, Kind, MAX_LENGTH_BYTES};
use crate::auth;
use crate::blobs::{self, Base, BlobRow, Layout, NewBlob};
use crate::error::{Conflict, Error, Result};
use crate::files::commit::{Content, Refused, write_once};
use crate::ids::{BlobId, UploadId};
use crate::ingest::{Door, Expected, INLINE_BYTES, Permit, Store, inline_etag};
use crate::jobs;
use crate::ports::{Db, Host, Platform, Statement, Timestamp, Upload};
use crate::token::Token;
use crate::versions::remove_unused_pages;

/// What is no longer than this waits in the row for more. So an upload in parts of any size leaves at most one segment for
/// each so many bytes, and one more for each part that is longer.
const TAIL_BYTES: u64 = 64 * 1024;

/// What to append.
#[derive(Debug, Clone)]
pub struct Append {
    /// Whose request.
    pub token: Token,
    /// The upload.
    pub id: UploadId,
    /// Where the body begins: where the upload has ended so far.
    pub offset: u64,
    /// The body's size, where it is known.
    pub length: Option<u64>,
    /// The upload's whole length, where it is said only now.
    pub upload_length: Option<u64>,
    /// Digests that the body must have; then it counts as a whole or not at all.
    pub expected: Vec<Expected>,
}

/// How far the upload is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// How much has arrived.
    pub received_bytes: u64,
    /// When it goes, unless more arrives before.
    pub expires_at: Timestamp,
    /// What it has become, if this was the last part of a file.
    pub finished: Option<Finished>,
}

/// Appends a body. What has filled a buffer of 8 MiB is committed while the rest arrives; of a body that breaks off, all
/// that has come is kept, unless a digest was announced. The last part of a file is committed with the file: where that is
/// refused, the upload stays where it was before its last buffer.
///
/// One round trip, and two for each 8 MiB; two more for the last part of a file.
///
/// # Errors
/// [`Conflict::WrongOffset`] where the upload goes on elsewhere, or another request was faster; those of a save where a
/// file is finished.
pub async fn append<P: Platform, U: Upload>(platform: &P, request: &Append, upload: U) -> Result<Appended> {
    let asked = look_up(&request.token, request.id.as_str(), platform.host().now());
    let results = platform.db().read(vec![asked]).await?;
    let mut open = Open::read(results.first().map(Vec::as_slice).unwrap_or_default())?;
    if open.upload.kind == Kind::Folder {
        return Err(Error::NotFound);
    }
    if request.offset != open.upload.received_bytes {
        return Err(Error::Conflict(Conflict::WrongOffset));
    }
    let missing = missing(request, &mut open)?;
    if request.length.is_some_and(|length| length > missing) {
        return Err(Error::invalid("Content-Length", "it is more than Upload-Length leaves"));
    }
    let is_whole = open.upload.length_bytes == Some(open.upload.received_bytes);
    if open.upload.finished.is_some()
        || is_whole && open.upload.kind == Kind::Part && open.draft.stored.is_some()
    {
        return Ok(open.appended());
    }
    let permit = Permit::take(platform.settings(), request.length.or(open.missing_bytes()))?;
    let tail = std::mem::take(&mut open.draft.tail);
    let mut incoming = Incoming::new(upload, request.expected.clone(), tail, missing);
    loop {
        let mut door = Door::opens_for(&request.token, &open.upload.space);
        let step = Step { platform, token: &request.token, permit: &permit };
        match step.take(&mut open, &mut incoming, &mut door).await {
            Ok(true) => return incoming.cut().map_or_else(|| Ok(open.appended()), Err),
            Ok(false) => {}
            Err(error) => {
                if let Some(ingest) = door.ingest() {
                    let whose = (&open.account, &open.upload.space);
                    jobs::discard_ingest(platform, ingest, whose, &error).await;
                }
                return Err(error);
            }
        }
    }
}

/// How much may still come, after the length that the request tells is noted.
fn missing(request: &Append, open: &mut Open) -> Result<u64> {
    let received = open.upload.received_bytes;
    if let Some(length) = request.upload_length {
        match open.upload.length_bytes {
            None if length < received => {
                return Err(Error::invalid("Upload-Length", "more has arrived already"));
            }
            None if length > MAX_LENGTH_BYTES => {
                return Err(Error::BodyTooLarge { limit_bytes: MAX_LENGTH_BYTES });
            }
            None => {}
            Some(known) if known != length => {
                return Err(Error::invalid("Upload-Length", "it was another one before"));
            }
            Some(_) => {}
        }
        open.upload.length_bytes = Some(length);
    }
    Ok(open.missing_bytes().unwrap_or(MAX_LENGTH_BYTES.saturating_sub(received)))
}

impl Open {
    fn appended(&self) -> Appended {
        Appended {
            received_bytes: self.upload.received_bytes,
            expires_at: self.upload.expires_at,
            finished: self.upload.finished.clone(),
        }
    }
}

/// One commit on the way.
struct Step<'a, P> {
    platform: &'a P,
    token: &'a Token,
    permit: &'a Permit,
}

impl<P: Platform> Step<'_, P> {
    /// Stores what has arrived and commits it; whether that was the end of the body.
    async fn take<U: Upload>(
        &self,
        open: &mut Open,
        incoming: &mut Incoming<U>,
        door: &mut Door,
    ) -> Result<bool> {
        let mut store = Store::new(self.platform, open.space_key, door);
        incoming.fill().await?;
        while !incoming.has_ended() {
            incoming.store(&mut store, self.permit).await?;
            if !incoming.is_verified() {
                let grown = self.grown(open, &mut store).await?;
                self.commit(open, grown, &[]).await?;
                return Ok(false);
            }
        }
        let held = incoming.held_bytes();
        let total = open.draft.stored_bytes() + store.content_bytes() + held;
        if open.upload.length_bytes == Some(total) {
            let blob =
                if open.draft.stored.is_none() && store.content_bytes() == 0 && held <= INLINE_BYTES as u64 {
                    Some(inline(incoming.take()))
                } else if store.content_bytes() == 0 && held == 0 {
                    None
                } else {
                    incoming.store(&mut store, self.permit).await?;
                    self.grown(open, &mut store).await?
                };
            self.end(open, blob).await?;
            return Ok(true);
        }
        if held > TAIL_BYTES {
            incoming.store(&mut store, self.permit).await?;
        }
        let grown = self.grown(open, &mut store).await?;
        let tail = incoming.take();
        self.commit(open, grown, &tail).await?;
        Ok(true)
    }

    /// The draft with what was stored; None where nothing was.
    async fn grown(&self, open: &Open, store: &mut Store<'_, P>) -> Result<Option<NewBlob>> {
        if store.content_bytes() == 0 {
            return Ok(None);
        }
        let nothing = Base::empty();
        let before = open.draft.stored.as_ref().map_or(&nothing, |stored| &stored.content);
        blobs::grow(store, before).await.map(Some)
    }

    /// The last commit: of a file that is finished, or of a part that is whole.
    async fn end(&self, open: &mut Open, blob: Option<NewBlob>) -> Result<()> {
        if open.upload.kind == Kind::Part {
            let blob = match blob {
                None if open.draft.stored.is_none() => Some(inline(Vec::new())),
                blob => blob,
            };
            return self.commit(open, blob, &[]).await;
        }
        let id = BlobId::new(self.platform.host());
        let nothing;
        let (content, blob, etag) = match (&blob, &open.draft.stored) {
            (Some(blob), _) => (Content::New(blob), &id, blob.etag.as_str()),
            (None, Some(draft)) => {
                let draft_bytes = draft.content.size_bytes;
                (Content::Draft { size_bytes: draft_bytes }, &draft.id, draft.content.etag.as_str())
            }
            (None, None) => {
                nothing = NewBlob::empty();
                (Content::New(&nothing), &id, nothing.etag.as_str())
            }
        };
        let target = open.upload.target.clone();
        let target = target.ok_or_else(|| Error::Internal("an upload without a target".to_owned()))?;
        let ending = Ending { token: self.token, target: &target, content, blob, etag, of: Vec::new() };
        let finished = finish(self.platform, &open.upload, &open.stamp, ending).await?;
        open.upload.received_bytes = finished.size_bytes;
        open.upload.finished = Some(finished);
        Ok(())
    }

    /// Commits what the draft has become.
    async fn commit(&self, open: &mut Open, blob: Option<NewBlob>, tail: &[u8]) -> Result<()> {
        let host = self.platform.host();
        let (now, id) = (host.now(), BlobId::new(host));
        let stored_bytes = blob.as_ref().map_or(open.draft.stored_bytes(), |blob| blob.size_bytes);
        let received = stored_bytes + tail.len() as u64;
        let reserved = open.upload.length_bytes.unwrap_or(received);
        let expires_at = now.plus_secs(self.platform.settings().upload_ttl_secs);
        let stamp = stamp(host);
        let more = reserved.saturating_sub(open.reserved_bytes);
        let mut batch = vec![guard(self.token, &open.upload, Some(&open.stamp), now, more)];
        let media_type = open.upload.target.as_ref().map_or("application/octet-stream", |it| &it.media_type);
        if let Some(blob) = &blob {
            batch.extend(blob.guard(now)?);
            batch.extend(blob.rows(&BlobRow { id: &id, media_type, space_key: open.space_key, now })?);
        }
        let before = open.draft.stored.as_ref().map(|stored| &stored.id);
        batch.push(
            Statement::new(
                "update uploads set blob_id = ?2, tail = ?3, received_bytes = ?4, reserved_bytes = ?5,
                        length_bytes = ?6, stamp = ?7, expires_at = ?8 where id = ?1",
            )
            .bind(&open.upload.id)
            .bind(if blob.is_some() { Some(&id) } else { before })
            .bind((!tail.is_empty()).then(|| STANDARD.encode(tail)))
            .bind(received)
            .bind(reserved)
            .bind(open.upload.length_bytes)
            .bind(stamp.as_str())
            .bind(expires_at),
        );
        batch.extend(remove_unused_pages());
        let happened =
            Statement::new("select 1 from uploads where id = ?1 and stamp = ?2").bind(&open.upload.id);
        write_once(self.platform, batch, &happened.bind(stamp.as_str())).await.map_err(refused)?;
        if let Some(blob) = blob {
            let before = open.draft.stored.as_ref().map(|stored| &stored.content);
            let content = Base::committed(&blob, before);
            open.draft = Draft { stored: Some(Stored { id, content }), tail: Vec::new() };
        }
        (open.upload.received_bytes, open.reserved_bytes) = (received, reserved);
        (open.upload.expires_at, open.stamp) = (expires_at, stamp);
        Ok(())
    }
}

/// Content that fits a row.
fn inline(bytes: Vec<u8>) -> NewBlob {
    NewBlob {
        size_bytes: bytes.len() as u64,
        etag: inline_etag(&bytes),
        crc32: crc32fast::hash(&bytes),
        layout: Layout::Inline(bytes),
        ..NewBlob::empty()
    }
}

/// Refuses a commit unless the caller may still write, the upload is open, with this stamp if one is given, and
/// `more_bytes` are within the quota.
pub(super) fn guard(
    token: &Token,
    upload: &super::Upload,
    stamp: Option<&str>,
    now: Timestamp,
    more_bytes: u64,
) -> Statement {
    Statement::new(format!(
        "insert into guard (why) select why from (select case
           when not {} then 'access_gone'
           when not exists (select 1 from uploads where id = ?4 and expires_at > ?3) then 'upload_gone'
           when not exists (select 1 from uploads
                             where id = ?4 and finished is null and (?5 is null or stamp = ?5)) then 'upload_changed'
           when ?6 > 0 and (select used_bytes + reserved_bytes + ?6 > quota_bytes from spaces where id = ?2)
             then 'quota_exceeded'
         end as why) where why is not null",
        auth::STILL_UPLOADS
    ))
    .bind(token.hash().to_string())
    .bind(&upload.space)
    .bind(now)
    .bind(&upload.id)
    .bind(stamp)
    .bind(more_bytes)
}

/// Another one with each commit.
pub(super) fn stamp(host: &impl Host) -> String {
    let mut random = [0; 8];
    host.random(&mut random);
    format!("{:016x}", u64::from_be_bytes(random))
}

/// Whoever may no longer write is told so when they ask again.
pub(super) fn refused(refused: Refused) -> Error {
    match refused {
        Refused::TargetChanged => Error::Conflict(Conflict::Contended),
        Refused::For(error) => error,
    }
}
