//! What a space keeps, and what goes: exactly that, in the commits that make it, and by the sweeps.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::jobs::Work;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::worker::run_all;
use ledge_engine_tests::{Answer, Drive, noise, run, send_while};
use serde_json::json;

async fn sql(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

async fn send(drive: &Drive, method: &str, path: &str, body: &str) -> Answer {
    drive.send(drive.plain(), drive.request(method, path, body.to_owned().leak().as_bytes())).await
}

async fn number(drive: &Drive, sql: &'static str) -> i64 {
    match drive.column(sql).await.as_slice() {
        [Value::Integer(number)] => *number,
        other => unreachable!("{sql}: {other:?}"),
    }
}

async fn text(drive: &Drive, sql: &'static str) -> String {
    match drive.column(sql).await.pop() {
        Some(Value::Text(text)) => text,
        other => unreachable!("{sql}: {other:?}"),
    }
}

async fn versions(drive: &Drive) -> i64 {
    number(drive, "select count(*) as it from versions").await
}

/// Every byte is counted, and nothing is left that nobody has.
async fn recount(drive: &Drive) {
    let counted = number(drive, "select used_bytes as it from spaces").await;
    let there =
        "select coalesce(sum(b.size_bytes), 0) as it from versions v join blobs b on b.id = v.blob_id";
    assert_eq!(counted, number(drive, there).await);
    for nobodys in [
        "select count(*) as it from blobs where id not in (select blob_id from versions)",
        "select count(*) as it from versions where node_id not in (select id from nodes)",
        "select count(*) as it from nodes where version_id is not null and version_id not in (select id from versions)",
        "select count(*) as it from pages where id not in (
           select json_extract(e.value, '$[1]') from blobs b, json_each(b.pages) e)",
        "select count(*) as it from page_segments where page not in (select id from pages)",
        "select count(*) as it from page_uses where blobs = 0",
        "select count(*) as it from loose_blobs",
    ] {
        assert_eq!(number(drive, nobodys).await, 0, "{nobodys}");
    }
}

#[test]
fn new_spaces_keep_a_hundred_versions_and_thirty_days_of_trash() {
    run(async {
        let drive = Drive::new().await;
        let space = text(&drive, "select id as it from spaces").await;
        let mut get = drive.request("GET", "", b"");
        *get.uri_mut() = format!("/api/v1/spaces/{space}").parse().unwrap();
        let answer = drive.send(drive.plain(), get).await;
        let space: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(
            [&space["versions_kept"], &space["versions_days"], &space["trash_days"]],
            [&json!(100), &json!(null), &json!(30)]
        );
    });
}

