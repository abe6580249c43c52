//! Opens a folder of data as a platform.
//!
//! ```text
//! DIR/ledge.db    the metadata (with -wal and -shm beside it)
//! DIR/objects/    the bucket, unless an S3 bucket is set
//! DIR/incoming/   objects on their way in
//! ```

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ledge_core::ports::Ports;
use ledge_core::settings::{SettingError, Settings};
use tempfile::TempDir;

use super::{InProcess, Local, LocalBuckets, Sqlite, open_buckets};
use crate::buckets::{BucketSettings, Entry};

/// The native platform. Its parts are cheap to clone; clones share what they stand for.
pub type LocalPorts = Ports<Sqlite, LocalBuckets, InProcess, Local>;

/// Opens the data in a folder: creates what is missing and applies the migrations that have not run yet.
///
/// # Errors
/// The folder or a bucket can't be created, or its database can't be opened or brought up to date.
pub fn open(
    data_dir: impl AsRef<Path>,
    settings: Settings,
    buckets: &BucketSettings,
) -> Result<LocalPorts, OpenError> {
    let data_dir = data_dir.as_ref();
    let in_folder = |source| OpenError::Folder { path: data_dir.to_owned(), source };
    fs::create_dir_all(data_dir).map_err(in_folder)?;
    let bucket = open_buckets(data_dir, buckets)?;
    Ok(Ports {
        db: Sqlite::open(&data_dir.join("ledge.db"))?,
        bucket: bucket.clone(),
        queue: InProcess::new(),
        host: Local::new(bucket),
        settings: Rc::new(settings),
    })
}

/// A platform in a folder of its own that is removed when this value goes, with a bucket `second`: for tests and dry runs.
#[derive(Debug)]
pub struct Temporary {
    // In this order: the database is closed before its folder is removed.
    ports: LocalPorts,
    folder: TempDir,
}

/// Opens an empty, temporary platform.
///
/// # Errors
/// As [`open`].
pub fn temporary() -> Result<Temporary, OpenError> {
    temporary_in(&std::env::temp_dir(), None)
}

/// The same, in a folder below `parent`, and with this content of a database file that was closed.
///
/// # Errors
/// As [`open`].
pub fn temporary_in(parent: &Path, database: Option<&[u8]>) -> Result<Temporary, OpenError> {
    let in_parent = |source| OpenError::Folder { path: parent.to_owned(), source };
    let folder = TempDir::with_prefix_in("ledge-", parent).map_err(in_parent)?;
    if let Some(database) = database {
        fs::write(folder.path().join("ledge.db"), database).map_err(in_parent)?;
    }
    let second = folder.path().join("second").to_string_lossy().into_owned();
    let named = [("second".to_owned(), Entry::Folder(second))].into();
    let buckets = BucketSettings { default: None, named };
    Ok(Temporary { ports: open(folder.path(), Settings::default(), &buckets)?, folder })
}

impl Temporary {
    /// Where the data lies.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Deref for Temporary {
    type Target = LocalPorts;

    fn deref(&self) -> &LocalPorts {
        &self.ports
    }
}

/// Why a folder of data can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder, or one in it, can't be created or read.
    #[error("the data folder {} can't be used", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A bucket can't be used.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A bucket's endpoint is `https://`, and there is nothing to know it by.
    #[error("the system has no certificates to know the bucket by; Debian's package is ca-certificates")]
    Certificates {
        /// What the system says.
        source: io::Error,
    },
    /// The database file is not one, or can't be opened.
    #[error("the database {} can't be opened", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A migration failed; nothing of it holds.
    #[error("migration {name} can't be applied")]
    Migration {
        /// Its file.
        name: &'static str,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A migration ran but did not enter its number into `schema_version`; nothing of it holds.
    #[error("migration {name} doesn't record its number in schema_version")]
    Unrecorded {
        /// Its file.
        name: &'static str,
    },
}
