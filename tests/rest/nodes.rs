//! Batches: move, copy, delete.

use std::thread;

use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

fn ok(operations: &Value) -> Vec<Value> {
    let reply = Drive::batch(operations);
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    reply.json()["results"].as_array().unwrap().clone()
}

#[test]
fn a_node_moves_to_another_folder_or_name_or_both() {
    let drive = Drive::new();
    for folder in ["a", "b"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let file = drive.put("a/x", "content").json();
    let b = drive.make_folder("b").json();
    let moved = ok(&json!([{"op": "move", "id": file["id"], "to": {"parent": b["id"]}}]));
    assert_eq!(moved[0]["id"], file["id"]);
    assert_eq!((&moved[0]["name"], &moved[0]["parent_id"]), (&json!("x"), &b["id"]));
    assert_eq!((drive.get("a/x").status, drive.get("b/x").body), (404, b"content".to_vec()));

    ok(&json!([{"op": "move", "path": drive.path("b/x"), "to": {"name": "y"}}]));
    assert_eq!(drive.get("b/y").body, b"content");
    let etag = drive.get("b/y").header("etag").to_owned();
    assert_eq!(json!(etag), file["etag"], "a move leaves the ETag as it is");
    ok(&json!([{"op": "move", "path": drive.path("b"), "to": {"parent": drive.path("a"), "name": "c"}}]));
    assert_eq!(drive.get("a/c/y").body, b"content");
}

#[test]
fn all_operations_are_done_or_none() {
    let drive = Drive::new();
    for name in ["a", "b", "c"] {
        assert_eq!(drive.put(name, name).status, 201);
    }
    let reply = Drive::batch(&json!([
        {"op": "move", "path": drive.path("a"), "to": {"name": "z"}},
        {"op": "delete", "path": drive.path("b")},
        {"op": "delete", "path": drive.path("none")},
    ]));
    reply.expect_problem(404, "not_found");
    assert_eq!(reply.json()["operation"], 2);
    assert_eq!(drive.names(""), ["a", "b", "c"]);
}

#[test]
fn places_become_free_and_full_in_the_order_of_the_operations() {
    let drive = Drive::new();
    for name in ["a", "b", "c"] {
        assert_eq!(drive.put(name, name).status, 201);
    }
    ok(&json!([
        {"op": "delete", "path": drive.path("b")},
        {"op": "move", "path": drive.path("a"), "to": {"name": "b"}},
        {"op": "copy", "path": drive.path("c"), "to": {"name": "a"}},
    ]));
    assert_eq!(drive.names(""), ["a", "b", "c"]);
    assert_eq!((drive.get("a").body, drive.get("b").body), (b"c".to_vec(), b"a".to_vec()));
    let reply = Drive::batch(&json!([
        {"op": "move", "path": drive.path("a"), "to": {"name": "b"}},
        {"op": "delete", "path": drive.path("b")},
    ]));
    reply.expect_problem(409, "name_taken");
    assert_eq!(reply.json()["operation"], 0);
}

#[test]
fn a_copy_without_a_name_has_the_one_that_its_source_had_before_the_batch() {
    let drive = Drive::new();
    drive.make_folder("folder");
    for name in ["a", "folder/b"] {
        assert_eq!(drive.put(name, name).status, 201);
    }
    let done = ok(&json!([
        {"op": "move", "path": drive.path("a"), "to": {"name": "b"}},
        {"op": "copy", "path": drive.path("a"), "to": {"parent": drive.path("folder")}},
    ]));
    assert_eq!(done[1]["name"], "a");
    assert_eq!(
        (drive.names(""), drive.names("folder")),
        (vec!["b".into(), "folder".into()], vec!["a".into(), "b".into()])
    );
}

#[test]
fn two_nodes_change_places() {
    let drive = Drive::new();
    for folder in ["a", "b"] {
        assert_eq!(drive.make_folder(folder).status, 201);
        assert_eq!(drive.put(&format!("{folder}/x"), folder).status, 201);
    }
    let (a, b) = (drive.path("a/x"), drive.path("b/x"));
    ok(&json!([
        {"op": "move", "path": a, "to": {"parent": drive.path("b"), "name": "y"}},
        {"op": "move", "path": b, "to": {"parent": drive.path("a")}},
    ]));
    assert_eq!((drive.get("a/x").body, drive.get("b/y").body), (b"b".to_vec(), b"a".to_vec()));
}

#[test]
fn a_taken_name_fails_or_replaces_or_gets_a_number() {
    let drive = Drive::new();
    for name in ["a.txt", "b.txt", "b (2).txt", "b (4).txt"] {
        assert_eq!(drive.put(name, name.to_owned()).status, 201);
    }
    let copy = |conflict: &str| {
        Drive::batch(&json!([
            {"op": "copy", "path": drive.path("a.txt"), "to": {"name": "b.txt"}, "conflict": conflict}
        ]))
    };
    copy("fail").expect_problem(409, "name_taken");
    copy("whatever").expect_problem(400, "invalid");
    let names: Vec<Value> = (0..3).map(|_| copy("rename").json()["results"][0]["name"].clone()).collect();
    assert_eq!(names, ["b (3).txt", "b (5).txt", "b (6).txt"]);
    assert_eq!(drive.get("b.txt").body, b"b.txt");
    let many: Vec<Value> = (0..20)
        .map(|_| json!({"op": "copy", "path": drive.path("a.txt"), "to": {"parent": drive.path("")}, "conflict": "rename"}))
        .collect();
    let numbered = ok(&Value::from(many));
    assert_eq!((&numbered[0]["name"], &numbered[19]["name"]), (&json!("a (2).txt"), &json!("a (21).txt")));

    let old = drive.put("b.txt", "old").header("etag").to_owned();
    let replaced = copy("replace").json()["results"][0].clone();
    assert_ne!(drive.get("b.txt").header("etag"), old);
    assert_eq!(drive.get("b.txt").body, b"a.txt");
    let trash = Reply::to(Drive::in_space("GET", "trash?limit=1000")).json();
    let trash = trash["entries"].as_array().unwrap();
    assert!(
        trash.iter().any(|entry| entry["id"] == replaced["replaced_id"]),
        "the replaced one is in the trash"
    );
}

#[test]
fn who_gets_a_number_leaves_the_old_name_and_finds_one_that_the_batch_has_not_taken() {
    let drive = Drive::new();
    for name in ["a", "b", "c"] {
        assert_eq!(drive.put(name, name).status, 201);
    }
    let onto_b = |op: &str, name: &str| json!({"op": op, "path": drive.path(name), "to": {"name": "b"}, "conflict": "rename"});
    ok(&json!([onto_b("move", "a"), {"op": "copy", "path": drive.path("c"), "to": {"name": "a"}}]));
    assert_eq!(drive.names(""), ["a", "b", "b (2)", "c"]);
    let takes = |name: &str| json!({"op": "copy", "path": drive.path("c"), "to": {"name": name}});
    let done = ok(&json!([takes("b (3)"), takes("b (4)"), takes("b (5)"), onto_b("copy", "c")]));
    assert_eq!(done[3]["name"], "b (6)");
}

#[test]
fn a_copy_is_independent_and_stores_nothing() {
    let drive = Drive::new();
    let large = noise(7, 9 << 20);
    for folder in ["a", "a/b", "a/b/empty"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    assert_eq!(drive.put("a/large", large.clone()).status, 201);
    assert_eq!(drive.put("a/b/small", "small").status, 201);
    let reply = Drive::batch(&json!([{"op": "copy", "path": drive.path("a"), "to": {"name": "c"}}]));
    assert_eq!((reply.status, reply.cost(), reply.stored_bytes()), (200, (2, 0), 0));
    assert!(drive.get("c/large").body == large);
    assert_eq!(drive.get("c/large").header("etag"), drive.get("a/large").header("etag"));
    assert_eq!(drive.get("c/large").header("last-modified"), drive.get("a/large").header("last-modified"));
    assert_eq!(drive.names("c/b"), ["empty", "small"]);
    assert_eq!(drive.put("c/b/small", "changed").status, 204);
    assert_eq!(drive.get("a/b/small").body, b"small");
    assert_eq!(drive.delete_folder("a").status, 204);
    assert!(drive.get("c/large").body == large);
}

#[test]
fn g14_names_survive_a_move_and_a_copy() {
    let drive = Drive::new();
    for folder in ["a", "b", "c"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    for (encoded, name) in [
        ("t%20%23%3A%3F3.txt", "t #:?3.txt"),
        ("100%2525.txt", "100%25.txt"),
        ("%E4%BD%A0%20x.txt", "\u{4f60} x.txt"),
        ("cafe%CC%81.txt", "cafe\u{301}.txt"),
        ("back%5Cslash", "back\\slash"),
        ("quote%22s'", "quote\"s'"),
        ("%F0%9F%A7%BF", "\u{1f9ff}"),
    ] {
        assert_eq!(drive.put(&format!("a/{encoded}"), name.to_owned()).status, 201, "{name}");
        let done = ok(&json!([
            {"op": "copy", "path": drive.path(&format!("a/{name}")), "to": {"parent": drive.path("c")}},
            {"op": "move", "path": drive.path(&format!("a/{name}")), "to": {"parent": drive.path("b")}},
        ]));
        assert_eq!((&done[0]["name"], &done[1]["name"]), (&json!(name), &json!(name)));
        for folder in ["b", "c"] {
            assert_eq!(drive.get(&format!("{folder}/{encoded}")).body, name.as_bytes(), "{folder}/{name}");
        }
        assert_eq!(drive.get(&format!("a/{encoded}")).status, 404, "{name}");
    }
    // A new spelling of the same name is a move too.
    ok(&json!([{"op": "move", "path": drive.path("b/caf\u{e9}.txt"), "to": {"name": "caf\u{e9}.txt"}}]));
    assert!(drive.names("b").contains(&"caf\u{e9}.txt".to_owned()));
}

#[test]
fn w035_a_folder_never_goes_into_itself_nor_over_what_holds_it() {
    let drive = Drive::new();
    for folder in ["a", "a/b", "a/b/c"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    for op in ["move", "copy"] {
        for (source, parent, name) in [("a", "a", "x"), ("a", "a/b/c", "x"), ("a/b", "a/b", "b")] {
            Drive::batch(&json!([
                {"op": op, "path": drive.path(source), "to": {"parent": drive.path(parent), "name": name}}
            ]))
            .expect_problem(409, "into_itself");
        }
        Drive::batch(&json!([
            {"op": op, "path": drive.path("a/b/c"), "to": {"parent": drive.path(""), "name": "a"},
             "conflict": "replace"}
        ]))
        .expect_problem(409, "into_itself");
        Drive::batch(&json!([{"op": op, "path": "/", "to": {"parent": drive.path("a"), "name": "x"}}]))
            .expect_problem(409, "is_root");
    }
    Drive::batch(&json!([{"op": "delete", "path": "/"}])).expect_problem(409, "is_root");
    Reply::to(Drive::in_space("DELETE", "folders/")).expect_problem(409, "is_root");
    assert_eq!(drive.names(""), ["a"]);
}

#[test]
fn w036_onto_itself_a_move_changes_nothing_and_a_copy_is_refused() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "x").status, 201);
    let onto = |op: &str, conflict: &str| {
        Drive::batch(&json!([
            {"op": op, "path": drive.path("a"), "to": {"name": "a"}, "conflict": conflict}
        ]))
    };
    for conflict in ["fail", "replace", "rename"] {
        assert_eq!(onto("move", conflict).status, 200, "{conflict}");
    }
    onto("copy", "fail").expect_problem(409, "name_taken");
    onto("copy", "replace").expect_problem(409, "into_itself");
    assert_eq!((drive.names(""), drive.get("a").body), (vec!["a".to_owned()], b"x".to_vec()));
}

#[test]
fn bad_operations_say_what_is_wrong() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", "x").status, 201);
    let (a, elsewhere) = (drive.path("a"), json!({"name": "b"}));
    for (operation, status, code, field) in [
        (json!({"op": "fly", "path": a}), 400, "invalid", json!("op")),
        (json!({"op": "move", "path": a}), 400, "invalid", json!("to")),
        (json!({"op": "move", "to": elsewhere}), 400, "invalid", json!("id")),
        (json!({"op": "move", "path": "a", "to": elsewhere}), 400, "invalid", json!("path")),
        (json!({"op": "move", "path": a, "to": {"name": "x/y"}}), 400, "invalid", json!("to.name")),
        (json!({"op": "move", "path": a, "to": {"name": ""}}), 400, "invalid", json!("to.name")),
        (json!({"op": "move", "path": a, "to": {"parent": "b"}}), 400, "invalid", json!("to.parent")),
        (json!({"op": "delete", "path": a, "to": elsewhere}), 400, "invalid", json!("to")),
        (json!({"op": "restore", "path": a}), 400, "invalid", json!("path")),
        (
            json!({"op": "move", "path": a, "to": {"parent": drive.path("none")}}),
            409,
            "parent_missing",
            json!(null),
        ),
        (json!({"op": "move", "path": a, "to": {"parent": a}}), 409, "not_a_folder", json!(null)),
        (json!({"op": "move", "path": drive.path("none"), "to": elsewhere}), 404, "not_found", json!(null)),
        (json!({"op": "delete", "id": "nonsense"}), 404, "not_found", json!(null)),
        (
            json!({"op": "delete", "id": "018f0000-0000-7000-8000-000000000000"}),
            404,
            "not_found",
            json!(null),
        ),
        (
            json!({"op": "restore", "id": "018f0000-0000-7000-8000-000000000000"}),
            404,
            "not_found",
            json!(null),
        ),
    ] {
        let reply = Drive::batch(&json!([operation]));
        reply.expect_problem(status, code);
        assert_eq!((&reply.json()["field"], &reply.json()["operation"]), (&field, &json!(0)), "{operation}");
    }
    Drive::batch(&json!([])).expect_problem(400, "invalid");
    let twice = Drive::batch(&json!([{"op": "delete", "path": a}, {"op": "delete", "path": a}]));
    assert_eq!((twice.status, twice.json()["operation"].as_u64()), (404, Some(1)));
    for body in ["", "{", "[]", "{\"operations\": 1}", "{\"operations\": [], \"more\": 1}"] {
        Reply::to(Drive::in_space("POST", "nodes/batch").body(body)).expect_problem(400, "invalid");
    }
    let large = " ".repeat(600_001);
    for path in ["nodes/batch", "trash/018f0000-0000-7000-8000-000000000000/restore"] {
        let refused = Reply::to(Drive::in_space("POST", path).body(large.clone()));
        refused.expect_problem(413, "body_too_large");
        assert!(refused.json()["detail"].as_str().unwrap().contains("600000"));
    }
    let unknown = Drive::absolute("/api/v1/spaces/018f0000-0000-7000-8000-000000000000/nodes/batch");
    let stranger = Drive::signed("POST", &unknown)
        .body(json!({"operations": [{"op": "delete", "path": a}]}).to_string());
    Reply::to(stranger).expect_problem(404, "not_found");
    assert_eq!(drive.get("a").status, 200);
}

