//! `/dav/`: WebDAV over the same use cases as REST. One file per verb. The same tree is below
//! `/remote.php/dav/files/{user}/`, where Nextcloud's clients look for it.
//!
//! A token's folder, its space, or its account's own space is what `/dav/` shows ([`ledge_core::mount`]). Who asks comes
//! before everything: nothing is 404, and no body is read, before a token's form is right.

mod body;
mod copy;
mod delete;
mod depth;
mod destination;
mod error;
mod get;
mod href;
mod if_header;
mod lock;
mod locks;
mod mkcol;
mod move_;
mod options;
mod patch;
mod place;
mod prefix;
mod propfind;
mod proppatch;
mod props;
mod put;
mod timeout;
mod unlock;
mod uploads;
mod xml;

pub(crate) use copy::copy;
pub(crate) use delete::delete;
pub(crate) use error::{Failure, response};
pub(crate) use get::get;
pub(crate) use href::ENCODED;
pub(crate) use lock::lock;
pub(crate) use mkcol::mkcol;
pub(crate) use move_::move_;
pub(crate) use options::{describe, not_allowed, options};
pub(crate) use patch::patch;
pub(crate) use propfind::propfind;
pub(crate) use proppatch::proppatch;
pub(crate) use put::put;
pub(crate) use unlock::unlock;
pub(crate) use uploads::{is_upload, upload};
pub(crate) use xml::escape;

use futures::stream::LocalBoxStream;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::error::Error;
use ledge_core::mount::{self, Mount};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::token::{Protocol, Token};
use ledge_core::tree::Address;

use crate::credentials;
use prefix::Prefix;

/// The body of an answer.
pub(crate) enum Content {
    /// Known before it is sent.
    Plan(ReadPlan),
    /// Made while it is sent.
    Pieces(LocalBoxStream<'static, Result<Vec<u8>, Error>>),
}

/// What a verb answers.
pub(crate) type Answer = Result<Response<Content>, Failure>;

/// A request from somebody with a token.
pub(crate) struct Request<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) address: Address,
    /// What its URL, and those in the answer, begin with.
    pub(crate) prefix: Prefix,
    /// Whether its URL ends with a slash.
    pub(crate) names_collection: bool,
}

/// Whether a URL's path is WebDAV's.
pub(crate) fn is_below(path: &str) -> bool {
    let below =
        |prefix| path.strip_prefix(prefix).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/'));
    below("/dav") || below("/remote.php/dav")
}

/// Who asks, and what it is about. One round trip where the token wasn't seen before.
pub(crate) async fn request<'a, P: Platform>(platform: &P, parts: &'a Parts) -> Result<Request<'a>, Failure> {
    let token = credentials::basic_or_bearer(&parts.headers)?.by(Protocol::WebDav);
    let (prefix, path) = Prefix::split(parts.uri.path()).ok_or(Error::NotFound)?;
    let path_names = place::names(path)?;
    let mount = mounted(platform, &token, prefix.user()).await?;
    let mut address = Address { token, space: mount.space, base: mount.base, path: path_names };
    // Whatever the request does, it does with these tokens and under these conditions.
    address.token = address.token.clone().submitting(if_header::submitted(parts, &address)?);
    Ok(Request { parts, address, prefix, names_collection: path.is_empty() || path.ends_with('/') })
}

/// What the token's client sees. A URL that names a user must name the token's account.
async fn mounted<P: Platform>(platform: &P, token: &Token, user: Option<&str>) -> Result<Mount, Failure> {
    let mount = mount::mount(platform, token).await.map_err(|error| match error {
        Error::NotFound => {
            Failure::new(StatusCode::NOT_FOUND, "the account of this token has no space to show")
        }
        error => error.into(),
    })?;
    match user {
        Some(user) if user != mount.account_name => {
            let detail = "this token belongs to another account than the URL names";
            Err(Failure::new(StatusCode::NOT_FOUND, detail))
        }
        _ => Ok(mount),
    }
}

/// A 207 that is known before it is sent.
fn multistatus(text: xml::Multistatus) -> Response<Content> {
    in_xml(StatusCode::MULTI_STATUS, Content::Plan(ReadPlan::inline(text.end())))
}

/// An answer in XML.
fn in_xml(status: StatusCode, content: Content) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = status;
    let media_type = HeaderValue::from_static("application/xml; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}

/// An answer without a body.
fn empty(status: StatusCode) -> Response<Content> {
    let mut response = Response::new(Content::Plan(ReadPlan::default()));
    *response.status_mut() = status;
    response
}
