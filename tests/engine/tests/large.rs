//! Copies and purges by job: what they come to whatever fails and whoever writes meanwhile, and what is seen until then.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::pin;

use futures::future::{Either, select};
use http::Request;
use ledge_core::error::Error;
use ledge_core::ids::JobId;
use ledge_core::nodes::{self, Became, Expected, OnConflict, Operation, Target, To, Verb};
use ledge_core::path::{Name, Path};
use ledge_core::ports::{Db, Platform, Statement, Value};
use ledge_core::trash::{self, Purged};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::worker::{due, finish, state, step};
use ledge_engine_tests::{Answer, Drive, Follower, check, race, run};
use serde_json::json;

async fn send(drive: &Drive, method: &str, path: &str, body: &str) -> Answer {
    drive.send(drive.plain(), drive.request(method, path, body.to_owned().leak().as_bytes())).await
}

async fn sql(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

async fn number(drive: &Drive, sql: &'static str) -> i64 {
    let [Value::Integer(number)] = drive.column(sql).await[..] else { panic!("{sql}") };
    number
}

/// Everything below the living root: paths, and what files hold.
async fn tree(drive: &Drive) -> BTreeMap<String, Option<i64>> {
    let sql = "with recursive down (path, id) as (
            select '', root_id from spaces
            union all
            select d.path || '/' || k.name, k.id from down d join nodes k on k.parent_id = d.id and k.trashed_at is null)
        select d.path, b.size_bytes from down d join nodes n on n.id = d.id
          left join versions v on v.id = n.version_id left join blobs b on b.id = v.blob_id";
    let rows = drive.ports.db.read(vec![Statement::new(sql)]).await.unwrap().remove(0);
    let path = |row: &ledge_core::ports::Row| row.text("path").unwrap().to_owned();
    rows.iter().map(|row| (path(row), row.integer_or_null("size_bytes").unwrap())).collect()
}

/// What is below a folder, by the paths from it.
async fn below(drive: &Drive, folder: &str) -> BTreeMap<String, Option<i64>> {
    let prefix = format!("/{folder}/");
    let all = tree(drive).await;
    all.into_iter().filter_map(|(path, size)| Some((path.strip_prefix(&prefix)?.to_owned(), size))).collect()
}

/// `a`: three folders in each other, with some files in each, and dead properties on one.
async fn before() -> Drive {
    let drive = Drive::new().await;
    for folder in ["a", "a/b", "a/b/c", "a/d", "other"] {
        assert_eq!(send(&drive, "PUT", &format!("folders/{folder}"), "").await.status, 201);
    }
    for n in 0..7 {
        assert_eq!(send(&drive, "PUT", &format!("files/a/{n}"), &"x".repeat(n)).await.status, 201);
    }
    let copies = [("a/b", 3), ("a/b/c", 6), ("a/d", 1)].into_iter().flat_map(|(folder, files)| {
        (0..files).map(
            move |n| json!({"op": "copy", "path": format!("/a/{n}"), "to": {"parent": format!("/{folder}")}}),
        )
    });
    let copies = json!({"operations": copies.collect::<Vec<_>>()}).to_string();
    assert_eq!(send(&drive, "POST", "nodes/batch", &copies).await.status, 200);
    sql(
        &drive,
        "insert into properties (node, namespace, name, xml) select n, 'urn:x', 'p', '<p/>' from nodes where name in ('b', '2')",
    )
    .await;
    drive
}

fn copy(conflict: OnConflict) -> Operation {
    let path = |text: &str| Path::parse(text.split('/').filter(|name| !name.is_empty())).unwrap();
    Operation {
        verb: Verb::Copy,
        node: Target::Path(path("a")),
        to: To { parent: Some(Target::Path(path("other"))), name: Some(Name::parse("copy").unwrap()) },
        conflict,
        expected: Expected::Any,
        alone: false,
    }
}

async fn begin<P: Platform>(drive: &Drive, platform: &P, conflict: OnConflict) -> Result<JobId, Error> {
    let address = drive.address("");
    match nodes::copy_by_job(platform, &address.token, &address.space, copy(conflict)).await? {
        Became::Later(job) => Ok(job.id),
        Became::Done(_) => panic!("a job was asked for"),
    }
}

