//! The HTTP client by which a Worker reaches a bucket: the runtime's `fetch`.

use http::{Method, Request, Response};
use js_sys::{Promise, Uint8Array};
use ledge_core::ports::Timestamp;
use std::time::Duration;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{AbortController, Headers, RequestInit, RequestRedirect};

use super::http::headers_in;
use super::js;
use crate::s3::{Broken, Client};

#[wasm_bindgen]
extern "C" {
    /// The runtime's own; web-sys has it as a method of windows only.
    #[wasm_bindgen(catch, js_name = fetch)]
    fn fetch(url: &str, init: &RequestInit) -> Result<Promise, JsValue>;
}

/// `fetch`.
#[derive(Debug, Clone, Copy)]
pub struct Fetch;

/// Gives a request up that nobody waits for any more: else it would hold one of the request's six connections.
struct GivenUpOnDrop(Option<AbortController>);

impl Drop for GivenUpOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}

impl Client for Fetch {
    type Body = web_sys::Response;

    async fn send(&self, request: Request<&[u8]>) -> Result<Response<web_sys::Response>, Broken> {
        let controller = AbortController::new().map_err(|thrown| broken(&thrown))?;
        let mut guard = GivenUpOnDrop(Some(controller.clone()));
        let init = init(&request, &controller).map_err(|thrown| broken(&thrown))?;
        let answer = js::settle(fetch(&request.uri().to_string(), &init)).await;
        guard.0 = None;
        let answer: web_sys::Response = answer.map_err(|thrown| broken(&thrown))?.unchecked_into();
        let mut response = Response::new(());
        let malformed = |_| Broken("the answer's head is malformed".to_owned());
        *response.status_mut() = answer.status().try_into().map_err(|_| malformed(()))?;
        *response.headers_mut() = headers_in(&answer.headers()).map_err(|_| malformed(()))?;
        Ok(response.map(|()| answer))
    }

    async fn collect(&self, body: web_sys::Response, limit_bytes: usize) -> Result<Vec<u8>, Broken> {
        let announced = body.headers().get("content-length").ok().flatten();
        if announced.and_then(|length| length.parse().ok()).is_some_and(|length: usize| length > limit_bytes)
        {
            self.discard(body).await;
            return Err(too_long());
        }
        let buffer = js::settle(body.array_buffer()).await.map_err(|thrown| broken(&thrown))?;
        let bytes = Uint8Array::new(&buffer).to_vec();
        if bytes.len() > limit_bytes { Err(too_long()) } else { Ok(bytes) }
    }

    async fn discard(&self, body: web_sys::Response) {
        if let Some(stream) = body.body() {
            // It fails only where the stream has already ended.
            let _ = js::settle(Ok(stream.cancel())).await;
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds, far below 2^53")]
    fn now(&self) -> Timestamp {
        Timestamp(js_sys::Date::now() as i64)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to less than 2^32")]
    fn jitter(&self) -> u32 {
        (js_sys::Math::random() * f64::from(u32::MAX)) as u32
    }

    async fn sleep(&self, millis: u64) {
        worker::Delay::from(Duration::from_millis(millis)).await;
    }
}

fn init(request: &Request<&[u8]>, controller: &AbortController) -> Result<RequestInit, JsValue> {
    let headers = Headers::new()?;
    for (name, value) in request.headers() {
        headers.append(name.as_str(), &String::from_utf8_lossy(value.as_bytes()))?;
    }
    let init = RequestInit::new();
    init.set_method(request.method().as_str());
    init.set_headers_headers(&headers);
    init.set_redirect(RequestRedirect::Manual);
    init.set_signal(Some(&controller.signal()));
    if matches!(*request.method(), Method::PUT | Method::POST) {
        init.set_body(&Uint8Array::from(*request.body()));
    }
    Ok(init)
}

fn too_long() -> Broken {
    Broken("the answer is too long".to_owned())
}

/// What was thrown, unless it shows the URL.
fn broken(thrown: &JsValue) -> Broken {
    let reason = js::reason(thrown);
    Broken(if reason.contains("X-Amz-") { "the request failed".to_owned() } else { reason })
}
