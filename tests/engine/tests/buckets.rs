//! Several buckets: what lies where, what becomes of it, and what a lost one takes with it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code"
)]

use std::collections::BTreeMap;

use ledge_core::digest::Sha256;
use ledge_core::doctor::{Examination, Kind, Report};
use ledge_core::ports::{Bucket, Buckets, Db, Host, Platform, Ports, Statement};
use ledge_core::reclaim::{FullPass, Limits, Reclaimed, Sweep, full_pass, sweep};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Answer, Drive, Labour, check, noise, run};
use ledge_hosts::buckets::Configured;
use ledge_hosts::local::{Local, LocalPorts};
use ledge_tests::delta::{cut, manifest};

const DAY: i64 = 24 * 60 * 60;
const GRACE: i64 = 7 * DAY;

fn content(seed: u64, length: usize) -> &'static [u8] {
    Box::leak(noise(seed, length).into_boxed_slice())
}

async fn choose(drive: &Drive, bucket: &str) -> Answer {
    let body = Box::leak(format!("{{\"bucket\": \"{bucket}\"}}").into_bytes().into_boxed_slice());
    let mut request = drive.request("PATCH", "", body);
    *request.uri_mut() = request.uri().to_string().trim_end_matches('/').parse().unwrap();
    drive.send(drive.plain(), request).await
}

/// What lies in the default bucket, and in `second`.
async fn objects(drive: &Drive) -> (Vec<String>, Vec<String>) {
    let second = drive.ports.bucket.named("second").expect("the temporary drive's second bucket");
    let page = second.list("", None).await.unwrap();
    (drive.objects().await, page.objects.into_iter().map(|object| object.key).collect())
}

async fn counts(drive: &Drive) -> (usize, usize) {
    let (default, second) = objects(drive).await;
    (default.len(), second.len())
}

async fn examine<P: Platform>(platform: &P) -> Report {
    let mut examination = Examination::new(true);
    while !examination.is_over() {
        examination.step(platform).await.unwrap();
    }
    examination.report
}

async fn swept<P: Platform>(platform: &P) -> Reclaimed {
    let limits = Limits { won_bytes: 1, settled_secs: 0, ..Limits::default() };
    let mut at = Sweep::default();
    while !at.is_done() {
        at = sweep(platform, at, &limits).await.unwrap();
    }
    at.reclaimed
}

async fn passed<P: Platform>(platform: &P) -> Reclaimed {
    let mut at = FullPass::default();
    while !at.is_done() {
        at = full_pass(platform, at, &Limits::default()).await.unwrap();
    }
    at.reclaimed
}

/// The drive after its configuration has lost the second bucket.
fn without_second(drive: &Drive) -> LocalPorts {
    let ports = drive.plain();
    let bucket = Configured::new(ports.bucket.of(None).unwrap().clone(), BTreeMap::new());
    Ports {
        db: ports.db.clone(),
        host: Local::new(bucket.clone()),
        bucket,
        queue: ports.queue.clone(),
        settings: ports.settings.clone(),
    }
}

#[test]
fn objects_lie_in_the_bucket_that_their_space_had_and_files_of_both_are_read() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", content(1, 20_000)).await.status, 201);
        assert_eq!(counts(&drive).await, (1, 0));
        let chosen = choose(&drive, "second").await;
        assert_eq!(chosen.status, 200);
        assert!(String::from_utf8_lossy(&chosen.body).contains("\"bucket\":\"second\""));
        assert_eq!(drive.put("b", content(2, 30_000)).await.status, 201);
        assert_eq!(counts(&drive).await, (1, 1));

        // Content that is known is found in whichever bucket it is.
        assert_eq!(drive.put("c", content(1, 20_000)).await.status, 201);
        assert_eq!(counts(&drive).await, (1, 1));
        assert_eq!(drive.get("c").await.body, content(1, 20_000));

        // An edit reads what it re-chunks from one bucket, and stores in the other.
        let (old, more) = (content(1, 20_000), content(3, 100_000));
        let append = drive.request("POST", "append/a", more);
        assert_eq!(drive.send(drive.plain(), append).await.status, 200);
        assert_eq!(drive.get("a").await.body, [old, more].concat());
        assert_eq!(drive.get("b").await.body, content(2, 30_000));
        assert_eq!(choose(&drive, "default").await.status, 200);
        assert_eq!(drive.put("d", content(4, 9_000)).await.status, 201);
        assert_eq!(objects(&drive).await.0.len(), 2);

        let report = examine(drive.plain()).await;
        assert_eq!((report.faults, report.notes), (0, 0), "{report:?}");
        let names: Vec<(&str, bool)> =
            report.buckets.iter().map(|bucket| (bucket.name.as_str(), bucket.works)).collect();
        assert_eq!(names, [("default", true), ("second", true)]);
        check(&drive).await;
    });
}

