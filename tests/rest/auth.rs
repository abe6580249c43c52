//! Who may ask.

use ledge_tests::{Drive, Reply};

/// Well-formed, with a right checksum, known to nobody.
const UNKNOWN: &str = "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy";

#[test]
fn without_a_token_every_route_is_401_and_says_how_to_sign_in() {
    let drive = Drive::new();
    for (method, url) in [
        ("GET", drive.file_url("missing")),
        ("PUT", drive.file_url("a.txt")),
        ("GET", drive.file_url("%zz")),
        ("GET", Drive::absolute("/api/v1/spaces/nonsense/files/x")),
        ("GET", Drive::absolute("/api/v1/jobs")),
    ] {
        let reply = Reply::to(Drive::anonymous(method, &url));
        reply.expect_problem(401, "unauthenticated");
        assert_eq!(reply.header("www-authenticate"), "Bearer realm=\"ledge\"");
        assert_eq!(reply.header("server-timing"), "");
    }
    assert_eq!(drive.get("a.txt").status, 404, "nothing was saved");
}

#[test]
fn unknown_and_malformed_tokens_are_401() {
    let url = Drive::new().file_url("a.txt");
    for authorization in [
        format!("Bearer {UNKNOWN}"),
        format!("Bearer {}x", &UNKNOWN[..UNKNOWN.len() - 1]),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Basic YTpi".to_owned(),
        "ldg_".to_owned(),
    ] {
        let put = Drive::anonymous("PUT", &url).header("authorization", &authorization).body("stolen");
        Reply::to(put).expect_problem(401, "unauthenticated");
    }
}

#[test]
fn a_strangers_space_is_no_different_from_none() {
    for space in ["018f0000-0000-7000-8000-000000000000", "nonsense", "%2e%2e"] {
        for method in ["GET", "PUT"] {
            let url = Drive::absolute(&format!("/api/v1/spaces/{space}/files/a.txt"));
            if url.contains("%2e") {
                continue; // resolved by the URL parser: another route
            }
            Reply::to(Drive::signed(method, &url).body("")).expect_problem(404, "not_found");
        }
    }
}
