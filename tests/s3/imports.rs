//! Imports from a bucket in which others store.

use std::path::Path;

use ledge_tests::{Mortal, Reply};
use serde_json::{Value, json};

fn store(server: &Mortal, key: &str, content: &[u8]) {
    let path = server.bucket().join(key);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Asks for an import of the bucket's objects below `import/`; the import's id.
fn ask(server: &Mortal) -> String {
    let wanted = json!({ "prefix": "import/", "into": "/in" }).to_string();
    let asked = Reply::to(server.in_space("POST", "imports").body(wanted));
    assert_eq!(asked.status, 202, "{}", String::from_utf8_lossy(&asked.body));
    asked.json()["id"].as_str().unwrap().to_owned()
}

/// Waits for a job of the server's; what has become of it.
fn finished(server: &Mortal, job: &str) -> Value {
    ledge_tests::Drive::wait_for("the job is over", || {
        let job = Reply::to(server.request("GET", &format!("/api/v1/jobs/{job}"))).json();
        job["finished_at"].is_string().then_some(job)
    })
}

fn import(server: &Mortal) -> Value {
    let id = ask(server);
    let job = finished(server, &id);
    assert_eq!(job["state"], "done", "{job}");
    Reply::to(server.in_space("GET", &format!("imports/{id}"))).json()
}

fn get(server: &Mortal, path: &str) -> Reply {
    Reply::to(server.in_space("GET", &format!("files/in/{path}")))
}

#[test]
fn an_object_that_changes_is_refused_and_never_removed() {
    let server = Mortal::with(&[("LEDGE_DIRECT_DOWNLOADS", "on")]);
    let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    store(&server, "import/photo.jpg", &content);
    store(&server, "import/日本/ü.txt", b"in every script");
    // The same name in another normal form.
    store(&server, "import/日本/u\u{308}.txt", b"a twin");
    let report = import(&server);
    assert_eq!((report["files"].as_u64(), report["refused_count"].as_u64()), (Some(2), Some(1)), "{report}");
    assert_eq!(report["refused"][0]["code"], "twin");
    let photo = get(&server, "photo.jpg");
    // Whoever is sent to the bucket could not be told that the object has changed.
    assert_eq!(photo.status, 200);
    assert!(photo.body == content);
    assert_eq!(get(&server, "%E6%97%A5%E6%9C%AC/%C3%BC.txt").status, 200);
    store(&server, "import/photo.jpg", &vec![7; content.len()]);
    for method in ["files/in/photo.jpg", "files/in/photo.jpg?download"] {
        Reply::to(server.in_space("GET", method)).expect_problem(409, "source_changed");
    }
    assert_eq!(Reply::to(server.request("GET", "/dav/in/photo.jpg")).status, 409);
    assert_eq!(Reply::to(server.in_space("DELETE", "files/in/photo.jpg")).status, 204);
    assert!([200, 202, 204].contains(&Reply::to(server.in_space("DELETE", "trash")).status));
    assert!(server.bucket().join("import/photo.jpg").exists());
}

#[test]
fn an_import_that_is_killed_goes_on() {
    let mut server = Mortal::new();
    for n in 0..3500 {
        store(&server, &format!("import/{:02}/{n}.txt", n % 50), n.to_string().as_bytes());
    }
    let id = ask(&server);
    for pages in 1..4 {
        ledge_tests::Drive::wait_for("a page is taken in", || {
            let job = Reply::to(server.request("GET", &format!("/api/v1/jobs/{id}"))).json();
            (job["progress"]["items_done"].as_u64() >= Some(pages * 1000)).then_some(())
        });
        server.kill();
        server.start();
    }
    let job = finished(&server, &id);
    assert_eq!(job["state"], "done", "{job}");
    let report = Reply::to(server.in_space("GET", &format!("imports/{id}"))).json();
    assert_eq!((report["files"].as_u64(), report["unchanged"].as_u64()), (Some(3500), Some(0)), "{report}");
    for n in [0, 1, 1749, 3499] {
        assert_eq!(get(&server, &format!("{:02}/{n}.txt", n % 50)).body, n.to_string().as_bytes());
    }
}
