//! PUT: the body becomes a file's newest version.

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use ledge_core::error::{Conflict, Error};
use ledge_core::files;
use ledge_core::ports::{Platform, Timestamp, Upload, UploadError};

use super::patch::write;
use super::{Answer, Failure, Request, empty};
use crate::headers::{content_length, content_range, http_date, oc_checksum, quoted, set, text};
use crate::rest;

pub(super) const OC_MTIME: HeaderName = HeaderName::from_static("x-oc-mtime");
const EXPECTED_LENGTH: HeaderName = HeaderName::from_static("x-expected-entity-length");

/// 201 where it is new, 204 where it was there; both with its entity tag.
pub(crate) async fn put<P: Platform, U: Upload>(platform: &P, request: Request<'_>, upload: U) -> Answer {
    let headers = &request.parts.headers;
    if request.names_collection {
        return Err(Error::Conflict(Conflict::IsAFolder).into());
    }
    if headers.contains_key(header::CONTENT_RANGE) {
        return put_part(platform, &request, upload).await;
    }
    let modified_at = modified_at(headers)?;
    let mut save = rest::files::saving(&request.address, headers, modified_at)?;
    save.expected.extend(oc_checksum(headers)?);
    let upload = Expecting { upload, missing: expected_length(headers)?.unwrap_or_default() };
    let saved = files::save(platform, &save, upload).await?;
    let mut response = empty(if saved.created { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&saved.etag));
    set(headers, header::LAST_MODIFIED, http_date(saved.modified_at));
    set(headers, HeaderName::from_static("oc-etag"), quoted(&saved.etag));
    if modified_at.is_some() {
        headers.insert(OC_MTIME, HeaderValue::from_static("accepted"));
    }
    Ok(response)
}

/// A PUT with `Content-Range` writes that part and leaves the rest, as Apache and others have it; it never replaces the
/// whole (RFC 9110 section 14.5 leaves it to the server).
async fn put_part<P: Platform, U: Upload>(platform: &P, request: &Request<'_>, upload: U) -> Answer {
    let headers = &request.parts.headers;
    let part = content_range(&text(headers, &header::CONTENT_RANGE).unwrap_or_default())?;
    if content_length(headers)?.is_some_and(|length| Some(length) != part.length) {
        return Err(Failure::new(
            StatusCode::BAD_REQUEST,
            "Content-Range: it has another length than the body",
        ));
    }
    let name = request.address.path.last().map(|name| name.as_str()).unwrap_or_default();
    let media_type = rest::files::media_type(headers.get(header::CONTENT_TYPE), name)?;
    let edited = write(platform, request, part, Some(media_type), upload).await?;
    let mut response = empty(if edited.saved.created { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&edited.saved.etag));
    set(headers, header::LAST_MODIFIED, http_date(edited.saved.modified_at));
    Ok(response)
}

/// The modification time, in seconds since 1970; fractions count, and a time before then is that moment.
pub(super) fn modified_at(headers: &HeaderMap) -> Result<Option<Timestamp>, Failure> {
    const YEAR_10000_SECS: f64 = 253_402_300_800.0;
    let Some(text) = text(headers, &OC_MTIME) else { return Ok(None) };
    let secs: Option<f64> = text.trim().parse().ok().filter(|secs| *secs < YEAR_10000_SECS);
    let Some(secs) = secs.filter(|secs| secs.is_finite()) else {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "X-OC-Mtime: expected seconds since 1970"));
    };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be before the year 10000")]
    Ok(Some(Timestamp((secs.max(0.0) * 1000.0).round() as i64)))
}

/// How long a body without Content-Length will be, by macOS's word.
fn expected_length(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(text) = text(headers, &EXPECTED_LENGTH) else { return Ok(None) };
    let length = text.trim().parse().ok();
    length.map(Some).ok_or_else(|| {
        Failure::new(StatusCode::BAD_REQUEST, "X-Expected-Entity-Length: expected a number of bytes")
    })
}

/// A body that may not end before so many bytes are there.
struct Expecting<U> {
    upload: U,
    missing: u64,
}

impl<U: Upload> Upload for Expecting<U> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let read = self.upload.read(into, at_most).await?;
        if read == 0 && self.missing > 0 {
            return Err(UploadError::Cut(format!("{} more bytes were announced", self.missing)));
        }
        self.missing = self.missing.saturating_sub(read as u64);
        Ok(read)
    }
}
