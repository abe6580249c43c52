//! What a token that is limited to a folder reaches, however the path is spelled.

use ledge_tests::{Drive, Reply, Wire};
use serde_json::json;

/// The target goes out as it is written: an HTTP client would resolve `..` itself.
fn raw(method: &str, target: &str, token: &str) -> Reply {
    Wire::new(method, target).header("authorization", format!("Bearer {token}")).send()
}

#[test]
fn g14_a_folders_token_does_not_leave_its_folder_by_any_spelling() {
    let drive = Drive::new();
    for folder in ["base", "baseball"] {
        assert_eq!(drive.make_folder(folder).status, 201);
        assert_eq!(drive.put(&format!("{folder}/x"), folder).status, 201);
    }
    let url = drive.file_url("");
    let (_, space) = url.split_once("/spaces/").unwrap();
    let body = json!({
        "name": "base only", "space_id": space.split('/').next().unwrap(),
        "folder_id": drive.make_folder("base").json()["id"],
    });
    let made =
        Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(body.to_string())).json();
    let token = made["token"].as_str().unwrap();

    let files = Drive::absolute("");
    let files = drive.file_url("").strip_prefix(files.as_str()).unwrap().trim_end_matches('/').to_owned();
    assert_eq!(raw("GET", &format!("{files}/base/x"), token).status, 200);
    assert_eq!(
        raw("GET", &format!("{files}/other/../base/x"), token).status,
        200,
        "resolved before it is looked at"
    );
    for outside in [
        "baseball/x",
        "base/../baseball/x",
        "base/%2e%2e/baseball/x",
        "base/%2E./baseball/x",
        "base/.%2e/baseball/x",
        "base\\..\\baseball/x",
        "base/x/../../baseball/x",
        "base/%2e%2e",
        "base/..",
    ] {
        for resource in ["files", "folders", "versions", "search"] {
            let target = format!("{}/{outside}", files.replacen("/files/", &format!("/{resource}/"), 1));
            let query = if resource == "search" { "?q=x" } else { "" };
            for method in ["GET", "HEAD", "PUT", "DELETE"] {
                let status = raw(method, &format!("{target}{query}"), token).status;
                let is_refused = matches!(status, 400 | 403 | 404 | 405);
                assert!(is_refused, "{method} {resource} {outside}: {status}");
            }
        }
    }
    // Encoded twice, an encoded slash and a name of dots alone are no way out either.
    for (outside, status) in [
        ("base/%252e%252e/baseball/x", 404),
        ("base/..%2fbaseball/x", 400),
        ("base%2f..%2fbaseball/x", 400),
        ("base/%2e%2e%2fbaseball/x", 400),
        ("base/%5c..%5cbaseball", 404),
    ] {
        assert_eq!(raw("GET", &format!("{files}/{outside}"), token).status, status, "{outside}");
    }
    assert_eq!(drive.get("baseball/x").body, b"baseball", "nothing was changed");
    assert_eq!(drive.names(""), ["base", "baseball"]);
}
