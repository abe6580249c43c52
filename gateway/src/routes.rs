//! The route table, and what answers.

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::Once;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform, Upload};

use crate::dav::Content;
use crate::{dav, docs, nextcloud, openapi, problem, rest};

/// What a handler gets: the request's head, and what the route's pattern matched, still percent-encoded.
pub(crate) struct Matched<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) space: &'a str,
    /// What the pattern's other name matched, if it has one.
    pub(crate) path: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resource {
    Append,
    Archive,
    Archives,
    Changes,
    Chunking,
    ChunksMissing,
    Concat,
    Docs,
    DocsFile,
    File,
    Folder,
    AdminJobs,
    Backups,
    DirectUpload,
    DirectUploads,
    Doctor,
    AdminReclaim,
    Import,
    Imports,
    Job,
    Entries,
    KeptArchives,
    JobCancel,
    JobRetry,
    Jobs,
    Node,
    Status,
    Thumbnail,
    NodeAt,
    Lock,
    Locks,
    Nodes,
    Ocs,
    OpenApi,
    Search,
    Segments,
    Space,
    Spaces,
    Token,
    Tokens,
    Trash,
    Trashed,
    TrashedRestore,
    Unpack,
    Upload,
    Uploads,
    Versions,
}

/// Every resource: what it is called here, its URLs, and the methods that it answers to. No other request reaches a
/// handler, and a test holds the OpenAPI document against this table. A name in braces stands for one segment of the URL;
/// `{path}`, at the end, for all that follows.
#[rustfmt::skip]
const ROUTES: &[(Resource, &str, &str)] = &[
    (Resource::Spaces,         "/api/v1/spaces",                              "GET, HEAD"),
    (Resource::Space,          "/api/v1/spaces/{space}",                      "GET, HEAD, PATCH"),
    (Resource::File,           "/api/v1/spaces/{space}/files/{path}",         "GET, HEAD, PUT, PATCH, DELETE"),
    (Resource::Append,         "/api/v1/spaces/{space}/append/{path}",        "POST"),
    (Resource::Concat,         "/api/v1/spaces/{space}/concat/{path}",        "POST"),
    (Resource::Folder,         "/api/v1/spaces/{space}/folders/{path}",       "GET, HEAD, PUT, DELETE"),
    (Resource::Archives,       "/api/v1/spaces/{space}/archive",              "POST"),
    (Resource::Archive,        "/api/v1/spaces/{space}/archive/{path}",       "GET, HEAD"),
    (Resource::KeptArchives,   "/api/v1/spaces/{space}/archives",             "POST"),
    (Resource::Unpack,         "/api/v1/spaces/{space}/unpack",               "POST"),
    (Resource::Entries,        "/api/v1/spaces/{space}/entries/{path}",       "GET, HEAD"),
    (Resource::Thumbnail,      "/api/v1/spaces/{space}/thumbnail/{path}",     "GET, HEAD"),
    (Resource::Changes,        "/api/v1/spaces/{space}/changes",              "GET, HEAD"),
    (Resource::Nodes,          "/api/v1/spaces/{space}/nodes/batch",          "POST"),
    (Resource::NodeAt,         "/api/v1/spaces/{space}/nodes/by-path/{path}", "GET, HEAD"),
    (Resource::Node,           "/api/v1/spaces/{space}/nodes/{id}",           "GET, HEAD"),
    (Resource::Trash,          "/api/v1/spaces/{space}/trash",                "GET, HEAD, DELETE"),
    (Resource::Trashed,        "/api/v1/spaces/{space}/trash/{id}",           "DELETE"),
    (Resource::TrashedRestore, "/api/v1/spaces/{space}/trash/{id}/restore",   "POST"),
    (Resource::Locks,          "/api/v1/spaces/{space}/locks",                "GET, HEAD"),
    (Resource::Lock,           "/api/v1/spaces/{space}/locks/{id}",           "DELETE"),
    (Resource::ChunksMissing,  "/api/v1/spaces/{space}/chunks/missing",       "POST"),
    (Resource::Segments,       "/api/v1/spaces/{space}/segments",             "POST"),
    (Resource::DirectUploads,  "/api/v1/spaces/{space}/segments/direct",      "POST"),
    (Resource::DirectUpload,   "/api/v1/spaces/{space}/segments/direct/{id}", "POST"),
    (Resource::Imports,        "/api/v1/spaces/{space}/imports",              "POST"),
    (Resource::Import,         "/api/v1/spaces/{space}/imports/{id}",         "GET, HEAD"),
    (Resource::Chunking,       "/api/v1/chunking",                            "GET, HEAD"),
    (Resource::Search,         "/api/v1/spaces/{space}/search/{path}",        "GET, HEAD"),
    (Resource::Versions,       "/api/v1/spaces/{space}/versions/{path}",      "GET, HEAD, POST, PATCH, DELETE"),
    (Resource::Jobs,           "/api/v1/jobs",                                "GET, HEAD"),
    (Resource::Job,            "/api/v1/jobs/{id}",                           "GET, HEAD"),
    (Resource::JobCancel,      "/api/v1/jobs/{id}/cancel",                    "POST"),
    (Resource::JobRetry,       "/api/v1/jobs/{id}/retry",                     "POST"),
    (Resource::AdminJobs,      "/api/v1/admin/jobs",                          "GET, HEAD"),
    (Resource::Backups,        "/api/v1/admin/backups",                       "GET, HEAD, POST"),
    (Resource::Doctor,         "/api/v1/admin/doctor",                        "POST"),
    (Resource::AdminReclaim,   "/api/v1/admin/reclaim",                       "POST"),
    (Resource::Tokens,         "/api/v1/tokens",                              "GET, HEAD, POST"),
    (Resource::Token,          "/api/v1/tokens/{id}",                         "DELETE"),
    (Resource::Uploads,        "/api/v1/uploads",                             "OPTIONS, POST"),
    (Resource::Upload,         "/api/v1/uploads/{id}",                        "GET, HEAD, PATCH, DELETE"),
    (Resource::Status,         "/status.php",                                "GET, HEAD"),
    (Resource::Ocs,            "/ocs/v1.php/cloud/{what}",                    "GET, HEAD"),
    (Resource::Ocs,            "/ocs/v2.php/cloud/{what}",                    "GET, HEAD"),
    (Resource::OpenApi,        "/api/v1/openapi.json",                        "GET, HEAD"),
    (Resource::Docs,           "/docs",                                       "GET, HEAD"),
    (Resource::DocsFile,       "/docs/{file}",                                "GET, HEAD"),
];

