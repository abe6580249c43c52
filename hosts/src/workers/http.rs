//! Between the runtime's requests and responses and those of the `http` crate.
//!
//! The requests are the runtime's own, not `worker::Request`: that one knows no WebDAV methods and turns them
//! into GET.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Headers, ResponseInit, Url};

use super::body::Content;
use super::upload::Incoming;
use super::{Body, RequestBody};

/// A request that can't be read: answer 400.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// What stands between method and version is no URL.
    #[error("the request target is not a URL")]
    Url,
    /// A raw `#`: a client that leaves it out of a name means another file than it asks for.
    #[error("the request target has a fragment: a # in a name is %23")]
    Fragment,
    /// The method, the URL (over 64 KiB) or the headers (over 32,768) are more than the `http` crate takes.
    #[error("the request is malformed: {0}")]
    Http(#[from] http::Error),
}

/// Reads a request. The URI is absolute, and as the WHATWG URL parser makes it: Cloudflare's edge sends requests
/// on like that, workerd alone hands `%2e%2e`, `\` and unencoded characters over as sent.
///
/// # Errors
/// [`Malformed`].
pub fn request(raw: &web_sys::Request) -> Result<Request<RequestBody>, Malformed> {
    if raw.url().contains('#') {
        return Err(Malformed::Fragment);
    }
    let url = Url::new(&raw.url()).map_err(|_| Malformed::Url)?;
    let headers = headers_in(&raw.headers())?;
    let content_length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let method = Method::from_bytes(raw.method().as_bytes()).map_err(http::Error::from)?;
    let mut request = Request::builder()
        .method(method)
        .uri(url.href())
        .body(RequestBody::new(raw.body().map(Incoming::of), content_length))?;
    *request.headers_mut() = headers;
    Ok(request)
}

pub(super) fn headers_in(raw: &Headers) -> Result<HeaderMap, http::Error> {
    let mut headers = HeaderMap::new();
    for entry in raw.entries().into_iter().flatten() {
        let entry: Array = entry.unchecked_into();
        let (Some(name), Some(value)) = (entry.get(0).as_string(), entry.get(1).as_string()) else {
            continue;
        };
        let name = HeaderName::from_bytes(name.as_bytes())?;
        headers.try_append(name, HeaderValue::from_bytes(value.as_bytes())?)?;
    }
    Ok(headers)
}

/// Hands a response to the runtime. An empty body keeps the Content-Length that stands in the headers: that is
/// how HEAD is answered.
///
/// # Errors
/// The runtime refuses the status (below 200) or a header.
pub fn response(response: Response<Body>) -> Result<web_sys::Response, JsValue> {
    let (parts, body) = response.into_parts();
    let init = ResponseInit::new();
    init.set_status(parts.status.as_u16());
    init.set_headers_headers(&headers_out(&parts.headers)?);
    if parts.headers.contains_key(header::CONTENT_ENCODING) {
        // The body is encoded already; the runtime would do it again.
        Reflect::set(&init, &JsValue::from_str("encodeBody"), &JsValue::from_str("manual"))?;
    }
    let is_bare = has_no_body(parts.status);
    match body.0 {
        Content::Bytes(bytes) if !bytes.is_empty() && !is_bare => {
            let bytes = Uint8Array::from(bytes.as_slice());
            web_sys::Response::new_with_opt_buffer_source_and_init(Some(&bytes), &init)
        }
        Content::Stream(stream) if !is_bare => {
            let stream = stream.hand_over();
            web_sys::Response::new_with_opt_readable_stream_and_init(Some(&stream), &init)
        }
        _ => web_sys::Response::new_with_opt_readable_stream_and_init(None, &init),
    }
}

/// The Fetch standard's null body statuses, for which the runtime refuses any body.
fn has_no_body(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

fn headers_out(headers: &HeaderMap) -> Result<Headers, JsValue> {
    let raw = Headers::new()?;
    for (name, value) in headers {
        raw.append(name.as_str(), &String::from_utf8_lossy(value.as_bytes()))?;
    }
    Ok(raw)
}
