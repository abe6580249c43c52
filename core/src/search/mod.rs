//! Search by name: any substring, in any case and normal form, in any script.
//!
//! The index is the database's (`node_names` in migrations/); it gives the newest matches, and [`rank`] orders them.

mod find;
mod rank;

pub use find::{Found, Hit, MAX_LIMIT, Search, search};
