//! GET of the dumps that there are.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::backup;
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::credentials;
use crate::headers::rfc3339;
use crate::openapi::words::Time;
use crate::rest::json;
use crate::rest::query::Query;

/// The dumps that there are.
#[derive(Serialize, ToSchema)]
struct Backups {
    /// The newest first.
    backups: Vec<Backup>,
}

/// A dump of the metadata.
#[derive(Serialize, ToSchema)]
struct Backup {
    /// Its objects lie under `ledge/meta/{id}/`; also the id of the job that made it.
    id: String,
    /// `running`, `done` or `failed`.
    state: &'static str,
    /// The moment that it shows.
    #[schema(value_type = Time)]
    begun_at: String,
    #[schema(required, value_type = Option<Time>)]
    finished_at: Option<String>,
    /// Rows that it has so far.
    rows: u64,
    /// The size of its objects, compressed.
    size_bytes: u64,
    /// The migration whose tables it holds.
    schema_version: u64,
    /// Why it was given up.
    #[schema(required)]
    error: Option<String>,
}

/// The dumps of the metadata, newest first. For administrators.
#[utoipa::path(
    get, path = "/api/v1/admin/backups",
    responses((status = 200, description = "The dumps.", body = Backups)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    let backups = backup::list(platform, &token).await?;
    json(StatusCode::OK, &Backups { backups: backups.into_iter().map(Backup::from).collect() })
}

impl From<backup::Backup> for Backup {
    fn from(backup: backup::Backup) -> Self {
        Self {
            id: backup.id,
            state: backup.state.name(),
            begun_at: rfc3339(backup.begun_at),
            finished_at: backup.finished_at.map(rfc3339),
            rows: backup.rows,
            size_bytes: backup.size_bytes,
            schema_version: backup.schema_version,
            error: backup.error,
        }
    }
}
