//! Restoring and deleting versions: whatever fails, they happen once or not at all, and nothing that is referred to
//! goes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::pin::pin;

use futures::future::{Either, join_all, select};
use http::Request;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, noise, run};

/// A file of four versions, the third of which has the first one's blob; returns their ids, oldest first.
async fn history(drive: &Drive) -> (Vec<String>, &'static [u8], &'static [u8]) {
    let (one, two): (&'static [u8], &'static [u8]) = (noise(1, 300_000).leak(), noise(2, 9_000).leak());
    assert_eq!(drive.put("a", one).await.status, 201);
    assert_eq!(drive.put("a", two).await.status, 204);
    let first = versions(drive).await.remove(0);
    assert_eq!(drive.send(drive.plain(), restore(drive, &first)).await.status, 201);
    assert_eq!(drive.put("a", b"small").await.status, 204);
    consistent(drive).await;
    (versions(drive).await, one, two)
}

async fn versions(drive: &Drive) -> Vec<String> {
    let ids = drive.column("select id as it from versions order by created_at").await;
    ids.into_iter()
        .map(|id| match id {
            Value::Text(id) => id,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn restore(drive: &Drive, version: &str) -> Request<&'static [u8]> {
    drive.request("POST", "versions/a", format!("{{\"restore\":\"{version}\"}}").leak().as_bytes())
}

fn delete(drive: &Drive, version: &str) -> Request<&'static [u8]> {
    drive.request("DELETE", &format!("versions/a?version={version}"), b"")
}

/// The counters equal a recount, each blob has a version, each page a blob that lists it, and what pages say of
/// segments is what they hold.
async fn consistent(drive: &Drive) {
    for question in [
        "select used_bytes - (select coalesce(sum(b.size_bytes), 0) from versions v join blobs b on b.id = v.blob_id)
                as it from spaces",
        "select count(*) as it from blobs b where not exists (select 1 from versions v where v.blob_id = b.id)",
        "select count(*) as it from (
           select u.page, u.blobs from page_uses u
           except
           select json_extract(e.value, '$[1]'), count(distinct b.id) from blobs b, json_each(b.pages) e group by 1)",
        "select count(*) as it from pages p where not exists (select 1 from page_uses u where u.page = p.id)",
        "select count(*) as it from page_uses u where not exists (select 1 from pages p where p.id = u.page)",
        "select count(*) as it from (
           select segment, page from page_segments
           except
           select json_extract(x.value, '$[0]'), p.id from pages p, json_each(p.extents) x)",
        "select count(*) as it from (
           select json_extract(x.value, '$[0]'), p.id from pages p, json_each(p.extents) x
           except
           select segment, page from page_segments)",
        "select count(*) as it from (
           select json_extract(e.value, '$[1]') as page from blobs b, json_each(b.pages) e) listed
          where not exists (select 1 from pages p where p.id = listed.page)",
        "select count(*) as it from guard",
    ] {
        assert_eq!(drive.column(question).await, [Value::Integer(0)], "{question}");
    }
}

#[test]
fn a_restore_that_fails_at_any_step_happens_once_or_not_at_all() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for step in 0..2 {
                let drive = Drive::new().await;
                let (ids, one, _) = history(&drive).await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let answer = pin!(drive.send(&platform, restore(&drive, &ids[0])));
                let status = match select(answer, pin!(faults.death())).await {
                    Either::Left((answer, _)) => Some(answer.status),
                    Either::Right(_) => None,
                };
                let at = format!("step {step}, {when:?}: {status:?}");
                let read = drive.get("a").await.body;
                match status {
                    Some(201) => assert!(read == one, "{at}"),
                    Some(503) => assert!(read == b"small", "{at}"),
                    None => assert!(read == one || read == b"small", "{at}"),
                    _ => panic!("{at}"),
                }
                let count = if read == one { 5 } else { 4 };
                assert_eq!(versions(&drive).await.len(), count, "{at}");
                consistent(&drive).await;
                assert_eq!(drive.send(drive.plain(), restore(&drive, &ids[0])).await.status, 201);
                assert!(drive.get("a").await.body == one);
            }
        }
    });
}

