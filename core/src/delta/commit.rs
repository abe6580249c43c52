//! Makes a version of a list of chunks that the space has.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::chunks::{self, Chunk};
use super::look_up;
use crate::blobs::NewBlob;
use crate::buckets;
use crate::conditions::Conditions;
use crate::digest::Sha256;
use crate::error::{Conflict, Error, MAX_NAMED, Result, Unavailable};
use crate::files::{Save, Saved, commit_save, find_for_all};
use crate::ingest::{BUFFER_BYTES, Chunked, Content, Ingest, Permit, Received};
use crate::manifest::Extent;
use crate::ports::{Db, Host, Platform, Timestamp};
use crate::settings::Settings;
use crate::tree::Address;

/// What to save, and on which conditions.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// Where.
    pub address: Address,
    /// The conditions on what is there.
    pub conditions: Conditions,
    /// The media type.
    pub media_type: String,
    /// The modification time, where the client gives one.
    pub modified_at: Option<Timestamp>,
    /// The content.
    pub chunks: Vec<Chunk>,
}

/// Leave to hold a list: take it before the list is read. It is given back when dropped.
#[derive(Debug)]
pub struct Room {
    _permit: Permit,
}

impl Room {
    /// For a list of so many bytes of JSON: that, what is read from it, and the statements that are made of it.
    ///
    /// # Errors
    /// [`Error::Busy`] where there is no room now.
    pub fn take(settings: &Settings, length: Option<u64>) -> Result<Self> {
        let most = BUFFER_BYTES as u64;
        Permit::take(settings, Some(length.unwrap_or(most).saturating_mul(4).min(most)))
            .map(|permit| Self { _permit: permit })
    }
}

/// So often chunks may vanish between look-up and commit and be there again.
const ATTEMPTS: usize = 3;

/// Saves the content that consists of these chunks as the file's newest version, with the guards of any save. Its entity tag
/// and CRC-32 are those that a save of the same bytes, cut likewise, would give it. Two round trips.
///
/// # Errors
/// [`Error::ChunksMissing`] where the space lacks some, or where some have gone meanwhile; the others stay for the grace
/// time. [`Error::NotFound`] for a token that is limited to a folder.
pub async fn commit<P: Platform>(platform: &P, manifest: &Manifest) -> Result<Saved> {
    let size_bytes = chunks::size_bytes(&manifest.chunks)?;
    for _ in 0..ATTEMPTS {
        match attempt(platform, manifest, size_bytes).await {
            // Look again: those that have gone are missing then.
            Err(Error::Unavailable(Unavailable::SegmentsGone)) => {}
            done => return done,
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

async fn attempt<P: Platform>(platform: &P, manifest: &Manifest, size_bytes: u64) -> Result<Saved> {
    let address = &manifest.address;
    let name = address.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?;
    let request = Save {
        address: address.clone(),
        conditions: manifest.conditions.clone(),
        media_type: manifest.media_type.clone(),
        modified_at: manifest.modified_at,
        length: Some(size_bytes),
        expected: Vec::new(),
    };
    let wanted = look_up::distinct(manifest.chunks.iter().map(|chunk| chunk.hash));
    let (target, ingest, found) =
        find_for_all(platform, &request, look_up::find(&address.space, &wanted, &buckets::names(platform)?))
            .await?;
    let made =
        look_up::read(&wanted, &found).and_then(|found| assemble(&manifest.chunks, &found, ingest.as_ref()));
    let saved = match made {
        Ok(blob) => commit_save(platform, &request, name, target, &blob).await,
        Err(error) => Err(error),
    };
    match saved {
        Ok(saved) => Ok(saved),
        Err(Error::ChunksMissing { hashes }) => {
            let hashes = keep_others(platform, address, &wanted, &hashes, ingest).await?;
            Err(Error::ChunksMissing { hashes })
        }
        Err(error) => {
            // Nothing was stored under the ingest: it only gave ids to pages.
            Ingest::forget(ingest.as_ref(), platform).await;
            Err(error)
        }
    }
}

/// The content that the chunks make up, if all of them were found.
fn assemble(chunks: &[Chunk], found: &HashMap<Sha256, Extent>, ingest: Option<&Ingest>) -> Result<NewBlob> {
    if chunks.is_empty() {
        return Ok(NewBlob::empty());
    }
    let mut content = Chunked::default();
    let mut missing = Vec::new();
    for (number, chunk) in chunks.iter().enumerate() {
        match found.get(&chunk.hash) {
            None => missing.push(chunk.hash),
            Some(extent) if extent.length != u64::from(chunk.length) => {
                let reason = format!("chunk {number} has {} bytes, not {}", extent.length, chunk.length);
                return Err(Error::invalid("chunks", reason));
            }
            Some(extent) => content.add(chunk.hash, *extent),
        }
    }
    if !missing.is_empty() {
        let mut hashes = look_up::distinct(missing);
        hashes.truncate(MAX_NAMED);
        return Err(Error::ChunksMissing { hashes });
    }
    let received = Received {
        size_bytes: content.size_bytes,
        etag: content.etag(),
        crc32: content.crc32,
        digests: BTreeMap::new(),
        content: Content::Stored { extents: content.extents, segments: Vec::new(), chunks: Vec::new() },
    };
    NewBlob::received(received, ingest)
}

/// While the missing ones are sent, the others must not go. Returns those that are missing by now.
async fn keep_others<P: Platform>(
    platform: &P,
    address: &Address,
    wanted: &[Sha256],
    missing: &[Sha256],
    ingest: Option<Ingest>,
) -> Result<Vec<Sha256>> {
    let missing: HashSet<&Sha256> = missing.iter().collect();
    let others: Vec<Sha256> = wanted.iter().filter(|hash| !missing.contains(hash)).copied().collect();
    let mut batch = look_up::mark(
        &address.token,
        &address.space,
        &others,
        &buckets::names(platform)?,
        platform.host().now(),
    );
    let marks = batch.len();
    batch.extend(ingest.as_ref().map(Ingest::close));
    let results = platform.db().write(batch).await?;
    let kept: HashSet<Sha256> =
        look_up::marked(results.get(..marks).unwrap_or_default())?.into_iter().collect();
    Ok(wanted.iter().filter(|hash| !kept.contains(hash)).take(MAX_NAMED).copied().collect())
}
