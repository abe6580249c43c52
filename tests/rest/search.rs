//! Search by name.

use ledge_tests::{Drive, Reply};
use serde_json::Value;

fn search(drive: &Drive, folder: &str, query: &str) -> Reply {
    let url = drive.file_url(folder).replace("/files/", "/search/");
    Reply::to(Drive::signed("GET", &format!("{}?{query}", url.trim_end_matches('/'))))
}

fn names(reply: &Reply) -> Vec<String> {
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    let hits = reply.json()["hits"].as_array().unwrap().clone();
    hits.iter()
        .map(|hit| hit["path"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned())
        .collect()
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

#[test]
fn any_part_of_a_name_finds_it_in_any_case_and_form() {
    let drive = Drive::new();
    for name in [
        "%C3%9Cbersicht%202026.pdf",
        "cafe%CC%81.txt",
        "%E5%86%99%E7%9C%9F2026.jpg",
        "100%25_done",
        "a%22b%22c",
    ] {
        assert_eq!(drive.put(name, "x").status, 201);
    }
    for (query, found) in [
        ("bersicht", "Übersicht 2026.pdf"),
        ("UBERSICHT", "Übersicht 2026.pdf"),
        ("%C3%BCbersicht", "Übersicht 2026.pdf"),
        ("sicht+20", "Übersicht 2026.pdf"),
        ("CAF%C3%89", "cafe\u{301}.txt"),
        ("cafe%CC%81.t", "cafe\u{301}.txt"),
        ("%E5%86%99%E7%9C%9F2", "写真2026.jpg"),
        ("%E5%86%99", "写真2026.jpg"),
        ("%E5%86%99%E7%9C%9F", "写真2026.jpg"),
        ("100%25_", "100%_done"),
        ("a%22b%22", "a\"b\"c"),
    ] {
        assert_eq!(names(&search(&drive, "", &format!("q={query}"))), [found], "{query}");
    }
    for query in ["nothing", "1%25", "0%25_done_", "cafe%CC%81x", "%25%25%25", "OR", "%22"] {
        assert_eq!(names(&search(&drive, "", &format!("q={query}"))), Vec::<String>::new(), "{query}");
    }
}

#[test]
fn one_or_two_characters_find_beginnings() {
    let drive = Drive::new();
    for name in ["ab", "Abc", "xab", "b"] {
        assert_eq!(drive.put(name, "x").status, 201);
    }
    assert_eq!(sorted(names(&search(&drive, "", "q=a"))), ["Abc", "ab"]);
    assert_eq!(sorted(names(&search(&drive, "", "q=AB"))), ["Abc", "ab"]);
    assert_eq!(names(&search(&drive, "", "q=b")), ["b"]);
}

#[test]
fn a_search_stays_in_its_folder_and_tells_the_path() {
    let drive = Drive::new();
    for folder in ["one", "one/deep", "two"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    for path in ["one/deep/needle", "two/needle"] {
        assert_eq!(drive.put(path, "x").status, 201);
    }
    assert_eq!(names(&search(&drive, "", "q=needle")).len(), 2);
    let reply = search(&drive, "one", "q=needle");
    assert_eq!(reply.cost(), (1, 0));
    let hits = reply.json()["hits"].clone();
    let path: Vec<&str> = hits[0]["path"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!((hits.as_array().unwrap().len(), &path[1..]), (1, ["one", "deep", "needle"].as_slice()));
    assert_eq!(names(&search(&drive, "one", "q=deep")), ["deep"]);
    assert_eq!(names(&search(&drive, "one", "q=one")), Vec::<String>::new(), "what is below, not itself");
    search(&drive, "missing", "q=x").expect_problem(404, "not_found");
}

#[test]
fn the_best_come_first_and_pages_follow_each_other() {
    let drive = Drive::new();
    for name in ["inside-xreport", "my report", "Report 1", "report"] {
        assert_eq!(drive.put(name, "x").status, 201);
    }
    let all = names(&search(&drive, "", "q=report"));
    assert_eq!(all, ["report", "Report 1", "my report", "inside-xreport"]);
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let reply = search(&drive, "", &format!("q=report&limit=1{cursor}"));
        paged.extend(names(&reply));
        match reply.json()["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(paged, all);
}

#[test]
fn filters_narrow_the_search() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("pic").status, 201);
    assert_eq!(drive.put("pic.jpg?modified_at=2001-01-01T00:00:00Z", "12345").status, 201);
    assert_eq!(drive.put("pic.txt?modified_at=2002-01-01T00:00:00Z", "1").status, 201);
    for (filter, found) in [
        ("kind=folder", vec!["pic"]),
        ("kind=file", vec!["pic.jpg", "pic.txt"]),
        ("media_type=image/", vec!["pic.jpg"]),
        ("min_bytes=2", vec!["pic.jpg"]),
        ("max_bytes=4", vec!["pic.txt"]),
        ("kind=file&modified_from=2001-06-01T00:00:00Z", vec!["pic.txt"]),
        ("kind=file&modified_before=2001-06-01T00:00:00Z", vec!["pic.jpg"]),
        ("min_bytes=2&media_type=text/", vec![]),
    ] {
        assert_eq!(sorted(names(&search(&drive, "", &format!("q=pic&{filter}")))), found, "{filter}");
    }
}

#[test]
fn a_search_refuses_what_it_does_not_know() {
    let drive = Drive::new();
    let long = format!("q={}", "x".repeat(256));
    for (query, field) in [
        ("", "q"),
        ("q=", "q"),
        (long.as_str(), "q"),
        ("q=x&limit=0", "limit"),
        ("q=x&limit=201", "limit"),
        ("q=x&kind=link", "kind"),
        ("q=x&min_bytes=-1", "min_bytes"),
        ("q=x&modified_from=today", "modified_from"),
        ("q=x&cursor=x", "cursor"),
        ("q=x&sort=name", "query"),
    ] {
        let reply = search(&drive, "", query);
        reply.expect_problem(400, "invalid");
        assert_eq!(reply.json()["field"], field, "{query}");
    }
}

#[test]
fn what_is_in_the_trash_is_not_found_and_a_new_name_is() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("box").status, 201);
    assert_eq!(drive.put("box/treasure", "x").status, 201);
    assert_eq!(names(&search(&drive, "", "q=treasure")), ["treasure"]);
    assert_eq!(
        Reply::to(Drive::signed("DELETE", &drive.file_url("box").replace("/files/", "/folders/"))).status,
        204
    );
    assert_eq!(names(&search(&drive, "", "q=treasure")), Vec::<String>::new());
    assert_eq!(names(&search(&drive, "", "q=box")), Vec::<String>::new());
    assert_eq!(drive.put("treasure", "x").status, 201);
    assert_eq!(names(&search(&drive, "", "q=treasure")), ["treasure"]);
}

#[test]
fn what_was_renamed_or_copied_is_found_by_its_new_name() {
    let drive = Drive::new();
    assert_eq!(drive.make_folder("chest").status, 201);
    assert_eq!(drive.put("chest/doubloon", "x").status, 201);
    let copy = serde_json::json!([{"op": "copy", "path": drive.path("chest"), "to": {"name": "trunk"}}]);
    assert_eq!(Drive::batch(&copy).status, 200);
    assert_eq!(names(&search(&drive, "", "q=doubloon")).len(), 2);
    assert_eq!(names(&search(&drive, "", "q=trunk")), ["trunk"]);
    let rename = serde_json::json!([{"op": "move", "path": drive.path("trunk"), "to": {"name": "locker"}}]);
    assert_eq!(Drive::batch(&rename).status, 200);
    assert_eq!(names(&search(&drive, "", "q=trunk")), Vec::<String>::new());
    assert_eq!(names(&search(&drive, "", "q=locker")), ["locker"]);
    assert_eq!(names(&search(&drive, "locker", "q=doubloon")), ["doubloon"]);
}
