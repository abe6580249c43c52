//! The entry point for Cloudflare Workers.
//!
//! A panic can't be caught here: the `worker` crate logs it and starts the module anew, which ends every request
//! of the isolate. So nothing on the way may panic on input.

use http::{HeaderValue, StatusCode, header};
use ledge_core::plan::ReadPlan;
use ledge_hosts::workers::http::{self as wire, Malformed};
use ledge_hosts::workers::{self, Body};
use worker::{Context, Env, event};

use crate::problem;

/// Until when a missing binding may have been added: about as long as it takes to deploy again.
const SETUP_RETRY_SECS: u32 = 60;

#[event(fetch)]
async fn fetch(raw: web_sys::Request, env: Env, context: Context) -> worker::Result<web_sys::Response> {
    #[cfg(feature = "debug-routes")]
    if let Some(response) = debug::answer(&raw) {
        return Ok(response?);
    }
    let ports = match workers::ports(&env, &context) {
        Ok(ports) => ports,
        Err(error) => {
            worker::console_error!("{error}");
            let mut response =
                problem::plain(StatusCode::SERVICE_UNAVAILABLE, "not_set_up", &error.to_string());
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(SETUP_RETRY_SECS));
            return Ok(wire::response(response.map(in_memory))?);
        }
    };
    let request = match wire::request(&raw) {
        Ok(request) => request,
        Err(error) => {
            let code = match error {
                Malformed::Url | Malformed::Fragment => "bad_target",
                Malformed::Http(_) => "malformed_request",
            };
            let response = problem::plain(StatusCode::BAD_REQUEST, code, &error.to_string());
            return Ok(wire::response(response.map(in_memory))?);
        }
    };
    Ok(wire::response(crate::handle(&ports, request).await)?)
}

/// The body of an answer to what never reaches the gateway's own routes.
fn in_memory(plan: ReadPlan) -> Body {
    Body::inline(plan.into_inline().unwrap_or_default())
}

/// Routes of the test build only.
#[cfg(feature = "debug-routes")]
mod debug {
    use js_sys::{ArrayBuffer, Reflect};
    use wasm_bindgen::JsValue;

    /// `GET /debug/memory`: how large this isolate's WebAssembly memory has grown; it never shrinks.
    pub(super) fn answer(request: &web_sys::Request) -> Option<Result<web_sys::Response, JsValue>> {
        let is_memory = request.method() == "GET" && request.url().ends_with("/debug/memory");
        is_memory.then(|| {
            let buffer = Reflect::get(&wasm_bindgen::memory(), &JsValue::from_str("buffer"))?;
            let bytes = ArrayBuffer::from(buffer).byte_length();
            let body = serde_json::json!({ "wasm_memory_bytes": bytes });
            let headers = web_sys::Headers::new()?;
            headers.set("content-type", "application/json")?;
            let init = web_sys::ResponseInit::new();
            init.set_headers_headers(&headers);
            web_sys::Response::new_with_opt_str_and_init(Some(&body.to_string()), &init)
        })
    }
}
