//! Versions: the history of a file. Saving makes one; here they are listed, restored, labelled and deleted. Reading
//! one is reading the file ([`crate::files::Which`]).

mod delete;
mod expire;
mod label;
mod list;
mod restore;
mod target;

pub use delete::{Delete, delete};
pub(crate) use delete::{remove_loose_blob, remove_loose_blobs, remove_unused_pages};
pub use expire::expire_step;
pub(crate) use expire::remove_excess;
pub use label::{SetLabel, set_label};
pub use list::{Entry, Page, list};
pub use restore::{Restore, Restored, restore};

use crate::error::{Error, Result};

/// The longest label. One line of a list.
const MAX_LABEL_BYTES: usize = 255;

/// A version's name in its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(String);

impl Label {
    /// Checks a label: 1 to 255 bytes without control characters.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() || text.len() > MAX_LABEL_BYTES || text.chars().any(char::is_control) {
            return Err(Error::invalid(
                "label",
                "expected 1 to 255 bytes without control characters, or null",
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
