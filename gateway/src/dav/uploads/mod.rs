//! `/remote.php/dav/uploads/{user}/`: uploads in parts, as Nextcloud's clients make them. A folder is made, parts are put
//! into it in any order, and moving its `.file` joins them. One file per verb.
//!
//! <https://docs.nextcloud.com/server/latest/developer_manual/client_apis/WebDAV/chunking.html>

mod finish;
mod list;
mod make;
mod part;

use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Response, StatusCode};
use ledge_core::error::Error;
use ledge_core::mount::Mount;
use ledge_core::ports::{Platform, Upload};
use ledge_core::token::{Protocol, Token};
use ledge_core::uploads;

use super::prefix::{UPLOADS, user};
use super::{Content, Failure, describe, empty, mounted, not_allowed, options};
use crate::address::decode;
use crate::credentials;
use crate::headers::text;

const TOTAL_LENGTH: HeaderName = HeaderName::from_static("oc-total-length");
/// What is moved to join a folder's parts.
const WHOLE: &str = ".file";

/// Whether a URL's path is about uploads.
pub(crate) fn is_upload(path: &str) -> bool {
    path.starts_with(UPLOADS)
}

/// A request about uploads.
struct Request<'a> {
    parts: &'a Parts,
    token: Token,
    mount: Mount,
    /// What the URL begins with: it ends with the user.
    prefix: String,
    /// The names below: a folder's, then a part's.
    names: Vec<String>,
}

/// Answers a request about uploads.
pub(crate) async fn upload<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    upload: U,
) -> Result<Response<Content>, Failure> {
    if parts.method == Method::OPTIONS {
        return Ok(options());
    }
    let request = request(platform, parts).await?;
    let names: Vec<&str> = request.names.iter().map(String::as_str).collect();
    let mut response = match (parts.method.as_str(), names.as_slice()) {
        ("PROPFIND", [] | [_]) => list::list(platform, &request, upload).await,
        ("MKCOL", [folder]) => make::make(platform, &request, folder, upload).await,
        ("MKCOL", []) => {
            let detail = "it is there already";
            Err(Failure::of(StatusCode::METHOD_NOT_ALLOWED, "resource-must-be-null", detail))
        }
        ("PUT", [folder, name]) if *name != WHOLE => {
            part::put(platform, &request, (folder, name), upload).await
        }
        ("MOVE", [folder, name]) if *name == WHOLE => finish::finish(platform, &request, folder).await,
        ("DELETE", [folder, name]) if *name != WHOLE => {
            uploads::remove_part(platform, &request.token, folder, name).await?;
            Ok(empty(StatusCode::NO_CONTENT))
        }
        ("DELETE", [folder]) => {
            uploads::abandon(platform, &request.token, folder).await?;
            Ok(empty(StatusCode::NO_CONTENT))
        }
        (_, [] | [_] | [_, _]) => not_allowed(),
        _ => Err(Error::NotFound.into()),
    }?;
    if response.status() == StatusCode::MULTI_STATUS {
        describe(response.headers_mut());
    }
    Ok(response)
}

async fn request<'a, P: Platform>(platform: &P, parts: &'a Parts) -> Result<Request<'a>, Failure> {
    let token = credentials::basic_or_bearer(&parts.headers)?.by(Protocol::WebDav);
    let path = parts.uri.path();
    let rest = path.strip_prefix(UPLOADS).unwrap_or_default();
    let (encoded, below) = rest.split_once('/').unwrap_or((rest, ""));
    let user = user(path).ok_or(Error::NotFound)?;
    let mount = mounted(platform, &token, Some(&user)).await?;
    let names = below.split('/').filter(|name| !name.is_empty());
    let names = names.map(|name| uploads::name(&decode(name)?)).collect::<Result<_, Error>>()?;
    Ok(Request { parts, token, mount, prefix: format!("{UPLOADS}{encoded}"), names })
}

/// How long the whole file will be, by the client's word.
fn total_length(headers: &HeaderMap) -> Result<Option<u64>, Failure> {
    let Some(text) = text(headers, &TOTAL_LENGTH) else { return Ok(None) };
    let length = text.trim().parse().ok();
    length
        .map(Some)
        .ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, "OC-Total-Length: expected a number of bytes"))
}
