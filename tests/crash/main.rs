//! Servers that are killed between two instructions, and started again on what they left.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod backups;
mod jobs;
mod uploads;
