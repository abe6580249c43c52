//! GET and HEAD of a file: preconditions, ranges, content.

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use ledge_core::conditions::{self, Current, Verdict};
use ledge_core::error::{Error, Result};
use ledge_core::files::{self, File, Wanted, Which};
use ledge_core::ids::VersionId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform};
use ledge_core::range::{self, RangeSpec, Resolved};
use ledge_core::tree::Address;

use super::{direct, multipart};
use crate::address::address;
use crate::headers::{
    conditions as read_conditions, content_disposition, http_date, if_range, parse_rfc3339, quoted, set,
    text, wanted_digests,
};
use crate::openapi::parameters::Reading;
use crate::openapi::words::Time;
use crate::rest::delta;
use crate::rest::query::Query;
use crate::routes::Matched;

const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");

/// Answers with the content, or with what the conditions and ranges make of it (RFC 9110 section 13.2.2's order).
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/files/{path}",
    params(
        ("version" = Option<String>, Query, description = "The id of the version to read instead of the current one."),
        ("at" = Option<Time>, Query, description = "Reads the version that was current then."),
        ("download" = Option<String>, Query, description = "Browsers save the file instead of showing it."),
        ("from" = Option<u64>, Query, description = "Where a list of chunks begins: the last one's `next`."),
        ("Accept" = Option<String>, Header, description = "`application/vnd.ledge.manifest+json` for the list of chunks."),
        Reading,
    ),
    responses(
        (status = 200, description = "The content, or the list of its chunks.", content(
            (Vec<u8> = "*/*"), (delta::Manifest = "application/vnd.ledge.manifest+json"),
        ), headers(
            ("ETag" = String), ("Last-Modified" = String), ("Accept-Ranges" = String),
            ("Content-Disposition" = String),
        )),
        (status = 206, description = "A part, or several as `multipart/byteranges`.", body = Vec<u8>,
            content_type = "*/*", headers(("ETag" = String), ("Last-Modified" = String))),
        (status = 304, description = "It hasn't changed.", headers(("ETag" = String), ("Last-Modified" = String))),
        (status = 307, description = "The content is at `Location`, in the bucket, for a quarter of an hour: where the \
            operator has direct downloads on.", headers(("Location" = String), ("ETag" = String))),
        (status = 409, description = "`is_a_folder`."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`too_many_entries`: it has more pieces than one answer can have. Ask for ranges."),
        (status = 416, description = "`range_not_satisfiable`: `Content-Range` has the size."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let query = Query::read(&matched.parts.uri, &["at", "download", "from", "version"])?;
    let which = which(&query)?;
    let mut response = if delta::is_wanted(&matched.parts.headers) {
        delta::read(platform, &address, &matched, (&which, from(&query)?)).await?
    } else {
        let how = Answered { download: query.get("download").is_some(), directly: true };
        read(platform, &address, matched.parts, &which, how).await?
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}

/// Where a list of chunks begins.
fn from(query: &Query<'_>) -> Result<u64> {
    let Some(text) = query.get("from") else { return Ok(0) };
    text.parse().map_err(|_| Error::invalid("from", "expected a position in the content"))
}

/// How content is answered with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Answered {
    /// Browsers save it instead of showing it.
    pub(crate) download: bool,
    /// The client follows to the bucket, where the operator allows it.
    pub(crate) directly: bool,
}

/// The same for an address that is known, whatever protocol it came by.
pub(crate) async fn read<P: Platform>(
    platform: &P,
    address: &Address,
    parts: &Parts,
    which: &Which,
    how: Answered,
) -> Result<Response<ReadPlan>> {
    let request = &parts.headers;
    let head = parts.method == Method::HEAD;
    // Range is defined for GET alone (section 14.2).
    let specs = text(request, &header::RANGE).filter(|_| !head).and_then(|header| range::parse(&header));
    let wanted = match (&specs, head) {
        (_, true) => Wanted::Nothing,
        // If-Range may turn a range into the whole.
        (Some(specs), _) if !request.contains_key(header::IF_RANGE) => Wanted::Ranges(specs),
        _ => Wanted::Everything,
    };
    let file = files::find(platform, address, which, wanted).await?;

    let disposition = address
        .path
        .last()
        .map(|name| content_disposition(name.as_str(), &file.version.blob.media_type, how.download));
    let current = Current { etag: Some(&file.version.blob.etag), modified_at: file.version.modified_at };
    let mut response = match read_conditions(request).evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => with_status(StatusCode::NOT_MODIFIED),
        Verdict::Proceed => {
            let now = platform.host().now();
            let specs =
                specs.filter(|_| if_range(request).is_none_or(|it| conditions::if_range(&it, current, now)));
            let elsewhere =
                how.directly.then(|| direct::request(platform, parts, &file, disposition.as_deref()));
            match elsewhere.flatten() {
                Some(url) => direct::redirect(&url)?,
                None => content(platform, &file, specs.as_deref(), head)?,
            }
        }
    };
    // An archive that is kept has two pieces for each of its files.
    let most = platform.host().most_reads();
    if response.body().bucket_reads() > most {
        let reason = format!(
            "this host makes at most {most} reads from the bucket for one answer: ask for parts, by ranges"
        );
        return Err(Error::TooManyEntries { reason });
    }
    let headers = response.headers_mut();
    describe(headers, &file);
    repr_digest(headers, &file, &wanted_digests(request));
    if let Some(disposition) = disposition {
        set(headers, header::CONTENT_DISPOSITION, disposition);
    }
    Ok(response)
}

/// The version that the query asks for.
pub(in crate::rest) fn which(query: &Query<'_>) -> Result<Which> {
    match (query.get("version"), query.get("at")) {
        (None, None) => Ok(Which::Current),
        (Some(_), Some(_)) => Err(Error::invalid("at", "a version is named already")),
        (Some(id), None) => VersionId::parse(id)
            .map(Which::Version)
            .ok_or_else(|| Error::invalid("version", "expected a version's id")),
        (None, Some(time)) => parse_rfc3339(time)
            .map(Which::At)
            .ok_or_else(|| Error::invalid("at", "expected an RFC 3339 time between 1970 and 9999")),
    }
}

fn content<P: Platform>(
    platform: &P,
    file: &File,
    specs: Option<&[RangeSpec]>,
    head: bool,
) -> Result<Response<ReadPlan>> {
    let blob = &file.version.blob;
    let size_bytes = blob.size_bytes;
    let resolved = specs.map_or(Resolved::Whole, |specs| range::resolve(specs, size_bytes));
    let mut response = match resolved {
        Resolved::Unsatisfiable => return Err(Error::RangeNotSatisfiable { size_bytes }),
        Resolved::Whole if head => {
            let mut response = with_status(StatusCode::OK);
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(size_bytes));
            response
        }
        Resolved::Whole => Response::new(file.plan(0..size_bytes)?),
        Resolved::Parts(parts) => match parts.as_slice() {
            [range] => {
                let mut response = Response::new(file.plan(range.clone())?);
                set(
                    response.headers_mut(),
                    header::CONTENT_RANGE,
                    multipart::content_range(range, size_bytes),
                );
                *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                response
            }
            parts => return multipart::answer(platform.host(), file, parts),
        },
    };
    set(response.headers_mut(), header::CONTENT_TYPE, &blob.media_type);
    Ok(response)
}

fn with_status(status: StatusCode) -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = status;
    response
}

/// What describes the content, whatever part of it is sent.
fn describe(headers: &mut HeaderMap, file: &File) {
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    set(headers, header::ETAG, quoted(&file.version.blob.etag));
    set(headers, header::LAST_MODIFIED, http_date(file.version.modified_at));
}

/// Shows the best of the wanted digests that we have: those that were verified when the file was saved.
fn repr_digest(headers: &mut HeaderMap, file: &File, wanted: &[String]) {
    let digests = &file.version.blob.digests;
    if let Some((name, value)) = wanted.iter().find_map(|name| digests.get_key_value(name)) {
        set(headers, REPR_DIGEST, format!("{name}=:{value}:"));
    }
}
