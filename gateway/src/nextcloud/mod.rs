//! What Nextcloud's clients ask before they use WebDAV: whether there is a server, what it can do, and who they are. The
//! rest of what they do is WebDAV's ([`crate::dav`]).
//!
//! The version is that of the protocol which is spoken, not ours: clients choose by it how they upload.

mod ocs;
mod status;

pub(crate) use ocs::ocs;
pub(crate) use status::status;

/// The version whose chunked uploads these are.
const VERSION: (u32, u32, u32) = (30, 0, 0);
