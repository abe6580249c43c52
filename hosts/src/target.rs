//! The request target, parsed as Workers parse it before any code runs: by the WHATWG URL standard. For hosts that don't.
//!
//! `..` and `%2e%2e` are resolved, a raw `\` in the path is a `/`, what must be encoded is; everything else, `%5C` and
//! `%zz` included, stays as sent. So all hosts hand the same path to the same request.

use http::HeaderValue;
use http::Uri;
use url::Url;

/// The absolute URI that a handler sees: `http://host/path?query`.
///
/// # Errors
/// A sentence that says what is wrong with the target or the Host field.
pub(crate) fn resolve(target: &Uri, host: Option<&HeaderValue>) -> Result<Uri, &'static str> {
    let text = match target.scheme_str() {
        Some("http" | "https") => target.to_string(),
        Some(_) => return Err("the request target has another scheme than http"),
        // CONNECT's authority form, and OPTIONS' asterisk.
        None if !target.path().starts_with('/') || target.authority().is_some() => {
            return Err("the request target is not a path");
        }
        None => format!("http://{}{target}", authority(host)?),
    };
    let mut url = Url::parse(&text).map_err(|_| "the request target is not a URL")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the request target names a user");
    }
    url.set_fragment(None);
    Uri::try_from(url.as_str()).map_err(|_| "the request target is not a URL")
}

/// The Host field, which may be missing in HTTP/1.0. Nothing in it may reach into the path.
fn authority(host: Option<&HeaderValue>) -> Result<&str, &'static str> {
    let host = match host {
        None => "localhost",
        Some(host) => host.to_str().map_err(|_| "the Host field is not ASCII")?,
    };
    if host.is_empty() || host.contains(['/', '\\', '?', '#', '@']) {
        return Err("the Host field is not a host");
    }
    Ok(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(target: &str) -> Result<String, &'static str> {
        let target: Uri = target.parse().map_err(|_| "unreadable")?;
        let uri = resolve(&target, Some(&HeaderValue::from_static("drive.example:8788")))?;
        assert_eq!(uri.authority().unwrap(), "drive.example:8788");
        Ok(uri.path_and_query().unwrap().to_string())
    }

    #[test]
    fn targets_arrive_as_on_workers() {
        for (sent, seen) in [
            ("/", "/"),
            ("/a/b?x=1&y=%2F", "/a/b?x=1&y=%2F"),
            ("/a/../b", "/b"),
            ("/a/./b", "/a/b"),
            ("/a/%2e%2e/b", "/b"),
            ("/a/%2E./b", "/b"),
            ("/a/b/..", "/a/"),
            ("/../../etc", "/etc"),
            ("/a\\b", "/a/b"),
            ("/a\\..\\b", "/b"),
            ("/a?b\\..\\c", "/a?b\\..\\c"),
            ("/a%5Cb", "/a%5Cb"),
            ("/a%2Fb", "/a%2Fb"),
            ("/a%zzb", "/a%zzb"),
            ("/a%", "/a%"),
            ("/a%00b", "/a%00b"),
            ("//a//b", "//a//b"),
            ("/a|b", "/a|b"),
            ("/a{b}", "/a%7Bb%7D"),
            ("/a\"b", "/a%22b"),
            ("/a%20b+c", "/a%20b+c"),
            ("/...", "/..."),
        ] {
            assert_eq!(path(sent).as_deref(), Ok(seen), "{sent}");
        }
        // http::Uri reads UTF-8 in paths, and so does the URL standard.
        assert_eq!(path("/é").as_deref(), Ok("/%C3%A9"));
    }

    #[test]
    fn an_absolute_target_names_its_own_host() {
        let host = HeaderValue::from_static("other");
        let resolved = resolve(&"http://drive.example/a/../b?c".parse().unwrap(), Some(&host)).unwrap();
        assert_eq!(resolved, "http://drive.example/b?c");
    }

    #[test]
    fn what_is_no_url_is_an_error() {
        for target in ["*", "drive.example:443", "ftp://drive.example/", "http://u:p@drive.example/a"] {
            assert!(
                resolve(&target.parse().unwrap(), Some(&HeaderValue::from_static("h"))).is_err(),
                "{target}"
            );
        }
        for host in ["", "a/b", "a\\b", "a?b", "a#b", "a@b", "a b", "[::1", "a:99999", "%zz"] {
            assert!(resolve(&"/".parse().unwrap(), Some(&host.parse().unwrap())).is_err(), "{host}");
        }
    }

    #[test]
    fn http_1_0_needs_no_host() {
        assert_eq!(resolve(&"/a".parse().unwrap(), None).unwrap(), "http://localhost/a");
    }
}
