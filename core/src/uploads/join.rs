//! Joining parts to a file: a new list of pages, and no byte of content but what lies in rows.

use super::create::{Create, NewRow};
use super::finish::{Ending, finish};
use super::folder::folder;
use super::row::{Open, look_up, stored};
use super::{Finished, Kind, MAX_PARTS, Target, Upload};
use crate::blobs::{self, Base, NewBlob};
use crate::error::{Conflict, Error, Result};
use crate::files;
use crate::files::commit::Content;
use crate::ids::{AccountId, BlobId, SpaceId, UploadId};
use crate::ingest::{Door, Store};
use crate::jobs;
use crate::manifest;
use crate::ports::{Db, Host, Platform, Statement};
use crate::token::Token;

/// So many parts are read at once.
const PAGE: usize = 500;

/// A part of each, with the extents of its first and its last page: all that joining has to know.
macro_rules! parts {
    ($from:literal) => {
        concat!(
            "select ",
            $from,
            " b.id as blob_id, b.size_bytes, b.etag, b.inline, b.pages,
             (select json_group_array(json_array(p.id, json(p.extents)))
                from json_each(b.pages) e cross join pages p on p.id = json_extract(e.value, '$[1]')
               where e.key = 0 or e.key = json_array_length(b.pages) - 1) as loaded "
        )
    };
}

const OF_UPLOADS: &str = concat!(
    parts!("u.id, u.stamp,"),
    " from json_each(?1) o cross join uploads u on u.account_id = ?2 and u.name = o.value
       left join blobs b on b.id = u.blob_id
      where u.kind = 'part' and u.finished is null and u.expires_at > ?3 and u.space_id = ?4
        and u.received_bytes = u.length_bytes
      order by o.key"
);

const OF_FOLDER: &str = concat!(
    parts!("p.place, p.name,"),
    " from upload_parts p cross join blobs b on b.id = p.blob_id
      where p.upload = ?1 and (p.place, p.name) > (?2, ?3) order by p.place, p.name limit ?4"
);

/// What to join.
#[derive(Debug, Clone)]
pub struct Join {
    /// The upload that comes of it: whose, where to.
    pub create: Create,
    /// Its parts, in their order.
    pub parts: Vec<UploadId>,
}

/// Joins uploads that are parts, all of them whole and in the file's space, and finishes the file. The parts are gone
/// then. Five round trips, and one for each 500 parts more.
///
/// # Errors
/// [`Conflict::Incomplete`]; those of a save.
pub async fn join<P: Platform>(platform: &P, request: &Join) -> Result<Upload> {
    let Create { token, space, target, .. } = &request.create;
    let target = target.as_ref().ok_or_else(|| Error::Internal("nowhere to join to".to_owned()))?;
    if request.parts.is_empty() || request.parts.len() > MAX_PARTS {
        return Err(Error::invalid("Upload-Concat", format!("expected 1 to {MAX_PARTS} parts")));
    }
    let caller = files::check(platform, &target.save(token, space)?).await?;
    let (mut found, mut stamps) = (Vec::new(), Vec::new());
    for ids in request.parts.chunks(PAGE) {
        let ids: Vec<&str> = ids.iter().map(UploadId::as_str).collect();
        let asked = Statement::new(OF_UPLOADS)
            .bind(manifest::to_json(&ids)?)
            .bind(&caller.account)
            .bind(platform.host().now())
            .bind(space);
        for row in platform.db().read(vec![asked]).await?.iter().flatten() {
            found.extend(stored(row)?.map(|part| part.content));
            stamps.push((row.text("id")?.to_owned(), row.text("stamp")?.to_owned()));
        }
    }
    if found.len() != request.parts.len() {
        return Err(Error::Conflict(Conflict::Incomplete));
    }
    let (id, kind) = (UploadId::new(platform.host()), Kind::File);
    let row = NewRow { id, name: None, kind, caller: &caller, reserved_bytes: 0 };
    let (mut upload, stamp) = row.insert(platform, &request.create).await?;
    let unchanged = Statement::new(
        "insert into guard (why) select 'upload_changed' where (
           select count(*) from json_each(?1) e cross join uploads u on u.id = json_extract(e.value, '$[0]')
            where u.stamp = json_extract(e.value, '$[1]')) <> json_array_length(?1)",
    )
    .bind(manifest::to_json(&stamps)?);
    let gone = Statement::new(
        "delete from uploads where id in (select json_extract(value, '$[0]') from json_each(?1))",
    )
    .bind(manifest::to_json(&stamps)?);
    let joining = Joining {
        platform,
        token,
        space,
        account: &caller.account,
        space_key: caller.space_key,
        target,
        of: vec![unchanged, gone],
    };
    match joining.run(&upload, &stamp, &found).await {
        Ok(finished) => {
            (upload.received_bytes, upload.length_bytes) = (finished.size_bytes, Some(finished.size_bytes));
            upload.finished = Some(finished);
            Ok(upload)
        }
        Err(error) => {
            let row = Statement::new("delete from uploads where id = ?1 and finished is null");
            let _expires = platform.db().write(vec![row.bind(&upload.id)]).await;
            Err(error)
        }
    }
}

