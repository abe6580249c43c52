//! How much is below folders.

use ledge_tests::Drive;
use serde_json::{Value, json};

fn sizes(nodes: u64, bytes: u64, older_bytes: u64) -> Value {
    json!({"nodes": nodes, "bytes": bytes, "older_bytes": older_bytes, "incomplete": false})
}

#[test]
fn a_listing_counts_what_is_below_each_folder_where_it_is_asked_to() {
    let drive = Drive::new();
    for folder in ["a/b/c", "a/empty", "z"] {
        assert_eq!(drive.make_folder(&format!("{folder}?parents=true")).status, 201);
    }
    for (path, bytes) in [("a/b/c/x", 10), ("a/b/c/x", 7), ("a/b/y", 5000), ("a/w", 1), ("top", 100)] {
        assert!(drive.put(path, vec![b'x'; bytes]).status < 300, "{path}");
    }
    let reply = drive.list("", "?sizes=true");
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    let page = reply.json();
    assert_eq!(page["folder"]["sizes"], sizes(9, 5108, 10));
    let of = |page: &Value, name: &str| {
        let entries = page["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry["name"] == name).unwrap()["sizes"].clone()
    };
    assert_eq!(of(&page, "a"), sizes(6, 5008, 10));
    assert_eq!(of(&page, "z"), sizes(0, 0, 0));
    assert_eq!(of(&page, "top"), Value::Null, "a file has a size of its own");
    let below = drive.list("a", "?sizes=true").json();
    assert_eq!((of(&below, "b"), of(&below, "empty")), (sizes(3, 5007, 10), sizes(0, 0, 0)));

    // In any order, on any page; and not where nobody asks.
    let page = drive.list("", "?sizes=true&sort=size&order=desc&limit=2").json();
    let next = page["next"].as_str().unwrap().to_owned();
    let second = drive.list("", &format!("?sizes=true&sort=size&order=desc&limit=2&cursor={next}")).json();
    let entries: Vec<_> =
        [page["entries"].as_array().unwrap().clone(), second["entries"].as_array().unwrap().clone()].concat();
    let a = entries.iter().find(|entry| entry["name"] == "a").unwrap();
    assert_eq!(a["sizes"], sizes(6, 5008, 10));
    assert_eq!(second["folder"]["sizes"], sizes(9, 5108, 10));
    let plain = drive.list("", "").json();
    assert!(plain["folder"].get("sizes").is_none() && plain["entries"][0].get("sizes").is_none());

    // What is in the trash isn't below any more.
    assert_eq!(drive.delete_folder("a/b/c").status, 204);
    assert_eq!(drive.list("", "?sizes=true").json()["folder"]["sizes"], sizes(7, 5101, 0));
    let reply = drive.list("", "?sizes=1");
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "sizes");
}
