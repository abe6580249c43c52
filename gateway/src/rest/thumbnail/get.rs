//! GET and HEAD of a thumbnail.

use http::{HeaderValue, Method, Response, StatusCode, header};
use ledge_core::conditions::{Conditions, Current, Verdict};
use ledge_core::error::{Error, Result};
use ledge_core::files::Which;
use ledge_core::jobs::{Job, State};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform, Timestamp};
use ledge_core::thumbnails::{self, Asked, Found, Image, SIZES};

use crate::address::address;
use crate::headers::{conditions as read_conditions, quoted, set};
use crate::openapi::words::Time;
use crate::rest::files::which;
use crate::rest::query::Query;
use crate::rest::{jobs, no_content};
use crate::routes::Matched;

/// A version's content never changes, nor do its thumbnails.
const FOR_EVER: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable, no-transform");
/// A file's may any time; the entity tag saves the bytes after that.
const FOR_A_WHILE: HeaderValue = HeaderValue::from_static("private, max-age=300, no-transform");
/// What is made takes about a second.
const RETRY_AFTER_SECS: i64 = 1;
/// What is tried again later may take so long.
const MOST_RETRY_AFTER_SECS: i64 = 600;

/// Answers with a small picture of the file's content, or with the job that makes it.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/thumbnail/{path}",
    params(
        ("size" = u32, Query, description = "The square that it fits in, in pixels: 128, 256, 512 or 1024. A smaller picture is \
            not enlarged."),
        ("version" = Option<String>, Query, description = "The id of the version to show instead of the current one. Then the \
            answer may be kept for ever."),
        ("at" = Option<Time>, Query, description = "Shows the version that was current then."),
        ("If-Match" = Option<String>, Header, description = "412 unless it has one of these entity tags."),
        ("If-None-Match" = Option<String>, Header, description = "304 if it has one of these entity tags."),
    ),
    responses(
        (status = 200, description = "The thumbnail: JPEG, or WebP where it is transparent.", content(
            (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/webp"),
        ), headers(("ETag" = String), ("Cache-Control" = String))),
        (status = 202, description = "A job makes it. Ask again.", body = jobs::Job, headers(
            ("Retry-After" = String, description = "Seconds."),
            ("Location" = String, description = "Where to watch the job, where the account has asked for it."),
        )),
        (status = 304, description = "It hasn't changed.", headers(("ETag" = String))),
        (status = 409, description = "`is_a_folder`; `contended`: ask again."),
        (status = 412, description = "`precondition_failed`."),
        (status = 422, description = "`no_thumbnail`: the content is no picture that is read, is damaged, or takes too much \
            memory; or the job was given up. `detail` says why."),
    ),
)]
pub(crate) async fn get<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let parts = matched.parts;
    let address = address(&matched)?;
    let query = Query::read(&parts.uri, &["at", "size", "version"])?;
    let (which, size) = (which(&query)?, size(&query)?);
    let asked = Asked { address: &address, which: &which, size };
    let image = match thumbnails::get(platform, &asked).await? {
        Found::Image(image) => image,
        Found::Making { job, is_own } => return making(*job, is_own, platform.host().now()),
    };
    let read = read_conditions(&parts.headers);
    let by_tag = Conditions { if_modified_since_secs: None, if_unmodified_since_secs: None, ..read };
    // It has no time of its own.
    let current = Current { etag: Some(&image.etag), modified_at: platform.host().now() };
    let is_head = parts.method == Method::HEAD;
    let mut response = match by_tag.evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => {
            let mut response = no_content();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        Verdict::Proceed => content(&image, is_head),
    };
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&image.etag));
    headers.insert(
        header::CACHE_CONTROL,
        if matches!(which, Which::Version(_)) { FOR_EVER } else { FOR_A_WHILE },
    );
    Ok(response)
}

fn size(query: &Query<'_>) -> Result<u32> {
    let given = query.get("size").and_then(|text| text.parse().ok());
    given
        .filter(|size| SIZES.contains(size))
        .ok_or_else(|| Error::invalid("size", "expected 128, 256, 512 or 1024"))
}

fn content(image: &Image, is_head: bool) -> Response<ReadPlan> {
    let plan = if is_head { ReadPlan::default() } else { image.plan.clone() };
    let mut response = Response::new(plan);
    let headers = response.headers_mut();
    if is_head {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(image.plan.len()));
    }
    set(headers, header::CONTENT_TYPE, &image.media_type);
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("inline"));
    response
}

/// 202. Who has asked first, and in which space, is not for others who may read the same content.
fn making(job: Job, is_own: bool, now: Timestamp) -> Result<Response<ReadPlan>> {
    let wait_secs = match (job.state, job.due_at) {
        (State::Retry, Some(due_at)) => (due_at.0 - now.0).max(0) / 1000 + 1,
        _ => RETRY_AFTER_SECS,
    };
    let job = if is_own { job } else { Job { account: None, space: None, ..job } };
    let mut response = jobs::accepted(job)?;
    let headers = response.headers_mut();
    if !is_own {
        headers.remove(header::LOCATION);
    }
    headers.insert(header::RETRY_AFTER, HeaderValue::from(wait_secs.min(MOST_RETRY_AFTER_SECS)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}
