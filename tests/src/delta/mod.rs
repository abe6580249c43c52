//! A client of delta saves, as docs/DELTA.md tells how to write one. It cuts with core's own chunker.

mod client;
mod cut;

pub use client::{Received, Sent, receive, save};
pub use cut::{Piece, cut, manifest, packs};
