//! Folders for a test run's state: made anew, removed at the end.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::stamp::{make_folder, remove_folder};

/// A folder that is removed when this is dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder. The process's id keeps two runs apart.
    pub(super) fn empty(name: &str) -> Result<Self> {
        let folder = Path::new(".ledge/test").join(format!("{name}-{}", std::process::id()));
        remove_folder(&folder)?;
        make_folder(&folder)?;
        Ok(Self(folder))
    }

    /// A copy of a folder.
    pub(super) fn copy_of(template: &Path, name: &str) -> Result<Self> {
        let scratch = Self::empty(name)?;
        copy(template, &scratch.0)?;
        Ok(scratch)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is in the way of nothing: the next run has another name.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_folder(to)?;
    let failed = || format!("can't copy {} to {}", from.display(), to.display());
    for entry in fs::read_dir(from).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().with_context(failed)?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target).with_context(failed)?;
        }
    }
    Ok(())
}
