//! GET and HEAD of a folder as a ZIP file, whole or in part.

use http::{HeaderValue, Method, Response, StatusCode, header};
use ledge_core::archive::{self, Archive, Sources};
use ledge_core::conditions::{self, Conditions, Current, Verdict};
use ledge_core::error::{Error, Result};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform};
use ledge_core::range::{self, RangeSpec, Resolved};

use super::describe;
use crate::address::folder_address;
use crate::headers::{conditions as read_conditions, if_range, set, text};
use crate::rest::files::content_range;
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Answers with a ZIP file of the folder and all that is in it. It is made while it is sent, is stored nowhere, and has the
/// same bytes each time until something in the folder changes: a download that was cut off is resumed by a range.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/archive/{path}",
    params(
        ("Range" = Option<String>, Header, description = "One range of the file; several are answered with the whole."),
        ("If-Range" = Option<String>, Header, description = "The whole, unless the file has this entity tag."),
        ("If-Match" = Option<String>, Header, description = "412 unless the file has one of these entity tags."),
        ("If-None-Match" = Option<String>, Header, description = "304 if the file has one of these entity tags."),
    ),
    responses(
        (status = 200, description = "The file.", body = Vec<u8>, content_type = "application/zip", headers(
            ("ETag" = String), ("Accept-Ranges" = String), ("Content-Disposition" = String),
        )),
        (status = 206, description = "A part of it.", body = Vec<u8>, content_type = "application/zip",
            headers(("ETag" = String), ("Content-Range" = String))),
        (status = 304, description = "It hasn't changed.", headers(("ETag" = String))),
        (status = 409, description = "`not_a_folder`; `contended`: the space keeps changing."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`too_many_entries`: more than one answer can have. Ask for ranges."),
        (status = 416, description = "`range_not_satisfiable`: `Content-Range` has the size."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let parts = matched.parts;
    let address = folder_address(matched)?;
    Query::read(&parts.uri, &[])?;
    let archive = archive::open(platform, Sources::Folder(&address)).await?;
    // It has no time of its own: one that is now is none that a client could have.
    let now = platform.host().now();
    let current = Current { etag: Some(&archive.etag), modified_at: now };
    let read = read_conditions(&parts.headers);
    let by_tag = Conditions { if_modified_since_secs: None, if_unmodified_since_secs: None, ..read };
    let is_head = parts.method == Method::HEAD;
    let mut response = match by_tag.evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => {
            let mut response = no_content();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        Verdict::Proceed if is_head => {
            let mut response = Response::new(ReadPlan::default());
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(archive.size_bytes));
            response
        }
        Verdict::Proceed => {
            let specs = text(&parts.headers, &header::RANGE).and_then(|header| range::parse(&header));
            let wanted = specs.filter(|_| {
                if_range(&parts.headers).is_none_or(|it| conditions::if_range(&it, current, now))
            });
            content(platform, &archive, wanted.as_deref()).await?
        }
    };
    let name = address.path.last().map_or("drive", |name| name.as_str());
    describe(response.headers_mut(), &archive, name);
    Ok(response)
}

async fn content<P: Platform>(
    platform: &P,
    archive: &Archive,
    specs: Option<&[RangeSpec]>,
) -> Result<Response<ReadPlan>> {
    let size_bytes = archive.size_bytes;
    let resolved = specs.map_or(Resolved::Whole, |specs| range::resolve(specs, size_bytes));
    let range = match &resolved {
        Resolved::Unsatisfiable => return Err(Error::RangeNotSatisfiable { size_bytes }),
        Resolved::Parts(parts) if parts.len() == 1 => parts.first(),
        _ => None,
    };
    let mut response = Response::new(archive.plan(platform, range.cloned().unwrap_or(0..size_bytes)).await?);
    if let Some(range) = range {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        set(response.headers_mut(), header::CONTENT_RANGE, content_range(range, size_bytes));
    }
    Ok(response)
}
