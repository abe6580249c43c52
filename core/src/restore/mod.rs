//! A database out of a dump.
//!
//! [`find`] chooses the dump, [`check`] reads all of it before anything is changed, [`load`] fills an empty database with
//! the schema that the dump was made with, and [`settle`] makes what the dump doesn't hold. Migrations that came later run
//! after that. The entry point does this in a database that nobody uses yet.

mod check;
mod load;
mod register;
mod settle;

pub use check::{check, find};
pub use load::load;
pub use register::register;
pub use settle::settle;

use crate::ports::{BucketError, DbError};

/// Why a dump can't be restored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// No dump is complete.
    #[error("no complete dump lies under ledge/meta/: none has an index.json")]
    NoneComplete,
    /// The named one isn't there, or has no index.
    #[error("the dump {0} isn't there, or was never completed: it has no index.json")]
    Incomplete(String),
    /// The dump is newer than this program.
    #[error("the dump was made by a newer Ledge: {0}; restore it with that one")]
    Newer(String),
    /// An object isn't what the index says, or isn't there.
    #[error("the dump is damaged: {key}: {reason}; restore another one")]
    Damaged {
        /// The object.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A row doesn't fit.
    #[error("the dump doesn't fit its schema: table {table}: {source}")]
    Misfit {
        /// The table.
        table: String,
        /// What the database says.
        source: DbError,
    },
    /// The database that is being made can't be written.
    #[error("the new database can't be written: {0}")]
    Database(#[from] DbError),
    /// The bucket can't be read.
    #[error("the bucket can't be read: {0}")]
    Bucket(#[from] BucketError),
}

fn damaged(key: &str, reason: impl ToString) -> RestoreError {
    RestoreError::Damaged { key: key.to_owned(), reason: reason.to_string() }
}
