//! GET and HEAD of a file. A folder is 405: its content is its properties, and a client that takes a listing for a file
//! would save it as one.

use http::StatusCode;
use ledge_core::error::{Conflict, Error};
use ledge_core::files::Which;
use ledge_core::ports::Platform;

use super::{Answer, Content, Failure, Request};
use crate::rest::files::{self, Answered};

/// Answers as REST does, with ranges, conditions and digests.
pub(crate) async fn get<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    let read =
        files::read(platform, &request.address, request.parts, &Which::Current, Answered::default()).await;
    let response = read.map_err(|error| match error {
        Error::Conflict(Conflict::IsAFolder) => {
            let detail = "a folder has no content of its own: PROPFIND tells what is in it";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, detail)
        }
        error => error.into(),
    })?;
    Ok(response.map(Content::Plan))
}
