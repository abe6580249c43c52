//! Archives that are kept as files.

use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

/// A folder `t` of 60 files that don't fit a row, with some more in it.
fn drive() -> Drive {
    let drive = Drive::new();
    for folder in ["t", "t/empty", "t/%E4%BD%A0%E5%A5%BD"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    for n in 0..60 {
        assert_eq!(drive.put(&format!("t/{n}"), noise(n, 5_000 + 97 * n as usize)).status, 201);
    }
    drive.put("t/large", noise(1000, 9 << 20));
    drive.put("t/%E4%BD%A0%E5%A5%BD/small", "small");
    drive.put("t/nothing", "");
    drive
}

fn keep(body: &Value) -> Reply {
    Reply::to(Drive::in_space("POST", "archives").body(body.to_string()))
}

fn download(paths: &Value) -> Reply {
    Reply::to(Drive::in_space("POST", "archive").body(json!({ "paths": paths }).to_string()))
}

#[test]
fn what_is_kept_is_the_download_and_only_its_headers_are_stored() {
    let drive = drive();
    let whole = download(&json!([drive.path("t")]));
    let kept = keep(&json!({"paths": [drive.path("t")], "to": drive.path("kept.zip")}));
    assert_eq!(kept.status, 201);
    assert_eq!(kept.header("etag"), whole.header("etag"));
    assert!(kept.header("location").ends_with("/kept.zip"));
    assert_eq!(kept.json()["size_bytes"], whole.body.len());
    let timing = kept.header("server-timing");
    let stored: u64 =
        timing.split("stored;desc=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    assert!(stored > 0 && stored < 20_000, "{stored}");
    let read = drive.get("kept.zip");
    assert_eq!((read.status, read.header("content-type")), (200, "application/zip"));
    assert!(read.body == whole.body);
    let part = drive.get_with("kept.zip", "range", "bytes=100000-9300000");
    assert!(part.status == 206 && part.body == whole.body[100_000..=9_300_000]);
    // It stays when its files go.
    assert_eq!(Reply::to(drive.folder_request("DELETE", "t")).status, 204);
    assert!(drive.get("kept.zip").body == whole.body);
    // And is an archive's entry itself.
    let again = keep(&json!({"paths": [drive.path("kept.zip")], "to": drive.path("kept.zip")}));
    assert_eq!(again.status, 200);
    assert_ne!(again.header("etag"), kept.header("etag"));
}

#[test]
fn lists_name_nodes_by_their_ids_too() {
    let drive = drive();
    let folder = drive.make_folder("t").json()["id"].clone();
    let file = Reply::to(Drive::in_space("GET", &drive.below("nodes/by-path", "t/5"))).json()["id"].clone();
    let by_id = download(&json!([folder, file]));
    let by_path = download(&json!([drive.path("t"), drive.path("t/5")]));
    assert_eq!((by_id.status, by_path.status), (200, 200));
    assert!(by_id.body == by_path.body);
    let kept = keep(&json!({"paths": [folder, file], "to": drive.path("kept.zip")}));
    assert_eq!(kept.status, 201);
    assert!(drive.get("kept.zip").body == by_path.body);
    download(&json!(["018f0000-0000-7000-8000-000000000009"])).expect_problem(404, "not_found");
    download(&json!([format!("/{}", file.as_str().unwrap())])).expect_problem(404, "not_found");
}

#[test]
fn a_token_keeps_what_it_may_read_where_it_may_write() {
    let drive = drive();
    assert_eq!(drive.make_folder("in").status, 201);
    assert_eq!(drive.put("in/a", "a").status, 201);
    let folder = drive.make_folder("in").json()["id"].clone();
    let token = |limits: Value| {
        let made =
            Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
        made.json()["token"].as_str().unwrap().to_owned()
    };
    let in_folder = token(json!({"name": "folder", "space_id": Drive::space(), "folder_id": folder}));
    let reading = token(json!({"name": "reading", "rights": "read"}));
    let url = Drive::absolute(&format!("/api/v1/spaces/{}/archives", Drive::space()));
    let keep = |token: &str, path: &str, to: &str| {
        let body = json!({"paths": [drive.path(path)], "to": drive.path(to)});
        Reply::to(Drive::anonymous("POST", &url).bearer_auth(token).body(body.to_string()))
    };
    keep(&reading, "in", "in/k.zip").expect_problem(403, "forbidden");
    keep(&in_folder, "t", "in/k.zip").expect_problem(404, "not_found");
    keep(&in_folder, "in", "k.zip").expect_problem(404, "not_found");
    assert_eq!(keep(&in_folder, "in", "in/k.zip").status, 201);
    assert_eq!(Reply::to(Drive::anonymous("POST", &url).body("{}")).status, 401);
}