#[test]
fn trees_of_any_size_take_two_round_trips() {
    let drive = Drive::new();
    for folder in ["a", "b"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    assert_eq!(drive.put("a/x", "x").status, 201);
    // Doubling by copies: 2^11 files and more.
    for n in 0..11 {
        let copies = json!([{"op": "copy", "path": drive.path("a"), "to": {"parent": drive.path("b"), "name": n.to_string()}}]);
        ok(&copies);
        ok(
            &json!([{"op": "move", "path": drive.path(&format!("b/{n}")), "to": {"parent": drive.path("a")}}]),
        );
    }
    for operation in [
        json!({"op": "copy", "path": drive.path("a"), "to": {"name": "c"}}),
        json!({"op": "move", "path": drive.path("c"), "to": {"parent": drive.path("b")}}),
        json!({"op": "delete", "path": drive.path("b/c")}),
    ] {
        let reply = Drive::batch(&json!([operation]));
        assert_eq!((reply.status, reply.cost()), (200, (2, 0)), "{operation}");
    }
    let delete = drive.delete_folder("a");
    assert_eq!((delete.status, delete.cost()), (204, (2, 0)));
}

#[test]
fn a_batch_of_a_thousand_takes_two_round_trips() {
    let drive = Drive::new();
    assert_eq!(drive.put("0", "x").status, 201);
    let copies: Vec<Value> = (1..=1000)
        .map(|n| json!({"op": "copy", "path": drive.path("0"), "to": {"name": n.to_string()}}))
        .collect();
    let reply = Drive::batch(&Value::from(copies.clone()));
    assert_eq!((reply.status, reply.cost()), (200, (2, 0)));
    let deletes: Vec<Value> = reply.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| json!({"op": "delete", "id": result["id"]}))
        .collect();
    let reply = Drive::batch(&Value::from(deletes));
    assert_eq!((reply.status, reply.cost()), (200, (2, 0)));
    assert_eq!(drive.names(""), ["0"]);
    let more = [copies, vec![json!({"op": "delete", "path": drive.path("0")})]].concat();
    Drive::batch(&Value::from(more)).expect_problem(400, "invalid");
}

