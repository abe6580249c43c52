//! The REST API, from outside.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod archive;
mod auth;
mod backups;
mod buckets;
mod budgets;
mod changes;
mod cors;
mod delta;
mod files;
mod folder_tokens;
mod folders;
mod idempotency;
mod imports;
mod jobs;
mod nodes;
mod openapi;
mod races;
mod reclaim;
mod scale;
mod scope;
mod search;
mod sizes;
mod spaces;
mod stat;
mod thumbnails;
mod tokens;
mod trash;
mod uploads;
mod versions;
mod viewer;