/// The job that removes what another one had built.
async fn remover(drive: &Drive) -> Option<JobId> {
    let id =
        drive.column("select id as it from jobs where json_extract(input, '$.kind') = 'purge'").await.pop();
    id.map(|id| if let Value::Text(id) = id { JobId::parse(&id).unwrap() } else { unreachable!() })
}

/// Nothing is left of a copy that came to nothing, and all bytes are counted.
async fn nothing_stays(drive: &Drive, before: &BTreeMap<String, Option<i64>>) {
    let remover = remover(drive).await.unwrap();
    check(drive).await;
    assert_eq!(finish(drive, &remover).await, ("done".to_owned(), None));
    check(drive).await;
    let hidden = "select count(*) as it from nodes where parent_id like 'copy/%' or parent_id like 'purge/%'";
    assert_eq!(number(drive, hidden).await, 0);
    assert_eq!(number(drive, "select count(*) as it from copy_folders").await, 0);
    assert_eq!(&tree(drive).await, before);
}

#[test]
fn a_copy_by_job_is_what_one_commit_would_have_made_and_nothing_is_seen_before() {
    run(async {
        let drive = before().await;
        let plain = json!({"operations": [{"op": "copy", "path": "/a", "to": {"parent": "/other", "name": "plain"}}]});
        assert_eq!(send(&drive, "POST", "nodes/batch", &plain.to_string()).await.status, 200);
        let mut follower = Follower::new(&drive).await;
        let (seen, used) = (tree(&drive).await, number(&drive, "select used_bytes as it from spaces").await);
        let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
        let mut steps = 0;
        while state(&drive, &job).await.0 != "done" {
            assert_eq!(tree(&drive).await, seen);
            check(&drive).await;
            follower.catch_up(&drive).await;
            due(&drive).await;
            step(drive.plain(), &job).await.unwrap();
            steps += 1;
        }
        assert!(steps >= 5, "{steps}");
        check(&drive).await;
        follower.catch_up(&drive).await;
        assert_eq!(below(&drive, "other/copy").await, below(&drive, "a").await);
        assert_eq!(below(&drive, "other/copy").await, below(&drive, "other/plain").await);
        assert_eq!(number(&drive, "select used_bytes as it from spaces").await, used * 3 / 2);
        let properties = "select count(*) as it from properties";
        assert_eq!(number(&drive, properties).await, number(&drive, "select 3 * count(*) as it from properties p
            join nodes n on n.n = p.node where n.created_at = (select min(created_at) from nodes where id = n.id)
             and n.id in (with recursive down (id) as (select id from nodes where name = 'a' union all
               select k.id from down d join nodes k on k.parent_id = d.id) select id from down)").await);
        let result =
            drive.column("select json_extract(result, '$.name') || items_done as it from jobs").await;
        assert_eq!(result, [Value::from("copy20")]);
    });
}

/// Runs a job with one failure at a call, then to its end. None where it needed fewer calls.
async fn run_with_a_fault(
    drive: &Drive,
    job: &JobId,
    call: u32,
    when: When,
) -> Option<(String, Option<String>)> {
    let faults = Faults::at(call, when);
    let failing = fail(drive.plain(), &faults);
    loop {
        let over = state(drive, job).await;
        if ["done", "dead"].contains(&over.0.as_str()) {
            return (faults.calls() > call).then_some(over);
        }
        if faults.calls() > call {
            return Some(finish(drive, job).await);
        }
        due(drive).await;
        // An error of the engine's own batches, or a worker that never comes back: another one goes on.
        match select(pin!(step(&failing, job)), pin!(faults.death())).await {
            Either::Left(_) | Either::Right(_) => {}
        }
        if faults.calls() > call {
            check(drive).await;
        }
    }
}

const ALL: [When; 4] = [When::Before, When::After, When::DiesBefore, When::DiesAfter];

#[test]
fn a_copy_by_job_is_made_once_whatever_fails_and_wherever_its_worker_dies() {
    run(async {
        for when in ALL {
            for call in 0.. {
                let drive = before().await;
                let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
                let Some(over) = run_with_a_fault(&drive, &job, call, when).await else {
                    assert!(call > 20, "{call}");
                    break;
                };
                assert_eq!(over, ("done".to_owned(), None), "{call}, {when:?}");
                check(&drive).await;
                assert_eq!(below(&drive, "other/copy").await, below(&drive, "a").await, "{call}, {when:?}");
                assert_eq!(
                    number(&drive, "select count(*) as it from changes where what = 'created'").await,
                    23
                );
            }
        }
    });
}

#[test]
fn a_request_for_a_copy_by_job_is_taken_or_not_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            for call in 0..2 {
                let drive = before().await;
                let faults = Faults::at(call, when);
                let begun = begin(&drive, &fail(drive.plain(), &faults), OnConflict::Fail).await;
                let jobs = number(&drive, "select count(*) as it from jobs").await;
                // A commit whose answer is lost is looked up, and sent again where it didn't happen.
                assert_eq!((begun.is_ok(), jobs), if call == 1 { (true, 1) } else { (false, 0) });
                check(&drive).await;
            }
        }
    });
}

