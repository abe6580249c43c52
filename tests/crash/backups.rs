//! The database is lost, and brought back out of a dump in the bucket.

use ledge_tests::{Drive, Mortal, Reply, noise};
use serde_json::Value;

/// Some segments.
const SIZE: usize = 20 << 20;

/// Waits for a job; what came of it.
fn done(server: &Mortal, asked: &Reply) -> Value {
    assert_eq!(asked.status, 202, "{}", String::from_utf8_lossy(&asked.body));
    let id = asked.json()["id"].as_str().unwrap().to_owned();
    let job = Drive::wait_for("the job is over", || {
        let job = Reply::to(server.request("GET", &format!("/api/v1/jobs/{id}"))).json();
        (!job["finished_at"].is_null()).then_some(job)
    });
    assert_eq!(job["state"], "done", "{job}");
    job["result"].clone()
}

/// Reads everything and finds no fault; what was found.
fn examined(server: &Mortal) -> Value {
    let report = done(server, &Reply::to(server.request("POST", "/api/v1/admin/doctor?content=true")));
    assert_eq!(report["faults"], 0, "{report}");
    report
}

#[test]
fn a_drive_whose_database_is_lost_comes_back_from_its_dump() {
    let mut server = Mortal::new();
    let put = |server: &Mortal, name: &str, body: Vec<u8>| {
        Reply::to(server.in_space("PUT", &format!("files/{name}")).body(body)).status
    };
    assert_eq!(put(&server, "large", noise(1, SIZE)), 201);
    assert_eq!(put(&server, "it's%20%C3%BCber%22", b"small".to_vec()), 201);
    assert_eq!(put(&server, "replaced", b"one".to_vec()), 201);
    assert_eq!(put(&server, "replaced", b"two".to_vec()), 204);
    assert_eq!(put(&server, "deleted", noise(2, 100_000)), 201);
    assert_eq!(Reply::to(server.in_space("DELETE", "files/deleted")).status, 204);
    let property =
        "<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:a'>b</a></prop></set></propertyupdate>";
    let patched = Reply::to(server.request("PROPPATCH", "/dav/large").body(property));
    assert_eq!(patched.status, 207);
    let cursor = Reply::to(server.in_space("GET", "changes")).json()["cursor"].as_str().unwrap().to_owned();
    examined(&server);

    let dumped = done(&server, &Reply::to(server.request("POST", "/api/v1/admin/backups")));
    let id = dumped["backup"].as_str().unwrap().to_owned();
    let listed = Reply::to(server.request("GET", "/api/v1/admin/backups")).json();
    let newest = &listed["backups"][0];
    assert_eq!((newest["id"].as_str(), newest["state"].as_str()), (Some(id.as_str()), Some("done")));
    assert!(
        newest["rows"].as_u64().unwrap() > 10 && newest["size_bytes"].as_u64().unwrap() > 500,
        "{newest}"
    );
    let listing = Reply::to(server.in_space("GET", "folders/")).json();

    server.kill();
    let refused = server.restore(&id).unwrap_err();
    assert!(refused.contains("move it away") || refused.contains("target_changed"), "{refused}");
    server.lose_database();
    server.restore(&id).unwrap();
    server.start();

    let report = examined(&server);
    assert_eq!(report["notes"], 0, "{report}");
    assert!(report["content_bytes"].as_u64().unwrap() >= SIZE as u64, "{report}");
    assert_eq!(Reply::to(server.in_space("GET", "folders/")).json(), listing);
    assert!(Reply::to(server.in_space("GET", "files/large")).body == noise(1, SIZE));
    assert_eq!(Reply::to(server.in_space("GET", "files/it's%20%C3%BCber%22")).body, b"small");
    let versions = Reply::to(server.in_space("GET", "versions/replaced")).json();
    assert_eq!(versions["versions"].as_array().unwrap().len(), 2);
    let found = Reply::to(server.in_space("GET", "search/?q=ber")).json();
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    let trash = Reply::to(server.in_space("GET", "trash")).json();
    let trashed = trash["entries"][0]["id"].as_str().unwrap_or_else(|| panic!("{trash}"));
    let restored = Reply::to(server.in_space("POST", &format!("trash/{trashed}/restore")));
    assert_eq!(restored.status, 200, "{}", String::from_utf8_lossy(&restored.body));
    assert!(Reply::to(server.in_space("GET", "files/deleted")).body == noise(2, 100_000));
    let properties = Reply::to(server.request("PROPFIND", "/dav/large").header("depth", "0"));
    assert!(String::from_utf8_lossy(&properties.body).contains("urn:a"));
    // Whoever followed the lost database is sent back to a listing.
    let changes = Reply::to(server.in_space("GET", &format!("changes?since={cursor}")));
    assert_eq!(changes.status, 410, "{}", String::from_utf8_lossy(&changes.body));
    // And it goes on: what is saved now meets nothing old.
    assert_eq!(put(&server, "after", noise(3, SIZE)), 201);
    assert_eq!(put(&server, "large%20again", noise(1, SIZE)), 201);
    assert!(Reply::to(server.in_space("GET", "files/large%20again")).body == noise(1, SIZE));
    examined(&server);
    let listed = Reply::to(server.request("GET", "/api/v1/admin/backups")).json();
    assert_eq!(listed["backups"][0]["id"].as_str(), Some(id.as_str()), "{listed}");
    done(&server, &Reply::to(server.request("POST", "/api/v1/admin/backups")));
}
