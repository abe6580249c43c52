//! HTTP in, use case, HTTP out.
//!
//! A request is matched by one route table, answered by one file per verb, and every error becomes HTTP in one
//! place. Nothing here knows which host it runs on; the entry points do.

mod address;
mod cors;
mod credentials;
mod dav;
mod docs;
mod headers;
mod nextcloud;
mod openapi;
mod problem;
mod rest;
mod routes;

#[cfg(all(target_arch = "wasm32", target_env = "p2"))]
mod spin;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod workers;

pub use openapi::generate as openapi;

use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use ledge_core::error::Error;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{BucketError, Host, Platform, Upload};
use ledge_core::wrappers::{Counts, count};

use dav::Content;

/// A response body in the terms of the platform's host.
pub type Body<P> = <<P as Platform>::Host as Host>::Body;

/// Answers one request. The URI is the WHATWG-parsed one (docs/ARCHITECTURE.md, "Paths").
pub async fn handle<P: Platform, U: Upload>(platform: &P, request: Request<U>) -> Response<Body<P>> {
    let counts = Counts::default();
    let counted = count(platform, &counts);
    let (parts, upload) = request.into_parts();
    let head = parts.method == Method::HEAD;
    let mut answer = match cors::preflight(platform.settings(), &parts) {
        Some(preflight) => preflight,
        None => routes::answer(&counted, &parts, upload).await,
    };
    let opened = match open(&counted, &mut answer, head).await {
        // The plan's segment was repacked in between: plan again, once. Only reads get here, and they have no body.
        Err(BucketError::NotFound(_)) => {
            answer = routes::answer(&counted, &parts, NoUpload).await;
            open(&counted, &mut answer, head).await
        }
        opened => opened,
    };
    let body = opened.unwrap_or_else(|error| {
        let problem = routes::failure(platform.host(), &parts, Error::from(error));
        let (described, content) = problem.into_parts();
        let text = match content {
            Content::Plan(plan) if !head => plan.into_inline().unwrap_or_default(),
            _ => Vec::new(),
        };
        answer = Response::from_parts(described, Content::Plan(ReadPlan::default()));
        platform.host().inline(text)
    });
    let mut response = answer.map(|_| body);
    finish(&mut response, &parts.method, &counts);
    cors::expose(platform.settings(), &parts.headers, response.headers_mut());
    response
}

/// Opens the answer's plan; a HEAD's has no body, whatever its headers say.
async fn open<P: Platform>(
    platform: &P,
    answer: &mut Response<Content>,
    head: bool,
) -> Result<Body<P>, BucketError> {
    let plan = match std::mem::replace(answer.body_mut(), Content::Plan(ReadPlan::default())) {
        Content::Plan(plan) => plan,
        Content::Pieces(pieces) => return Ok(platform.host().stream(pieces)),
    };
    let bodiless = matches!(answer.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    if !bodiless && !answer.headers().contains_key(header::CONTENT_LENGTH) {
        answer.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(plan.len()));
    }
    if head {
        return Ok(platform.host().inline(Vec::new()));
    }
    match plan.into_inline() {
        Ok(bytes) => Ok(platform.host().inline(bytes)),
        Err(plan) => platform.host().open(plan).await,
    }
}

/// What every response carries.
fn finish<B>(response: &mut Response<B>, method: &Method, counts: &Counts) {
    // Whoever got past the token has had the database asked, and isn't told that the token is unknown.
    let signed_in = counts.round_trips() > 0 && response.status() != StatusCode::UNAUTHORIZED;
    problem::protect(response.headers_mut());
    if signed_in {
        let mut used = format!("sql;desc=\"{}\"", counts.round_trips());
        // What an upload puts into the bucket tells whether the space knows its content already, outside of the token's
        // folder too.
        if method.is_safe() || !counts.is_limited() {
            let (bucket, stored) = (counts.bucket_operations(), counts.stored_bytes());
            used += &format!(", bucket;desc=\"{bucket}\", stored;desc=\"{stored}\"");
        }
        if let Ok(value) = HeaderValue::try_from(used) {
            response.headers_mut().insert("server-timing", value);
        }
    }
}

/// The body of a request that is planned a second time.
struct NoUpload;

impl Upload for NoUpload {
    async fn read(&mut self, _: &mut Vec<u8>, _: usize) -> Result<usize, ledge_core::ports::UploadError> {
        Ok(0)
    }
}
