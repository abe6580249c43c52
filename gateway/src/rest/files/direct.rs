//! Content that the client fetches from the bucket itself.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::files::File;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Bucket, Direct, Platform};

use crate::headers::text;

/// What a client repeats to the bucket, which would compare it with entity tags and times of its own.
const CONDITIONS: [HeaderName; 5] = [
    header::IF_MATCH,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_UNMODIFIED_SINCE,
    header::IF_RANGE,
];

/// The URL that answers a request just as we would; None where there is none.
pub(super) fn request<P: Platform>(
    platform: &P,
    parts: &Parts,
    file: &File,
    disposition: Option<&str>,
) -> Option<String> {
    let headers = &parts.headers;
    let is_plain = parts.method == Method::GET && !CONDITIONS.iter().any(|name| headers.contains_key(name));
    // Buckets know one range at a time.
    let has_ranges = text(headers, &header::RANGE).is_some_and(|ranges| ranges.contains(','));
    if !platform.settings().direct_downloads || !is_plain || has_ranges {
        return None;
    }
    let direct = Direct::Get {
        media_type: &file.version.blob.media_type,
        disposition: disposition.unwrap_or("inline"),
    };
    let place = file.whole_object()?;
    let bucket = platform.bucket_of(place.bucket.as_deref()).ok()?;
    bucket.presign(&place.key, &direct).map(|presigned| presigned.url)
}

/// Sends the client there. Neither caches nor other pages learn the URL.
pub(super) fn redirect(url: &str) -> Result<Response<ReadPlan>> {
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
    let headers = response.headers_mut();
    let url = HeaderValue::try_from(url).map_err(|error| Error::Internal(error.to_string()))?;
    headers.insert(header::LOCATION, url);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}
