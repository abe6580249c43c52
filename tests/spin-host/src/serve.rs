//! The HTTP/1.1 server.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use wasmtime_wasi_http::handler::ErrorCode;
use wasmtime_wasi_http::p3::bindings::http::types::ErrorCode as WasiError;

use crate::app::App;
use crate::counters;

/// What the counters are asked by; no path of Ledge's.
const COUNTERS: &str = "/spin-host/counters";

/// Answers until it is dropped.
pub async fn serve(listener: TcpListener, app: Arc<App>) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(connection(stream, app.clone()));
        }
    }
}

async fn connection(stream: TcpStream, app: Arc<App>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let app = app.clone();
        async move { Ok::<_, Infallible>(answer(&app, request).await) }
    });
    // An error is a client that went away, or a body that broke.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(app: &App, request: http::Request<Incoming>) -> http::Response<PassedOn> {
    if request.uri().path() == COUNTERS {
        return whole(200, app.counted());
    }
    let (mut parts, body) = request.into_parts();
    // As Spin does: the authority is the Host field.
    let host =
        parts.headers.get(http::header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let mut uri = std::mem::take(&mut parts.uri).into_parts();
    if uri.authority.is_none() {
        match host.parse() {
            Ok(authority) => uri.authority = Some(authority),
            Err(_) => return whole(400, "the Host field is not a host".to_owned()),
        }
        uri.scheme = Some(http::uri::Scheme::HTTP);
        if uri.path_and_query.is_none() {
            uri.path_and_query = Some(http::uri::PathAndQuery::from_static("/"));
        }
    }
    match http::Uri::from_parts(uri) {
        Ok(uri) => parts.uri = uri,
        Err(_) => return whole(400, "the request target is not a URL".to_owned()),
    }
    let body = body.map_err(|_| ErrorCode::from(WasiError::HttpRequestBodySize(None))).boxed_unsync();
    match app.answer(http::Request::from_parts(parts, body)).await {
        Ok(answer) => answer.map(PassedOn),
        Err(error) => {
            eprintln!("spin-host: a request failed: {error:?}");
            whole(500, "the component failed".to_owned())
        }
    }
}

fn whole(status: u16, text: String) -> http::Response<PassedOn> {
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
    let mut answer = http::Response::new(PassedOn(body));
    *answer.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    answer
}

/// A body that a client's connection asks for.
struct PassedOn(UnsyncBoxBody<Bytes, wasmtime::Error>);

impl Body for PassedOn {
    type Data = Bytes;
    type Error = wasmtime::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, wasmtime::Error>>> {
        counters::passing_on(|| Pin::new(&mut self.0).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
