//! MKCOL: a folder for parts.

use http::StatusCode;
use ledge_core::error::{Conflict, Error};
use ledge_core::ports::{Platform, Upload};
use ledge_core::uploads::{self, NewFolder};

use super::{Request, total_length};
use crate::dav::{Answer, Failure, body, empty};

/// 201; 405 where there is one of that name.
pub(super) async fn make<P: Platform>(
    platform: &P,
    request: &Request<'_>,
    folder: &str,
    upload: impl Upload,
) -> Answer {
    if !body::read(upload).await?.trim_ascii().is_empty() {
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "MKCOL takes no body"));
    }
    let folder = NewFolder {
        token: request.token.clone(),
        space: request.mount.space.clone(),
        name: folder.to_owned(),
        total_bytes: total_length(&request.parts.headers)?,
    };
    match uploads::make_folder(platform, &folder).await {
        Ok(_) => Ok(empty(StatusCode::CREATED)),
        Err(Error::Conflict(Conflict::NameTaken)) => {
            let detail = "it is there already";
            Err(Failure::of(StatusCode::METHOD_NOT_ALLOWED, "resource-must-be-null", detail))
        }
        Err(error) => Err(error.into()),
    }
}