#[test]
fn a_save_removes_the_oldest_versions_beyond_the_number_but_no_labelled_one() {
    run(async {
        let drive = Drive::new().await;
        let large: [&'static [u8]; 2] = [noise(1, 300_000).leak(), noise(2, 400_000).leak()];
        for content in [large[0], b"1", large[1], b"22", b"333"] {
            drive.put("a", content).await;
        }
        let first = text(&drive, "select id as it from versions order by created_at limit 1").await;
        let label =
            send(&drive, "PATCH", &format!("versions/a?version={first}"), "{\"label\":\"kept\"}").await;
        assert_eq!(label.status, 200);
        assert_eq!(versions(&drive).await, 5, "a limit that is far away removes nothing");
        sql(&drive, "update spaces set versions_kept = 2").await;
        assert_eq!(drive.put("a", b"4444").await.status, 204);
        assert_eq!(versions(&drive).await, 3, "the labelled one, and two");
        assert_eq!(drive.get("a").await.body, b"4444");
        let older = drive.column("select b.size_bytes as it from versions v join blobs b on b.id = v.blob_id order by v.created_at");
        assert_eq!(older.await, [Value::Integer(300_000), Value::Integer(3), Value::Integer(4)]);
        recount(&drive).await;
        let answer =
            drive.send(drive.plain(), drive.request("GET", &format!("files/a?version={first}"), b"")).await;
        assert!(answer.body == large[0]);

        // Restoring makes a version as well; with one kept, only the current one is.
        sql(&drive, "update spaces set versions_kept = 1").await;
        let restore = send(&drive, "POST", "versions/a", &json!({ "restore": first }).to_string()).await;
        assert_eq!(restore.status, 201);
        assert_eq!(versions(&drive).await, 2);
        assert!(drive.get("a").await.body == large[0], "the blob is shared with the labelled one");
        recount(&drive).await;
        sql(&drive, "update versions set label = null").await;
        assert_eq!(drive.put("a", b"").await.status, 204);
        assert_eq!(
            (versions(&drive).await, number(&drive, "select count(*) as it from pages").await),
            (1, 0)
        );
        recount(&drive).await;
    });
}

#[test]
fn a_save_on_a_full_space_may_take_the_place_of_what_it_removes() {
    run(async {
        let drive = Drive::new().await;
        drive.put("a", noise(1, 300_000).leak()).await;
        sql(&drive, "update spaces set versions_kept = 1, quota_bytes = used_bytes").await;
        assert_eq!(drive.put("a", noise(2, 300_000).leak()).await.status, 204);
        assert_eq!(drive.put("a", noise(3, 300_001).leak()).await.status, 507);
        assert_eq!(drive.put("b", b"1").await.status, 507);
        sql(&drive, "update spaces set versions_kept = 2").await;
        assert_eq!(drive.put("a", noise(4, 300_000).leak()).await.status, 507, "both would be kept");
        assert!(drive.get("a").await.body == noise(2, 300_000));
        recount(&drive).await;
    });
}

#[test]
fn a_versions_age_is_the_time_since_it_was_replaced() {
    run(async {
        let drive = Drive::new().await;
        for content in [b"1".as_slice(), b"22", b"333"] {
            drive.put("a", content).await;
        }
        sql(&drive, "update spaces set versions_kept = null, versions_days = 10").await;
        // Saved long ago, and current until now: the next save must not take the old state away.
        sql(&drive, "update versions set created_at = created_at - 86400000 * 365").await;
        assert_eq!(drive.put("a", b"4444").await.status, 204);
        let sizes = "select b.size_bytes as it from versions v join blobs b on b.id = v.blob_id order by v.created_at";
        assert_eq!(drive.column(sizes).await, [Value::Integer(3), Value::Integer(4)]);
        recount(&drive).await;
        // It was replaced eleven days ago: now it goes.
        sql(&drive, "update versions set created_at = created_at - 86400000 * 11").await;
        assert_eq!(drive.put("a", b"55555").await.status, 204);
        assert_eq!(drive.column(sizes).await, [Value::Integer(4), Value::Integer(5)]);
        recount(&drive).await;
    });
}

#[test]
fn one_save_removes_a_hundred_versions_at_most_and_the_next_ones_the_rest() {
    run(async {
        let drive = Drive::new().await;
        drive.put("a", b"x").await;
        sql(
            &drive,
            "with recursive n (n) as (select 1 union all select n + 1 from n where n < 150)
             insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
             select 'v' || n.n, v.node_id, v.blob_id, v.author_id, n.n, 0 from n, versions v",
        )
        .await;
        sql(&drive, "update spaces set used_bytes = 151, versions_kept = 2").await;
        for left in [52, 2, 2] {
            drive.put("a", b"y").await;
            assert_eq!(versions(&drive).await, left);
            recount(&drive).await;
        }
    });
}

#[test]
fn a_save_that_removes_versions_is_done_or_not_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            for step in 0..2 {
                let drive = Drive::new().await;
                for content in [noise(1, 300_000).leak(), &*noise(2, 5).leak()] {
                    drive.put("a", content).await;
                }
                sql(&drive, "update spaces set versions_kept = 2").await;
                let faults = Faults::at(step, when);
                let put = drive.request("PUT", "files/a", b"new");
                let status = drive.send(&fail(drive.plain(), &faults), put).await.status;
                // A commit whose answer is lost is looked up, and sent again where it didn't happen.
                assert_eq!(status, if step == 1 { 204 } else { 503 }, "{step}, {when:?}");
                assert_eq!(versions(&drive).await, 2);
                let kept = number(&drive, "select count(*) as it from pages").await;
                assert_eq!(kept, if step == 1 { 0 } else { 1 });
                recount(&drive).await;
            }
        }
    });
}

#[test]
fn the_policy_that_counts_is_the_one_at_the_commit() {
    run(async {
        let drive = Drive::new().await;
        for content in [b"1".as_slice(), b"22", b"333"] {
            drive.put("a", content).await;
        }
        let put = || drive.request("PUT", "files/a", b"4444");
        let more = "update spaces set versions_kept = 4";
        sql(&drive, "update spaces set versions_kept = 1").await;
        assert_eq!(send_while(&drive, Statement::new(more), put()).await.status, 204);
        assert_eq!(versions(&drive).await, 4);
        let fewer = "update spaces set versions_kept = 1";
        assert_eq!(send_while(&drive, Statement::new(fewer), put()).await.status, 204);
        assert_eq!(versions(&drive).await, 1);
        recount(&drive).await;
    });
}

/// A drive with two old nodes in its trash, one of them a folder with a large file, and a young one.
async fn with_trash() -> Drive {
    let drive = Drive::new().await;
    assert_eq!(send(&drive, "PUT", "folders/old", "").await.status, 201);
    assert_eq!(drive.put("old/large", noise(1, 300_000).leak()).await.status, 201);
    for file in ["older", "young", "living"] {
        assert_eq!(drive.put(file, b"x").await.status, 201);
    }
    for path in ["folders/old", "files/older", "files/young"] {
        assert_eq!(send(&drive, "DELETE", path, "").await.status, 204);
    }
    sql(&drive, "update nodes set trashed_at = trashed_at - 86400000 * 31 where name in ('old', 'older')")
        .await;
    drive
}

