//! The REST API, from outside.

mod auth;
mod budgets;
mod files;
mod folders;
mod jobs;
