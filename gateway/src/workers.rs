//! The entry point for Cloudflare Workers.
//!
//! A panic can't be caught here: the `worker` crate logs it and starts the module anew, which ends every request
//! of the isolate. So nothing on the way may panic on input.

use ledge_hosts::workers::{self, http as wire};
use wasm_bindgen::JsValue;
use web_sys::{Headers, ResponseInit};
use worker::{Context, Env, event};

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
            return Ok(problem(503, "not_set_up", &error.to_string())?);
        }
    };
    let request = match wire::request(&raw) {
        Ok(request) => request,
        Err(error) => return Ok(problem(400, "malformed_request", &error.to_string())?),
    };
    Ok(wire::response(crate::handle(&ports, request).await)?)
}

/// An answer to what never reaches the gateway's own routes.
fn problem(status: u16, code: &str, detail: &str) -> Result<web_sys::Response, JsValue> {
    let body = serde_json::json!({ "type": "about:blank", "status": status, "code": code, "detail": detail });
    let headers = Headers::new()?;
    headers.append("content-type", "application/problem+json")?;
    headers.append("cache-control", "no-store")?;
    if status == 503 {
        headers.append("retry-after", "60")?;
    }
    let init = ResponseInit::new();
    init.set_status(status);
    init.set_headers_headers(&headers);
    web_sys::Response::new_with_opt_str_and_init(Some(&body.to_string()), &init)
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
            web_sys::Response::new_with_opt_str(Some(&body.to_string()))
        })
    }
}
