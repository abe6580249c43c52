//! Delta saves: a client that knows the chunks of its own copy sends only those that the space lacks.
//!
//! [`missing`] says which ones it lacks, [`keep`] stores them, [`commit`] makes a version of a list of chunks, and [`list`]
//! gives the list of a version.
//! Where the bucket allows it, segments may come into it past the drive: [`direct`]. Clients cut with [`crate::chunk::Cutter`], so that both sides find the same chunks.
//!
//! Who knows only the hash of content must not get at it by that. So all of this needs a token that reaches the whole space:
//! it could read whatever the space holds anyway. Other spaces' chunks are never found, since each space has an index of its
//! own, and what a client sends is found by the hash that we computed, never by the one that it claims.

mod chunks;
mod commit;
pub mod direct;
mod keep;
mod list;
mod look_up;
mod missing;
pub mod pack;

pub use chunks::{Chunk, MAX_CHUNKS, MIN_AVERAGE_BYTES, SMALL_CHUNKS};
pub use commit::{Manifest, Room, commit};
pub use keep::{Kept, keep};
pub use list::{ChunkList, Listed, list};
pub use missing::{MAX_HASHES, missing};
