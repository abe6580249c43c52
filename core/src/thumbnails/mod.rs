//! Thumbnails: small pictures of a file's content, made by jobs and kept with its blob.
//!
//! A row says how it stands with a blob's: a job makes them, or they are made, or refused, and why. Keyed by blob, they are
//! made once, however often a file is copied or moved, and go with the blob. All sizes of one picture are one blob that no
//! version has, the **sheet**: so they are stored, repacked, examined and removed as all content is. What they look like is
//! not this crate's: whoever makes them hands them over.

mod ask;
mod find;
mod keep;
mod source;

pub(crate) use ask::{on_commit, wake};
pub use find::{Asked, Found, Image, get};
pub use keep::{Made, keep, refuse};
pub use source::{Source, source};

use serde::{Deserialize, Serialize};

/// The squares that thumbnails fit in, in pixels.
pub const SIZES: [u32; 4] = [128, 256, 512, 1024];

/// A file that is longer has none: it is read into memory as a whole.
pub const MAX_SOURCE_BYTES: u64 = 32 << 20;

/// Where a thumbnail is in its sheet: as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    /// Which of [`SIZES`] it is for.
    sizes: Vec<u32>,
    media_type: String,
    /// Its first byte.
    start: u64,
    length: u64,
    /// Its entity tag, without quotes.
    etag: String,
}

/// The media types of what is read. Others have no job, so that a folder full of them doesn't leave one for each.
const READ: [&str; 9] = [
    "image/jpeg",
    "image/jpg",
    "image/png",
    "image/apng",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/x-ms-bmp",
    "image/x-bmp",
];
/// What nobody has named may be a picture.
const UNNAMED: &str = "application/octet-stream";

/// Why content of this kind has no thumbnails, as far as that can be told without a look at it.
fn hopeless(media_type: &str, size_bytes: u64) -> Option<String> {
    let essence = essence(media_type);
    if !READ.contains(&essence.as_str()) && essence != UNNAMED {
        return Some(format!("{essence} is none of the formats that are read"));
    }
    if size_bytes == 0 {
        return Some("the file is empty".to_owned());
    }
    (size_bytes > MAX_SOURCE_BYTES)
        .then(|| format!("the file has more than {} MiB, which is the limit", MAX_SOURCE_BYTES >> 20))
}

fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_stored_entries_is_fixed() {
        let entry = Entry {
            sizes: vec![512, 1024],
            media_type: "image/jpeg".to_owned(),
            start: 9,
            length: 8,
            etag: "e".to_owned(),
        };
        let text = r#"{"sizes":[512,1024],"media_type":"image/jpeg","start":9,"length":8,"etag":"e"}"#;
        assert_eq!(serde_json::to_string(&entry).unwrap(), text);
        assert_eq!(serde_json::from_str::<Entry>(text).unwrap(), entry);
    }

    #[test]
    fn what_may_be_a_picture_is_looked_at() {
        assert_eq!(hopeless("image/jpeg", 5), None);
        assert_eq!(hopeless("IMAGE/PNG; x=y", 5), None);
        assert_eq!(hopeless("application/octet-stream", 5), None);
        assert!(hopeless("text/plain", 5).is_some() && hopeless("image/heic", 5).is_some());
        assert!(hopeless("image/jpeg", 0).is_some());
        assert!(hopeless("image/jpeg", MAX_SOURCE_BYTES + 1).is_some());
    }
}
