//! `Bucket` in a folder: one file for each object.
//!
//! An object is written beside the others, synced, and renamed to its place, so that it is there whole or not
//! at all. All file operations run on blocking threads; one that was begun is finished even if its caller goes.

mod listing;
mod paths;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ledge_core::digest::Sha256;
use ledge_core::plan::Place;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Presigned};
use tempfile::{NamedTempFile, PersistError};

/// The most objects in a page, as the port says.
const PAGE_OBJECTS: usize = 1000;

/// Files in `incoming` that are older were left behind by a crash. No upload of one object takes so long.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// How often to start again when a `delete` prunes a folder in which a `put` is about to place its object.
const PLACE_ATTEMPTS: usize = 16;

/// A folder of objects. Clones share it.
#[derive(Debug, Clone)]
pub struct Folder {
    places: Arc<Places>,
}

#[derive(Debug)]
struct Places {
    /// Holds the objects; see `paths` for how a key becomes a path.
    objects: PathBuf,
    /// In the same file system, for objects on their way in.
    incoming: PathBuf,
}

impl Folder {
    /// Opens or creates the two folders, and removes what crashes left in `incoming` long ago.
    ///
    /// # Errors
    /// A folder can't be created or read.
    pub fn open(objects: PathBuf, incoming: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&objects)?;
        fs::create_dir_all(&incoming)?;
        for entry in fs::read_dir(&incoming)? {
            let entry = entry?;
            let age = SystemTime::now().duration_since(entry.metadata()?.modified()?).unwrap_or_default();
            if age > ABANDONED_AFTER {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(Self { places: Arc::new(Places { objects, incoming }) })
    }

    /// Opens an object to read `range` of it, now and after a `delete`.
    pub(super) async fn open_object(
        &self,
        place: &Place,
        range: Range<u64>,
    ) -> Result<OpenObject, BucketError> {
        let etag = place.etag.clone();
        self.blocking(&place.key, move |places, key| places.open_object(key, &range, etag.as_deref())).await
    }

    /// Runs file operations on a blocking thread, with the key they are about.
    async fn blocking<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(&Places, &str) -> Result<T, BucketError> + Send + 'static,
    ) -> Result<T, BucketError> {
        let (places, key) = (self.places.clone(), key.to_owned());
        tokio::task::spawn_blocking(move || work(&places, &key))
            .await
            .unwrap_or_else(|error| Err(BucketError::Unavailable(error.to_string())))
    }
}

impl Bucket for Folder {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.blocking(key, move |places, key| places.open_object(key, &range, None)?.read_now(range)).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let etag = etag.to_owned();
        self.blocking(key, move |places, key| places.open_object(key, &range, Some(&etag))?.read_now(range))
            .await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.blocking(key, move |places, key| places.etag(key)).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        let bytes = bytes.to_vec();
        self.blocking(key, move |places, key| {
            if Sha256::of(&bytes) != sha256 {
                return Err(BucketError::Damaged(key.to_owned()));
            }
            places.put(key, &bytes)
        })
        .await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        let keys = keys.to_vec();
        self.blocking("", move |places, _| places.delete(&keys)).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        let after = cursor.map(str::to_owned);
        self.blocking(prefix, move |places, prefix| {
            listing::page(&places.objects, prefix, after.as_deref(), PAGE_OBJECTS)
                .map_err(|error| unavailable(prefix, &error))
        })
        .await
    }

    /// Nobody reaches the folder without Ledge.
    fn presign(&self, _: &str, _: &Direct<'_>) -> Option<Presigned> {
        None
    }
}

