//! What browsers let pages of other origins do. The suite's servers allow `https://app.example` and
//! `app://notes.example`.

use ledge_tests::{Drive, Reply};

const LISTED: [&str; 2] = ["https://app.example", "app://notes.example"];
const STRANGERS: [&str; 4] =
    ["https://evil.example", "http://app.example", "https://app.example.evil.example", "null"];

fn preflight(url: &str, origin: &str, method: &str) -> Reply {
    let request = Drive::anonymous("OPTIONS", url).header("Origin", origin);
    Reply::to(request.header("Access-Control-Request-Method", method))
}

fn words(list: &str) -> Vec<String> {
    list.split(',').map(|word| word.trim().to_ascii_lowercase()).collect()
}

#[test]
fn w170_a_preflight_needs_no_token_and_allows_every_verb_and_header() {
    let drive = Drive::new();
    for url in [Drive::absolute("/dav/missing"), Drive::absolute("/dav/"), drive.file_url("f")] {
        for origin in LISTED {
            let reply = preflight(&url, origin, "PROPFIND");
            assert_eq!((reply.status, reply.header("access-control-allow-origin")), (204, origin), "{url}");
            let methods = words(reply.header("access-control-allow-methods"));
            for method in
                ["PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "PUT", "PATCH", "DELETE"]
            {
                assert!(methods.contains(&method.to_ascii_lowercase()), "{method}");
            }
            let headers = words(reply.header("access-control-allow-headers"));
            for header in [
                "Authorization",
                "Depth",
                "Destination",
                "If",
                "If-Match",
                "Lock-Token",
                "Overwrite",
                "Timeout",
                "Range",
            ] {
                assert!(headers.contains(&header.to_ascii_lowercase()), "{header}");
            }
        }
    }
    let asked = Drive::anonymous("OPTIONS", &drive.file_url("f")).header("Origin", LISTED[0]);
    let asked = asked.header("Access-Control-Request-Method", "PUT");
    let reply = Reply::to(asked.header("Access-Control-Request-Headers", "authorization, x-of-an-app"));
    assert_eq!(reply.header("access-control-allow-headers"), "authorization, x-of-an-app");
}

#[test]
fn w171_pages_of_listed_origins_may_read_answers_and_errors() {
    let drive = Drive::new();
    assert_eq!(drive.put("f", "x").status, 201);
    for (path, status) in [("f", 200), ("missing", 404)] {
        let reply = drive.get_with(path, "Origin", LISTED[0]);
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (status, LISTED[0]));
        let vary: Vec<_> =
            reply.headers.get_all("vary").iter().flat_map(|it| words(it.to_str().unwrap())).collect();
        assert!(vary.contains(&"origin".to_owned()), "{vary:?}");
        let exposed = words(reply.header("access-control-expose-headers"));
        for header in [
            "ETag",
            "Last-Modified",
            "DAV",
            "Lock-Token",
            "Content-Range",
            "Content-Length",
            "Location",
            "Upload-Offset",
        ] {
            assert!(exposed.contains(&header.to_ascii_lowercase()), "{header}");
        }
    }
    // A page can't sign in with what the browser remembers of its user.
    assert!(
        drive.get_with("f", "Origin", LISTED[0]).headers.get("access-control-allow-credentials").is_none()
    );
}

#[test]
fn pages_of_other_origins_are_told_nothing() {
    let drive = Drive::new();
    assert_eq!(drive.put("f", "x").status, 201);
    for origin in STRANGERS {
        let replies = [
            preflight(&drive.file_url("f"), origin, "PUT"),
            preflight(&Drive::absolute("/dav/"), origin, "PUT"),
        ];
        for reply in replies.into_iter().chain([drive.get_with("f", "Origin", origin)]) {
            assert!(
                !reply.headers.keys().any(|name| name.as_str().starts_with("access-control-")),
                "{origin}"
            );
        }
    }
}
