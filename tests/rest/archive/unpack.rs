//! ZIP files that jobs unpack.

use ledge_tests::zips::{Made, zip_of};
use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

/// Has a ZIP file unpacked, and waits; the job as it is then.
fn unpack(drive: &Drive, into: &str) -> Value {
    let body = json!({"path": drive.path("a.zip"), "into": drive.path(into)});
    let asked = Reply::to(Drive::in_space("POST", "unpack").body(body.to_string()));
    let job = Drive::finished(&asked);
    assert_eq!(job["kind"], "unpack");
    job
}

#[test]
fn a_zip_file_becomes_a_folder_of_its_files() {
    let drive = Drive::new();
    let text = "all work and no play ".repeat(20_000).into_bytes();
    let large = noise(1, 9 << 20);
    let mut files: Vec<(String, Vec<u8>)> = vec![
        ("stored.bin".to_owned(), large.clone()),
        ("sub/deflated.txt".to_owned(), text),
        ("sub/noise.bin".to_owned(), noise(2, 9 << 20)),
        ("你好/small".to_owned(), b"small".to_vec()),
    ];
    files.extend((0..20).map(|n| (format!("many/{n}"), noise(n, 5_000 + n as usize))));
    let mut entries = vec![Made::stored("empty/", b""), Made::stored("../up", b"x")];
    for (name, content) in &files {
        let is_stored = name.starts_with("stored") || name.starts_with("many");
        entries.push(if is_stored { Made::stored(name, content) } else { Made::deflated(name, content) });
    }
    assert_eq!(drive.put("a.zip", zip_of(&entries)).status, 201);
    let job = unpack(&drive, "out/of it");
    assert_eq!(job["state"], "done", "{job}");
    assert_eq!(job["progress"]["items_done"], entries.len());
    assert_eq!((&job["result"]["files"], &job["result"]["skipped_total"]), (&files.len().into(), &1.into()));
    assert_eq!(job["result"]["skipped"][0]["name"], "../up");
    for (name, content) in &files {
        assert!(
            drive.get(&format!("out/of%20it/{}", name.replace("你好", "%E4%BD%A0%E5%A5%BD"))).body
                == *content,
            "{name}"
        );
    }
    assert_eq!(drive.list("out/of%20it/empty", "").status, 200);
    assert_eq!(drive.get("out/up").status, 404);
    // Once more: nothing is replaced.
    assert_eq!(unpack(&drive, "out/of it")["state"], "done");
    assert!(drive.get("out/of%20it/stored%20(2).bin").body == large);
    // A part of what is shared, without the ZIP file.
    assert_eq!(Reply::to(drive.request("DELETE", "a.zip")).status, 204);
    let part = drive.get_with("out/of%20it/stored.bin", "range", "bytes=1000000-9000000");
    assert!(part.status == 206 && part.body == large[1_000_000..=9_000_000]);
}

#[test]
fn an_archive_that_is_kept_is_unpacked_to_what_it_was_made_of() {
    let drive = Drive::new();
    drive.make_folder("t");
    for n in 0..5_u64 {
        drive.put(&format!("t/{n}"), noise(n, 400_000 * n as usize));
    }
    let keep = json!({"paths": [drive.path("t")], "to": drive.path("a.zip")});
    assert_eq!(Reply::to(Drive::in_space("POST", "archives").body(keep.to_string())).status, 201);
    let job = unpack(&drive, "out");
    assert_eq!((&job["state"], &job["result"]["files"]), (&json!("done"), &json!(5)), "{job}");
    for n in 0..5_u64 {
        assert!(drive.get(&format!("out/t/{n}")).body == noise(n, 400_000 * n as usize));
    }
}

#[test]
fn what_is_no_zip_file_or_not_for_who_asks_is_refused_at_once() {
    let drive = Drive::new();
    drive.put("a.zip", "not one");
    let ask = |body: Value| Reply::to(Drive::in_space("POST", "unpack").body(body.to_string()));
    ask(json!({"path": drive.path("a.zip"), "into": drive.path("out")})).expect_problem(422, "bad_archive");
    ask(json!({"path": drive.path("none"), "into": drive.path("out")})).expect_problem(404, "not_found");
    ask(json!({"path": drive.path("a.zip")})).expect_problem(400, "invalid");
    let reading = json!({"name": "reading", "rights": "read"});
    let made = Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(reading.to_string()));
    let url = Drive::absolute(&format!("/api/v1/spaces/{}/unpack", Drive::space()));
    let body = json!({"path": drive.path("a.zip"), "into": drive.path("out")}).to_string();
    let reading = Drive::anonymous("POST", &url).bearer_auth(made.json()["token"].as_str().unwrap());
    Reply::to(reading.body(body.clone())).expect_problem(403, "forbidden");
    assert_eq!(Reply::to(Drive::anonymous("POST", &url).body(body)).status, 401);
}
