//! The engine's tests that are a file each, in one program: each program links the whole gateway. Those that are a folder are
//! programs of their own.

mod archive;
mod buckets;
mod changes;
mod dav;
mod delta;
mod direct;
mod edits;
mod faults;
mod idempotency;
mod imports;
mod invariants;
mod large;
mod locks;
mod plans;
mod policies;
mod scale;
mod scopes;
mod sizes;
mod thumbnails;
mod tokens;
mod tree;
mod versions;
mod writers;