#[test]
fn a_deletion_that_fails_at_any_step_happens_or_does_not() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for step in 0..2 {
                let drive = Drive::new().await;
                let (ids, one, two) = history(&drive).await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let answer = pin!(drive.send(&platform, delete(&drive, &ids[1])));
                let status = match select(answer, pin!(faults.death())).await {
                    Either::Left((answer, _)) => Some(answer.status),
                    Either::Right(_) => None,
                };
                let at = format!("step {step}, {when:?}: {status:?}");
                let gone = drive.get(&format!("a?version={}", ids[1])).await;
                match (status, gone.status) {
                    (Some(204) | None, 404) => {}
                    (Some(503) | None, 200) => assert!(gone.body == two, "{at}"),
                    _ => panic!("{at}: {}", gone.status),
                }
                consistent(&drive).await;
                for (at, content) in [(0, one), (2, one), (3, b"small".as_slice())] {
                    assert!(drive.get(&format!("a?version={}", ids[at])).await.body == content);
                }
                assert_eq!(drive.objects().await.len(), 2, "segments are the sweep's");
            }
        }
    });
}

#[test]
fn content_goes_with_the_last_version_that_has_it_and_segments_stay() {
    run(async {
        let drive = Drive::new().await;
        let (ids, one, _) = history(&drive).await;
        let objects = drive.objects().await;
        let count = |table: &'static str| drive.column(table);
        assert_eq!(count("select count(*) as it from blobs").await, [Value::Integer(3)]);
        assert_eq!(drive.send(drive.plain(), delete(&drive, &ids[0])).await.status, 204);
        consistent(&drive).await;
        assert_eq!(count("select count(*) as it from blobs").await, [Value::Integer(3)]);
        assert!(drive.get(&format!("a?version={}", ids[2])).await.body == one);
        assert_eq!(drive.send(drive.plain(), delete(&drive, &ids[2])).await.status, 204);
        assert_eq!(drive.send(drive.plain(), delete(&drive, &ids[1])).await.status, 204);
        consistent(&drive).await;
        for empty in ["pages", "page_segments", "page_uses"] {
            let question = format!("select count(*) as it from {empty}");
            assert_eq!(drive.column(question.leak()).await, [Value::Integer(0)], "{empty}");
        }
        assert_eq!(drive.objects().await, objects);
        assert_eq!(count("select count(*) as it from segments").await, [Value::Integer(2)]);
        assert_eq!(drive.send(drive.plain(), delete(&drive, &ids[3])).await.status, 409);
        // The segments are known still: the same content is not stored again.
        assert_eq!(drive.put("b", one).await.status, 201);
        assert_eq!(drive.objects().await, objects);
        assert!(drive.get("b").await.body == one);
        consistent(&drive).await;
    });
}

#[test]
fn a_page_that_two_blobs_list_stays_with_either() {
    run(async {
        let drive = Drive::new().await;
        let (ids, one, _) = history(&drive).await;
        // As an edit does it: a blob of its own that lists the same page.
        let id = "018f0000-0000-7000-8000-000000000000";
        let share = "insert into blobs (id, size_bytes, etag, media_type, crc32, pages)
                     select ?1, size_bytes, 'e', media_type, crc32, pages from blobs where size_bytes = 300000";
        let swap = "update versions set blob_id = ?1 where id = ?2";
        let batch = vec![Statement::new(share).bind(id), Statement::new(swap).bind(id).bind(ids[2].as_str())];
        drive.ports.db.write(batch).await.unwrap();
        consistent(&drive).await;
        assert_eq!(drive.send(drive.plain(), delete(&drive, &ids[0])).await.status, 204);
        consistent(&drive).await;
        assert!(drive.get(&format!("a?version={}", ids[2])).await.body == one);
    });
}

#[test]
fn a_restore_counts_against_the_quota() {
    run(async {
        let drive = Drive::new().await;
        let (ids, ..) = history(&drive).await;
        let quota = Statement::new("update spaces set quota_bytes = used_bytes + 299999");
        drive.ports.db.write(vec![quota]).await.unwrap();
        assert_eq!(drive.send(drive.plain(), restore(&drive, &ids[0])).await.status, 507);
        assert_eq!(drive.send(drive.plain(), restore(&drive, &ids[1])).await.status, 201);
        consistent(&drive).await;
    });
}

#[test]
fn the_order_of_a_history_is_the_order_of_its_commits() {
    run(async {
        let drive = Drive::new().await;
        let contents: Vec<&'static [u8]> = (0..10).map(|n| &*noise(n, 50).leak()).collect();
        join_all(contents.iter().map(|content| drive.put("a", content))).await;
        let by_time = drive.column("select id as it from versions order by created_at").await;
        assert_eq!(by_time, drive.column("select id as it from versions order by rowid").await);
        let distinct = drive.column("select count(distinct created_at) as it from versions").await;
        assert_eq!(distinct, [Value::Integer(10)]);
    });
}