/// The tree `a` in the trash; `a/2` has twelve versions.
async fn trashed() -> (Drive, Purged) {
    let drive = before().await;
    sql(
        &drive,
        "with recursive n (n) as (select 1 union all select n + 1 from n where n < 12)
         insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
         select 'v' || n.n, v.node_id, v.blob_id, v.author_id, n.n, 0
           from n, versions v join nodes a on a.version_id = v.id join nodes p on p.id = a.parent_id
          where a.name = '2' and p.name = 'a'",
    )
    .await;
    sql(&drive, "update spaces set used_bytes = used_bytes + 24").await;
    assert_eq!(send(&drive, "DELETE", "folders/a", "").await.status, 204);
    let Some(Value::Text(id)) = drive.column("select id as it from nodes where name = 'a'").await.pop()
    else {
        unreachable!()
    };
    (drive, Purged::Node(ledge_core::ids::NodeId::parse(&id).unwrap()))
}

async fn purge<P: Platform>(drive: &Drive, platform: &P, what: &Purged) -> Result<JobId, Error> {
    let address = drive.address("");
    let job = trash::purge_by_job(platform, &address.token, &address.space, what).await?;
    Ok(job.unwrap().id)
}

#[test]
fn a_purge_by_job_is_out_of_the_trash_at_once_and_frees_bytes_as_rows_go_whatever_fails() {
    run(async {
        for when in ALL {
            for call in 0.. {
                let (drive, what) = trashed().await;
                let mut follower = Follower::new(&drive).await;
                let job = purge(&drive, drive.plain(), &what).await.unwrap();
                let listed: serde_json::Value =
                    serde_json::from_slice(&send(&drive, "GET", "trash", "").await.body).unwrap();
                assert_eq!(listed["entries"], json!([]));
                check(&drive).await;
                let Some(over) = run_with_a_fault(&drive, &job, call, when).await else {
                    assert!(call > 20, "{call}");
                    break;
                };
                assert_eq!(over, ("done".to_owned(), None), "{call}, {when:?}");
                check(&drive).await;
                follower.catch_up(&drive).await;
                assert_eq!(
                    number(&drive, "select count(*) as it from nodes").await,
                    2,
                    "the root, and `other`"
                );
                assert_eq!(number(&drive, "select used_bytes as it from spaces").await, 0);
                let purged = "select count(*) as it from changes where what = 'purged'";
                assert_eq!(number(&drive, purged).await, 1, "the feed says so once");
            }
        }
    });
}

#[test]
fn of_a_purge_and_a_restore_one_wins() {
    run(async {
        // The restore comes between what the purge reads and its commit.
        let (drive, what) = trashed().await;
        let Purged::Node(id) = &what else { unreachable!() };
        let restore = "update nodes set parent_id = trashed_from, trashed_at = null, trashed_from = null
             where trashed_at is not null";
        let others = RefCell::new(vec![Statement::new(restore)]);
        let refused = purge(&drive, &race(drive.plain(), &others), &what).await;
        assert_eq!(refused, Err(Error::NotFound));
        assert_eq!(drive.get("a/1").await.status, 200);
        assert_eq!(number(&drive, "select count(*) as it from jobs").await, 0);
        // And the other way round.
        assert_eq!(send(&drive, "DELETE", "folders/a", "").await.status, 204);
        let job = purge(&drive, drive.plain(), &what).await.unwrap();
        assert_eq!(send(&drive, "POST", &format!("trash/{id}/restore"), "").await.status, 404);
        assert_eq!(send(&drive, "DELETE", &format!("trash/{id}"), "").await.status, 404);
        // What was deleted from it before has no place to go back to.
        assert_eq!(finish(&drive, &job).await.0, "done");
        assert_eq!(send(&drive, "POST", &format!("trash/{id}/restore"), "").await.status, 404);
        check(&drive).await;
    });
}

