//! MKCOL: a new folder.

use http::StatusCode;
use ledge_core::folders::{self, Create};
use ledge_core::ports::{Platform, Upload};

use super::{Answer, Failure, Request, body, empty};

/// 201; 405 where something is there already. A body would say what kind of collection to make, and there is but one;
/// white space says nothing.
pub(crate) async fn mkcol<P: Platform>(platform: &P, request: Request<'_>, upload: impl Upload) -> Answer {
    if !body::read(upload).await?.trim_ascii().is_empty() {
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "MKCOL takes no body"));
    }
    let created = folders::create(platform, &Create::at(&request.address)).await?;
    if created.new {
        return Ok(empty(StatusCode::CREATED));
    }
    Err(Failure::of(StatusCode::METHOD_NOT_ALLOWED, "resource-must-be-null", "it is there already"))
}
