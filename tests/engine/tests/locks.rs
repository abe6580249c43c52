//! Locks: every writer heeds them, whenever they are taken, and they are taken once or not at all.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::cell::RefCell;
use std::time::Duration;

use ledge_core::error::{Conflict, Error};
use ledge_core::ids::LockId;
use ledge_core::locks::{self, Condition, Depth, List, Lock, NewLock, Resource, Scope, State, Submitted};
use ledge_core::nodes::{self, Expected};
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_core::tree::Address;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, noise, race, run};

/// `d/f`, of two versions, `d/g`, an empty `e`, and in the trash a file that was in `d`.
async fn drive() -> Drive {
    let drive = Drive::new().await;
    for folder in ["d", "e"] {
        assert_eq!(
            drive.send(drive.plain(), drive.request("PUT", &format!("folders/{folder}"), b"")).await.status,
            201
        );
    }
    for (name, status) in [("d/f", 201), ("d/f", 204), ("d/g", 201), ("d/t", 201)] {
        assert_eq!(drive.put(name, b"content").await.status, status);
    }
    assert_eq!(drive.send(drive.plain(), drive.request("DELETE", "files/d/t", b"")).await.status, 204);
    drive
}

/// A strange account's lock on what has this name; the root's is empty.
fn strange(name: &'static str, depth: &'static str) -> Statement {
    Statement::new(
        "insert into locks (id, space_id, node_id, scope, depth, account_id, token_id, created_at, expires_at)
         select '018f0000-0000-7000-8000-00000000000' || (select count(*) from locks), space_id, id, 'exclusive', ?2,
                '018f0000-0000-7000-8000-000000000000', 'a token', 0, 1 << 50
           from nodes where case ?1 when '' then parent_id = '' else name = ?1 end and trashed_at is null",
    )
    .bind(name)
    .bind(depth)
}

async fn text(drive: &Drive, sql: &'static str) -> String {
    match drive.column(sql).await.pop() {
        Some(Value::Text(text)) => text,
        other => panic!("{sql}: {other:?}"),
    }
}

type Sent = (&'static str, String, &'static [u8]);

