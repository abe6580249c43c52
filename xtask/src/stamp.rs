//! Stamps: notes beside what was made, saying what it was made from, so that it isn't made again.
//!
//! A stamp is written last. Work that was interrupted has none and is done again.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A note in a file.
pub(crate) struct Stamp(PathBuf);

impl Stamp {
    /// The stamp in this file.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Whether there is one, whatever it says.
    pub(crate) fn exists(&self) -> bool {
        self.0.exists()
    }

    /// Whether the work was finished, from this.
    pub(crate) fn is(&self, made_from: &str) -> bool {
        fs::read_to_string(&self.0).is_ok_and(|note| note == made_from)
    }

    /// The work is finished.
    pub(crate) fn set(&self, made_from: &str) -> Result<()> {
        if let Some(folder) = self.0.parent() {
            make_folder(folder)?;
        }
        fs::write(&self.0, made_from).with_context(|| format!("can't write {}", self.0.display()))
    }

    /// The work is about to be done again.
    pub(crate) fn clear(&self) -> Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("can't remove {}", self.0.display()))
            }
            _ => Ok(()),
        }
    }
}

/// A short text that changes when the files do: their names and their contents. It only has to tell whether
/// work can be skipped, so a fast hash will do, and one that changes with the compiler costs one more run.
pub(crate) fn fingerprint<P: AsRef<Path>>(files: &[P]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        let file = file.as_ref();
        let content = fs::read(file).with_context(|| format!("can't read {}", file.display()))?;
        hasher.write(file.as_os_str().as_encoded_bytes());
        hasher.write_usize(content.len());
        hasher.write(&content);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Makes a folder and those above it.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("can't make the folder {}", folder.display()))
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