#[test]
fn no_tree_gets_deeper_than_128() {
    let drive = Drive::new();
    // The drive's folder is 1 deep.
    let chain = |length: usize| vec!["d"; length].join("/");
    for depth in 1..=100 {
        assert_eq!(drive.make_folder(&chain(depth)).status, 201);
    }
    assert_eq!(drive.make_folder("t").status, 201);
    for depth in 1..=40 {
        assert_eq!(drive.make_folder(&format!("t/{}", chain(depth))).status, 201);
    }
    for op in ["move", "copy"] {
        let to = |depth| json!({"parent": drive.path(&chain(depth)), "name": "t"});
        Drive::batch(&json!([{"op": op, "path": drive.path("t"), "to": to(87)}]))
            .expect_problem(409, "too_deep");
        Drive::batch(&json!([{"op": op, "path": drive.path("t"), "to": to(100)}]))
            .expect_problem(409, "too_deep");
        // 1 + 86 + 1 + 40.
        if op == "move" {
            ok(&json!([{"op": op, "path": drive.path("t"), "to": to(86)}]));
            let file = format!("{}/t/{}/x", chain(86), chain(40));
            drive.put(&file, "x").expect_problem(400, "invalid");
            ok(
                &json!([{"op": "move", "path": drive.path(&format!("{}/t", chain(86))), "to": {"parent": drive.path("")}}]),
            );
        } else {
            ok(&json!([{"op": op, "path": drive.path("t"), "to": to(86)}]));
        }
    }
    // What leaves a tree in the same batch doesn't count, what comes into it does.
    let out =
        json!({"op": "move", "path": drive.path("t/d"), "to": {"parent": drive.path(""), "name": "out"}});
    let deeper = json!({"op": "move", "path": drive.path("t"), "to": {"parent": drive.path(&chain(100))}});
    ok(&json!([out, deeper]));
    let tree = drive.path(&format!("{}/t", chain(100)));
    let into = json!({"op": "move", "path": drive.path("out"), "to": {"parent": tree}});
    let higher =
        |depth| json!({"op": "move", "path": tree, "to": {"parent": drive.path(&chain(depth)), "name": "u"}});
    Drive::batch(&json!([into, higher(87)])).expect_problem(409, "too_deep");
    ok(&json!([into, higher(86)]));
}

