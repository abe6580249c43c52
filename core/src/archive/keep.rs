//! An archive that is kept: a file of which only the headers, and what lies in rows, are written. All other content is
//! where it was, and the new file keeps it there.

use std::collections::VecDeque;

use super::layout::{Content, Piece};
use super::open::{Archive, Sources, TRIES, find, open};
use crate::blobs::{Mosaic, NewBlob};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::files::{self, Adopt, Edited, Save, Stored, Tell};
use crate::ids::BlobId;
use crate::ingest::{BUFFER_BYTES, Door, Permit, Store};
use crate::jobs;
use crate::ports::Platform;
use crate::tree::Address;

/// So many contents are looked up in a round trip: if all are as large as a row can have, they are 8 MB.
const CONTENTS: usize = 2000;

/// What to keep, and where.
#[derive(Debug, Clone)]
pub struct Keep {
    /// Where the file is to be.
    pub address: Address,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// Files and folders of the same space, each at the top; [`MAX_SOURCES`](super::MAX_SOURCES) at most.
    pub sources: Vec<Address>,
    /// The file's media type.
    pub media_type: String,
}

/// Makes the archive the newest version of a file, all of one state of the space. Five round trips, one for each 5,000 nodes
/// of each folder, one for each 2,000 files, and one for each further 8 MiB that are written. Tells what will have been made
/// before each attempt to commit it.
///
/// # Errors
/// As [`open`]; [`Error::TooManyEntries`] where its pieces are too many for one commit.
pub async fn keep<P: Platform>(platform: &P, request: &Keep, tell: &Tell<'_>) -> Result<Edited> {
    let save = Save {
        address: request.address.clone(),
        conditions: request.conditions.clone(),
        media_type: request.media_type.clone(),
        modified_at: None,
        length: None,
        expected: Vec::new(),
    };
    let caller = files::check(platform, &save).await?;
    let _permit = Permit::take(platform.settings(), Some(BUFFER_BYTES as u64))?;
    let mut door = Door::opens_for(&save.address.token, &save.address.space);
    let mut store = Store::new(platform, caller.space_key, &mut door);
    let kept = attempts(platform, request, &save, caller.free_bytes, &mut store, tell).await;
    drop(store);
    if let (Err(error), Some(ingest)) = (&kept, door.ingest()) {
        tell(None)?;
        jobs::discard_ingest(platform, ingest, (&caller.account, &save.address.space), error).await;
    }
    kept
}

async fn attempts<P: Platform>(
    platform: &P,
    request: &Keep,
    save: &Save,
    free_bytes: Option<i64>,
    store: &mut Store<'_, P>,
    tell: &Tell<'_>,
) -> Result<Edited> {
    for _ in 0..TRIES {
        let archive = open(platform, Sources::Each(&request.sources)).await?;
        if free_bytes.is_some_and(|free| i128::from(archive.size_bytes) > i128::from(free)) {
            return Err(Error::QuotaExceeded);
        }
        let Some(content) = written(platform, &archive, store).await? else { continue };
        let blob = BlobId::new(platform.host());
        let adopt = Adopt {
            content: files::commit::Content::New(&content),
            blob: &blob,
            etag: &content.etag,
            before: Vec::new(),
        };
        let edited = |saved: &files::Saved| Edited {
            saved: saved.clone(),
            media_type: request.media_type.clone(),
            start: 0,
        };
        let told = |saved: &files::Saved| tell(Some(&edited(saved))).map(|()| Vec::new());
        return files::adopt(platform, save, &adopt, told).await.map(|saved| edited(&saved));
    }
    Err(Error::Conflict(Conflict::Contended))
}

/// Writes what isn't in the bucket. None where content has gone since the archive was laid out.
async fn written<P: Platform>(
    platform: &P,
    archive: &Archive,
    store: &mut Store<'_, P>,
) -> Result<Option<NewBlob>> {
    let layout = &archive.layout;
    let pieces = layout.pieces(&(0..archive.size_bytes));
    let contents: Vec<&Content> = pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Of(node, _) => layout.content(*node),
            Piece::Made(_) => None,
        })
        .collect();
    let mut asked = contents.chunks(CONTENTS);
    let mut found: VecDeque<Option<Stored>> = VecDeque::new();
    let mut mosaic = Mosaic::new(store);
    for piece in pieces {
        let range = match piece {
            Piece::Made(bytes) => {
                mosaic.bytes(&bytes).await?;
                continue;
            }
            Piece::Of(_, range) => range,
        };
        if found.is_empty() {
            found.extend(find(platform, asked.next().unwrap_or_default()).await?);
        }
        let Some(Some(stored)) = found.pop_front() else { return Ok(None) };
        let mut size_bytes = 0;
        for page in &stored.pages {
            size_bytes += page.extents.iter().map(|extent| extent.length).sum::<u64>();
            mosaic.extents(&page.extents)?;
        }
        if let Some((_, bytes)) = &stored.rest {
            size_bytes += bytes.len() as u64;
            mosaic.bytes(bytes).await?;
        }
        if size_bytes != range.end {
            return Err(Error::Internal(format!("content of {} bytes has {size_bytes}", range.end)));
        }
    }
    mosaic.finish(archive.etag.clone()).await.map(Some)
}