/// Finds the route and lets its handler answer.
pub(crate) async fn answer<P: Platform, U: Upload>(
    platform: &P,
    parts: &Parts,
    upload: U,
) -> Response<Content> {
    let platform = Once::new(platform, None);
    if dav::is_below(parts.uri.path()) || parts.method == Method::OPTIONS && parts.uri.path() == "/" {
        return webdav(&platform, parts, upload).await;
    }
    rest(&platform, parts, upload).await.map(Content::Plan)
}

/// The answer to a request that failed, in the terms of its protocol.
pub(crate) fn failure(host: &impl Host, parts: &Parts, error: Error) -> Response<Content> {
    if dav::is_below(parts.uri.path()) {
        return dav::response(host, parts, &error.into());
    }
    problem::response(host, &error).map(Content::Plan)
}

/// `/dav/`: every path is a resource, and the method says what becomes of it.
async fn webdav<P: Platform, U: Upload>(platform: &P, parts: &Parts, upload: U) -> Response<Content> {
    if dav::is_upload(parts.uri.path()) {
        let answered = dav::upload(platform, parts, upload).await;
        return answered.unwrap_or_else(|failure| dav::response(platform.host(), parts, &failure));
    }
    if parts.method == Method::OPTIONS {
        return dav::options();
    }
    let answered = match dav::request(platform, parts).await {
        Err(failure) => Err(failure),
        Ok(request) => match parts.method.as_str() {
            "GET" | "HEAD" => dav::get(platform, request).await,
            "PUT" => dav::put(platform, request, upload).await,
            "PATCH" => dav::patch(platform, request, upload).await,
            "DELETE" => dav::delete(platform, request).await,
            "PROPFIND" => dav::propfind(platform, request, upload).await,
            "PROPPATCH" => dav::proppatch(platform, request, upload).await,
            "MKCOL" => dav::mkcol(platform, request, upload).await,
            "COPY" => dav::copy(platform, request).await,
            "MOVE" => dav::move_(platform, request).await,
            "LOCK" => dav::lock(platform, request, upload).await,
            "UNLOCK" => dav::unlock(platform, request).await,
            _ => dav::not_allowed(),
        },
    };
    let mut response = answered.unwrap_or_else(|failure| dav::response(platform.host(), parts, &failure));
    if response.status() == StatusCode::MULTI_STATUS {
        // macOS looks here, too, for whether it may write.
        dav::describe(response.headers_mut());
    }
    response
}

