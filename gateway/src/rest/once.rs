//! `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): around the handlers of POSTs that make something.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use ledge_core::digest::Sha256;
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::{Answer, Claim, Earlier, Key, Once};
use ledge_core::ids::SpaceId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload, UploadError};

use super::body;
use crate::headers::set;
use crate::routes::Matched;
use crate::{credentials, problem};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// A body that was read to know the request by, or one that comes as it comes.
pub(crate) enum Body<U> {
    Read(Vec<u8>),
    Coming(U),
}

impl<U: Upload> Upload for Body<U> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        match self {
            Self::Coming(upload) => upload.read(into, at_most).await,
            Self::Read(bytes) => {
                let rest = bytes.split_off(at_most.min(bytes.len()));
                into.extend_from_slice(bytes);
                Ok(std::mem::replace(bytes, rest).len())
            }
        }
    }
}

/// Lets a handler answer, or the answer that the same request had before. The handler must [`note`] its answer before
/// each commit.
pub(crate) async fn once<P: Platform, U: Upload>(
    platform: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
    handler: impl AsyncFnOnce(&Once<'_, P>, Matched<'_>, Body<U>) -> Result<Response<ReadPlan>>,
) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&matched.parts.headers)?;
    let Some(key) = key(matched.parts)? else {
        return handler(platform, matched, Body::Coming(upload)).await;
    };
    let bytes = body::bytes(upload).await?;
    let space = SpaceId::parse(matched.space);
    let fingerprint = fingerprint(matched.parts, &bytes);
    let once = platform.claiming(Claim { token, key, space, fingerprint });
    let answered = handler(&once, matched, Body::Read(bytes)).await;
    match once.into_earlier() {
        None => answered,
        Some(Earlier::Same(answer)) => replay(answer),
        Some(Earlier::Other) => Ok(problem::plain(
            StatusCode::UNPROCESSABLE_ENTITY,
            "idempotency_key_reused",
            "another request had this Idempotency-Key: choose a new one for each",
        )),
    }
}

/// Tells the answer that follows if the commit succeeds.
pub(super) fn note<P: Platform>(once: &Once<'_, P>, response: Response<ReadPlan>) {
    let (parts, body) = response.into_parts();
    let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let body = body.into_inline().ok().and_then(|bytes| String::from_utf8(bytes).ok());
    once.note(Answer { status: parts.status.as_u16(), headers, body });
}

/// The same for an answer with a secret, which is shown this once and not kept.
pub(super) fn note_secret<P: Platform>(once: &Once<'_, P>) {
    once.note(Answer { status: StatusCode::CREATED.as_u16(), headers: Vec::new(), body: None });
}

fn replay(answer: Answer) -> Result<Response<ReadPlan>> {
    let Some(body) = answer.body else {
        return Ok(problem::plain(
            StatusCode::CONFLICT,
            "secret_shown_once",
            "this request was answered before, with a secret that is shown only once: revoke what it made, and make \
             another under a new key",
        ));
    };
    let mut response = Response::new(ReadPlan::inline(body));
    *response.status_mut() =
        StatusCode::from_u16(answer.status).map_err(|error| Error::Internal(error.to_string()))?;
    for (name, value) in &answer.headers {
        let name = name.parse().map_err(|_| Error::Internal(format!("a kept header named {name:?}")))?;
        set(response.headers_mut(), name, value);
    }
    response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    Ok(response)
}

fn key(parts: &Parts) -> Result<Option<Key>> {
    let mut given = parts.headers.get_all(&IDEMPOTENCY_KEY).iter();
    let Some(value) = given.next() else { return Ok(None) };
    let key = value.to_str().ok().and_then(Key::parse).filter(|_| given.next().is_none());
    key.map(Some).ok_or_else(|| {
        Error::invalid("Idempotency-Key", "expected one key of 1 to 255 visible characters of ASCII")
    })
}

/// Of all that makes a request the same: its method, its URL and its body.
fn fingerprint(parts: &Parts, body: &[u8]) -> Sha256 {
    let url = parts.uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
    let mut text = format!("{} {url}\n", parts.method).into_bytes();
    text.extend_from_slice(body);
    Sha256::of(&text)
}
