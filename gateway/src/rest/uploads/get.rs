//! GET and HEAD of an upload: how far it is.

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::uploads;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    UPLOAD_CONCAT, UPLOAD_DEFER_LENGTH, UPLOAD_LENGTH, UPLOAD_METADATA, finished, id, other_version, path,
    progress,
};
use crate::credentials;
use crate::headers::{quoted, rfc3339, set};
use crate::openapi::words::Time;
use crate::rest::json;
use crate::rest::query::Query;

/// An upload in parts.
#[derive(Serialize, ToSchema)]
struct Upload {
    id: String,
    space_id: String,
    /// Where to, from what the token sees as the top. Null for a part.
    #[schema(required)]
    path: Option<String>,
    received_bytes: u64,
    /// Null: not known yet.
    #[schema(required)]
    length_bytes: Option<u64>,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    expires_at: String,
    /// The entity tag of the file that it has become. Null: it isn't finished.
    #[schema(required)]
    etag: Option<String>,
    /// The file's id.
    #[schema(required)]
    node_id: Option<String>,
    /// The version's id.
    #[schema(required)]
    version_id: Option<String>,
}

/// How far an upload is: in headers, as tus has it, and in JSON.
#[utoipa::path(
    get, path = "/api/v1/uploads/{id}",
    params(("Tus-Resumable" = Option<String>, Header, description = "`1.0.0`. HEAD needs it.")),
    responses(
        (status = 200, description = "The upload.", body = Upload, headers(
            ("Upload-Offset" = u64), ("Upload-Length" = u64), ("Upload-Expires" = String),
        )),
        (status = 412, description = "`precondition_failed`: HEAD without `Tus-Resumable: 1.0.0`."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, parts: &Parts, at: &str) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    Query::read(&parts.uri, &[])?;
    if let Some(refused) = other_version(&parts.headers).filter(|_| parts.method == Method::HEAD) {
        return Ok(refused);
    }
    let upload = uploads::look(platform, &token, &id(at)?).await?;
    let file = upload.finished.as_ref();
    let mut response = json(
        StatusCode::OK,
        &Upload {
            id: upload.id.to_string(),
            space_id: upload.space.to_string(),
            path: upload.target.as_ref().map(path),
            received_bytes: upload.received_bytes,
            length_bytes: upload.length_bytes,
            created_at: rfc3339(upload.created_at),
            expires_at: rfc3339(upload.expires_at),
            etag: file.map(|file| quoted(&file.etag)),
            node_id: file.and_then(|file| file.node()).map(|id| id.to_string()),
            version_id: file.and_then(|file| file.version()).map(|id| id.to_string()),
        },
    )?;
    let headers = response.headers_mut();
    progress(headers, upload.received_bytes, upload.expires_at);
    match upload.length_bytes {
        Some(length) => headers.insert(UPLOAD_LENGTH, HeaderValue::from(length)),
        None => headers.insert(UPLOAD_DEFER_LENGTH, HeaderValue::from_static("1")),
    };
    let mut said = upload.metadata.lines();
    if let Some(metadata) = said.next().filter(|text| !text.is_empty()) {
        set(headers, UPLOAD_METADATA, metadata);
    }
    if let Some(concat) = said.next() {
        set(headers, UPLOAD_CONCAT, concat);
    }
    finished(headers, upload.finished.as_ref());
    Ok(response)
}
