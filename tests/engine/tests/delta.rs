//! Delta saves: faults at each step, chunks that vanish in between, quotas, and who may.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::pin::pin;

use futures::future::{Either, select};
use http::Request;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Answer, Drive, check, noise, run, send_while};
use ledge_tests::delta::{Piece, cut, manifest, packs};
use serde_json::{Value as Json, json};

/// A content, and what a client sends of it.
struct Content {
    bytes: &'static [u8],
    pieces: Vec<Piece>,
}

impl Content {
    fn of(bytes: Vec<u8>) -> Self {
        let bytes: &'static [u8] = bytes.leak();
        Self { bytes, pieces: cut(bytes) }
    }

    fn missing(&self, drive: &Drive) -> Request<&'static [u8]> {
        let hashes: Vec<String> = self.pieces.iter().map(|piece| piece.hash.to_string()).collect();
        let body = json!({ "hashes": hashes }).to_string();
        drive.request("POST", "chunks/missing", body.leak().as_bytes())
    }

    /// All chunks, in one pack.
    fn pack(&self, drive: &Drive) -> Request<&'static [u8]> {
        let mut packs = packs(self.bytes, &self.pieces);
        assert_eq!(packs.len(), 1);
        pack(drive, packs.remove(0))
    }

    fn commit(&self, drive: &Drive, path: &str) -> Request<&'static [u8]> {
        list(drive, path, &manifest(&self.pieces))
    }
}

fn pack(drive: &Drive, body: Vec<u8>) -> Request<&'static [u8]> {
    typed(drive.request("POST", "segments", body.leak()), "application/vnd.ledge.pack")
}

fn list(drive: &Drive, path: &str, manifest: &Json) -> Request<&'static [u8]> {
    let body = manifest.to_string().leak().as_bytes();
    typed(drive.request("PUT", &format!("files/{path}"), body), "application/vnd.ledge.manifest+json")
}

fn typed(mut request: Request<&'static [u8]>, media_type: &'static str) -> Request<&'static [u8]> {
    request.headers_mut().insert("content-type", media_type.parse().unwrap());
    request
}

async fn send(drive: &Drive, request: Request<&'static [u8]>) -> Answer {
    drive.send(drive.plain(), request).await
}

fn body(answer: &Answer) -> Json {
    serde_json::from_slice(&answer.body).unwrap()
}

