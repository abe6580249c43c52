//! What several clients do to one folder or one name at once. Races of one operation with itself stand beside that
//! operation's tests.

use std::thread;

use ledge_tests::{Drive, Reply};
use serde_json::json;

/// Runs two requests at the same time.
fn both<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = scope.spawn(second);
        (first.join().unwrap(), second.join().unwrap())
    })
}

#[test]
fn nothing_is_made_in_what_is_being_deleted() {
    for round in 0..10 {
        let drive = Drive::new();
        let id = drive.make_folder("a").json()["id"].as_str().unwrap().to_owned();
        let ((file, folder), deleted) = both(
            || both(|| drive.put("a/file", "content"), || drive.make_folder("a/folder")),
            || drive.delete_folder("a"),
        );
        assert_eq!(deleted.status, 204);
        assert_eq!((drive.names(""), drive.get("a/file").status), (Vec::new(), 404), "round {round}");
        let mut made = Vec::new();
        for (name, reply) in [("file", file), ("folder", folder)] {
            if reply.status == 201 {
                made.push(name);
            } else {
                reply.expect_problem(409, "parent_missing");
            }
        }
        // What was made in time comes back with the folder; what was refused is nowhere.
        assert_eq!(Reply::to(Drive::in_space("POST", &format!("trash/{id}/restore"))).status, 200);
        assert_eq!(drive.names("a"), made, "round {round}");
    }
}

#[test]
fn of_a_restore_and_a_purge_one_wins() {
    for round in 0..10 {
        let drive = Drive::new();
        let id = drive.put("a", "content").json()["id"].as_str().unwrap().to_owned();
        assert_eq!(drive.delete("a").status, 204);
        let entry = format!("trash/{id}");
        let (restored, purged) = both(
            || Reply::to(Drive::in_space("POST", &format!("{entry}/restore"))),
            || Reply::to(Drive::in_space("DELETE", &entry)),
        );
        if restored.status == 200 {
            purged.expect_problem(404, "not_found");
            assert_eq!(drive.get("a").body, b"content", "round {round}");
        } else {
            restored.expect_problem(404, "not_found");
            assert_eq!((purged.status, drive.get("a").status), (204, 404), "round {round}");
        }
    }
}

#[test]
fn g23_a_file_and_a_folder_share_one_namespace() {
    let drive = Drive::new();
    assert_eq!(drive.put("file", "x").status, 201);
    assert_eq!(drive.make_folder("folder").status, 201);
    drive.make_folder("file").expect_problem(409, "is_a_file");
    drive.put("folder", "x").expect_problem(409, "is_a_folder");
    for op in ["move", "copy"] {
        for (from, to) in [("file", "folder"), ("folder", "file")] {
            let onto = json!([{"op": op, "path": drive.path(from), "to": {"name": to}}]);
            Drive::batch(&onto).expect_problem(409, "name_taken");
        }
    }
    assert_eq!(drive.names(""), ["file", "folder"]);
    for _ in 0..10 {
        let drive = Drive::new();
        // One name in two normal forms.
        let (file, folder) = both(|| drive.put("caf%C3%A9", "x"), || drive.make_folder("cafe%CC%81"));
        if file.status == 201 {
            folder.expect_problem(409, "is_a_file");
            assert_eq!(drive.get("cafe%CC%81").body, b"x");
        } else {
            assert_eq!(folder.status, 201);
            file.expect_problem(409, "is_a_folder");
        }
        assert_eq!(drive.names("").len(), 1);
    }
}

#[test]
fn g08_a_client_reads_at_once_what_it_has_written() {
    let drive = Drive::new();
    for n in 0..20 {
        // Each request is a connection of its own.
        let (name, content) = (format!("f{n}"), format!("content {n}"));
        let saved = drive.put(&name, content.clone());
        assert_eq!(saved.status, 201);
        assert_eq!(drive.get(&name).body, content.as_bytes(), "round {n}");
        assert_eq!(drive.names(""), [name.as_str()]);
        assert_eq!(drive.put(&name, "newer").status, 204);
        assert_eq!(drive.get(&name).body, b"newer", "round {n}");
        let to = json!([{"op": "move", "path": drive.path(&name), "to": {"name": "moved"}}]);
        assert_eq!(Drive::batch(&to).status, 200);
        assert_eq!((drive.get(&name).status, drive.get("moved").status), (404, 200), "round {n}");
        assert_eq!(drive.delete("moved").status, 204);
        assert_eq!((drive.get("moved").status, drive.names("")), (404, Vec::new()), "round {n}");
    }
}
