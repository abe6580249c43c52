//! PUT of a file: the body becomes its newest version.

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::files::{self, Edited, Save};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Timestamp, Upload};
use ledge_core::tree::Address;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::address;
use crate::headers::{
    conditions, content_length, expected_digests, http_date, parse_rfc3339, quoted, rfc3339, set,
};
use crate::openapi::parameters::Conditions;
use crate::openapi::words::{Kind, Time};
use crate::rest::delta;
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

/// A file that was saved.
#[derive(Serialize, ToSchema)]
#[schema(as = SavedFile)]
pub(crate) struct SavedFile<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    #[schema(value_type = Kind)]
    pub(crate) kind: &'a str,
    pub(crate) size_bytes: u64,
    pub(crate) etag: String,
    pub(crate) media_type: &'a str,
    #[schema(value_type = Time)]
    pub(crate) modified_at: String,
    pub(crate) version_id: &'a str,
}

/// Saves the body: 201 with the file where it is new, 204 where it was there.
#[utoipa::path(
    put, path = "/api/v1/spaces/{space}/files/{path}",
    params(
        ("modified_at" = Option<Time>, Query, description = "When it was modified; now where it isn't given."),
        Conditions,
        ("Repr-Digest" = Option<String>, Header, description = "`sha-256=:…:` or `sha-512=:…:`: the body must have it."),
        ("Content-MD5" = Option<String>, Header, description = "The body must have it."),
    ),
    request_body(
        content(
            (Vec<u8> = "application/octet-stream"),
            (delta::SentManifest = "application/vnd.ledge.manifest+json"),
        ),
        description = "The content, or the list of the chunks that it is made of.",
    ),
    responses(
        (status = 201, description = "The new file.", body = SavedFile, headers(
            ("ETag" = String), ("Last-Modified" = String), ("Location" = String),
        )),
        (status = 204, description = "It replaced a file.", headers(("ETag" = String), ("Last-Modified" = String))),
        (status = 409, description = "`parent_missing`, `not_a_folder`, `is_a_folder`, `contended`; of a list of chunks `chunks_missing`: \
         `missing` names them."),
        (status = 412, description = "`precondition_failed`."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn put<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let (saved, media_type) = if delta::is_sent(&matched.parts.headers) {
        delta::save(platform, &address, &matched, upload).await?
    } else {
        let request = save(&address, matched.parts)?;
        (files::save(platform, &request, upload).await?, request.media_type)
    };
    let mut response = if saved.created {
        let file = SavedFile {
            id: saved.node.as_str(),
            name: address.path.last().map(|name| name.as_str()).unwrap_or_default(),
            kind: "file",
            size_bytes: saved.size_bytes,
            etag: quoted(&saved.etag),
            media_type: &media_type,
            modified_at: rfc3339(saved.modified_at),
            version_id: saved.version.as_str(),
        };
        let mut response = json(StatusCode::CREATED, &file)?;
        set(response.headers_mut(), header::LOCATION, matched.parts.uri.path());
        response
    } else {
        let mut response = Response::new(ReadPlan::default());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    };
    set(response.headers_mut(), header::ETAG, quoted(&saved.etag));
    set(response.headers_mut(), header::LAST_MODIFIED, http_date(saved.modified_at));
    Ok(response)
}

fn save(address: &Address, parts: &Parts) -> Result<Save> {
    let query = Query::read(&parts.uri, &["modified_at"])?;
    saving(address, &parts.headers, modified_at(&query)?)
}

/// The modification time that the query gives.
pub(super) fn modified_at(query: &Query<'_>) -> Result<Option<Timestamp>> {
    let expected = "expected an RFC 3339 time between 1970 and 9999";
    let read = |text| parse_rfc3339(text).ok_or_else(|| Error::invalid("modified_at", expected));
    query.get("modified_at").map(read).transpose()
}

/// A file that was edited or joined.
pub(crate) fn saved_file<'a>(address: &'a Address, edited: &'a Edited) -> SavedFile<'a> {
    SavedFile {
        id: edited.saved.node.as_str(),
        name: address.path.last().map(|name| name.as_str()).unwrap_or_default(),
        kind: "file",
        size_bytes: edited.saved.size_bytes,
        etag: quoted(&edited.saved.etag),
        media_type: &edited.media_type,
        modified_at: rfc3339(edited.saved.modified_at),
        version_id: edited.saved.version.as_str(),
    }
}

/// What a PUT with these headers saves, whatever protocol it came by.
pub(crate) fn saving(address: &Address, headers: &HeaderMap, modified_at: Option<Timestamp>) -> Result<Save> {
    if headers.contains_key(header::CONTENT_RANGE) {
        // A server that ignored it would replace the file by a part (RFC 9110 section 14.5).
        return Err(Error::invalid(
            "Content-Range",
            "a PUT replaces the whole file: use PATCH for a part of it",
        ));
    }
    let name = address.path.last().map(|name| name.as_str()).unwrap_or_default();
    Ok(Save {
        address: address.clone(),
        conditions: conditions(headers),
        media_type: media_type(headers.get(header::CONTENT_TYPE), name)?,
        modified_at,
        length: content_length(headers)?,
        expected: expected_digests(headers)?,
    })
}

/// Long enough for any media type with its parameters, short enough for a row.
const MAX_MEDIA_TYPE_BYTES: usize = 255;

/// The media type: given, or guessed from the name. What form-minded clients send by default says nothing.
pub(crate) fn media_type(given: Option<&HeaderValue>, name: &str) -> Result<String> {
    let given =
        given.map(|value| value.to_str().map_err(|_| Error::invalid("Content-Type", "expected ASCII")));
    media_type_or_guess(given.transpose()?, "Content-Type", name)
}

/// The same for a text that came in `field`.
pub(crate) fn media_type_or_guess(given: Option<&str>, field: &'static str, name: &str) -> Result<String> {
    match given.map(str::trim) {
        Some(given) if given.len() > MAX_MEDIA_TYPE_BYTES || !given.contains('/') => {
            Err(Error::invalid(field, "expected a media type of at most 255 bytes"))
        }
        Some(given) if given != "application/x-www-form-urlencoded" => Ok(given.to_owned()),
        _ => Ok(ledge_core::media_type::guess(name)),
    }
}
