//! WebDAV, from outside. Tests are named after the cases in docs/CASES.md that they prove.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod auth;
mod clients;
mod conditions;
mod copymove;
mod delete;
mod destination;
mod get;
mod hostile;
mod hrefs;
mod if_header;
mod listings;
mod lock;
mod locks;
mod mkcol;
mod names;
mod nextcloud;
mod options;
mod partial;
mod properties;
mod propfind;
mod proppatch;
mod put;
mod quota;
mod ranges;
mod times;
mod verbs;