async fn write(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

async fn number(drive: &Drive, sql: &'static str) -> i64 {
    let [Value::Integer(number)] = drive.column(sql).await[..] else { unreachable!("one number") };
    number
}

const RESERVED: &str = "select reserved_bytes as it from spaces";

/// What the space holds reserved is what its packs hold.
async fn check_all(drive: &Drive) {
    check(drive).await;
    let of_packs = "select coalesce(sum(p.size_bytes), 0) as it from packs p
                      join segments s on s.id = p.segment and s.state = 'doomed'";
    assert_eq!(number(drive, RESERVED).await, number(drive, of_packs).await);
    assert_eq!(drive.lost_objects().await, Vec::<String>::new());
}

#[test]
fn a_delta_save_gives_what_a_put_gives() {
    run(async {
        for length in [1, 4096, 4097, 300_000, 5 << 20, 20 << 20] {
            let drive = Drive::new().await;
            let content = Content::of(noise(1, length));
            let put = drive.put("put", content.bytes).await;
            assert_eq!(put.status, 201);
            let other = Drive::new().await;
            assert_eq!(
                body(&send(&other, content.missing(&other)).await)["missing"].as_array().unwrap().len(),
                content.pieces.len()
            );
            let kept = send(&other, content.pack(&other)).await;
            assert_eq!(kept.status, 201, "{:?}", String::from_utf8_lossy(&kept.body));
            assert_eq!(body(&kept)["stored_bytes"], length);
            assert_eq!(number(&other, RESERVED).await, length as i64);
            assert!(
                body(&send(&other, content.missing(&other)).await)["missing"].as_array().unwrap().is_empty()
            );
            let saved = send(&other, content.commit(&other, "delta")).await;
            assert_eq!(saved.status, 201, "{:?}", String::from_utf8_lossy(&saved.body));
            assert_eq!(saved.headers["etag"], put.headers["etag"]);
            let crc32 = "select crc32 as it from blobs";
            assert_eq!(drive.column(crc32).await, other.column(crc32).await);
            assert!(other.get("delta").await.body == content.bytes);
            assert_eq!(number(&other, RESERVED).await, 0);
            check_all(&other).await;
        }
    });
}

#[test]
fn a_failure_at_any_step_leaves_the_old_content_or_the_new() {
    run(async {
        let old = noise(1, 6 << 20);
        let mut bytes = old.clone();
        bytes.extend(noise(2, 9 << 20));
        let (old, new) = (Content::of(old), Content::of(bytes));
        for when in [When::Before, When::After] {
            for step in 0.. {
                let drive = Drive::new().await;
                assert_eq!(drive.put("a", old.bytes).await.status, 201);
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let mut statuses = Vec::new();
                for request in [new.missing(&drive), new.pack(&drive), new.commit(&drive, "a")] {
                    statuses.push(drive.send(&platform, request).await.status);
                }
                let read = drive.get("a").await.body;
                let at = format!("step {step}, {when:?}: {statuses:?}");
                match statuses[2] {
                    204 => assert!(read == new.bytes, "{at}"),
                    // A lost pack makes the list name what is missing.
                    503 | 409 => assert!(read == old.bytes, "{at}"),
                    _ => panic!("{at}"),
                }
                assert!(statuses[..2].iter().all(|status| [200, 201, 503].contains(status)), "{at}");
                check_all(&drive).await;
                // Trying again is all that it takes.
                assert_eq!(send(&drive, new.pack(&drive)).await.status, 201, "{at}");
                assert_eq!(send(&drive, new.commit(&drive, "a")).await.status, 204, "{at}");
                assert!(drive.get("a").await.body == new.bytes, "{at}");
                check_all(&drive).await;
                if faults.calls() <= step {
                    assert!(step >= 8, "{step} steps");
                    break;
                }
            }
        }
    });
}

#[test]
fn a_process_that_dies_at_any_step_of_a_pack_or_a_commit_loses_nothing_from_sight() {
    run(async {
        let content = Content::of(noise(1, 9 << 20));
        for when in [When::DiesBefore, When::DiesAfter] {
            for step in 0.. {
                let drive = Drive::new().await;
                let faults = Faults::at(step, when);
                let platform = fail(drive.plain(), &faults);
                let both = async {
                    drive.send(&platform, content.pack(&drive)).await;
                    drive.send(&platform, content.commit(&drive, "a")).await;
                };
                let died = matches!(select(pin!(both), pin!(faults.death())).await, Either::Right(_));
                check_all(&drive).await;
                let read = drive.get("a").await;
                assert!(read.status == 404 || read.body == content.bytes, "step {step}, {when:?}");
                assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
                assert_eq!(send(&drive, content.commit(&drive, "a")).await.status / 100, 2);
                assert!(drive.get("a").await.body == content.bytes);
                check_all(&drive).await;
                if !died {
                    assert!(step >= 6, "{step} steps");
                    break;
                }
            }
        }
    });
}

#[test]
fn chunks_that_vanish_between_question_and_commit_are_named_and_a_retry_heals() {
    run(async {
        let drive = Drive::new().await;
        let content = Content::of(noise(1, 9 << 20));
        let gone = || {
            Statement::new("update segments set state = 'deleting' where id = (select max(id) from segments)")
        };
        assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
        // Before the commit has looked.
        drive.ports.db.write(vec![gone()]).await.unwrap();
        let refused = send(&drive, content.commit(&drive, "a")).await;
        expect_missing(&drive, &content, &refused).await;

        // They are sent again though the index still had them, and vanish again: after the commit has looked.
        assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
        let refused = send_while(&drive, gone(), content.commit(&drive, "a")).await;
        expect_missing(&drive, &content, &refused).await;
        assert_eq!(drive.get("a").await.status, 404);

        assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
        assert_eq!(send(&drive, content.commit(&drive, "a")).await.status, 201);
        assert!(drive.get("a").await.body == content.bytes);
        assert_eq!(drive.column("select id as it from ingests").await, []);
    });
}

/// A 409 that names just the chunks of the newest segment; the others have been marked as seen.
async fn expect_missing(drive: &Drive, content: &Content, refused: &Answer) {
    assert_eq!(refused.status, 409);
    let problem = body(refused);
    assert_eq!(problem["code"], "chunks_missing");
    let missing = problem["missing"].as_array().unwrap();
    assert!(!missing.is_empty() && missing.len() < content.pieces.len(), "{} missing", missing.len());
    let asked = body(&send(drive, content.missing(drive)).await);
    assert_eq!(asked["missing"], problem["missing"]);
}

#[test]
fn what_was_asked_for_is_marked_as_seen_and_a_commit_makes_it_live() {
    run(async {
        let drive = Drive::new().await;
        let content = Content::of(noise(1, 3 << 20));
        assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
        let states = "select distinct state as it from segments";
        assert_eq!(drive.column(states).await, [Value::Text("doomed".to_owned())]);
        write(&drive, "update chunks set seen_at = 5").await;
        assert_eq!(send(&drive, content.missing(&drive)).await.status, 200);
        assert_eq!(number(&drive, "select count(*) as it from chunks where seen_at < 1000").await, 0);
        write(&drive, "update chunks set seen_at = 5").await;
        // A list that lacks one marks the others.
        let mut incomplete = manifest(&content.pieces);
        incomplete["chunks"].as_array_mut().unwrap().push(json!(["0".repeat(64), 7]));
        assert_eq!(send(&drive, list(&drive, "a", &incomplete)).await.status, 409);
        assert_eq!(number(&drive, "select count(*) as it from chunks where seen_at < 1000").await, 0);
        assert_eq!(drive.column(states).await, [Value::Text("doomed".to_owned())]);
        assert_eq!(send(&drive, content.commit(&drive, "a")).await.status, 201);
        assert_eq!(drive.column(states).await, [Value::Text("live".to_owned())]);
    });
}

#[test]
fn packs_count_against_the_quota_until_they_are_needed_or_gone() {
    run(async {
        let drive = Drive::new().await;
        let (first, second) = (Content::of(noise(1, 3 << 20)), Content::of(noise(2, 3 << 20)));
        write(&drive, "update spaces set quota_bytes = 5242880").await;
        assert_eq!(send(&drive, first.pack(&drive)).await.status, 201);
        assert_eq!(send(&drive, second.pack(&drive)).await.status, 507);
        assert_eq!(drive.put("put", second.bytes).await.status, 507);
        // What the pack holds reserved is its own file's.
        assert_eq!(send(&drive, first.commit(&drive, "a")).await.status, 201);
        assert_eq!(number(&drive, RESERVED).await, 0);
        // Known content needs no pack, and counts all the same.
        assert_eq!(send(&drive, first.commit(&drive, "again")).await.status, 507);
        assert_eq!(send(&drive, second.pack(&drive)).await.status, 507);
        check_all(&drive).await;

        // A pack that goes gives back what it held; so does one that a plain PUT has found.
        write(&drive, "update spaces set quota_bytes = null").await;
        assert_eq!(send(&drive, second.pack(&drive)).await.status, 201);
        assert_eq!(number(&drive, RESERVED).await, 3 << 20);
        assert_eq!(drive.put("put", second.bytes).await.status, 201);
        assert_eq!(number(&drive, RESERVED).await, 0);
        let third = Content::of(noise(3, 2 << 20));
        assert_eq!(send(&drive, third.pack(&drive)).await.status, 201);
        write(&drive, "delete from segments where state = 'doomed'").await;
        assert_eq!(number(&drive, RESERVED).await, 0);
    });
}

#[test]
fn a_pack_with_a_wrong_chunk_leaves_nothing() {
    run(async {
        let drive = Drive::new().await;
        // The first segment has been put when the wrong chunk comes.
        let content = Content::of(noise(1, 12 << 20));
        let mut wrong = packs(content.bytes, &content.pieces).remove(0);
        *wrong.last_mut().unwrap() ^= 1;
        let refused = send(&drive, pack(&drive, wrong)).await;
        assert_eq!(refused.status, 400);
        assert!(body(&refused)["detail"].as_str().unwrap().contains("its SHA-256 is"));
        for job in drive.column("select id as it from jobs").await {
            let Value::Text(id) = job else { unreachable!("ids are texts") };
            ledge_functions::run(drive.plain(), &ledge_core::ids::JobId::parse(&id).unwrap()).await;
        }
        assert_eq!(drive.objects().await, Vec::<String>::new());
        assert_eq!(number(&drive, "select count(*) as it from chunks").await, 0);
        assert_eq!(number(&drive, "select count(*) as it from ingests").await, 0);
        check_all(&drive).await;
    });
}

#[test]
fn conditions_and_races_are_those_of_any_save() {
    run(async {
        let drive = Drive::new().await;
        let (old, new) = (Content::of(noise(1, 1 << 20)), Content::of(noise(2, 1 << 20)));
        for content in [&old, &new] {
            assert_eq!(send(&drive, content.pack(&drive)).await.status, 201);
        }
        assert_eq!(send(&drive, old.commit(&drive, "none/a")).await.status, 409);
        let saved = send(&drive, old.commit(&drive, "a")).await;
        let mut conditional = new.commit(&drive, "a");
        conditional.headers_mut().insert("if-match", saved.headers["etag"].clone());
        let race = Statement::new("update nodes set name_nfc = 'b', name = 'b' where name = 'a'");
        assert_eq!(send_while(&drive, race, conditional).await.status, 412);
        let race = Statement::new("update nodes set name_nfc = 'a', name = 'a' where name = 'b'");
        assert_eq!(send_while(&drive, race, new.commit(&drive, "a")).await.status, 204);
        assert!(drive.get("a").await.body == new.bytes);
        let mut fresh = old.commit(&drive, "a");
        fresh.headers_mut().insert("if-none-match", "*".parse().unwrap());
        assert_eq!(send(&drive, fresh).await.status, 412);
        let race = Statement::new("update tokens set rights = 'read'");
        assert_eq!(send_while(&drive, race, new.commit(&drive, "a")).await.status, 403);
        write(&drive, "update tokens set rights = 'write'").await;
        let third = Content::of(noise(3, 1 << 20));
        let race = Statement::new("update members set role = 'reader'");
        assert_eq!(send_while(&drive, race, third.pack(&drive)).await.status, 403);
        assert_eq!(
            number(&drive, "select count(*) as it from ingests where expires_at > 10000").await,
            1,
            "a job discards it"
        );
        check_all(&drive).await;
    });
}

#[test]
fn budgets_are_kept() {
    run(async {
        let drive = Drive::new().await;
        let content = Content::of(noise(1, 20 << 20));
        let cost = |answer: &Answer| answer.headers["server-timing"].to_str().unwrap().to_owned();
        let expected = |sql, bucket, stored| {
            format!("sql;desc=\"{sql}\", bucket;desc=\"{bucket}\", stored;desc=\"{stored}\"")
        };
        assert_eq!(cost(&send(&drive, content.missing(&drive)).await), expected(1, 0, 0));
        // 20 MiB in buffers of 8 MiB that hold whole chunks: 3.
        let kept = send(&drive, content.pack(&drive)).await;
        assert_eq!(cost(&kept), expected(2 + 3, 3, content.bytes.len()));
        assert_eq!(cost(&send(&drive, content.commit(&drive, "a")).await), expected(2, 0, 0));
        let mut read = drive.request("GET", "files/a", b"");
        read.headers_mut().insert("accept", "application/vnd.ledge.manifest+json".parse().unwrap());
        assert_eq!(cost(&send(&drive, read).await), expected(1, 0, 0));
    });
}

#[test]
fn what_one_space_has_another_lacks() {
    run(async {
        let drive = Drive::new().await;
        let space = drive.second_space().await;
        // The same account's request, about the second space.
        let there = |mut request: Request<&'static [u8]>| {
            let path = request.uri().path().splitn(6, '/').nth(5).unwrap().to_owned();
            *request.uri_mut() = format!("/api/v1/spaces/{space}/{path}").parse().unwrap();
            request
        };
        let lacks = async |content: &Content, request: Request<&'static [u8]>| {
            let answer = send(&drive, request).await;
            assert_eq!(answer.status, 200);
            let missing = body(&answer)["missing"].as_array().unwrap().len();
            assert!(missing == 0 || missing == content.pieces.len());
            missing > 0
        };
        let (saved, packed) = (Content::of(noise(70, 3 << 20)), Content::of(noise(71, 3 << 20)));
        assert_eq!(drive.put("a", saved.bytes).await.status, 201);
        assert_eq!(send(&drive, packed.pack(&drive)).await.status, 201);
        for content in [&saved, &packed] {
            assert!(!lacks(content, content.missing(&drive)).await);
            assert!(lacks(content, there(content.missing(&drive))).await);
            let refused = send(&drive, there(content.commit(&drive, "b"))).await;
            assert_eq!((refused.status, body(&refused)["code"].as_str()), (409, Some("chunks_missing")));
            let named = body(&refused)["missing"].as_array().unwrap().len();
            assert_eq!(named, content.pieces.len());
        }
        // A pack for the second space is its own: bytes, reservation and all.
        let kept = send(&drive, there(packed.pack(&drive))).await;
        assert_eq!((kept.status, body(&kept)["stored_bytes"].as_u64()), (201, Some(3 << 20)));
        let each = [Value::Integer(3 << 20), Value::Integer(3 << 20)];
        assert_eq!(drive.column(RESERVED).await, each);
        assert_eq!(send(&drive, there(packed.commit(&drive, "b"))).await.status, 201);
        assert_eq!(
            drive.column("select reserved_bytes as it from spaces order by n").await,
            [Value::Integer(3 << 20), Value::Integer(0),]
        );
        assert!(lacks(&saved, there(saved.missing(&drive))).await);
        let read = send(&drive, there(drive.request("GET", "files/b", b""))).await;
        assert!(read.body == packed.bytes);
        assert_eq!(drive.get("b").await.status, 404);
        assert_eq!(
            send(&drive, packed.commit(&drive, "b")).await.status,
            201,
            "the first one's are still there"
        );
        assert_eq!(drive.lost_objects().await, Vec::<String>::new());
    });
}
