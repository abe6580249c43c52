//! The REST API, from outside.

#![allow(clippy::unwrap_used, reason = "test code")]

mod auth;
mod budgets;
mod files;
mod folders;
mod jobs;
