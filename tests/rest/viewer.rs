//! `/docs`: the OpenAPI document for people.

use std::io::Write;
use std::process::{Command, Stdio};

use ledge_tests::{Drive, Reply};

fn get(path: &str) -> Reply {
    Reply::to(Drive::anonymous("GET", &Drive::absolute(path)))
}

#[test]
fn the_page_runs_scripts_of_this_origin_only_and_fetches_nothing_from_elsewhere() {
    let page = get("/docs");
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = page.header("content-security-policy");
    for directive in
        ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]
    {
        assert!(policy.split("; ").any(|it| it == directive), "{directive} in {policy}");
    }
    let html = String::from_utf8(page.body).unwrap();
    let sources: Vec<&str> =
        ["src=\"", "href=\"", "spec-url=\""].iter().flat_map(|it| html.split(it).skip(1)).collect();
    assert!(sources.iter().all(|source| source.starts_with('/')), "{sources:?}");
    for script in html.split("<script").skip(1) {
        assert!(script.contains("></script>"), "no script within the page: {script}");
    }
    assert!(
        html.contains("spec-url=\"/api/v1/openapi.json\""),
        "{html}: run `cargo xtask setup`, and build again"
    );
}

#[test]
fn the_viewers_files_are_gzipped_once() {
    for (name, media_type, begins) in [
        ("rapidoc-min.js", "text/javascript; charset=utf-8", "/*! RapiDoc"),
        ("rapidoc-min.js.LICENSE.txt", "text/plain; charset=utf-8", "/*"),
    ] {
        let file = get(&format!("/docs/{name}"));
        assert_eq!((file.status, file.header("content-encoding")), (200, "gzip"), "run `cargo xtask setup`");
        assert_eq!(file.header("content-type"), media_type);
        assert_eq!(file.header("content-security-policy"), "sandbox");
        assert_eq!(file.header("content-length"), file.body.len().to_string());
        let text = gunzip(&file.body);
        assert!(text.starts_with(begins), "{name}: {:?}", text.get(..40));
    }
    get("/docs/none.js").expect_problem(404, "no_such_route");
}

fn gunzip(bytes: &[u8]) -> String {
    let mut gzip =
        Command::new("gzip").arg("-dc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = gzip.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = gzip.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
