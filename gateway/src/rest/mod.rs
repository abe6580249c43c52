//! The REST API: one folder a resource, one file a verb.

pub(crate) mod append;
pub(crate) mod archive;
pub(crate) mod backups;
mod body;
pub(crate) mod changes;
pub(crate) mod concat;
mod cursor;
pub(crate) mod delta;
mod edited;
pub(crate) mod entries;
mod entry;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod imports;
pub(crate) mod jobs;
pub(crate) mod locks;
mod members;
pub(crate) mod nodes;
mod once;
mod query;
pub(crate) mod reclaim;
pub(crate) mod search;
pub(crate) mod spaces;
pub(crate) mod thumbnail;
pub(crate) mod tokens;
pub(crate) mod trash;
pub(crate) mod uploads;
pub(crate) mod versions;

pub(crate) use once::once;

use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use serde::Serialize;

/// A JSON answer.
fn json(status: StatusCode, value: &impl Serialize) -> Result<Response<ReadPlan>> {
    let text = serde_json::to_vec(value).map_err(|error| Error::Internal(error.to_string()))?;
    let mut response = Response::new(ReadPlan::inline(text));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// 204.
fn no_content() -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
