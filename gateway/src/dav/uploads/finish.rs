//! MOVE of `.file`: the parts become a file.

use http::{HeaderName, HeaderValue, StatusCode, header};
use ledge_core::conditions::Tags;
use ledge_core::error::{Conflict, Error};
use ledge_core::ports::Platform;
use ledge_core::tree::Address;
use ledge_core::uploads::{self, Target};

use super::{Request, total_length};
use crate::dav::copy::overwrite;
use crate::dav::destination::destination;
use crate::dav::put::{OC_MTIME, modified_at};
use crate::dav::{Answer, empty, if_header};
use crate::headers::{conditions, http_date, quoted, set};
use crate::rest::files::media_type_or_guess;

/// 201 where nothing was there, 204 where something was replaced. The conditions are on what stands at the destination,
/// those of `If` too, since nothing stands where the parts are.
pub(super) async fn finish<P: Platform>(platform: &P, request: &Request<'_>, folder: &str) -> Answer {
    let (parts, headers) = (request.parts, &request.parts.headers);
    let path = destination(parts)?;
    let (space, base) = (request.mount.space.clone(), request.mount.base.clone());
    let mut to = Address { token: request.token.clone(), space, base, path };
    to.token = to.token.clone().submitting(if_header::submitted(parts, &to)?);
    let name = to.path.last().ok_or(Error::Conflict(Conflict::IsAFolder))?.as_str();
    let media_type = media_type_or_guess(None, "Content-Type", name)?;
    let mut conditions = conditions(headers);
    if !overwrite(headers)? {
        conditions.if_none_match = Some(Tags::Any);
    }
    let modified_at = modified_at(headers)?;
    let target = Target::new(&to, conditions, media_type, modified_at);
    let total = total_length(headers)?;
    let file = uploads::join_folder(platform, &to.token, folder, &target, total).await?;
    let mut response = empty(if file.created { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&file.etag));
    set(headers, header::LAST_MODIFIED, http_date(file.modified_at()));
    set(headers, HeaderName::from_static("oc-etag"), quoted(&file.etag));
    if let Some(node) = file.node() {
        set(headers, HeaderName::from_static("oc-fileid"), node.as_str());
    }
    if modified_at.is_some() {
        headers.insert(OC_MTIME, HeaderValue::from_static("accepted"));
    }
    Ok(response)
}
