//! The OpenAPI document: generated from the annotations beside the handlers, kept in `gateway/openapi.json`, served from
//! there. So a bundle carries the document and not its generator, and each change of the API shows in a diff.
//!
//! `cargo xtask openapi` writes the file; a test fails where it, the handlers and the route table disagree.

mod finish;
pub(crate) mod parameters;
pub(crate) mod problem;
#[cfg(test)]
mod tests;
pub(crate) mod words;

use http::{HeaderValue, Response, header};
use ledge_core::plan::ReadPlan;
use utoipa::OpenApi;

use crate::rest;

const DOCUMENT: &[u8] = include_bytes!("../../openapi.json");

/// Answers with the document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json",
    security(()),
    responses((status = 200, description = "This document.", body = serde_json::Value)),
)]
pub(crate) fn get() -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::inline(DOCUMENT.to_vec()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Ledge",
        description = "A drive with no server: files, folders, versions, trash, search, tokens. docs/API.md explains it by tasks."
    ),
    paths(get),
    components(schemas(problem::Problem, words::Order, words::Sort))
)]
struct Document;

/// The document as the handlers describe it, to be kept in `gateway/openapi.json`.
pub fn generate() -> String {
    let mut document = Document::openapi();
    finish::name(&mut document, "document");
    for (tag, mut part) in [
        ("append", rest::append::Documented::openapi()),
        ("archive", rest::archive::Documented::openapi()),
        ("changes", rest::changes::Documented::openapi()),
        ("concat", rest::concat::Documented::openapi()),
        ("delta", rest::delta::Documented::openapi()),
        ("entries", rest::entries::Documented::openapi()),
        ("files", rest::files::Documented::openapi()),
        ("folders", rest::folders::Documented::openapi()),
        ("imports", rest::imports::Documented::openapi()),
        ("jobs", rest::jobs::Documented::openapi()),
        ("backups", rest::backups::Documented::openapi()),
        ("reclaim", rest::reclaim::Documented::openapi()),
        ("locks", rest::locks::Documented::openapi()),
        ("nodes", rest::nodes::Documented::openapi()),
        ("search", rest::search::Documented::openapi()),
        ("spaces", rest::spaces::Documented::openapi()),
        ("thumbnail", rest::thumbnail::Documented::openapi()),
        ("tokens", rest::tokens::Documented::openapi()),
        ("trash", rest::trash::Documented::openapi()),
        ("uploads", rest::uploads::Documented::openapi()),
        ("versions", rest::versions::Documented::openapi()),
    ] {
        finish::name(&mut part, tag);
        document.merge(part);
    }
    finish::finish(&mut document);
    document.to_pretty_json().unwrap_or_default() + "\n"
}