async fn rest<P: Platform, U: Upload>(
    platform: &Once<'_, P>,
    parts: &Parts,
    upload: U,
) -> Response<ReadPlan> {
    let path = parts.uri.path();
    let found = ROUTES.iter().find_map(|(resource, pattern, methods)| {
        captures(pattern, path).map(|(space, path)| (*resource, Matched { parts, space, path }, *methods))
    });
    let Some((resource, matched, methods)) = found else { return problem::no_route() };
    let method = match resource {
        Resource::Upload => rest::uploads::method(parts),
        _ => parts.method.clone(),
    };
    if !methods.split(", ").any(|answered| answered == method.as_str()) {
        return not_allowed(methods);
    }
    let answered: Result<Response<ReadPlan>> = match (resource, &method) {
        (Resource::Spaces, &Method::GET | &Method::HEAD) => rest::spaces::list(platform, parts).await,
        (Resource::Space, &Method::GET | &Method::HEAD) => rest::spaces::get(platform, matched).await,
        (Resource::Space, &Method::PATCH) => rest::spaces::patch(platform, matched, upload).await,

        (Resource::File, &Method::GET | &Method::HEAD) => rest::files::get(platform, matched).await,
        (Resource::File, &Method::PUT) => rest::files::put(platform, matched, upload).await,
        (Resource::File, &Method::PATCH) => rest::files::patch(platform, matched, upload).await,
        (Resource::File, &Method::DELETE) => rest::files::delete(platform, matched).await,

        (Resource::Append, &Method::POST) => rest::once(platform, matched, upload, rest::append::post).await,
        (Resource::Concat, &Method::POST) => rest::once(platform, matched, upload, rest::concat::post).await,

        (Resource::Folder, &Method::GET | &Method::HEAD) => rest::folders::list(platform, matched).await,
        (Resource::Folder, &Method::PUT) => rest::folders::put(platform, matched).await,
        (Resource::Folder, &Method::DELETE) => rest::folders::delete(platform, matched).await,

        (Resource::Archive, &Method::GET | &Method::HEAD) => rest::archive::get(platform, matched).await,
        (Resource::Archives, &Method::POST) => rest::archive::post(platform, matched, upload).await,
        (Resource::Unpack, &Method::POST) => {
            rest::once(platform, matched, upload, rest::entries::unpack).await
        }
        (Resource::Entries, &Method::GET | &Method::HEAD) => rest::entries::get(platform, matched).await,
        (Resource::KeptArchives, &Method::POST) => {
            rest::once(platform, matched, upload, rest::archive::keep).await
        }
        (Resource::Thumbnail, &Method::GET | &Method::HEAD) => rest::thumbnail::get(platform, matched).await,
        (Resource::Changes, &Method::GET | &Method::HEAD) => rest::changes::get(platform, matched).await,

        (Resource::Node, &Method::GET | &Method::HEAD) => rest::nodes::by_id(platform, matched).await,
        (Resource::NodeAt, &Method::GET | &Method::HEAD) => rest::nodes::by_path(platform, matched).await,
        (Resource::Nodes, &Method::POST) => rest::once(platform, matched, upload, rest::nodes::batch).await,

        (Resource::Trash, &Method::GET | &Method::HEAD) => rest::trash::list(platform, matched).await,
        (Resource::Trash, &Method::DELETE) => rest::trash::empty(platform, matched).await,
        (Resource::Trashed, &Method::DELETE) => rest::trash::purge(platform, matched).await,
        (Resource::TrashedRestore, &Method::POST) => {
            rest::once(platform, matched, upload, rest::trash::restore).await
        }

        (Resource::Locks, &Method::GET | &Method::HEAD) => rest::locks::list(platform, matched).await,
        (Resource::Lock, &Method::DELETE) => rest::locks::delete(platform, matched).await,

        (Resource::ChunksMissing, &Method::POST) => rest::delta::missing(platform, matched, upload).await,
        (Resource::Segments, &Method::POST) => rest::delta::segments(platform, matched, upload).await,
        (Resource::DirectUploads, &Method::POST) => {
            rest::delta::begin_direct(platform, matched, upload).await
        }
        (Resource::DirectUpload, &Method::POST) => rest::delta::verify_direct(platform, matched).await,
        (Resource::Chunking, &Method::GET | &Method::HEAD) => rest::delta::chunking(&matched),

        (Resource::Imports, &Method::POST) => {
            rest::once(platform, matched, upload, rest::imports::post).await
        }
        (Resource::Import, &Method::GET | &Method::HEAD) => rest::imports::get(platform, matched).await,

        (Resource::Search, &Method::GET | &Method::HEAD) => rest::search::get(platform, matched).await,

        (Resource::Versions, &Method::GET | &Method::HEAD) => rest::versions::list(platform, matched).await,
        (Resource::Versions, &Method::POST) => {
            rest::once(platform, matched, upload, rest::versions::post).await
        }
        (Resource::Versions, &Method::PATCH) => rest::versions::patch(platform, matched, upload).await,
        (Resource::Versions, &Method::DELETE) => rest::versions::delete(platform, matched).await,

        (Resource::Jobs, &Method::GET | &Method::HEAD) => rest::jobs::list(platform, parts).await,
        (Resource::Job, &Method::GET | &Method::HEAD) => rest::jobs::get(platform, parts, matched.path).await,
        (Resource::JobCancel, &Method::POST) => rest::jobs::cancel(platform, parts, matched.path).await,
        (Resource::JobRetry, &Method::POST) => rest::jobs::retry(platform, parts, matched.path).await,
        (Resource::AdminJobs, &Method::GET | &Method::HEAD) => rest::jobs::counts(platform, parts).await,
        (Resource::Backups, &Method::GET | &Method::HEAD) => rest::backups::list(platform, parts).await,
        (Resource::Backups, &Method::POST) => rest::backups::post(platform, parts).await,
        (Resource::Doctor, &Method::POST) => rest::backups::doctor(platform, parts).await,

        (Resource::AdminReclaim, &Method::POST) => rest::reclaim::post(platform, parts, upload).await,

        (Resource::Tokens, &Method::GET | &Method::HEAD) => rest::tokens::list(platform, parts).await,
        (Resource::Tokens, &Method::POST) => rest::once(platform, matched, upload, rest::tokens::post).await,
        (Resource::Token, &Method::DELETE) => rest::tokens::delete(platform, parts, matched.path).await,

        (Resource::Uploads, &Method::OPTIONS) => Ok(rest::uploads::options()),
        (Resource::Uploads, &Method::POST) => rest::uploads::post(platform, parts, upload).await,
        (Resource::Upload, &Method::GET | &Method::HEAD) => {
            rest::uploads::get(platform, parts, matched.path).await
        }
        (Resource::Upload, &Method::PATCH) => {
            rest::uploads::patch(platform, parts, matched.path, upload).await
        }
        (Resource::Upload, &Method::DELETE) => rest::uploads::delete(platform, parts, matched.path).await,

        (Resource::Status, &Method::GET | &Method::HEAD) => Ok(nextcloud::status()),
        (Resource::Ocs, &Method::GET | &Method::HEAD) => nextcloud::ocs(platform, parts, matched.path).await,

        (Resource::OpenApi, &Method::GET | &Method::HEAD) => Ok(openapi::get()),
        (Resource::Docs, &Method::GET | &Method::HEAD) => Ok(docs::page()),
        (Resource::DocsFile, &Method::GET | &Method::HEAD) => Ok(docs::file(matched.path)),
        _ => return not_allowed(methods),
    };
    let mut response = answered.unwrap_or_else(|error| problem::response(platform.host(), &error));
    if matches!(resource, Resource::Upload | Resource::Uploads) {
        rest::uploads::complete(&mut response);
    }
    response
}

