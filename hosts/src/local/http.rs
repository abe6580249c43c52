//! The HTTP/1.1 server: connections in, one handler for all requests.

use std::convert::Infallible;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, EXPECT, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::request_line::{Noted, RequestLine};
use super::{Body, Upload};
use crate::target;

/// How long a client may take to send a request's header, from the connection or the last response on.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(60);

/// How long requests may go on after the server was asked to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers requests with `handler` until `stop` ends; then finishes those under way and returns.
///
/// The handler sees absolute URIs, as Workers parse them. A client that disconnects drops its handler's future. Needs to be
/// called inside [`super::run`].
pub async fn serve<H, F>(listener: TcpListener, handler: H, stop: impl Future<Output = ()>)
where
    H: Fn(Request<Upload>) -> F + 'static,
    F: Future<Output = Response<Body>> + 'static,
{
    let handler = Rc::new(handler);
    let (stopper, stopping) = watch::channel(false);
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn_local(connection(stream, handler.clone(), stopping.clone()));
                }
                // The client is gone already, or no file descriptor is free: neither ends the server.
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    let _ = stopper.send(true);
    let finish = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(STOP_TIMEOUT, finish).await;
}

async fn connection<H, F>(stream: TcpStream, handler: Rc<H>, mut stopping: watch::Receiver<bool>)
where
    H: Fn(Request<Upload>) -> F + 'static,
    F: Future<Output = Response<Body>> + 'static,
{
    // Small answers must not wait for acknowledgements; where it can't be set, they do.
    let _ = stream.set_nodelay(true);
    let line = RequestLine::default();
    let stream = Noted::new(stream, line.clone());
    let service = service_fn(move |request| {
        let has_fragment = line.has_fragment(request.uri());
        let handler = handler.clone();
        async move {
            Ok::<_, Infallible>(match has_fragment {
                true => bad_target("the request target has a fragment: a # in a name is %23"),
                false => answer(&*handler, request).await,
            })
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADER_READ_TIMEOUT);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    // An error here is a client that went away or a body that broke: there is nobody left to tell.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopping.wait_for(|stopping| *stopping) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn answer<H, F>(handler: &H, request: Request<Incoming>) -> Response<Body>
where
    H: Fn(Request<Upload>) -> F,
    F: Future<Output = Response<Body>>,
{
    let (mut head, incoming) = request.into_parts();
    match target::resolve(&head.uri, head.headers.get(HOST)) {
        Ok(uri) => head.uri = uri,
        Err(reason) => return bad_target(reason),
    }
    let (upload, rest) = Upload::new(incoming, head.headers.contains_key(EXPECT));
    let response = handler(Request::from_parts(head, upload)).await;
    tokio::task::spawn_local(rest.drain());
    response
}

/// The one answer that no handler gives: on Workers, such a request never reaches one.
fn bad_target(reason: &'static str) -> Response<Body> {
    let problem = serde_json::json!({
        "type": "urn:ledge:problem:bad_target",
        "title": "Bad Request",
        "status": StatusCode::BAD_REQUEST.as_u16(),
        "code": "bad_target",
        "detail": reason,
    });
    let mut response = Response::new(Body::whole(problem.to_string()));
    *response.status_mut() = StatusCode::BAD_REQUEST;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    // As every answer of the gateway has them.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-transform"));
    response
}

#[cfg(test)]
mod tests;
