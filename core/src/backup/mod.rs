//! Dumps of the metadata, into the bucket.
//!
//! The keys of segments are random, so the database is the only map of the bucket. A dump is a second one: all rows that
//! can't be made from others, as compressed lines of JSON, under `ledge/meta/{backup}/`. docs/BACKUP.md has the format.
//!
//! A dump takes as many batches as the database is large, and no database here has a transaction that lasts so long. It
//! shows one moment all the same, that of [`begin`]: while a dump runs, triggers keep what each row was before its first
//! change (migrations, `backup_undo`). [`step`] pages through each table by its primary key, leaves out rows that have
//! changed, and then adds what they were. A row that changes after it was dumped is dumped twice, with the same columns.
//!
//! Each step stores one part and commits by comparing the cursor that it began with, so a step may run twice, or be cut
//! off anywhere. Every object has a key of its own for each attempt: what a lost attempt stored is never listed, and goes
//! before the dump ends or with it.

mod ask;
mod begin;
mod cursor;
mod finish;
mod gzip;
mod index;
mod list;
mod prune;
mod read;
mod step;
pub mod tables;

pub use ask::ask;
pub(crate) use ask::start_as_admin;
pub use begin::begin;
pub use gzip::{GzipError, pack, unpack};
pub(crate) use index::{FORMAT, Header};
pub use index::{Index, Part, index_key, prefix};
pub use list::{Backup, State, list};
pub use step::{Limits, Progress, step};

/// Where dumps lie in the bucket.
pub const META: &str = "ledge/meta/";
