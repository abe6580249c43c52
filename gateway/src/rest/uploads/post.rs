//! POST: begins an upload, or joins parts.

use http::request::Parts;
use http::{HeaderMap, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::mount::{self, Mount};
use ledge_core::path::Path;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::token::Token;
use ledge_core::tree::Address;
use ledge_core::uploads::{self, Append, Create, Join, Target};

use super::concat::{self, Concat};
use super::metadata::{self, Metadata};
use super::{
    UPLOAD_CONCAT, UPLOAD_DEFER_LENGTH, UPLOAD_LENGTH, UPLOAD_METADATA, checksum, finished, is_part, length,
    mismatch, number, other_media_type, other_version, progress,
};
use crate::credentials;
use crate::headers::{conditions, set, text};
use crate::openapi::parameters::Conditions;
use crate::rest::files::media_type_or_guess;
use crate::rest::query::Query;

/// The longest list of parts that is told again.
const MAX_KEPT_CONCAT_BYTES: usize = 32 * 1024;

/// Begins an upload: 201 with its URL. With a body, that is its first part.
#[utoipa::path(
    post, path = "/api/v1/uploads",
    params(
        ("Tus-Resumable" = String, Header, description = "`1.0.0`."),
        ("Upload-Length" = Option<u64>, Header, description = "How long the file is, in bytes."),
        ("Upload-Defer-Length" = Option<String>, Header, description = "`1`: the length comes with a later part."),
        ("Upload-Metadata" = Option<String>, Header,
         description = "Pairs of a key and a value in base64: `path`, `space`, `filetype`, `modified_at`."),
        ("Upload-Concat" = Option<String>, Header, description = "`partial`, or `final;` and the URLs of parts."),
        ("Upload-Checksum" = Option<String>, Header, description = "`sha1 …`: the body must have it."),
        Conditions,
    ),
    request_body(content = Vec<u8>, content_type = "application/offset+octet-stream", description = "The first part, or nothing."),
    responses(
        (status = 201, description = "It has begun, or it is finished already: then with an `ETag`.", headers(
            ("Location" = String), ("Upload-Offset" = u64), ("Upload-Expires" = String), ("ETag" = String),
        )),
        (status = 409, description = "`parent_missing`, `not_a_folder`, `is_a_folder`, `incomplete` or `contended`."),
        (status = 412, description = "`precondition_failed`: also where `Tus-Resumable` isn't `1.0.0`."),
        (status = 413, description = "`body_too_large`: no file can be so long."),
        (status = 415, description = "`unsupported_media_type`: a body of another type."),
        (status = 423, description = "`locked`."),
        (status = 429, description = "`too_many_uploads`."),
        (status = 460, description = "`checksum_mismatch`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let headers = &parts.headers;
    let token = credentials::token(headers)?;
    Query::read(&parts.uri, &[])?;
    if let Some(refused) = other_version(headers) {
        return Ok(refused);
    }
    let length = length(headers)?;
    let has_body = is_part(headers) && length != Some(0);
    if !has_body && length.is_some_and(|length| length > 0) {
        return Ok(other_media_type());
    }
    let expected = checksum(headers)?;
    let concat = text(headers, &UPLOAD_CONCAT).map(|text| concat::read(&text)).transpose()?;
    let given = text(headers, &UPLOAD_METADATA).unwrap_or_default();
    let metadata = metadata::read(&given)?;
    let create = Create {
        length_bytes: upload_length(headers, concat.as_ref())?,
        metadata: kept(&given, text(headers, &UPLOAD_CONCAT)),
        ..begin(platform, &token, headers, metadata, concat == Some(Concat::Partial)).await?
    };
    if let Some(Concat::Final(parts)) = concat {
        if has_body {
            return Err(Error::invalid("body", "what is joined of parts has no bytes of its own"));
        }
        let joined = uploads::join(platform, &Join { create, parts }).await?;
        return Ok(created(&joined));
    }
    let mut begun = uploads::create(platform, &create).await?;
    if has_body || begun.length_bytes == Some(0) {
        let append = Append {
            token: token.clone(),
            id: begun.id.clone(),
            offset: 0,
            length,
            upload_length: None,
            expected,
        };
        match uploads::append(platform, &append, upload).await {
            Ok(appended) => {
                begun.received_bytes = appended.received_bytes;
                begun.finished = appended.finished;
            }
            Err(error) => {
                // Its client doesn't know where it is.
                let _expires = uploads::abandon(platform, &token, begun.id.as_str()).await;
                return mismatch(error);
            }
        }
    }
    Ok(created(&begun))
}

fn created(upload: &uploads::Upload) -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::CREATED;
    let headers = response.headers_mut();
    set(headers, header::LOCATION, format!("/api/v1/uploads/{}", upload.id));
    progress(headers, upload.received_bytes, upload.expires_at);
    finished(headers, upload.finished.as_ref());
    response
}

/// `Upload-Length`, or none where it comes later or is that of the parts.
fn upload_length(headers: &HeaderMap, concat: Option<&Concat>) -> Result<Option<u64>> {
    let length = number(headers, &UPLOAD_LENGTH, "Upload-Length")?;
    let deferred = match text(headers, &UPLOAD_DEFER_LENGTH).as_deref().map(str::trim) {
        None => false,
        Some("1") => true,
        Some(_) => return Err(Error::invalid("Upload-Defer-Length", "expected 1")),
    };
    match (length, deferred, concat) {
        (_, _, Some(Concat::Final(_))) => Ok(None),
        (Some(_), true, _) => Err(Error::invalid("Upload-Defer-Length", "the length is there already")),
        (None, false, _) => Err(Error::invalid("Upload-Length", "expected a number of bytes")),
        (length, ..) => Ok(length),
    }
}

/// Where to. Without a space, from where WebDAV would begin.
async fn begin<P: Platform>(
    platform: &P,
    token: &Token,
    headers: &HeaderMap,
    metadata: Metadata,
    is_part: bool,
) -> Result<Create> {
    let (space, base) = match metadata.space {
        Some(space) => (space, None),
        None => mount::mount(platform, token).await.map(|Mount { space, base, .. }| (space, base))?,
    };
    let target = if is_part {
        None
    } else {
        let path: Path = metadata
            .path
            .ok_or_else(|| Error::invalid("Upload-Metadata", "expected a path: where the file is to be"))?;
        let name = path.last().map(|name| name.as_str()).unwrap_or_default();
        let media_type = media_type_or_guess(metadata.media_type.as_deref(), "Upload-Metadata", name)?;
        let address = Address { token: token.clone(), space: space.clone(), base, path };
        Some(Target::new(&address, conditions(headers), media_type, metadata.modified_at))
    };
    Ok(Create { token: token.clone(), space, target, length_bytes: None, metadata: String::new() })
}

/// What a later HEAD tells again: the metadata, and on a line of its own what was said of parts.
fn kept(metadata: &str, concat: Option<String>) -> String {
    match concat.filter(|text| text.len() <= MAX_KEPT_CONCAT_BYTES) {
        Some(concat) => format!("{metadata}\n{concat}"),
        None => metadata.to_owned(),
    }
}
