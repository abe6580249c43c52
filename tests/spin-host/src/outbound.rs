//! Requests that a component makes: to the bucket over HTTP, and to the functions component within the application.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::p3::{RequestOptions, WasiHttpHooks};

use crate::counters::Counters;
use crate::instance::Shared;

type Incoming = UnsyncBoxBody<Bytes, ErrorCode>;
type Ended = Box<dyn Future<Output = Result<(), ErrorCode>> + Send>;

/// A component's way out.
pub struct Outbound {
    pub shared: Arc<Shared>,
}

impl WasiHttpHooks for Outbound {
    fn send_request(
        &mut self,
        request: http::Request<Incoming>,
        _: Option<RequestOptions>,
        _: Ended,
    ) -> Box<
        dyn Future<
                Output = Result<(http::Response<Incoming>, Ended), wasmtime_wasi::TrappableError<ErrorCode>>,
            > + Send,
    > {
        let shared = self.shared.clone();
        Box::new(async move { Ok(send(&shared, request).await?) })
    }
}

async fn send(
    shared: &Shared,
    request: http::Request<Incoming>,
) -> Result<(http::Response<Incoming>, Ended), ErrorCode> {
    let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
    if let Some(functions) = shared.functions.as_ref().filter(|_| authority == "functions.spin.internal") {
        let request = request.map(|body| body.map_err(Into::into).boxed_unsync());
        let answer = functions.handle((), request).await.map_err(|error| {
            eprintln!("spin-host: the functions component failed: {error:?}");
            ErrorCode::InternalError(None)
        })?;
        let answer = answer.map(|body| body.map_err(|_| ErrorCode::InternalError(None)).boxed_unsync());
        return Ok((answer, Box::new(async { Ok(()) })));
    }
    if request.uri().scheme_str() != Some("http") {
        return Err(ErrorCode::HttpRequestDenied);
    }
    let stream = TcpStream::connect(&authority).await.map_err(|_| ErrorCode::ConnectionRefused)?;
    let _ = stream.set_nodelay(true);
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|_| ErrorCode::HttpProtocolError)?;
    let driven = tokio::spawn(connection);
    let (mut parts, body) = request.into_parts();
    // The form that servers expect: only the path, and the Host field, which wasmtime has set.
    parts.uri = parts
        .uri
        .path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default()
        .parse()
        .map_err(|_| ErrorCode::HttpRequestUriInvalid)?;
    let answer = sender
        .send_request(http::Request::from_parts(parts, body))
        .await
        .map_err(|_| ErrorCode::ConnectionTerminated)?;
    let counters = shared.counters.clone();
    let answer =
        answer.map(|body| Counted { body, counters, _connection: Connection(driven) }.boxed_unsync());
    Ok((answer, Box::new(async { Ok(()) })))
}

/// A connection that ends with the answer that it was for.
struct Connection(tokio::task::JoinHandle<hyper::Result<()>>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An answer's body that notes who reads it.
struct Counted {
    body: hyper::body::Incoming,
    counters: Arc<Counters>,
    _connection: Connection,
}

impl Body for Counted {
    type Data = Bytes;
    type Error = ErrorCode;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ErrorCode>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(|_| ErrorCode::HttpResponseIncomplete)?;
            self.counters.arrived(frame.data_ref().map_or(0, Bytes::len));
            Ok(frame)
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
