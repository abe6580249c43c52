//! UNLOCK: gives a lock back.

use http::{HeaderName, StatusCode};
use ledge_core::locks;
use ledge_core::ports::Platform;

use super::{Answer, Failure, Request, empty};
use crate::headers::text;

/// 204.
pub(crate) async fn unlock<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    let header = text(&request.parts.headers, &HeaderName::from_static("lock-token"));
    let token = header.as_deref().and_then(|text| text.trim().strip_prefix('<')?.strip_suffix('>'));
    let token = token.ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, "Lock-Token: expected <token>"))?;
    // A token that isn't ours is that of no lock.
    locks::unlock(platform, &request.address, locks::of_token(token).as_ref()).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}
