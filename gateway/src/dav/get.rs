//! GET and HEAD of a file. A folder is 405: its content is its properties, and a client that takes a listing for a file
//! would save it as one.

use ledge_core::files::Which;
use ledge_core::ports::Platform;

use super::{Answer, Content, Request};
use crate::rest::files;

/// Answers as REST does, with ranges, conditions and digests.
pub(crate) async fn get<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    let response = files::read(platform, &request.address, request.parts, &Which::Current, false).await?;
    Ok(response.map(Content::Plan))
}
