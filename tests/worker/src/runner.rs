//! Content in and out of workerd's own requests and responses.

use anyhow::{Result, anyhow};
use http::Response;
use js_sys::{Promise, Uint8Array};
use ledge_conformance::Runner;
use ledge_hosts::workers::{Body, RequestBody, http as wire};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, RequestInit};

pub(crate) struct Workers;

impl Runner for Workers {
    type Body = Body;
    type Upload = RequestBody;

    async fn content(&self, body: Body) -> Result<Vec<u8>> {
        let response = wire::response(Response::new(body)).map_err(thrown)?;
        let buffer = settle(response.array_buffer()).await.map_err(thrown)?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    async fn upload(&self, bytes: Vec<u8>, announced_bytes: u64) -> Result<RequestBody> {
        let request = request(&bytes, announced_bytes).map_err(thrown)?;
        Ok(wire::request(&request)?.into_body())
    }
}

fn request(bytes: &[u8], announced_bytes: u64) -> Result<web_sys::Request, JsValue> {
    let headers = Headers::new()?;
    headers.set("content-length", &announced_bytes.to_string())?;
    let init = RequestInit::new();
    init.set_method("PUT");
    init.set_headers_headers(&headers);
    init.set_body(&Uint8Array::from(bytes));
    web_sys::Request::new_with_str_and_init("http://localhost/", &init)
}

async fn settle(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(promise?).await
}

fn thrown(value: JsValue) -> anyhow::Error {
    anyhow!("{value:?}")
}
