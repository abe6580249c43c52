//! `Bucket` over R2.

use std::ops::Range;

use js_sys::{Promise, Uint8Array};
use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Listed, Presigned, Timestamp};
use wasm_bindgen::{JsCast, JsValue};
use worker_sys::{R2Bucket, R2Object, R2ObjectBody, R2Objects};

use super::js;

/// R2 takes and lists at most so many keys in one call.
const KEYS_AT_ONCE: usize = 1000;

/// An R2 bucket.
#[derive(Debug, Clone)]
pub struct R2 {
    bucket: R2Bucket,
}

impl R2 {
    pub(super) fn new(bucket: worker::Bucket) -> Self {
        Self { bucket: JsValue::from(bucket).unchecked_into() }
    }

    /// Asks for a range, which must not be empty, without waiting for the answer. With an entity tag: of that very object.
    pub(super) fn ask(&self, key: &str, range: Range<u64>, etag: Option<&str>) -> Asked {
        let length = range.end.saturating_sub(range.start);
        let wanted = js::object([("offset", js::number(range.start)), ("length", js::number(length))]);
        let only_if = etag
            .map_or(JsValue::UNDEFINED, |etag| js::object([("etagMatches", JsValue::from_str(etag))]).into());
        let options = js::object([("range", wanted.into()), ("onlyIf", only_if)]);
        let answer = self.bucket.get(key.to_owned(), options.into());
        let (key, etag) = (key.to_owned(), etag.map(str::to_owned));
        Asked { bucket: self.clone(), key, etag, end: range.end, answer }
    }

    async fn read(&self, key: &str, range: Range<u64>, etag: Option<&str>) -> Result<Vec<u8>, BucketError> {
        if range.is_empty() {
            let enough = self.size_of(key).await? >= range.end;
            return if enough { Ok(Vec::new()) } else { Err(BucketError::OutOfRange(key.to_owned())) };
        }
        let object = self.ask(key, range, etag).arrived().await?;
        let buffer = js::settle(object.array_buffer()).await.map_err(|thrown| failure(key, &thrown))?;
        Ok(Uint8Array::new(&buffer).to_vec())
    }

    async fn head(&self, key: &str) -> Result<R2Object, BucketError> {
        let found =
            js::settle(self.bucket.head(key.to_owned())).await.map_err(|thrown| failure(key, &thrown))?;
        if found.is_null() { Err(BucketError::NotFound(key.to_owned())) } else { Ok(found.unchecked_into()) }
    }

    async fn size_of(&self, key: &str) -> Result<u64, BucketError> {
        size(&self.head(key).await?)
    }

    /// Why a range up to `end` wasn't given. Miniflare's R2 has no error code for a range that begins where the
    /// object ends, so what has no known code is looked into before it counts as a failing bucket.
    async fn explain(&self, key: &str, end: u64, thrown: &JsValue) -> BucketError {
        match failure(key, thrown) {
            BucketError::Unavailable(reason) => match self.size_of(key).await {
                Ok(size) if size < end => BucketError::OutOfRange(key.to_owned()),
                _ => BucketError::Unavailable(reason),
            },
            known => known,
        }
    }
}

/// A range on its way.
pub(super) struct Asked {
    bucket: R2,
    key: String,
    etag: Option<String>,
    end: u64,
    answer: Result<Promise, JsValue>,
}

impl Asked {
    /// Waits until R2 has begun to answer: with the whole range, or an error.
    pub(super) async fn arrived(self) -> Result<R2ObjectBody, BucketError> {
        let found = match js::settle(self.answer).await {
            Ok(found) => found,
            Err(thrown) => return Err(self.bucket.explain(&self.key, self.end, &thrown).await),
        };
        if found.is_null() {
            let is_ours = self.etag.is_none();
            return Err(if is_ours {
                BucketError::NotFound(self.key)
            } else {
                BucketError::Changed(self.key)
            });
        }
        let object: R2ObjectBody = found.unchecked_into();
        if let Some(etag) = &self.etag {
            // Then there is no body.
            let is_that =
                object.etag().map_err(|thrown| BucketError::Unavailable(js::reason(&thrown)))? == *etag;
            if !is_that {
                return Err(BucketError::Changed(self.key));
            }
        }
        // R2 cuts a range at the end of the object instead of refusing it.
        if size(&object)? < self.end {
            discard(&object).await;
            return Err(BucketError::OutOfRange(self.key));
        }
        Ok(object)
    }
}

async fn discard(object: &R2ObjectBody) {
    if let Ok(stream) = object.body() {
        // It fails only where the stream has already ended.
        let _ = js::settle(Ok(stream.cancel())).await;
    }
}

impl Bucket for R2 {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.read(key, range, None).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.read(key, range, Some(etag)).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.head(key).await?.etag().map_err(|thrown| BucketError::Unavailable(js::reason(&thrown)))
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        let options = js::object([("sha256", JsValue::from_str(&sha256.to_string()))]);
        js::settle(self.bucket.put(key.to_owned(), Uint8Array::from(bytes).into(), options.into()))
            .await
            .map(drop)
            .map_err(|thrown| failure(key, &thrown))
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        for some in keys.chunks(KEYS_AT_ONCE) {
            let first = some.first().map_or("", String::as_str);
            let names = some.iter().map(|key| JsValue::from_str(key)).collect();
            js::settle(self.bucket.delete_multiple(names)).await.map_err(|thrown| failure(first, &thrown))?;
        }
        Ok(())
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        let options = js::object([
            ("prefix", JsValue::from_str(prefix)),
            ("cursor", cursor.map_or(JsValue::UNDEFINED, JsValue::from_str)),
            ("limit", js::number(KEYS_AT_ONCE as u64)),
        ]);
        let found =
            js::settle(self.bucket.list(options.into())).await.map_err(|thrown| failure(prefix, &thrown))?;
        page(found.unchecked_ref()).map_err(|thrown| failure(prefix, &thrown))
    }

    /// Nobody reaches a binding without Ledge.
    fn presign(&self, _: &str, _: &Direct<'_>) -> Option<Presigned> {
        None
    }
}

fn page(found: &R2Objects) -> Result<ListPage, JsValue> {
    let next = if found.truncated()? { found.cursor()? } else { None };
    let objects = found
        .objects()?
        .iter()
        .map(|object| {
            let stored_at = Timestamp(whole(object.uploaded()?.get_time()).cast_signed());
            let (key, etag) = (object.key()?, Some(object.etag()?));
            Ok(Listed { key, size_bytes: whole(object.size()?), etag, stored_at })
        })
        .collect::<Result<_, JsValue>>()?;
    Ok(ListPage { objects, next })
}

fn size(object: &R2Object) -> Result<u64, BucketError> {
    object.size().map(whole).map_err(|thrown| BucketError::Unavailable(js::reason(&thrown)))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "R2's sizes and times are whole and not negative"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// R2's messages end in its error code.
fn failure(key: &str, thrown: &JsValue) -> BucketError {
    let message = js::reason(thrown);
    match message.rsplit_once('(').map(|(_, code)| code.trim_end_matches(')')) {
        Some("10007") => BucketError::NotFound(key.to_owned()),
        Some("10037") => BucketError::Damaged(key.to_owned()),
        Some("10039") => BucketError::OutOfRange(key.to_owned()),
        _ => BucketError::Unavailable(message),
    }
}
