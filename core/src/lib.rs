//! The drive itself: pure rules, and use cases over four ports.
//!
//! Core knows no host and no HTTP framework, and depends on no crate that needs a clock, a thread, a file or a
//! socket. The words used here are defined in docs/ARCHITECTURE.md.

// The rules: pure functions.
pub mod chunk;
pub mod conditions;
pub mod digest;
pub mod error;
pub mod ids;
pub mod manifest;
pub mod media_type;
pub mod path;
pub mod plan;
pub mod range;
pub mod token;

// What a user does.
pub mod archive;
pub mod auth;
pub mod backup;
pub(crate) mod blobs;
pub mod bootstrap;
pub(crate) mod buckets;
pub mod changes;
pub mod delta;
pub mod doctor;
pub mod files;
pub mod folders;
pub mod idempotency;
pub mod imports;
pub mod ingest;
pub mod jobs;
pub mod locks;
pub mod mount;
pub mod nodes;
pub mod properties;
pub mod reclaim;
pub mod restore;
pub mod search;
pub mod spaces;
pub mod thumbnails;
pub mod tokens;
pub mod trash;
pub mod tree;
pub mod unzip;
pub mod uploads;
pub mod versions;

// The outside.
pub mod ports;
pub mod settings;
pub mod wrappers;

mod once;
