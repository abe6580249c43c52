//! DELETE: into the trash, with all below.

use http::StatusCode;
use ledge_core::nodes::{self, Expected};
use ledge_core::ports::Platform;

use super::depth::{Depth, depth};
use super::{Answer, Failure, Request, empty};
use crate::headers::conditions;

/// 204. The root stays: 403.
pub(crate) async fn delete<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    let headers = &request.parts.headers;
    if request.address.path.depth() == 0 {
        return Err(Failure::new(StatusCode::FORBIDDEN, "the root can't be deleted"));
    }
    if depth(headers)?.is_some_and(|depth| depth != Depth::Infinity) {
        // On a file it would mean nothing (RFC 4918 section 9.6.1), and no client sends it there.
        return Err(Failure::new(
            StatusCode::BAD_REQUEST,
            "Depth: a folder is deleted with all that is in it",
        ));
    }
    nodes::delete(platform, &request.address, Expected::Matching(conditions(headers))).await?;
    Ok(empty(StatusCode::NO_CONTENT))
}
