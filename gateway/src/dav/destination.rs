//! The `Destination` header: an absolute URL, or a path.

use http::request::Parts;
use http::{HeaderName, StatusCode, header};
use ledge_core::path::Path;

use super::{Failure, place, prefix};
use crate::address::decode;
use crate::headers::text;

const DESTINATION: HeaderName = HeaderName::from_static("destination");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Reads where to. Its scheme and port don't count, and its host only if it is another one: behind a proxy, clients
/// and server see different ones. The path is resolved as the URL standard does it with request targets.
pub(super) fn destination(parts: &Parts) -> Result<Path, Failure> {
    let text = text(&parts.headers, &DESTINATION)
        .ok_or_else(|| Failure::new(StatusCode::BAD_REQUEST, "Destination: it is missing"))?;
    locate(text.trim(), parts)
}

/// Reads a URL that a header names.
pub(super) fn locate(text: &str, parts: &Parts) -> Result<Path, Failure> {
    let bad = |detail: &str| Failure::new(StatusCode::BAD_REQUEST, format!("Destination: {detail}"));
    if text.contains('\u{fffd}') {
        return Err(bad("it is not UTF-8"));
    }
    if text.contains(['#', '?']) {
        return Err(bad("a query or a fragment names no place"));
    }
    let path = if text.starts_with('/') {
        text
    } else {
        let (_, rest) =
            text.split_once("://").ok_or_else(|| bad("expected a URL or a path from the root"))?;
        let (authority, path) = rest.split_at(rest.find(['/', '\\']).unwrap_or(rest.len()));
        if !is_ours(authority, parts) {
            let detail = format!("Destination: {authority} is another server");
            return Err(Failure::new(StatusCode::BAD_GATEWAY, detail));
        }
        path
    };
    let (segments, has_dots) = resolve(path);
    match segments.split_first() {
        Some((&"dav", below)) => Ok(place::names(&below.join("/"))?),
        Some((&"remote.php", ["dav", "files", user, below @ ..]))
            if prefix::user(parts.uri.path())
                .is_some_and(|own| decode(user).is_ok_and(|user| user == own)) =>
        {
            Ok(place::names(&below.join("/"))?)
        }
        _ if has_dots => {
            Err(Failure::new(StatusCode::FORBIDDEN, "Destination: it leads out of what this server has"))
        }
        _ => Err(Failure::new(
            StatusCode::BAD_GATEWAY,
            "Destination: it is not below /dav/, or not below the same user's files",
        )),
    }
}

/// The segments of a path, dot segments resolved, empty ones dropped; and whether there were dot segments.
fn resolve(path: &str) -> (Vec<&str>, bool) {
    let (mut segments, mut has_dots) = (Vec::new(), false);
    for segment in path.split(['/', '\\']) {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        match plain.as_str() {
            "" => {}
            "." => has_dots = true,
            ".." => {
                has_dots = true;
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    (segments, has_dots)
}

/// Whether a URL's authority names this server, as the client or a proxy does.
fn is_ours(authority: &str, parts: &Parts) -> bool {
    let own = parts.uri.host().map(str::to_owned);
    let given = text(&parts.headers, &header::HOST).into_iter().chain(text(&parts.headers, &FORWARDED_HOST));
    let given: Vec<String> = given.collect();
    let names = given.iter().flat_map(|list| list.split(',')).map(str::trim).chain(own.as_deref());
    let wanted = host(authority);
    names.into_iter().any(|name| host(name).eq_ignore_ascii_case(wanted))
}

/// The host of an authority, without user and port.
fn host(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(destination: &[u8]) -> Result<String, u16> {
        let request = http::Request::builder()
            .uri("http://drive.example:8788/dav/a")
            .header("host", "drive.example:8788")
            .header("x-forwarded-host", "public.example")
            .header("destination", destination)
            .body(())
            .unwrap();
        match super::destination(&request.into_parts().0) {
            Ok(path) => Ok(path.names().iter().map(|name| name.as_str()).collect::<Vec<_>>().join("|")),
            Err(Failure::Dav { status, .. }) => Err(status.as_u16()),
            Err(Failure::Core(_)) => Err(400),
        }
    }

    #[test]
    fn places_of_every_form_are_read() {
        for (destination, place) in [
            ("/dav/b", Ok("b")),
            ("/dav/b/", Ok("b")),
            ("/dav", Ok("")),
            ("/dav/", Ok("")),
            ("//dav//b", Ok("b")),
            ("http://drive.example:8788/dav/b", Ok("b")),
            ("https://DRIVE.example/dav/b/c", Ok("b|c")),
            ("https://public.example/dav/b", Ok("b")),
            ("https://user@drive.example/dav/b", Ok("b")),
            ("/dav/%61%2520b", Ok("a%20b")),
            ("/dav/ü.txt", Ok("ü.txt")),
            ("/dav/x/../b", Ok("b")),
            ("/dav\\b", Ok("b")),
            ("b", Err(400)),
            ("", Err(400)),
            ("./b", Err(400)),
            ("/dav/b#c", Err(400)),
            ("/dav/b?c", Err(400)),
            ("/dav/%zz", Err(400)),
            ("/dav/a%2Fb", Err(400)),
            ("/dav/%FF", Err(400)),
            ("http://other.example/dav/x", Err(502)),
            ("http://drive.example", Err(502)),
            ("/davros/b", Err(502)),
            ("/api/v1/x", Err(502)),
            ("/dav/../x", Err(403)),
            ("/dav/%2e%2E/x", Err(403)),
            ("/../x", Err(403)),
        ] {
            assert_eq!(read(destination.as_bytes()), place.map(str::to_owned), "{destination}");
        }
        assert_eq!(read(b"/dav/\xff"), Err(400));
    }
}