#[test]
fn only_an_administrator_chooses_and_only_what_is_configured() {
    run(async {
        let drive = Drive::new().await;
        let unknown = choose(&drive, "third").await;
        assert_eq!(unknown.status, 400);
        let text = String::from_utf8_lossy(&unknown.body).into_owned();
        assert!(text.contains("\"invalid\"") && text.contains("\"bucket\""), "{text}");
        drive.ports.db.write(vec![Statement::new("update accounts set role = 'user'")]).await.unwrap();
        assert_eq!(choose(&drive, "second").await.status, 403);
        assert_eq!(drive.column("select name as it from buckets").await, []);
        assert_eq!(choose(&drive, "default").await.status, 403, "nor goes it back");
    });
}

#[test]
fn what_a_failed_upload_has_left_goes_from_its_own_bucket() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(choose(&drive, "second").await.status, 200);
        let calls = {
            let faults = Faults::default();
            let platform = fail(drive.plain(), &faults);
            drive.send(&platform, drive.request("PUT", "files/a", content(1, 20_000))).await;
            faults.calls()
        };
        let mut left = 0;
        for call in 0..calls {
            let faults = Faults::at(call, When::DiesAfter);
            let platform = fail(drive.plain(), &faults);
            let request = drive.request("PUT", "files/b", content(100 + u64::from(call), 20_000));
            let put = std::pin::pin!(drive.send(&platform, request));
            futures::future::select(put, std::pin::pin!(faults.death())).await;
            left = left.max(counts(&drive).await.1);
        }
        assert!(left > 1);
        let labour = Labour::new(drive.plain());
        labour.pass_secs(3 * DAY);
        swept(&labour.platform()).await;
        assert_eq!(drive.column("select id as it from ingests").await, []);
        assert_eq!(drive.objects().await, Vec::<String>::new());
        let known = drive.column("select key as it from segments").await.len();
        assert_eq!(counts(&drive).await.1, known);
    });
}

#[test]
fn the_dead_go_from_where_they_are_and_the_living_are_repacked_there() {
    run(async {
        let drive = Drive::new().await;
        // Of each pair, the second one is the end of the first, whose chunks it shares.
        let whole = [content(1, 6_000_000), content(2, 6_000_000)];
        let ends = [&whole[0][4_000_000..], &whole[1][4_000_000..]];
        for (at, bucket) in ["default", "second"].into_iter().enumerate() {
            assert_eq!(choose(&drive, bucket).await.status, 200);
            assert_eq!(drive.put(&format!("whole-{bucket}"), whole[at]).await.status, 201);
            assert_eq!(drive.put(&format!("end-{bucket}"), ends[at]).await.status, 201);
        }
        let before = objects(&drive).await;
        assert_eq!((before.0.len(), before.1.len()), (2, 2));
        // The space is back at the default bucket: what is repacked stays where it was all the same.
        assert_eq!(choose(&drive, "default").await.status, 200);
        let labour = Labour::new(drive.plain());
        for path in ["files/whole-default", "files/whole-second", "trash"] {
            assert_eq!(drive.send(&labour.platform(), drive.request("DELETE", path, b"")).await.status, 204);
        }
        labour.settle().await;
        let reclaimed = swept(&labour.platform()).await;
        assert_eq!(reclaimed.repacked, 2, "{reclaimed:?}");
        labour.pass_secs(GRACE + DAY);
        assert_eq!(swept(&labour.platform()).await.segments, 2);
        let after = objects(&drive).await;
        assert_eq!((after.0.len(), after.1.len()), (2, 2), "of each bucket one went, and one came");
        let kept =
            |before: &[String], after: &[String]| before.iter().filter(|key| after.contains(key)).count();
        assert_eq!((kept(&before.0, &after.0), kept(&before.1, &after.1)), (1, 1));
        assert_eq!(drive.get("end-default").await.body, ends[0]);
        assert_eq!(drive.get("end-second").await.body, ends[1]);
        let report = examine(drive.plain()).await;
        assert_eq!((report.faults, report.notes), (0, 0), "{report:?}");
    });
}

#[test]
fn orphans_are_found_in_every_bucket_that_a_space_has_chosen() {
    run(async {
        let drive = Drive::new().await;
        let second = drive.ports.bucket.named("second").unwrap();
        let key = |digit: &str| format!("ledge/seg/{}/0", digit.repeat(32));
        let put = async || {
            drive.ports.bucket.put(&key("a"), b"x", Sha256::of(b"x")).await.unwrap();
            second.put(&key("b"), b"x", Sha256::of(b"x")).await.unwrap();
            second.put("somebody/else", b"x", Sha256::of(b"x")).await.unwrap();
        };
        put().await;
        let labour = Labour::new(drive.plain());
        passed(&labour.platform()).await;
        labour.pass_secs(GRACE + 3 * DAY);
        assert_eq!(passed(&labour.platform()).await.orphans, 1);
        assert_eq!(counts(&drive).await, (0, 2), "nobody has chosen it: nothing there is ours");

        assert_eq!(choose(&drive, "second").await.status, 200);
        assert_eq!(drive.put("a", content(1, 20_000)).await.status, 201);
        put().await;
        let report = examine(drive.plain()).await;
        assert_eq!((report.faults, report.notes), (0, 2), "{report:?}");
        assert_eq!(passed(&labour.platform()).await.orphans, 0, "first they are written down");
        assert_eq!(drive.column("select key as it from orphans").await.len(), 2);
        labour.pass_secs(GRACE + 3 * DAY);
        assert_eq!(passed(&labour.platform()).await.orphans, 2);
        assert_eq!(counts(&drive).await, (0, 2), "the file's segment, and what isn't under ledge/");
        assert_eq!(drive.get("a").await.body, content(1, 20_000));
    });
}