/// Joins the parts of a folder, in the order of their names, and finishes the file. Three round trips, and one for each
/// 500 parts. A folder that was joined there already, an hour ago at most, answers as it did then.
///
/// # Errors
/// [`Error::NotFound`] where there is no such folder; [`Error::Invalid`] where its parts are not `total_bytes` together;
/// those of a save.
pub async fn join_folder<P: Platform>(
    platform: &P,
    token: &Token,
    name: &str,
    target: &Target,
    total_bytes: Option<u64>,
) -> Result<Finished> {
    let results = platform.db().read(vec![look_up(token, name, platform.host().now())]).await?;
    let rows = results.first().map(Vec::as_slice).unwrap_or_default();
    let before = Open::read(rows)?;
    if let (Kind::Folder, Some(finished), Some(to)) =
        (before.upload.kind, &before.upload.finished, &before.upload.target)
        && to.names == target.names
        && to.base == target.base
    {
        return Ok(finished.clone());
    }
    let open = folder(rows)?;
    let mut found = Vec::new();
    let (mut place, mut last) = (String::new(), String::new());
    loop {
        let asked = Statement::new(OF_FOLDER)
            .bind(&open.upload.id)
            .bind(place.as_str())
            .bind(last.as_str())
            .bind(PAGE as u64);
        let rows = platform.db().read(vec![asked]).await?.pop().unwrap_or_default();
        for row in &rows {
            found.extend(stored(row)?.map(|part| part.content));
        }
        let Some(row) = rows.last().filter(|_| rows.len() == PAGE) else { break };
        (place, last) = (row.text("place")?.to_owned(), row.text("name")?.to_owned());
    }
    let total: u64 = found.iter().map(|part| part.size_bytes).sum();
    if total_bytes.is_some_and(|announced| announced != total) {
        return Err(Error::invalid("OC-Total-Length", format!("the parts are {total} bytes together")));
    }
    let at = Statement::new("update uploads set target = ?2 where id = ?1")
        .bind(&open.upload.id)
        .bind(manifest::to_json(target)?);
    let joining = Joining {
        platform,
        token,
        space: &open.upload.space,
        account: &open.account,
        space_key: open.space_key,
        target,
        of: vec![at],
    };
    joining.run(&open.upload, &open.stamp, &found).await
}

struct Joining<'a, P> {
    platform: &'a P,
    token: &'a Token,
    space: &'a SpaceId,
    account: &'a AccountId,
    space_key: i64,
    target: &'a Target,
    of: Vec<Statement>,
}

impl<P: Platform> Joining<'_, P> {
    async fn run(self, upload: &Upload, stamp: &str, parts: &[Base]) -> Result<Finished> {
        let (platform, account, space) = (self.platform, self.account.clone(), self.space.clone());
        let mut door = Door::opens_for(self.token, self.space);
        let finished = match self.blob(&mut door, parts).await {
            Ok(content) => self.finish(upload, stamp, &content).await,
            Err(error) => Err(error),
        };
        if let (Err(error), Some(ingest)) = (&finished, door.ingest()) {
            jobs::discard_ingest(platform, ingest, (&account, &space), error).await;
        }
        finished
    }

    async fn blob(&self, door: &mut Door, parts: &[Base]) -> Result<NewBlob> {
        let mut store = Store::new(self.platform, self.space_key, door);
        let mut joined = blobs::concat(&mut store, parts).await?;
        // Those that stay are guarded by the upload's stamp, or its parts'.
        joined.kept.clear();
        Ok(joined)
    }

    async fn finish(self, upload: &Upload, stamp: &str, content: &NewBlob) -> Result<Finished> {
        let id = BlobId::new(self.platform.host());
        let ending = Ending {
            token: self.token,
            target: self.target,
            content: Content::New(content),
            blob: &id,
            etag: &content.etag,
            of: self.of,
        };
        finish(self.platform, upload, stamp, ending).await
    }
}