impl Places {
    fn open_object(
        &self,
        key: &str,
        range: &Range<u64>,
        unchanged: Option<&str>,
    ) -> Result<OpenObject, BucketError> {
        let not_found = || match unchanged {
            None => BucketError::NotFound(key.to_owned()),
            Some(_) => BucketError::Changed(key.to_owned()),
        };
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => not_found(),
            _ => unavailable(key, &error),
        };
        let path = paths::object(&self.objects, key).ok_or_else(not_found)?;
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if unchanged.is_some_and(|etag| etag != listing::etag(&metadata)) {
            return Err(BucketError::Changed(key.to_owned()));
        }
        let size_bytes = metadata.len();
        if range.start > range.end || range.end > size_bytes {
            return Err(BucketError::OutOfRange(key.to_owned()));
        }
        Ok(OpenObject { key: key.into(), file: Arc::new(file) })
    }

    fn etag(&self, key: &str) -> Result<String, BucketError> {
        let path = paths::object(&self.objects, key).ok_or_else(|| BucketError::NotFound(key.to_owned()))?;
        match fs::metadata(path) {
            Ok(metadata) => Ok(listing::etag(&metadata)),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(BucketError::NotFound(key.to_owned())),
            Err(error) => Err(unavailable(key, &error)),
        }
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError> {
        let path = paths::object(&self.objects, key)
            .ok_or_else(|| BucketError::Unavailable(format!("{key:?} can't be an object's key")))?;
        self.write_and_place(&path, bytes).map_err(|error| unavailable(key, &error))
    }

    fn write_and_place(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // Removed when dropped, unless it was placed.
        let mut incoming = NamedTempFile::new_in(&self.incoming)?;
        incoming.write_all(bytes)?;
        incoming.as_file().sync_all()?;

        let folder = path.parent().unwrap_or(&self.objects);
        let mut attempts = 0;
        while let Err(failed) = create_and_persist(folder, incoming, path) {
            attempts += 1;
            if failed.error.kind() != ErrorKind::NotFound || attempts == PLACE_ATTEMPTS {
                return Err(failed.error);
            }
            incoming = failed.file;
        }
        // The new entry, and those of the folders that may be new.
        self.up_to_root(folder).try_for_each(sync_folder)
    }

    fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        // Each is synced once, however many objects it lost.
        let mut changed = BTreeSet::new();
        let removed = keys.iter().try_for_each(|key| {
            let folder = self.remove(key).map_err(|error| unavailable(key, &error))?;
            changed.extend(folder);
            Ok(())
        });
        // What was removed before an error stays removed, too.
        for folder in changed {
            match sync_folder(&folder) {
                // Pruned meanwhile; the folder that lost it is synced by whoever did it.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                synced => synced.map_err(|error| unavailable(&folder.to_string_lossy(), &error))?,
            }
        }
        removed
    }

    /// Removes an object and the folders that it leaves empty. The folder whose entries changed, if any.
    fn remove(&self, key: &str) -> io::Result<Option<PathBuf>> {
        let Some(path) = paths::object(&self.objects, key) else { return Ok(None) };
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        // The first folder that isn't empty (or that can't be removed) ends it.
        let folder = path.parent().unwrap_or(&self.objects);
        let left = self
            .up_to_root(folder)
            .find(|folder| **folder == *self.objects || fs::remove_dir(folder).is_err());
        Ok(left.map(Path::to_owned))
    }

    /// `folder` and those above it, up to the folder of all objects.
    fn up_to_root<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = &'a Path> {
        folder.ancestors().take_while(|folder| folder.starts_with(&self.objects))
    }
}

/// Both steps fail with NotFound where a folder is pruned in between.
fn create_and_persist(folder: &Path, incoming: NamedTempFile, path: &Path) -> Result<File, PersistError> {
    match fs::create_dir_all(folder) {
        Ok(()) => incoming.persist(path),
        Err(error) => Err(PersistError { error, file: incoming }),
    }
}

/// Makes the entries of a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows has no such call; renames are in its journal.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn unavailable(key: &str, error: &io::Error) -> BucketError {
    BucketError::Unavailable(format!("{key}: {error}"))
}

/// An object opened for reading. Clones share the file; reads don't move a common position.
#[derive(Debug, Clone)]
pub(super) struct OpenObject {
    key: Arc<str>,
    file: Arc<File>,
}

impl OpenObject {
    /// Reads a range on a blocking thread.
    pub(super) async fn read(self, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        tokio::task::spawn_blocking(move || self.read_now(range))
            .await
            .unwrap_or_else(|error| Err(BucketError::Unavailable(error.to_string())))
    }

    fn read_now(&self, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let length = usize::try_from(range.end.saturating_sub(range.start))
            .map_err(|_| BucketError::OutOfRange(self.key.to_string()))?;
        let mut bytes = vec![0; length];
        read_exact_at(&self.file, &mut bytes, range.start).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => BucketError::OutOfRange(self.key.to_string()),
            _ => unavailable(&self.key, &error),
        })?;
        Ok(bytes)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !into.is_empty() {
        match file.seek_read(into, offset)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => {
                into = into.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
