//! Entity tags of contents that were made of others.

use crate::digest::Sha256;

/// What was done to the content with the entity tag `old`: from `start` to `end` it was replaced by chunks, and then by
/// bytes that are in the row. The same of the same is the same content, and so the tag is strong; another way to the
/// same content may lead to another tag.
pub(super) fn edited(old: &str, start: u64, end: u64, chunks: &str, bytes: &[u8]) -> String {
    let bytes = Sha256::of(bytes);
    Sha256::of(format!("edit {old} {start} {end} {chunks} {bytes}").as_bytes()).to_string()
}

/// What contents with these entity tags make one after another; one alone stays what it is.
pub(super) fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = parts.collect();
    match parts.as_slice() {
        [one] => (*one).to_owned(),
        many => Sha256::of(format!("concat {}", many.join(" ")).as_bytes()).to_string(),
    }
}