/// What a pattern's names match in a path: `{space}`, and the other one. None where the path is another one's.
fn captures<'a>(pattern: &str, path: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut space, mut other) = ("", "");
    let mut rest = Some(path);
    for wanted in pattern.split('/') {
        if wanted == "{path}" {
            return Some((space, rest?));
        }
        let (segment, after) = match rest?.split_once('/') {
            Some((segment, after)) => (segment, Some(after)),
            None => (rest?, None),
        };
        match wanted {
            "{space}" => space = segment,
            _ if wanted.starts_with('{') => other = segment,
            _ if wanted == segment => {}
            _ => return None,
        }
        rest = after;
    }
    rest.is_none().then_some((space, other))
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

/// Each method of each resource: `("GET", "/api/v1/jobs")`.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().flat_map(|(_, pattern, methods)| methods.split(", ").map(move |method| (method, *pattern)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_paths_only() {
        let files = "/api/v1/spaces/{space}/files/{path}";
        let restore = "/api/v1/spaces/{space}/trash/{id}/restore";
        for (pattern, path, found) in [
            (files, "/api/v1/spaces/s/files/a/b", Some(("s", "a/b"))),
            (files, "/api/v1/spaces/s/files/", Some(("s", ""))),
            (files, "/api/v1/spaces/s/files", None),
            (files, "/api/v1/spaces/s/folders/a", None),
            (files, "/api/v1/spaces//files/a//b/", Some(("", "a//b/"))),
            (restore, "/api/v1/spaces/s/trash/i/restore", Some(("s", "i"))),
            (restore, "/api/v1/spaces/s/trash/i/restore/", None),
            (restore, "/api/v1/spaces/s/trash/i", None),
            ("/api/v1/tokens", "/api/v1/tokens", Some(("", ""))),
            ("/api/v1/tokens", "/api/v1/tokens/", None),
            ("/api/v1/tokens/{id}", "/api/v1/tokens/", Some(("", ""))),
            ("/api/v1/tokens/{id}", "/api/v1/tokens/i/j", None),
        ] {
            assert_eq!(captures(pattern, path), found, "{pattern} {path}");
        }
    }
}
