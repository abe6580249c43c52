//! Looking at an upload.

use super::row::{Open, look_up};
use super::{Kind, Upload};
use crate::error::{Error, Result};
use crate::ids::UploadId;
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// How far an upload is. One round trip.
///
/// # Errors
/// [`Error::NotFound`] where it has expired, or was never there.
pub async fn look<P: Platform>(platform: &P, token: &Token, id: &UploadId) -> Result<Upload> {
    let results = platform.db().read(vec![look_up(token, id.as_str(), platform.host().now())]).await?;
    let open = Open::read(results.first().map(Vec::as_slice).unwrap_or_default())?;
    if open.upload.kind == Kind::Folder { Err(Error::NotFound) } else { Ok(open.upload) }
}
