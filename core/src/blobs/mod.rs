//! Blobs: content as a commit stores it, whoever it is for: a file that is saved or edited, an upload in parts.
//!
//! Content comes here when its bytes are in the bucket already (or small enough for a row) and no row speaks of them.
//! [`NewBlob`] has the statements that change that, and those that refuse where it is too late.

mod new;
mod rows;

pub(crate) use new::{BlobRow, Layout, NewBlob, Stored};
pub(crate) use rows::for_each_piece;
