//! The route table.

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};

use crate::{problem, rest};

/// What a handler gets: the request's head, and what the route's pattern matched, still percent-encoded.
pub(crate) struct Matched<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) space: &'a str,
    pub(crate) path: &'a str,
}

/// Finds the route and lets its handler answer.
pub(crate) async fn answer<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    upload: U,
) -> Response<ReadPlan> {
    let segments: Vec<&str> = parts.uri.path().splitn(7, '/').skip(1).collect();
    let matched = |space, path| Matched { parts, space, path };
    let method = &parts.method;
    let answered: Result<Response<ReadPlan>> = match segments.as_slice() {
        ["api", "v1", "spaces", space, "files", path] => match *method {
            Method::GET | Method::HEAD => rest::files::get(platform, matched(space, path)).await,
            Method::PUT => rest::files::put(platform, matched(space, path), upload).await,
            Method::DELETE => rest::files::delete(platform, matched(space, path)).await,
            _ => return not_allowed("GET, HEAD, PUT, DELETE"),
        },
        ["api", "v1", "spaces", space, "folders", path] => match *method {
            Method::GET | Method::HEAD => rest::folders::list(platform, matched(space, path)).await,
            Method::PUT => rest::folders::put(platform, matched(space, path)).await,
            Method::DELETE => rest::folders::delete(platform, matched(space, path)).await,
            _ => return not_allowed("GET, HEAD, PUT, DELETE"),
        },
        ["api", "v1", "spaces", space, "nodes", "batch"] => match *method {
            Method::POST => rest::nodes::batch(platform, matched(space, ""), upload).await,
            _ => return not_allowed("POST"),
        },
        ["api", "v1", "spaces", space, "trash"] => match *method {
            Method::GET | Method::HEAD => rest::trash::list(platform, matched(space, "")).await,
            Method::DELETE => rest::trash::empty(platform, matched(space, "")).await,
            _ => return not_allowed("GET, HEAD, DELETE"),
        },
        ["api", "v1", "spaces", space, "trash", item] => match item.split_once('/') {
            Some((id, "restore")) => match *method {
                Method::POST => rest::trash::restore(platform, matched(space, id), upload).await,
                _ => return not_allowed("POST"),
            },
            Some(_) => return problem::no_route(),
            None => match *method {
                Method::DELETE => rest::trash::purge(platform, matched(space, item)).await,
                _ => return not_allowed("DELETE"),
            },
        },
        ["api", "v1", "spaces", space, "search", path] => match *method {
            Method::GET | Method::HEAD => rest::search::get(platform, matched(space, path)).await,
            _ => return not_allowed("GET, HEAD"),
        },
        ["api", "v1", "spaces", space, "versions", path] => match *method {
            Method::GET | Method::HEAD => rest::versions::list(platform, matched(space, path)).await,
            Method::POST => rest::versions::post(platform, matched(space, path), upload).await,
            Method::PATCH => rest::versions::patch(platform, matched(space, path), upload).await,
            Method::DELETE => rest::versions::delete(platform, matched(space, path)).await,
            _ => return not_allowed("GET, HEAD, POST, PATCH, DELETE"),
        },
        ["api", "v1", "jobs"] => match *method {
            Method::GET | Method::HEAD => rest::jobs::list(platform, parts).await,
            _ => return not_allowed("GET, HEAD"),
        },
        ["api", "v1", "tokens"] => match *method {
            Method::GET | Method::HEAD => rest::tokens::list(platform, parts).await,
            Method::POST => rest::tokens::post(platform, parts, upload).await,
            _ => return not_allowed("GET, HEAD, POST"),
        },
        ["api", "v1", "tokens", id] => match *method {
            Method::DELETE => rest::tokens::delete(platform, parts, id).await,
            _ => return not_allowed("DELETE"),
        },
        _ => return problem::no_route(),
    };
    answered.unwrap_or_else(|error| problem::response(platform.host(), &error))
}

fn not_allowed(allow: &'static str) -> Response<ReadPlan> {
    let mut response = problem::plain(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        &format!("this resource answers to {allow}"),
    );
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
    response
}
