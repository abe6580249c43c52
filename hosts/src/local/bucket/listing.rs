//! Objects in the order of their keys, a page at a time.
//!
//! The order of whole keys is not that of nested folders: `a-b` comes before `a/b`, and `a0` after it. So the
//! names in a folder are sorted with the slash that follows a folder's. Folders that can't hold an object of the page
//! are not opened.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ledge_core::ports::{ListPage, Listed, Timestamp};

use super::paths::{self, Name};

/// At most `limit` objects whose keys begin with `prefix` and come after `after`.
pub(super) fn page(root: &Path, prefix: &str, after: Option<&str>, limit: usize) -> io::Result<ListPage> {
    let mut walk = Walk { prefix, after: after.unwrap_or_default(), limit, page: ListPage::default() };
    match prefix.rsplit_once('/') {
        None => walk.folder(root, "")?,
        Some((folders, _)) => {
            // None: no key can begin with it.
            if let Some(path) = paths::folder(root, folders) {
                walk.folder(&path, &format!("{folders}/"))?;
            }
        }
    }
    Ok(walk.page)
}

struct Walk<'a> {
    prefix: &'a str,
    /// No key is empty, so `""` is before the first.
    after: &'a str,
    limit: usize,
    page: ListPage,
}

/// Something in a folder, by the beginning that its keys have in common. Sorts by it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// An object's whole key, or a folder's with its slash.
    key: String,
    path: PathBuf,
}

impl Walk<'_> {
    /// Walks through the objects whose keys begin with `base`, which lie in `path`.
    fn folder(&mut self, path: &Path, base: &str) -> io::Result<()> {
        let mut entries = Vec::new();
        self.collect(path, base, "", &mut entries)?;
        entries.sort_unstable();
        for entry in entries {
            if self.page.next.is_some() {
                break;
            }
            if entry.key.ends_with('/') {
                self.folder(&entry.path, &entry.key)?;
            } else {
                self.object(entry)?;
            }
        }
        Ok(())
    }

    fn object(&mut self, entry: Entry) -> io::Result<()> {
        let metadata = match fs::metadata(&entry.path) {
            Ok(metadata) => metadata,
            // Deleted meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if self.page.objects.len() == self.limit {
            self.page.next = self.page.objects.last().map(|last| last.key.clone());
        } else {
            self.page.objects.push(Listed {
                key: entry.key,
                size_bytes: metadata.len(),
                etag: Some(etag(&metadata)),
                stored_at: Timestamp(i64::try_from(stored(&metadata).as_millis()).unwrap_or(i64::MAX)),
            });
        }
        Ok(())
    }

    /// What is in a folder and matters. `name` is what the folders of a long segment spell so far.
    fn collect(&self, path: &Path, base: &str, name: &str, entries: &mut Vec<Entry>) -> io::Result<()> {
        let found = match fs::read_dir(path) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        for found in found {
            let found = found?;
            let file_name = found.file_name();
            // What no key leads to is somebody else's.
            let Some(file_name) = file_name.to_str() else { continue };
            let is_folder = found.file_type()?.is_dir();
            let (end, slash) = match Name::parse(file_name) {
                Name::GoesOn(part) if is_folder => {
                    self.collect(&found.path(), base, &format!("{name}{part}"), entries)?;
                    continue;
                }
                Name::Folder(end) if is_folder => (end, "/"),
                Name::Object(end) if !is_folder => (end, ""),
                _ => continue,
            };
            let Some(segment) = paths::decode(&format!("{name}{end}")) else { continue };
            let key = format!("{base}{segment}{slash}");
            if self.matters(&key) {
                entries.push(Entry { key, path: found.path() });
            }
        }
        Ok(())
    }

    /// Whether an object of the page can have this key, or a folder's objects can.
    fn matters(&self, key: &str) -> bool {
        if key.ends_with('/') {
            (key.starts_with(self.prefix) || self.prefix.starts_with(key))
                && (key > self.after || self.after.starts_with(key))
        } else {
            key.starts_with(self.prefix) && key > self.after
        }
    }
}