async fn in_trash(drive: &Drive) -> Vec<String> {
    let names = drive.column("select name as it from nodes where trashed_at is not null order by name").await;
    names.into_iter().map(|name| if let Value::Text(name) = name { name } else { unreachable!() }).collect()
}

#[test]
fn what_has_expired_is_not_shown_nor_restored_and_goes_with_the_next_deletion() {
    run(async {
        let drive = with_trash().await;
        let page = send(&drive, "GET", "trash", "").await.body;
        let page: serde_json::Value = serde_json::from_slice(&page).unwrap();
        let names: Vec<&serde_json::Value> =
            page["entries"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
        assert_eq!(names, [&json!("young")]);
        let old = text(&drive, "select id as it from nodes where name = 'old'").await;
        assert_eq!(send(&drive, "POST", &format!("trash/{old}/restore"), "").await.status, 404);
        assert_eq!(in_trash(&drive).await.len(), 3, "reading removes nothing");

        assert_eq!(send(&drive, "DELETE", "files/living", "").await.status, 204);
        assert_eq!(in_trash(&drive).await, ["living", "young"]);
        assert_eq!(number(&drive, "select count(*) as it from pages").await, 0);
        recount(&drive).await;
    });
}

#[test]
fn a_deletion_that_removes_what_has_expired_is_done_or_not_whatever_fails() {
    run(async {
        for when in [When::Before, When::After] {
            for step in 0..2 {
                let drive = with_trash().await;
                let delete = drive.request("DELETE", "files/living", b"");
                let faults = Faults::at(step, when);
                let status = drive.send(&fail(drive.plain(), &faults), delete).await.status;
                let expected: (u16, &[&str]) =
                    if step == 1 { (204, &["living", "young"]) } else { (503, &["old", "older", "young"]) };
                assert_eq!(
                    (status, in_trash(&drive).await),
                    (expected.0, expected.1.iter().map(ToString::to_string).collect())
                );
                recount(&drive).await;
            }
        }
    });
}

#[test]
fn an_owner_who_keeps_more_just_before_the_commit_keeps_it() {
    run(async {
        let drive = with_trash().await;
        let delete = drive.request("DELETE", "files/living", b"");
        let longer = Statement::new("update spaces set trash_days = null");
        assert_eq!(send_while(&drive, longer, delete).await.status, 204);
        assert_eq!(in_trash(&drive).await, ["living", "old", "older", "young"]);
        let old = text(&drive, "select id as it from nodes where name = 'old'").await;
        assert_eq!(send(&drive, "POST", &format!("trash/{old}/restore"), "").await.status, 200);
        recount(&drive).await;
    });
}

#[test]
fn a_tree_that_is_too_heavy_waits_for_the_sweep_and_keeps_no_other_back() {
    run(async {
        let drive = with_trash().await;
        sql(
            &drive,
            "with recursive n (n) as (select 1 union all select n + 1 from n where n < 1000)
             insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
             select 'n' || n.n, o.space_id, o.id, n.n, n.n, 'folder', 0, 0 from n, nodes o where o.name = 'old'",
        )
        .await;
        assert_eq!(send(&drive, "DELETE", "files/living", "").await.status, 204);
        assert_eq!(in_trash(&drive).await, ["living", "old", "young"]);
        recount(&drive).await;
        run_all(&drive, drive.plain(), &Work::ExpireTrash).await;
        assert_eq!(in_trash(&drive).await, ["living", "young"]);
        assert_eq!(number(&drive, "select count(*) as it from nodes where id like 'n%'").await, 0);
        recount(&drive).await;
    });
}

#[test]
fn the_sweep_finds_versions_of_files_that_nobody_saves() {
    run(async {
        let drive = Drive::new().await;
        for file in ["a", "b", "c"] {
            for content in [b"1".as_slice(), b"22", b"333"] {
                drive.put(file, content).await;
            }
        }
        sql(&drive, "update spaces set versions_kept = null").await;
        run_all(&drive, drive.plain(), &Work::ExpireVersions).await;
        assert_eq!(versions(&drive).await, 9);
        sql(&drive, "update spaces set versions_days = 10").await;
        let old = "update versions set created_at = created_at - 86400000 * 20
                    where node_id = (select id from nodes where name = 'b')";
        sql(&drive, old).await;
        run_all(&drive, drive.plain(), &Work::ExpireVersions).await;
        assert_eq!(versions(&drive).await, 7);
        sql(&drive, "update spaces set versions_kept = 2").await;
        run_all(&drive, drive.plain(), &Work::ExpireVersions).await;
        assert_eq!(versions(&drive).await, 5);
        for file in ["a", "b", "c"] {
            assert_eq!(drive.get(file).await.body, b"333");
        }
        recount(&drive).await;
    });
}
