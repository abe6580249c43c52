//! What the ports share of JavaScript: awaiting promises, reading errors, and the calls that web-sys lacks.

use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    /// A reader that fills buffers of its caller's.
    #[wasm_bindgen(js_name = ReadableStreamBYOBReader, typescript_type = "ReadableStreamBYOBReader")]
    #[derive(Debug, Clone)]
    pub(super) type ByobReader;

    /// `read(view, {min})`: web-sys knows it without its options only.
    #[wasm_bindgen(method, catch)]
    pub(super) fn read(this: &ByobReader, view: &Uint8Array, options: &Object) -> Result<Promise, JsValue>;

    /// Random bytes, at most [`RANDOM_BYTES_AT_ONCE`]. It has no other way to fail, so an exception from it
    /// ends the request like a panic: nobody may go on with bytes that aren't random.
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    pub(super) fn fill_with_random(view: &Uint8Array);

    /// The host's own hash functions.
    #[wasm_bindgen(catch, js_namespace = ["crypto", "subtle"], js_name = digest)]
    pub(super) fn digest(algorithm: &str, bytes: &Uint8Array) -> Result<Promise, JsValue>;
}

/// The Web Cryptography API's limit for one call of `getRandomValues`.
pub(super) const RANDOM_BYTES_AT_ONCE: usize = 65_536;

/// Awaits a promise, where one was made at all.
pub(super) async fn settle(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(promise?).await
}

/// Lets a promise go whose result nobody needs, so that its failure isn't reported as unhandled.
pub(super) fn forget(promise: Promise) {
    wasm_bindgen_futures::spawn_local(async move {
        let _ = JsFuture::from(promise).await;
    });
}

/// The text of whatever was thrown.
pub(super) fn reason(thrown: &JsValue) -> String {
    thrown
        .dyn_ref::<js_sys::Error>()
        .map(|error| String::from(error.message()))
        .or_else(|| thrown.as_string())
        .unwrap_or_else(|| format!("{thrown:?}"))
}

/// An object with these properties.
pub(super) fn object<const N: usize>(properties: [(&str, JsValue); N]) -> Object {
    let pairs: Array = properties
        .into_iter()
        .map(|(name, value)| JsValue::from(Array::of2(&JsValue::from_str(name), &value)))
        .collect();
    Object::from_entries(&pairs).unwrap_or_default()
}

/// A property, or undefined.
pub(super) fn property(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// A size as JavaScript has it: exact, since no size comes near 2^53.
#[expect(clippy::cast_precision_loss, reason = "sizes stay far below 2^53")]
pub(super) fn number(size: u64) -> JsValue {
    JsValue::from_f64(size as f64)
}
