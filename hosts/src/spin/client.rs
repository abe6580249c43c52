//! The HTTP client for the bucket: `wasi:http/client`, which Spin lets reach only what spin.toml names.

use std::pin::pin;
use std::time::{SystemTime, UNIX_EPOCH};

use futures::future::{Either, select};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use ledge_core::ports::Timestamp;
use spin_sdk::wasip3::http::client;
use spin_sdk::wasip3::http::types::{self, ErrorCode, Fields, Scheme};
use spin_sdk::wasip3::wit_bindgen::{StreamReader, StreamResult, StreamWriter};
use spin_sdk::wasip3::{clocks, random, wit_future, wit_stream};

use crate::s3::{Broken, Client};

/// How much is handed to the host, or taken from it, at once: a copy of so much is held beside the original.
pub(super) const PIECE_BYTES: usize = 256 * 1024;

/// Outbound HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Outbound;

impl Client for Outbound {
    /// An answer of which nothing has been read: so it can be handed on without its bytes coming by here.
    type Body = types::Response;

    async fn send(&self, request: Request<&[u8]>) -> Result<Response<types::Response>, Broken> {
        let (parts, body) = request.into_parts();
        let mut fields: Vec<(String, Vec<u8>)> = parts.headers.iter().map(field).collect();
        if !matches!(parts.method, Method::GET | Method::HEAD | Method::DELETE) {
            fields.push((header::CONTENT_LENGTH.to_string(), body.len().to_string().into_bytes()));
        }
        let fields = Fields::from_list(&fields).map_err(|_| broken("a request's header was refused"))?;
        let (trailers, trailers_reader) = wit_future::new(|| Ok(None));
        let (writer, contents) = if body.is_empty() {
            (None, None)
        } else {
            let (writer, reader) = wit_stream::new();
            (Some(writer), Some(reader))
        };
        let (outgoing, _sent) = types::Request::new(fields, contents, trailers_reader, None);
        aim(&outgoing, &parts).map_err(|()| broken("a request's target was refused"))?;
        let writing = async {
            if let Some(mut writer) = writer {
                write_all(&mut writer, body).await;
            }
            // Who doesn't want to know has answered already.
            let _ = trailers.write(Ok(None)).await;
        };
        let answer = match select(pin!(client::send(outgoing)), pin!(writing)).await {
            // It may be refused before all of it is sent.
            Either::Left((answer, _)) => answer,
            Either::Right(((), sending)) => sending.await,
        };
        incoming(answer.map_err(|code| broken(reason(&code)))?)
    }

    async fn collect(&self, body: types::Response, limit_bytes: usize) -> Result<Vec<u8>, Broken> {
        let mut pieces = Pieces::of(body);
        let mut bytes = Vec::new();
        while let Some(piece) = pieces.next().await? {
            if bytes.len() + piece.len() > limit_bytes {
                return Err(broken(format!("an answer has more than {limit_bytes} bytes")));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    fn now(&self) -> Timestamp {
        now()
    }

    fn jitter(&self) -> u32 {
        // Its low half.
        random::random::get_random_u64() as u32
    }

    async fn sleep(&self, millis: u64) {
        sleep(millis).await;
    }
}

/// The body of an answer, as it arrives.
pub(super) struct Pieces {
    stream: StreamReader<u8>,
    /// None once the end is known.
    end: Option<BodyEnd>,
}

type BodyEnd = spin_sdk::wasip3::wit_bindgen::FutureReader<Result<Option<types::Trailers>, ErrorCode>>;

impl Pieces {
    /// Begins to read.
    pub(super) fn of(answer: types::Response) -> Self {
        let (_result, reader) = wit_future::new(|| Ok(()));
        let (stream, end) = types::Response::consume_body(answer, reader);
        Self { stream, end: Some(end) }
    }

    /// What comes next; None at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        while self.end.is_some() {
            let (result, bytes) = self.stream.read(Vec::with_capacity(PIECE_BYTES)).await;
            if result == StreamResult::Dropped
                && let Some(end) = self.end.take()
            {
                end.await.map_err(|code| broken(format!("an answer broke off: {}", reason(&code))))?;
            }
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

/// Writes all, unless nobody reads any more: then it is false.
pub(super) async fn write_all(writer: &mut StreamWriter<u8>, bytes: &[u8]) -> bool {
    for piece in bytes.chunks(PIECE_BYTES) {
        if !writer.write_all(piece.to_vec()).await.is_empty() {
            return false;
        }
    }
    true
}

/// One header for the host.
pub(super) fn field((name, value): (&HeaderName, &HeaderValue)) -> (String, Vec<u8>) {
    (name.as_str().to_owned(), value.as_bytes().to_vec())
}

fn aim(outgoing: &types::Request, parts: &http::request::Parts) -> Result<(), ()> {
    let scheme = match parts.uri.scheme_str() {
        Some("http") => Scheme::Http,
        _ => Scheme::Https,
    };
    outgoing.set_method(&types::Method::from(&parts.method))?;
    outgoing.set_scheme(Some(&scheme))?;
    outgoing.set_authority(parts.uri.authority().map(http::uri::Authority::as_str))?;
    outgoing.set_path_with_query(parts.uri.path_and_query().map(http::uri::PathAndQuery::as_str))
}

fn incoming(answer: types::Response) -> Result<Response<types::Response>, Broken> {
    let malformed = |_: http::Error| broken("an answer's head can't be read");
    let status = StatusCode::from_u16(answer.get_status_code()).map_err(|e| malformed(e.into()))?;
    let mut headers = http::HeaderMap::new();
    for (name, value) in answer.get_headers().copy_all() {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| malformed(e.into()))?;
        let value = HeaderValue::from_bytes(&value).map_err(|e| malformed(e.into()))?;
        headers.try_append(name, value).map_err(|_| broken("an answer has too many headers"))?;
    }
    let mut response = Response::new(answer);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

/// What went wrong, without what the host may add: that may hold the URL.
pub(super) fn reason(code: &ErrorCode) -> String {
    match code {
        ErrorCode::HttpRequestDenied => {
            "it was refused: allowed_outbound_hosts in spin.toml must name the store".to_owned()
        }
        ErrorCode::InternalError(_) => "the request failed".to_owned(),
        other => format!("the request failed: {other:?}"),
    }
}

fn broken(reason: impl Into<String>) -> Broken {
    Broken(reason.into())
}

/// The system's clock.
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Waits; a millisecond more, since the clock counts whole ones.
pub(super) async fn sleep(millis: u64) {
    clocks::monotonic_clock::wait_for(millis.saturating_add(1).saturating_mul(1_000_000)).await;
}
