//! MOVE.

use http::StatusCode;
use ledge_core::nodes::Verb;
use ledge_core::ports::Platform;

use super::copy::transfer;
use super::depth::{Depth, depth};
use super::{Answer, Failure, Request};

/// Gives a node another place.
pub(crate) async fn move_<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    if depth(&request.parts.headers)?.is_some_and(|depth| depth != Depth::Infinity) {
        return Err(Failure::new(StatusCode::BAD_REQUEST, "Depth: a folder is moved with all that is in it"));
    }
    transfer(platform, request, Verb::Move, false).await
}
