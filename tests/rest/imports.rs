//! Objects that were in a bucket before the drive: `second` has some, on each host.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

/// What the suite's servers begin with: xtask/src/store.rs.
const OBJECTS: [(&str, &str); 2] = [("a-b.txt", "imported a"), ("deep/er/b.txt", "imported b")];

fn text(reply: &Reply) -> &str {
    std::str::from_utf8(&reply.body).unwrap()
}

fn archive(drive: &Drive, path: &str) -> Reply {
    Reply::to(Drive::in_space("GET", &drive.below("archive", path)))
}

/// Imports what `second` has below `import/`; the report.
fn import(into: &str) -> Value {
    let wanted = json!({ "bucket": "second", "prefix": "import/", "into": into });
    let url = Drive::absolute(&format!("/api/v1/spaces/{}/imports", Drive::space()));
    let asked = Reply::to(Drive::signed("POST", &url).body(wanted.to_string()));
    let job = Drive::finished(&asked);
    assert_eq!(job["state"], "done", "{job}");
    let report = Reply::to(Drive::signed("GET", &format!("{url}/{}", job["id"].as_str().unwrap())));
    assert_eq!(report.status, 200);
    report.json()
}

#[test]
fn w187_objects_become_files_in_place() {
    let drive = Drive::new();
    let report = import(&drive.path("in"));
    assert_eq!((report["files"].as_u64(), report["folders"].as_u64()), (Some(2), Some(3)), "{report}");
    assert_eq!((report["refused_count"].as_u64(), report["bytes"].as_u64()), (Some(0), Some(20)));
    for (path, content) in OBJECTS {
        let got = drive.get(&format!("in/{path}"));
        assert_eq!((got.status, text(&got)), (200, content));
        assert_eq!(got.header("content-type"), "text/plain");
        let part = drive.get_with(&format!("in/{path}"), "range", "bytes=2-5");
        assert_eq!((part.status, text(&part)), (206, &content[2..6]));
        let same = drive.get_with(&format!("in/{path}"), "if-none-match", got.header("etag"));
        assert_eq!(same.status, 304);
    }
    // Again: there is nothing new.
    let again = import(&drive.path("in"));
    assert_eq!((again["files"].as_u64(), again["unchanged"].as_u64()), (Some(0), Some(2)));
}

#[test]
fn an_archive_waits_until_imported_content_has_its_checksums() {
    let drive = Drive::new();
    import(&drive.path("in"));
    let refused = archive(&drive, "in");
    refused.expect_problem(409, "needs_hash");
    let job = format!("/api/v1/jobs/{}", refused.json()["job"].as_str().unwrap());
    Drive::wait_for("the job is done", || {
        let job = Reply::to(Drive::signed("GET", &Drive::absolute(&job))).json();
        Some(()).filter(|()| job["state"] == "done")
    });
    let archived = archive(&drive, "in");
    assert_eq!(archived.status, 200);
    assert!(archived.body.windows(10).any(|bytes| bytes == b"imported a"));
    let hashed = drive.get_with("in/a-b.txt", "want-repr-digest", "sha-256=1");
    assert!(hashed.header("repr-digest").starts_with("sha-256=:"));
}

#[test]
fn what_is_in_the_way_stays_and_is_told() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("in").status, 201);
    assert_eq!(drive.put("in/deep", "a file").status, 201);
    let report = import(&drive.path("in"));
    assert_eq!(report["files"], 1);
    let refused = &report["refused"][0];
    assert_eq!((&refused["key"], &refused["code"]), (&json!("import/deep/er/b.txt"), &json!("taken")));
    assert_eq!(text(&drive.get("in/deep")), "a file");
}

#[test]
fn a_deleted_file_can_be_imported_again() {
    let drive = Drive::new();
    import(&drive.path("in"));
    assert_eq!(drive.delete("in/a-b.txt").status, 204);
    let again = import(&drive.path("in"));
    assert_eq!((again["files"].as_u64(), again["unchanged"].as_u64()), (Some(1), Some(1)));
    assert_eq!(text(&drive.get("in/a-b.txt")), "imported a");
}
