//! Blobs: content as a commit stores it, whoever it is for: a file that is saved or edited, an upload in parts.
//!
//! Content comes here when its bytes are in the bucket already (or small enough for a row) and no row speaks of them.
//! [`NewBlob`] has the statements that change that, and those that refuse where it is too late.

mod base;
mod concat;
mod edit;
mod etag;
mod grow;
mod mosaic;
mod new;
mod paginate;
mod replay;
pub(crate) mod rows;
mod tail;

pub(crate) use base::{
    Base, Reach, STATEMENTS, at, decode, keyed_page, keys, read_object, read_plan, tail_of,
};
pub(crate) use concat::concat;
pub(crate) use edit::{Edit, edit};
pub(crate) use grow::grow;
pub(crate) use mosaic::Mosaic;
pub(crate) use new::{BlobRow, Layout, NewBlob, Stored};
pub(crate) use replay::Replay;
pub(crate) use rows::for_each_piece;

/// The largest tail: what small appends add is kept in the row up to here, and then cut into chunks with what is before
/// it. Base64 makes it 43 kB, some ten pages of the database.
pub(crate) const TAIL_BYTES: usize = 32 * 1024;
