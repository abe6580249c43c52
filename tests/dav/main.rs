//! WebDAV, from outside.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod lock;
mod properties;
mod verbs;
