//! The only route.

use ledge_conformance::Report;
use ledge_hosts::workers;
use serde_json::{Value, json};
use wasm_bindgen::JsValue;
use web_sys::ResponseInit;
use worker::{Context, Env, event};

use crate::runner::Workers;

#[event(fetch)]
async fn fetch(request: web_sys::Request, env: Env, context: Context) -> worker::Result<web_sys::Response> {
    if request.method() != "GET" || !request.url().ends_with("/conformance") {
        return Ok(answer(404, &json!({ "detail": "the only route is GET /conformance" }))?);
    }
    match workers::ports(&env, &context) {
        Ok(ports) => Ok(answer(200, &as_json(ledge_conformance::run(&ports, &Workers).await))?),
        Err(error) => Ok(answer(503, &json!({ "detail": error.to_string() }))?),
    }
}

fn as_json(report: Report) -> Value {
    let failed: Vec<Value> =
        report.failed.into_iter().map(|(name, reason)| json!({ "name": name, "reason": reason })).collect();
    json!({ "passed": report.passed, "failed": failed })
}

fn answer(status: u16, body: &Value) -> Result<web_sys::Response, JsValue> {
    let init = ResponseInit::new();
    init.set_status(status);
    web_sys::Response::new_with_opt_str_and_init(Some(&body.to_string()), &init)
}
