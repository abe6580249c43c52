//! Between `wasi:http` and the `http` crate.

use futures::StreamExt;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use spin_sdk::wasip3::http::types::{self, ErrorCode, Fields};
use spin_sdk::wasip3::wit_bindgen::StreamReader;
use spin_sdk::wasip3::{spawn, wit_future, wit_stream};

use super::body::Content;
use super::client::{field, write_all};
use super::upload::Incoming;
use super::{Body, RequestBody};
use crate::target;

/// A request that can't be read: answer 400.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// What stands between method and version is no URL.
    #[error("{0}")]
    Url(&'static str),
    /// The method or the headers are more than the `http` crate takes.
    #[error("the request is malformed: {0}")]
    Http(#[from] http::Error),
}

/// Reads a request. The URI is absolute, and as the WHATWG URL parser makes it.
///
/// # Errors
/// [`Malformed`].
pub fn request(raw: types::Request) -> Result<Request<RequestBody>, Malformed> {
    let mut headers = HeaderMap::new();
    for (name, value) in raw.get_headers().copy_all() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(http::Error::from)?;
        let value = HeaderValue::from_bytes(&value).map_err(http::Error::from)?;
        headers.try_append(name, value).map_err(http::Error::from)?;
    }
    let target = raw.get_path_with_query().unwrap_or_default();
    let target = target.parse::<PathAndQuery>().map_err(http::Error::from)?;
    // HTTP's Host field, which the host may have taken out of the headers.
    let host = match raw.get_authority() {
        Some(authority) => Some(HeaderValue::from_str(&authority).map_err(http::Error::from)?),
        None => headers.get(header::HOST).cloned(),
    };
    let uri = target::resolve(&Uri::from(target), host.as_ref()).map_err(Malformed::Url)?;
    if let Some(host) = host {
        headers.entry(header::HOST).or_insert(host);
    }
    let content_length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let method = Method::try_from(raw.get_method()).map_err(http::Error::from)?;
    // The host takes Transfer-Encoding out of the headers.
    let has_body = content_length
        .map_or(!matches!(method, Method::GET | Method::HEAD | Method::OPTIONS), |length: u64| length > 0);
    let is_under_way = has_body && !headers.contains_key(header::EXPECT);
    let mut request = Request::builder()
        .method(method)
        .uri(uri)
        .body(RequestBody::new(Some(Incoming::of(raw, is_under_way)), content_length))?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Hands a response to the host. An empty body keeps the Content-Length that stands in the headers: that is how HEAD is
/// answered.
///
/// # Errors
/// The host refuses a header.
pub fn response(response: Response<Body>) -> Result<types::Response, ErrorCode> {
    let (parts, body) = response.into_parts();
    let fields: Vec<_> = parts.headers.iter().map(field).collect();
    let fields = Fields::from_list(&fields).map_err(|error| {
        eprintln!("ledge: a response's header was refused: {error:?}");
        ErrorCode::InternalError(None)
    })?;
    let (contents, end) = match body.0 {
        Content::Bytes(bytes) => in_memory(bytes),
        Content::Unread(answer) => {
            let (_result, reader) = wit_future::new(|| Ok(()));
            let (contents, end) = types::Response::consume_body(answer, reader);
            (Some(contents), end)
        }
        Content::Pieces(pieces) => streamed(pieces),
    };
    let (outgoing, _sent) = types::Response::new(fields, contents, end);
    let status = parts.status.as_u16();
    outgoing.set_status_code(status).map_err(|()| ErrorCode::InternalError(None))?;
    Ok(outgoing)
}

type Contents = (
    Option<StreamReader<u8>>,
    spin_sdk::wasip3::wit_bindgen::FutureReader<Result<Option<types::Trailers>, ErrorCode>>,
);

fn in_memory(bytes: Vec<u8>) -> Contents {
    let (end, end_reader) = wit_future::new(|| Ok(None));
    if bytes.is_empty() {
        spawn(async move {
            let _ = end.write(Ok(None)).await;
        });
        return (None, end_reader);
    }
    let (mut writer, reader) = wit_stream::new();
    spawn(async move {
        write_all(&mut writer, &bytes).await;
        drop(writer);
        let _ = end.write(Ok(None)).await;
    });
    (Some(reader), end_reader)
}

/// A body that stays short can't pass for a whole one: its end says so, and the host breaks the connection.
fn streamed(mut pieces: futures::stream::LocalBoxStream<'static, Result<Vec<u8>, String>>) -> Contents {
    let (end, end_reader) = wit_future::new(|| Err(ErrorCode::InternalError(None)));
    let (mut writer, reader) = wit_stream::new();
    spawn(async move {
        let mut ended = Ok(None);
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(bytes) if write_all(&mut writer, &bytes).await => {}
                // The client is gone.
                Ok(_) => break,
                Err(reason) => {
                    eprintln!("ledge: a response body broke off: {reason}");
                    ended = Err(ErrorCode::InternalError(None));
                    break;
                }
            }
        }
        drop(writer);
        let _ = end.write(ended).await;
    });
    (Some(reader), end_reader)
}

/// The path of a request, before it is read.
pub fn path(raw: &types::Request) -> String {
    let target = raw.get_path_with_query().unwrap_or_default();
    target.split('?').next().unwrap_or_default().to_owned()
}

/// A status that says all.
///
/// # Errors
/// As [`response`].
pub fn bare(status: StatusCode) -> Result<types::Response, ErrorCode> {
    let mut answer = Response::new(Body::inline(Vec::new()));
    *answer.status_mut() = status;
    response(answer)
}