#[test]
fn what_was_deleted_from_a_folder_that_a_job_removes_can_be_restored_elsewhere() {
    run(async {
        let drive = before().await;
        assert_eq!(send(&drive, "DELETE", "files/a/b/2", "").await.status, 204);
        assert_eq!(send(&drive, "DELETE", "folders/a", "").await.status, 204);
        let id = |name: &str| {
            drive.column(
                format!("select id as it from nodes where name = '{name}' and trashed_at is not null").leak(),
            )
        };
        let (Some(Value::Text(file)), Some(Value::Text(top))) = (id("2").await.pop(), id("a").await.pop())
        else {
            unreachable!()
        };
        let job = purge(&drive, drive.plain(), &Purged::Node(ledge_core::ids::NodeId::parse(&top).unwrap()))
            .await
            .unwrap();
        let restore = format!("trash/{file}/restore");
        let refused = send(&drive, "POST", &restore, "").await;
        let problem: serde_json::Value = serde_json::from_slice(&refused.body).unwrap();
        assert_eq!((refused.status, &problem["code"]), (409, &json!("parent_gone")), "{problem}");
        let to = json!({"to": {"parent": "/other"}}).to_string();
        assert_eq!(send(&drive, "POST", &restore, &to).await.status, 200);
        check(&drive).await;
        assert_eq!(finish(&drive, &job).await.0, "done");
        assert_eq!(drive.get("other/2").await.status, 200);
        check(&drive).await;
    });
}