#[test]
fn a_lost_bucket_takes_its_own_files_only_and_says_which_it_is() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", content(1, 20_000)).await.status, 201);
        assert_eq!(choose(&drive, "second").await.status, 200);
        assert_eq!(drive.put("b", content(2, 20_000)).await.status, 201);
        assert_eq!(drive.put("gone", content(3, 20_000)).await.status, 201);
        for request in [drive.request("DELETE", "files/gone", b""), drive.request("DELETE", "trash", b"")] {
            assert_eq!(drive.send(drive.plain(), request).await.status, 204);
        }
        let labour = Labour::new(drive.plain());
        labour.settle().await;

        let lost = without_second(&drive);
        let send = async |method: &'static str, path: &'static str, body: &'static [u8]| {
            drive.send(&lost, drive.request(method, path, body)).await
        };
        assert_eq!(send("GET", "files/a", b"").await.body, content(1, 20_000));
        for answer in [
            send("GET", "files/b", b"").await,
            send("PUT", "files/c", content(4, 20_000)).await,
            send("POST", "append/b", content(5, 100_000)).await,
        ] {
            let text = String::from_utf8_lossy(&answer.body).into_owned();
            assert!(answer.status == 503 && text.contains("the bucket second isn't configured"), "{text}");
            assert!(answer.headers.contains_key("retry-after"));
        }
        assert_eq!(send("PUT", "files/c", b"small").await.status, 201, "it is in its row");
        assert_eq!(send("DELETE", "files/b", b"").await.status, 204);

        let report = examine(&lost).await;
        assert!(
            report
                .findings
                .iter()
                .any(|found| found.kind == Kind::BrokenBucket && found.what.contains("second")),
            "{report:?}"
        );
        assert!(report.findings.iter().all(|found| found.kind == Kind::BrokenBucket), "{report:?}");

        // Clean-up goes on with what can be reached, and with the rest when that can be reached again.
        let ahead = Ports {
            db: lost.db.clone(),
            bucket: lost.bucket.clone(),
            queue: lost.queue.clone(),
            host: labour.platform().host,
            settings: lost.settings.clone(),
        };
        swept(&ahead).await;
        labour.pass_secs(2 * GRACE);
        swept(&ahead).await;
        passed(&ahead).await;
        let before = counts(&drive).await.1;
        assert!(before >= 2);
        swept(&labour.platform()).await;
        assert!(counts(&drive).await.1 < before);
        let _now = ahead.host.now();
    });
}

#[test]
fn what_only_a_lost_bucket_has_is_missing_and_can_be_stored_anew() {
    run(async {
        let drive = Drive::new().await;
        let content = content(1, 20_000);
        assert_eq!(choose(&drive, "second").await.status, 200);
        assert_eq!(drive.put("a", content).await.status, 201);
        assert_eq!(choose(&drive, "default").await.status, 200);
        let lost = without_second(&drive);
        let pieces = cut(content);
        let hashes: Vec<String> = pieces.iter().map(|piece| piece.hash.to_string()).collect();
        let asked: &[u8] = format!("{{\"hashes\": {hashes:?}}}").leak().as_bytes();
        let missing = async |ports: &LocalPorts| {
            let answer = drive.send(ports, drive.request("POST", "chunks/missing", asked)).await;
            String::from_utf8(answer.body).unwrap()
        };
        let save = async |path: &str| {
            let list = manifest(&pieces).to_string().leak().as_bytes();
            let mut request = drive.request("PUT", path, list);
            let media_type = "application/vnd.ledge.manifest+json".parse().unwrap();
            request.headers_mut().insert("content-type", media_type);
            drive.send(&lost, request).await.status
        };
        assert!(!missing(drive.plain()).await.contains(&hashes[0]));
        assert!(missing(&lost).await.contains(&hashes[0]));
        assert_eq!(save("files/by-list").await, 409);

        assert_eq!(drive.send(&lost, drive.request("GET", "files/a", b"")).await.status, 503);
        assert_eq!(drive.send(&lost, drive.request("PUT", "files/a", content)).await.status, 204);
        assert!(drive.send(&lost, drive.request("GET", "files/a", b"")).await.body == content);
        assert!(!missing(&lost).await.contains(&hashes[0]), "the index has the one that can be read");
        assert_eq!(save("files/by-list").await, 201);
        assert!(drive.send(&lost, drive.request("GET", "files/by-list", b"")).await.body == content);
        check(&drive).await;
    });
}
