//! `/docs`: the OpenAPI document for people, shown by RapiDoc, which the gateway carries: nothing is fetched from
//! elsewhere. The set-up fetches it (`xtask/src/setup/viewer.rs`).

use http::{HeaderName, HeaderValue, Response, header};
use ledge_core::plan::ReadPlan;

use crate::problem;

/// Name, media type, gzipped content; empty in a build without the viewer.
const FILES: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/viewer.rs"));

const PAGE: &str = include_str!("page.html");
const WITHOUT_VIEWER: &str = include_str!("without_viewer.html");

/// Instead of the sandbox that every other answer has: scripts of this origin and no others, none within the page, and
/// no connection elsewhere. The viewer's elements carry `style` attributes, hence `unsafe-inline` for styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The page.
pub(crate) fn page() -> Response<ReadPlan> {
    let page = if FILES.is_empty() { WITHOUT_VIEWER } else { PAGE };
    answer(page.as_bytes(), "text/html; charset=utf-8", &[(header::CONTENT_SECURITY_POLICY, POLICY)])
}

/// One of the viewer's files, gzipped: there is no client of the page that doesn't read that.
pub(crate) fn file(name: &str) -> Response<ReadPlan> {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, media_type, gzipped)) => answer(gzipped, media_type, &[(header::CONTENT_ENCODING, "gzip")]),
        None => problem::no_route(),
    }
}

fn answer(
    body: &[u8],
    media_type: &'static str,
    headers: &[(HeaderName, &'static str)],
) -> Response<ReadPlan> {
    let mut response = Response::new(ReadPlan::inline(body));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