/// An entity tag of a file: objects are placed whole, so another content is another file, of another time, though the clock of
/// file systems may stand still for some milliseconds.
pub(super) fn etag(metadata: &Metadata) -> String {
    #[cfg(unix)]
    let number = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let number = 0;
    format!("{number:x}-{:x}-{:x}", stored(metadata).as_nanos(), metadata.len())
}

/// When a file was written, since 1970.
fn stored(metadata: &Metadata) -> Duration {
    let time = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    time.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixture(tempfile::TempDir);

    impl Fixture {
        fn new(keys: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for key in keys {
                let path = paths::object(folder.path(), key).unwrap();
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, key.as_bytes()).unwrap();
            }
            Self(folder)
        }

        /// All pages, checking that each is full but the last.
        fn list(&self, prefix: &str, limit: usize) -> Vec<String> {
            let (mut keys, mut after) = (Vec::new(), None);
            loop {
                let page = page(self.0.path(), prefix, after.as_deref(), limit).unwrap();
                assert!(page.objects.iter().all(|object| object.size_bytes == object.key.len() as u64));
                assert!(page.next.is_none() || page.objects.len() == limit);
                keys.extend(page.objects.into_iter().map(|object| object.key));
                match page.next {
                    None => return keys,
                    next => after = next,
                }
            }
        }
    }

    #[test]
    fn keys_come_in_the_order_of_their_bytes_whatever_the_page() {
        let long = "k".repeat(300);
        let short = "a|a/b|a/b/c|a-b|a.b|a0|a b|ab/c|ab-/c|A|b/a|b/%/x|b/\x7f|~|a/b/c/d/e/f|a/b-|a/b0";
        let long_ones = [&long, &format!("{long}/x"), &format!("{long}-/x"), &format!("{}z", &long[..240])];
        let mut keys: Vec<&str> = short.split('|').chain(long_ones.map(String::as_str)).collect();
        let fixture = Fixture::new(&keys);
        keys.sort_unstable();
        for limit in [1, 2, 3, 7, 1000] {
            for prefix in ["", "a", "a/", "a/b", "a/b/", "ab", "b/", "k", "z", &long[..250], &long] {
                let expected: Vec<_> = keys.iter().filter(|key| key.starts_with(prefix)).copied().collect();
                assert_eq!(fixture.list(prefix, limit), expected, "{prefix} by {limit}");
            }
        }
    }

    #[test]
    fn prefixes_that_no_key_can_have_find_nothing() {
        let fixture = Fixture::new(&["a/b"]);
        for prefix in ["/", "../", "a/../a/", "a//", "é/", "./a", ".."] {
            assert!(fixture.list(prefix, 10).is_empty(), "{prefix}");
        }
    }

    #[test]
    fn files_that_are_no_objects_are_left_out() {
        let fixture = Fixture::new(&["a/b"]);
        fs::write(fixture.0.path().join("a/.DS_Store"), "").unwrap();
        fs::write(fixture.0.path().join("a/%zz%o"), "").unwrap();
        fs::create_dir(fixture.0.path().join("a/folder%o")).unwrap();
        assert_eq!(fixture.list("", 10), ["a/b"]);
    }

    proptest::proptest! {
        #[test]
        fn any_keys_are_listed_in_order(
            keys in proptest::collection::btree_set("[a%.-]{1,3}(/[a0-]{1,2}){0,3}", 1..20),
            prefix in "[a%]{0,1}(/[a0-]{0,1}){0,2}",
            limit in 1_usize..5,
        ) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).filter(|key| paths::object(Path::new(""), key).is_some()).collect();
            let expected: Vec<&str> = keys.iter().filter(|key| key.starts_with(&prefix)).copied().collect();
            proptest::prop_assert_eq!(Fixture::new(&keys).list(&prefix, limit), expected);
        }
    }
}