#[test]
fn of_opposite_moves_exactly_one_wins() {
    for _ in 0..10 {
        let drive = Drive::new();
        for folder in ["a", "b"] {
            assert_eq!(drive.make_folder(folder).status, 201);
        }
        let ids: Vec<Value> =
            ["a", "b"].iter().map(|name| drive.make_folder(name).json()["id"].clone()).collect();
        let by_id =
            |from: usize, to: usize| json!([{"op": "move", "id": ids[from], "to": {"parent": ids[to]}}]);
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(|| Drive::batch(&by_id(0, 1)));
            let second = scope.spawn(|| Drive::batch(&by_id(1, 0)));
            (first.join().unwrap(), second.join().unwrap())
        });
        let (winner, loser) = if first.status == 200 { (first, second) } else { (second, first) };
        assert_eq!(winner.status, 200);
        loser.expect_problem(409, "into_itself");
        assert_eq!(drive.names("").len(), 1);
    }
}

#[test]
fn nothing_moves_into_what_is_being_deleted() {
    for _ in 0..10 {
        let drive = Drive::new();
        for folder in ["a", "b"] {
            assert_eq!(drive.make_folder(folder).status, 201);
        }
        assert_eq!(drive.put("x", "x").status, 201);
        let a = drive.make_folder("a").json();
        let (moved, deleted) = thread::scope(|scope| {
            let to = json!([{"op": "move", "path": drive.path("x"), "to": {"parent": a["id"]}}]);
            let moved = scope.spawn(move || Drive::batch(&to));
            let deleted = scope.spawn(|| drive.delete_folder("a"));
            (moved.join().unwrap(), deleted.join().unwrap())
        });
        assert_eq!(deleted.status, 204);
        if moved.status == 200 {
            assert_eq!(drive.get("x").status, 404, "it was moved first and deleted with the folder");
        } else {
            moved.expect_problem(409, "parent_missing");
            assert_eq!(drive.get("x").body, b"x");
        }
    }
}