/// Each kind of writer, with locks that it must heed, and some that don't concern it.
async fn writers(
    drive: &Drive,
) -> Vec<(Sent, Vec<(&'static str, &'static str)>, Vec<(&'static str, &'static str)>)> {
    let old = text(
        drive,
        "select v.id as it from versions v join nodes n on n.id = v.node_id
                            where n.name = 'f' and v.id <> n.version_id",
    )
    .await;
    let trashed = text(drive, "select id as it from nodes where trashed_at is not null").await;
    let leak = |text: String| -> &'static [u8] { text.leak().as_bytes() };
    let batch = |json: &str| -> Sent {
        ("POST", "nodes/batch".to_owned(), leak(format!("{{\"operations\":[{json}]}}")))
    };
    let by_id = format!("versions/d/f?version={old}");
    let file = || {
        (
            vec![("f", "0"), ("d", "infinity"), ("", "infinity")],
            vec![("d", "0"), ("", "0"), ("g", "0"), ("e", "infinity")],
        )
    };
    let member = || {
        (
            vec![("d", "0"), ("d", "infinity"), ("", "infinity")],
            vec![("", "0"), ("f", "0"), ("e", "infinity")],
        )
    };
    let case = |sent: Sent, (heeded, others)| (sent, heeded, others);
    vec![
        case(("PUT", "files/d/f".to_owned(), b"again"), file()),
        case(("PUT", "files/d/f".to_owned(), noise(1, 9000).leak()), file()),
        case(("PUT", "files/d/new".to_owned(), b"new"), member()),
        case(("PUT", "files/d/new".to_owned(), noise(2, 9000).leak()), member()),
        case(("PUT", "folders/d/new".to_owned(), b""), member()),
        case(("POST", "versions/d/f".to_owned(), leak(format!("{{\"restore\":\"{old}\"}}"))), file()),
        case(("PATCH", by_id.clone(), b"{\"label\":\"x\"}"), file()),
        case(("DELETE", by_id, b""), file()),
        case(("POST", format!("trash/{trashed}/restore"), b""), member()),
        case(
            ("DELETE", "files/d/f".to_owned(), b""),
            (vec![("f", "0"), ("d", "0"), ("", "infinity")], vec![("", "0"), ("g", "0"), ("e", "infinity")]),
        ),
        case(
            ("DELETE", "folders/d".to_owned(), b""),
            (vec![("f", "0"), ("g", "0"), ("d", "0"), ("", "0"), ("", "infinity")], vec![("e", "infinity")]),
        ),
        case(
            batch(r#"{"op":"move","path":"/d","to":{"parent":"/e"}}"#),
            (vec![("f", "0"), ("d", "infinity"), ("", "0"), ("e", "0"), ("e", "infinity")], vec![]),
        ),
        case(
            batch(r#"{"op":"move","path":"/d/f","to":{"name":"h"}}"#),
            (vec![("f", "0"), ("d", "0"), ("", "infinity")], vec![("g", "0"), ("", "0"), ("e", "infinity")]),
        ),
        case(
            batch(r#"{"op":"copy","path":"/d","to":{"parent":"/e"}}"#),
            (
                vec![("e", "0"), ("e", "infinity"), ("", "infinity")],
                vec![("f", "0"), ("d", "infinity"), ("", "0")],
            ),
        ),
        case(
            batch(r#"{"op":"copy","path":"/e","to":{"name":"d"},"conflict":"replace"}"#),
            (vec![("g", "0"), ("d", "0"), ("", "0")], vec![("e", "infinity")]),
        ),
    ]
}

#[test]
fn every_writer_heeds_locks_that_are_there_or_taken_before_its_commit() {
    run(async {
        let count = writers(&drive().await).await.len();
        for n in 0..count {
            let drive = drive().await;
            let ((method, path, body), heeded, others) = writers(&drive).await.remove(n);
            let seq = drive.column("select change_seq as it from spaces").await;
            for (name, depth) in heeded {
                for late in [false, true] {
                    let lock = strange(name, depth);
                    let between = RefCell::new(Vec::new());
                    if late {
                        between.replace(vec![lock]);
                    } else {
                        drive.ports.db.write(vec![lock]).await.unwrap();
                    }
                    let raced = race(drive.plain(), &between);
                    let answer = drive.send(&raced, drive.request(method, &path, body)).await;
                    let at = format!("{method} {path}, {name:?} locked to {depth}, late: {late}");
                    assert!(between.borrow().is_empty(), "{at}");
                    assert_eq!(answer.status, 423, "{at}: {}", String::from_utf8_lossy(&answer.body));
                    let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
                    assert_eq!(problem["code"], "locked", "{at}");
                    let named = problem["detail"].as_str().unwrap();
                    let root = match name {
                        "f" | "g" => format!("/d/{name};"),
                        name => format!("/{name};"),
                    };
                    assert!(named.contains(&root), "{at}: {named}");
                    assert_eq!(drive.column("select change_seq as it from spaces").await, seq, "{at}");
                    assert_eq!(drive.column("select id as it from locks").await.len(), 1, "{at}");
                    // What was received by then is a job's to remove.
                    let uploads = drive.column("select id as it from ingests").await.len();
                    let jobs = drive.column("select id as it from jobs").await.len();
                    assert_eq!(uploads, jobs, "{at}");
                    drive.ports.db.write(vec![Statement::new("delete from locks")]).await.unwrap();
                }
            }
            // Locks that don't concern it, and one that did.
            let mut unconcerned: Vec<_> =
                others.into_iter().map(|(name, depth)| strange(name, depth)).collect();
            if unconcerned.is_empty() {
                unconcerned.push(strange("", "infinity"));
                unconcerned.push(Statement::new("update locks set expires_at = 1"));
            }
            drive.ports.db.write(unconcerned).await.unwrap();
            let answer = drive.send(drive.plain(), drive.request(method, &path, body)).await;
            assert!(
                (200..300).contains(&answer.status),
                "{method} {path}: {}",
                String::from_utf8_lossy(&answer.body)
            );
        }
    });
}

fn new(address: Address, scope: Scope, depth: Depth) -> NewLock {
    NewLock {
        address,
        scope,
        depth,
        owner: Some("me".to_owned()),
        timeout: None,
        media_type: "a/b".to_owned(),
    }
}

async fn take(drive: &Drive, path: &str, scope: Scope, depth: Depth) -> Result<Lock, Error> {
    locks::lock(drive.plain(), &new(drive.address(path), scope, depth)).await.map(|locked| locked.lock)
}

/// The address with lock tokens, and with conditions that must all hold on what stands there.
fn submitting(address: Address, tokens: &[&LockId], conditions: &[(bool, State)]) -> Address {
    let resource = Some(Resource { base: None, path: address.path.clone() });
    let conditions: Vec<_> =
        conditions.iter().map(|(not, state)| Condition { not: *not, state: state.clone() }).collect();
    let lists = if conditions.is_empty() { Vec::new() } else { vec![List { resource, conditions }] };
    let submitted = Submitted { tokens: tokens.iter().map(|&id| id.clone()).collect(), lists };
    Address { token: address.token.clone().submitting(submitted), ..address }
}

#[test]
fn shared_locks_stand_beside_each_other_and_exclusive_ones_beside_none() {
    use Depth::{Infinity, Zero};
    use Scope::{Exclusive, Shared};
    run(async {
        for (path, scope, depth, then, second, reaches, granted) in [
            ("d/f", Shared, Zero, "d/f", Shared, Zero, true),
            ("d/f", Shared, Zero, "d/f", Exclusive, Zero, false),
            ("d/f", Exclusive, Zero, "d/f", Shared, Zero, false),
            ("d/f", Exclusive, Zero, "d/f", Exclusive, Zero, false),
            // Above and below.
            ("d/f", Exclusive, Zero, "d", Exclusive, Zero, true),
            ("d/f", Exclusive, Zero, "d", Shared, Infinity, false),
            ("d/f", Shared, Zero, "", Shared, Infinity, true),
            ("d/f", Shared, Zero, "", Exclusive, Infinity, false),
            ("d", Exclusive, Zero, "d/f", Exclusive, Zero, true),
            ("d", Exclusive, Infinity, "d/f", Shared, Zero, false),
            ("d", Exclusive, Infinity, "e", Exclusive, Infinity, true),
            ("", Shared, Infinity, "d/f", Shared, Zero, true),
            ("", Shared, Infinity, "d/f", Exclusive, Zero, false),
        ] {
            let drive = drive().await;
            let first = take(&drive, path, scope, depth).await.unwrap();
            let taken = take(&drive, then, second, reaches).await;
            let case = format!("{path:?} {scope:?} {depth:?}, then {then:?} {second:?} {reaches:?}");
            match taken {
                Ok(_) => assert!(granted, "{case}"),
                Err(Error::LockConflict { roots }) => {
                    assert!(!granted, "{case}");
                    assert!(roots.len() == 1 && roots[0] == first.root, "{case}: {roots:?}");
                }
                Err(error) => panic!("{case}: {error}"),
            }
        }
    });
}

#[test]
fn a_held_lock_lets_its_account_write_and_one_of_several_shared_ones_is_enough() {
    run(async {
        let drive = drive().await;
        let delete = async |address: &Address| nodes::delete(drive.plain(), address, Expected::Any).await;
        let one = take(&drive, "d/f", Scope::Shared, Depth::Zero).await.unwrap();
        let other = take(&drive, "d", Scope::Shared, Depth::Infinity).await.unwrap();
        let f = || drive.address("d/f");
        assert!(matches!(delete(&f()).await, Err(Error::Locked { roots }) if roots.len() == 2));
        // The folder is covered by the second alone.
        assert!(matches!(delete(&submitting(f(), &[&one.id], &[])).await, Err(Error::Locked { .. })));
        // Somebody else's token doesn't count, even where it is known.
        drive
            .ports
            .db
            .write(vec![Statement::new(
                "update locks set account_id = '018f0000-0000-7000-8000-000000000000'",
            )])
            .await
            .unwrap();
        let both = submitting(f(), &[&one.id, &other.id], &[]);
        assert!(matches!(delete(&both).await, Err(Error::Locked { .. })));
        let back = "update locks set account_id = (select id from accounts)";
        drive.ports.db.write(vec![Statement::new(back)]).await.unwrap();
        delete(&submitting(f(), &[&other.id], &[])).await.unwrap();
        assert_eq!(
            drive.column("select id as it from locks").await,
            [Value::Text(other.id.to_string())],
            "the file's lock went with it"
        );
    });
}

#[test]
fn what_is_moved_or_deleted_loses_its_locks_and_copies_have_none() {
    run(async {
        for (operation, left) in [
            (r#"{"op":"move","path":"/d","to":{"parent":"/e"}}"#, 0),
            (r#"{"op":"move","path":"/d/f","to":{"name":"h"}}"#, 1),
            (r#"{"op":"delete","path":"/d"}"#, 0),
            (r#"{"op":"copy","path":"/d","to":{"name":"c"}}"#, 2),
        ] {
            let drive = drive().await;
            let locks = [
                take(&drive, "d", Scope::Exclusive, Depth::Zero).await.unwrap(),
                take(&drive, "d/f", Scope::Exclusive, Depth::Zero).await.unwrap(),
            ];
            let address = submitting(drive.address(""), &[&locks[0].id, &locks[1].id], &[]);
            let wanted: serde_json::Value = serde_json::from_str(operation).unwrap();
            let path = |text: &serde_json::Value| drive.address(text.as_str().unwrap()).path;
            let to = &wanted["to"];
            let operation = nodes::Operation {
                verb: match wanted["op"].as_str().unwrap() {
                    "move" => nodes::Verb::Move,
                    "copy" => nodes::Verb::Copy,
                    _ => nodes::Verb::Delete,
                },
                node: nodes::Target::Path(path(&wanted["path"])),
                to: nodes::To {
                    parent: to["parent"].is_string().then(|| nodes::Target::Path(path(&to["parent"]))),
                    name: to["name"].as_str().map(|name| ledge_core::path::Name::parse(name).unwrap()),
                },
                conflict: nodes::OnConflict::Fail,
                expected: Expected::Any,
                alone: false,
            };
            nodes::batch(drive.plain(), &address.token, &address.space, &[operation]).await.unwrap();
            assert_eq!(drive.column("select id as it from locks").await.len(), left, "{wanted}");
        }
    });
}

#[test]
fn a_lock_on_nothing_makes_an_empty_file_and_both_are_there_or_neither() {
    run(async {
        for when in [When::Before, When::After] {
            for step in 0..2 {
                let drive = drive().await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let wanted = new(drive.address("d/new"), Scope::Exclusive, Depth::Infinity);
                let locked = locks::lock(&platform, &wanted).await;
                let at = format!("step {step}, {when:?}: {locked:?}");
                let there = drive.get("d/new").await.status == 200;
                let rows = drive.column("select id as it from locks").await;
                if step == 1 {
                    // A commit whose answer is lost is looked up, and sent again where it didn't happen.
                    let locked = locked.unwrap_or_else(|_| panic!("{at}"));
                    assert!(locked.created && there, "{at}");
                    assert_eq!(rows, [Value::Text(locked.lock.id.to_string())], "{at}");
                } else {
                    assert!(
                        matches!(locked, Err(Error::Unavailable(_))) && !there && rows.is_empty(),
                        "{at}"
                    );
                }
            }
        }
    });
}

#[test]
fn a_lock_is_refused_beside_one_that_is_taken_before_its_commit() {
    run(async {
        for path in ["d/f", "d/new", "d"] {
            let drive = drive().await;
            let others = RefCell::new(vec![strange("d", "infinity")]);
            let raced = race(drive.plain(), &others);
            let taken =
                locks::lock(&raced, &new(drive.address(path), Scope::Exclusive, Depth::Infinity)).await;
            let refused = match path {
                "d/new" => matches!(taken, Err(Error::Locked { .. })),
                _ => matches!(taken, Err(Error::LockConflict { .. })),
            };
            assert!(refused, "{path}: {taken:?}");
            assert_eq!(drive.get("d/new").await.status, 404);
        }
    });
}

#[test]
fn an_expired_lock_is_as_if_it_were_not_there_and_later_ones_remove_it() {
    run(async {
        let drive = drive().await;
        let lock = take(&drive, "d", Scope::Exclusive, Depth::Infinity).await.unwrap();
        let held = || submitting(drive.address("d"), &[&lock.id], &[]);
        let refreshed =
            locks::refresh(drive.plain(), &held(), Some(Duration::from_secs(1 << 40))).await.unwrap();
        assert!(refreshed.expires_at > lock.expires_at);
        let most = drive.plain().host().now().plus_secs(i64::try_from(locks::MAX_TIMEOUT.as_secs()).unwrap());
        assert!(refreshed.expires_at <= most);
        // Time passes.
        let expire = "update locks set expires_at = 1";
        drive.ports.db.write(vec![Statement::new(expire)]).await.unwrap();
        let refreshed = locks::refresh(drive.plain(), &held(), None).await;
        assert_eq!(refreshed, Err(Error::PreconditionFailed));
        assert_eq!(locks::unlock(drive.plain(), &drive.address("d"), Some(&lock.id)).await, Ok(()));
        assert_eq!(drive.put("d/f", b"x").await.status, 204);
        let next = take(&drive, "d/f", Scope::Exclusive, Depth::Zero).await.unwrap();
        assert_eq!(drive.column("select id as it from locks").await, [Value::Text(next.id.to_string())]);
        assert_eq!(
            locks::unlock(drive.plain(), &drive.address("d/f"), Some(&lock.id)).await,
            Err(Error::Conflict(Conflict::NotLocked))
        );
        locks::unlock(drive.plain(), &drive.address("d/f"), Some(&next.id)).await.unwrap();
        assert_eq!(drive.column("select id as it from locks").await, []);
    });
}

#[test]
fn conditions_hold_or_the_request_fails_even_if_they_change_before_its_commit() {
    run(async {
        let drive = drive().await;
        let lock = take(&drive, "d", Scope::Exclusive, Depth::Infinity).await.unwrap();
        let etag = text(
            &drive,
            "select b.etag as it from nodes n join versions v on v.id = n.version_id
                                   join blobs b on b.id = v.blob_id where n.name = 'f'",
        )
        .await;
        let delete = async |address: &Address, others: Vec<Statement>| {
            let others = RefCell::new(others);
            nodes::delete(&race(drive.plain(), &others), address, Expected::Any).await
        };
        let (held, wrong) = (State::Lock(lock.id.clone()), State::Etag("wrong".to_owned()));
        let right = State::Etag(etag);
        for (conditions, holds) in [
            (vec![(false, held.clone())], true),
            (vec![(true, held.clone())], false),
            (vec![(false, held.clone()), (false, wrong.clone())], false),
            (vec![(false, held.clone()), (true, wrong.clone())], true),
            (vec![(false, held.clone()), (false, right.clone())], true),
            (vec![(false, State::Never)], false),
            (vec![(true, State::Never)], true),
        ] {
            let asked = submitting(drive.address("d/f"), &[], &conditions);
            // Nothing is deleted, since no token is held: whether that or the conditions were the reason tells.
            let expected = if holds { "locked" } else { "precondition" };
            let error = delete(&asked, Vec::new()).await.unwrap_err().to_string();
            assert!(error.contains(expected), "{conditions:?}: {error}");
        }
        let asked = submitting(drive.address("d/f"), &[&lock.id], &[(false, right)]);
        let save = Statement::new("update blobs set etag = 'other'");
        assert_eq!(delete(&asked, vec![save]).await, Err(Error::PreconditionFailed));
        let asked =
            submitting(drive.address("d/f"), &[&lock.id], &[(false, State::Etag("other".to_owned()))]);
        assert_eq!(delete(&asked, Vec::new()).await, Ok(()));
    });
}

#[test]
fn a_space_has_so_many_locks_and_no_more() {
    run(async {
        let drive = drive().await;
        let fill = Statement::new(
            "insert into locks (id, space_id, node_id, scope, depth, account_id, token_id, created_at, expires_at)
             with recursive number (i) as (select 1 union all select i + 1 from number where i < ?1)
             select i, s.id, s.root_id, 'shared', '0', 'a', 'b', 0, 1 << 50 from number, spaces s",
        );
        drive.ports.db.write(vec![fill.bind(locks::MAX_LOCKS)]).await.unwrap();
        assert_eq!(take(&drive, "d", Scope::Shared, Depth::Zero).await, Err(Error::TooManyLocks));
    });
}

#[test]
fn owners_see_and_break_the_locks_of_their_space_and_nobody_else_does() {
    run(async {
        let drive = drive().await;
        let lock = take(&drive, "d/f", Scope::Shared, Depth::Zero).await.unwrap();
        let list = async || {
            let answer = drive.send(drive.plain(), drive.request("GET", "locks", b"")).await;
            (answer.status, serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap())
        };
        let end = async || {
            drive
                .send(drive.plain(), drive.request("DELETE", &format!("locks/{}", lock.id), b""))
                .await
                .status
        };
        for (limit, status) in [
            ("update members set role = 'writer'", 403),
            ("update members set role = 'reader'", 403),
            ("update members set role = 'owner'", 200),
            ("update tokens set folder_id = (select root_id from spaces)", 404),
            ("update tokens set folder_id = null, rights = 'read'", 403),
        ] {
            drive.ports.db.write(vec![Statement::new(limit)]).await.unwrap();
            assert_eq!(list().await.0, status, "{limit}");
            if status != 200 {
                assert_eq!(end().await, status, "{limit}");
            }
        }
        drive.ports.db.write(vec![Statement::new("update tokens set rights = 'write'")]).await.unwrap();
        let (_, body) = list().await;
        let shown = &body["locks"][0];
        assert_eq!(shown["id"], lock.id.as_str());
        assert_eq!(shown["path"], "/d/f");
        assert_eq!(
            (&shown["scope"], &shown["depth"], &shown["owner"]),
            (&"shared".into(), &"0".into(), &"me".into())
        );
        assert_eq!((end().await, end().await), (204, 404));
        assert_eq!(list().await.1["locks"], serde_json::json!([]));
    });
}
