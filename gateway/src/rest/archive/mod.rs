//! `/api/v1/spaces/{space}/archive/{path}`: a folder as a ZIP file; without the path, what a list names. `…/archives`
//! keeps one.

mod get;
mod keep;
mod post;

pub(crate) use get::get;
pub(crate) use keep::keep;
pub(crate) use post::post;

use http::{HeaderMap, HeaderValue, header};
use ledge_core::archive::Archive;

use crate::headers::{content_disposition, quoted, set};

const MEDIA_TYPE: &str = "application/zip";

/// What the API's document says of these routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(get::get, post::post, keep::keep))]
pub(crate) struct Documented;

/// What describes the file, whatever part of it is sent. `name` is without an ending.
fn describe(headers: &mut HeaderMap, archive: &Archive, name: &str) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    set(headers, header::ETAG, quoted(&archive.etag));
    set(headers, header::CONTENT_DISPOSITION, content_disposition(&format!("{name}.zip"), MEDIA_TYPE, true));
}