/// Takes a few steps of a copy, lets something happen, takes the others.
async fn meanwhile(
    steps: usize,
    conflict: OnConflict,
    happens: &[(&str, &str, &str)],
) -> (Drive, (String, Option<String>)) {
    let drive = before().await;
    let job = begin(&drive, drive.plain(), conflict).await.unwrap();
    for _ in 0..steps {
        due(&drive).await;
        step(drive.plain(), &job).await.unwrap();
    }
    for (method, path, body) in happens {
        let answer = send(&drive, method, path, body).await;
        assert_eq!(answer.status / 100, 2, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
    }
    check(&drive).await;
    let over = finish(&drive, &job).await;
    check(&drive).await;
    (drive, over)
}

fn batch(operation: &serde_json::Value) -> String {
    json!({ "operations": [operation] }).to_string()
}

#[test]
fn each_folder_is_copied_as_it_is_when_its_turn_comes_whatever_becomes_of_the_others() {
    run(async {
        let done = ("done".to_owned(), None);
        for steps in 0..8 {
            let moved = batch(&json!({"op": "move", "path": "/a/b/c", "to": {"parent": "/a/d"}}));
            let up = batch(&json!({"op": "move", "path": "/a/d", "to": {"parent": "/a/b/c"}}));
            let renamed = batch(&json!({"op": "move", "path": "/a/b", "to": {"name": "zzz"}}));
            for happens in [
                vec![
                    ("PUT", "files/a/9", "new"),
                    ("PUT", "files/a/b/9", "new"),
                    ("PUT", "files/a/b/c/9", "new"),
                ],
                vec![("DELETE", "files/a/1", ""), ("DELETE", "files/a/b/c/1", "")],
                vec![("DELETE", "folders/a/b", "")],
                vec![("DELETE", "folders/a/b", ""), ("DELETE", "trash", "")],
                vec![("POST", "nodes/batch", moved.as_str())],
                vec![("POST", "nodes/batch", up.as_str())],
                vec![("POST", "nodes/batch", renamed.as_str())],
                vec![
                    ("POST", "nodes/batch", renamed.as_str()),
                    ("PUT", "folders/a/b", ""),
                    ("PUT", "files/a/b/x", "x"),
                ],
            ] {
                let (drive, over) = meanwhile(steps, OnConflict::Fail, &happens).await;
                assert_eq!(over, done, "{steps}, {happens:?}");
                let copied = below(&drive, "other/copy").await;
                assert!(copied.len() >= 7, "{steps}, {happens:?}: {copied:?}");
                if happens.first().is_some_and(|(.., body)| *body == moved.as_str()) {
                    // Wherever it was met: once, and as a whole.
                    let files = copied.keys().filter(|path| path.contains("c/")).count();
                    assert_eq!(files, 6, "{steps}: {copied:?}");
                }
            }
        }
    });
}

#[test]
fn a_source_that_is_deleted_before_all_is_copied_ends_the_job() {
    run(async {
        let (drive, over) = meanwhile(2, OnConflict::Fail, &[("DELETE", "folders/a", "")]).await;
        assert_eq!(over, ("dead".to_owned(), Some("not found".to_owned())));
        let seen = tree(&drive).await;
        nothing_stays(&drive, &seen).await;
    });
}

#[test]
fn a_name_that_is_taken_before_the_copy_gets_its_place_is_dealt_with_as_was_asked_for() {
    run(async {
        let taken = [("PUT", "folders/other/copy", ""), ("PUT", "files/other/copy/x", "xx")];
        let (drive, over) = meanwhile(3, OnConflict::Fail, &taken).await;
        assert_eq!(over, ("dead".to_owned(), Some("the name is taken".to_owned())));
        let seen = tree(&drive).await;
        nothing_stays(&drive, &seen).await;

        let (drive, over) = meanwhile(3, OnConflict::Rename, &taken).await;
        assert_eq!(over.0, "done");
        assert_eq!(below(&drive, "other/copy (2)").await, below(&drive, "a").await);
        assert_eq!(below(&drive, "other/copy").await.len(), 1);

        for conflict in [OnConflict::Replace, OnConflict::Save] {
            let (drive, over) = meanwhile(3, conflict, &taken).await;
            assert_eq!(over.0, "done");
            assert_eq!(below(&drive, "other/copy").await, below(&drive, "a").await);
            assert_eq!(
                number(&drive, "select count(*) as it from nodes where trashed_at is not null").await,
                1
            );
        }
        // A name that is taken at once is a conflict at once.
        let drive = before().await;
        assert_eq!(send(&drive, "PUT", "folders/other/copy", "").await.status, 201);
        let refused = begin(&drive, drive.plain(), OnConflict::Fail).await;
        assert!(matches!(refused, Err(Error::Operation { .. })), "{refused:?}");
    });
}

#[test]
fn what_an_ordinary_copy_is_refused_for_at_the_end_ends_the_job_and_nothing_stays() {
    run(async {
        let deep = "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at, changed_seq)
            with recursive d (i) as (select 1 union all select i + 1 from d where i < 126)
            select 'd' || i, s.id, case i when 1 then s.root_id else 'd' || (i - 1) end, 'd' || i, 'd' || i, 'folder', 0, 0, s.change_seq
              from d, spaces s";
        for (statement, why) in [
            ("update spaces set quota_bytes = 60", "the space's quota is exceeded"),
            ("update members set role = 'reader'", "your role in this space is reader, which may not do this"),
            ("delete from tokens", "a valid token is needed"),
            ("update nodes set trashed_at = 1, parent_id = 'trash/' || space_id, trashed_from = parent_id where name = 'other'",
             "the parent folder doesn't exist"),
            ("insert into locks (id, space_id, node_id, scope, depth, account_id, token_id, created_at, expires_at)
              select '018f0000-0000-7000-8000-00000000000a', n.space_id, n.id, 'exclusive', '0', (select id from accounts), (select id from tokens), 0, 99999999999999
                from nodes n where name = 'other'",
             "locked: /other; the lock's token is needed, from the account that has taken it"),
        ] {
            for steps in [0, 2] {
                let drive = before().await;
                let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
                for _ in 0..steps {
                    due(&drive).await;
                    step(drive.plain(), &job).await.unwrap();
                }
                sql(&drive, statement).await;
                let seen = tree(&drive).await;
                let over = finish(&drive, &job).await;
                assert_eq!((over.0.as_str(), over.1.as_deref()), ("dead", Some(why)), "{steps}");
                nothing_stays(&drive, &seen).await;
            }
        }
        // The folder that it goes to has come to lie deeper.
        let drive = before().await;
        let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
        sql(&drive, deep).await;
        sql(&drive, "update nodes set parent_id = 'd124' where name = 'other'").await;
        let seen = tree(&drive).await;
        let over = finish(&drive, &job).await;
        assert_eq!(over, ("dead".to_owned(), Some("the tree would be more than 128 names deep".to_owned())));
        nothing_stays(&drive, &seen).await;
        // And so has a folder in the source.
        let drive = before().await;
        let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
        sql(&drive, deep).await;
        sql(&drive, "update nodes set parent_id = (select id from nodes where name = 'd') where id = 'd1'")
            .await;
        let seen = tree(&drive).await;
        let over = finish(&drive, &job).await;
        assert_eq!(over, ("dead".to_owned(), Some("the tree would be more than 128 names deep".to_owned())));
        let remover = remover(&drive).await.unwrap();
        for _ in 0..60 {
            // Deeper than these small steps are wide: the functions take larger ones.
            due(&drive).await;
            ledge_functions::run(drive.plain(), &remover).await;
        }
        nothing_stays(&drive, &seen).await;
    });
}

#[test]
fn locks_whose_tokens_came_with_the_request_are_no_obstacle_at_the_end() {
    run(async {
        let drive = before().await;
        let wanted = ledge_core::locks::NewLock {
            address: drive.address("other"),
            scope: ledge_core::locks::Scope::Exclusive,
            depth: ledge_core::locks::Depth::Infinity,
            owner: None,
            timeout: None,
            media_type: "text/plain".to_owned(),
        };
        let taken = ledge_core::locks::lock(drive.plain(), &wanted).await.unwrap();
        assert!(matches!(begin(&drive, drive.plain(), OnConflict::Fail).await, Err(Error::Locked { .. })));
        let address = drive.address("");
        let submitted = ledge_core::locks::Submitted { tokens: vec![taken.lock.id], lists: Vec::new() };
        let token = address.token.submitting(submitted);
        let begun = nodes::copy_by_job(drive.plain(), &token, &address.space, copy(OnConflict::Fail)).await;
        let Ok(Became::Later(job)) = begun else { panic!("{begun:?}") };
        assert_eq!(finish(&drive, &job.id).await, ("done".to_owned(), None));
        assert_eq!(below(&drive, "other/copy").await, below(&drive, "a").await);
    });
}

async fn post(drive: &Drive, path: &str) -> Answer {
    let mut request: Request<&'static [u8]> = drive.request("POST", "", b"");
    *request.uri_mut() = path.parse().unwrap();
    drive.send(drive.plain(), request).await
}

#[test]
fn a_copy_that_is_cancelled_leaves_nothing_and_is_not_begun_again_from_nothing() {
    run(async {
        for steps in [0, 1, 3] {
            let drive = before().await;
            let seen = tree(&drive).await;
            let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
            for _ in 0..steps {
                due(&drive).await;
                step(drive.plain(), &job).await.unwrap();
            }
            assert_eq!(post(&drive, &format!("/api/v1/jobs/{job}/cancel")).await.status, 200);
            assert_eq!(state(&drive, &job).await.0, "cancelled");
            nothing_stays(&drive, &seen).await;
            assert_eq!(post(&drive, &format!("/api/v1/jobs/{job}/retry")).await.status, 200);
            let (state, error) = finish(&drive, &job).await;
            assert_eq!(state, "dead");
            assert!(error.unwrap().contains("ask for the copy again"));
            assert_eq!(tree(&drive).await, seen);
        }
    });
}

#[test]
fn a_worker_whose_lease_is_over_changes_nothing_any_more() {
    run(async {
        let drive = before().await;
        let job = begin(&drive, drive.plain(), OnConflict::Fail).await.unwrap();
        // Another worker takes the job over, just before each commit of the first one.
        for _ in 0..3 {
            due(&drive).await;
            let over = Statement::new("update jobs set lease = lease + 1");
            let rows = "select count(*) as it from nodes";
            let counted = number(&drive, rows).await;
            step(&race(drive.plain(), &RefCell::new(vec![over])), &job).await.unwrap();
            assert_eq!(number(&drive, rows).await, counted);
            check(&drive).await;
        }
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
        assert_eq!(below(&drive, "other/copy").await, below(&drive, "a").await);
    });
}
