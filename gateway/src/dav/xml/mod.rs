//! XML in and out.

mod literal;
mod read;
mod request;
mod write;

pub(super) use read::parse;
pub(super) use request::{Instruction, LockInfo, lockinfo, propertyupdate, propfind};
pub(crate) use write::escape;
pub(super) use write::{Multistatus, element};

/// The namespace of WebDAV's own elements.
pub(super) const DAV: &str = "DAV:";

/// The namespace of `xml:lang` and its like.
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// A property's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Name {
    /// Empty for none.
    pub(super) namespace: String,
    pub(super) local: String,
}
