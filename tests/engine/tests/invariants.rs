//! Invariants of docs/STORAGE.md that only the tables can show.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::ports::{Db, Statement, Value};
use ledge_engine_tests::{Drive, noise, run};

async fn sql(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

#[test]
fn s5_the_guard_compares_versions_and_not_entity_tags() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", b"same").await.status, 201);
        let before = drive.column("select version_id as it from nodes where kind = 'file'").await;
        // Equal content, another version: who has read the first one has lost the race, and must read again.
        assert_eq!(drive.put("a", b"same").await.status, 204);
        assert_eq!(drive.column("select count(distinct etag) as it from blobs").await, [Value::Integer(1)]);
        assert_ne!(drive.column("select version_id as it from nodes where kind = 'file'").await, before);
    });
}

#[test]
fn s13_an_upload_that_was_discarded_can_not_be_committed() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", b"old").await.status, 201);
        // The sweep takes every upload for abandoned as soon as it begins.
        sql(
            &drive,
            "create trigger expire after insert on ingests begin update ingests set expires_at = 0 where id = new.id; end",
        )
        .await;
        let answer = drive.put("a", noise(1, 300_000).leak()).await;
        assert_eq!(answer.status, 400);
        assert_eq!(drive.get("a").await.body, b"old");
    });
}

#[test]
fn s20_chunks_are_known_in_their_own_space_only() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(2, 3_000_000).leak();
        assert_eq!(drive.put("a", content).await.status, 201);
        let objects = drive.objects().await.len();
        assert_eq!(drive.put("b", content).await.status, 201);
        assert_eq!(drive.objects().await.len(), objects, "known here");
        sql(&drive, "update chunks set space = space + 1").await;
        assert_eq!(drive.put("c", content).await.status, 201);
        assert_eq!(drive.objects().await.len(), 2 * objects, "another space's chunks count for nothing");
    });
}

#[test]
fn s21_a_segment_that_is_being_deleted_is_passed_by_and_a_doomed_one_comes_back() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(3, 3_000_000).leak();
        assert_eq!(drive.put("a", content).await.status, 201);
        sql(&drive, "update segments set state = 'doomed'").await;
        assert_eq!(drive.put("b", content).await.status, 201);
        assert_eq!(drive.column("select state as it from segments").await, [Value::from("live")]);

        sql(&drive, "update segments set state = 'deleting'").await;
        assert_eq!(drive.put("c", content).await.status, 201);
        let states = drive.column("select state as it from segments order by id").await;
        assert_eq!(states, [Value::from("deleting"), Value::from("live")], "stored anew");
        assert!(drive.get("c").await.body == content);
    });
}

#[test]
fn s21_a_commit_is_refused_that_names_a_segment_which_has_begun_to_go() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(4, 3_000_000).leak();
        assert_eq!(drive.put("a", content).await.status, 201);
        // The segment begins to go between the look-up, which this trigger follows, and the commit.
        sql(
            &drive,
            "create trigger race after update of seen_at on chunks begin update segments set state = 'deleting'; end",
        )
        .await;
        assert_eq!(drive.put("b", content).await.status, 503);
        assert_eq!(drive.get("b").await.status, 404);
        sql(&drive, "drop trigger race").await;
        assert_eq!(drive.put("b", content).await.status, 201, "the next attempt stores it anew");
        assert!(drive.get("b").await.body == content);
    });
}
