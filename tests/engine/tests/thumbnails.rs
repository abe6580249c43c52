//! Thumbnails: made once, kept as long as their picture and no longer, whatever fails.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::pin::pin;
use std::rc::Rc;

use futures::future::{Either, select};
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, Claim, Claimed, Work};
use ledge_core::ports::{Bucket, Db, Platform, Ports, Statement, Value};
use ledge_core::settings::Settings;
use ledge_core::thumbnails::{self, Made};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::worker::run_all;
use ledge_engine_tests::{Answer, Drive, Labour, Labouring, check, noise, run};
use ledge_tests::pictures;
use serde_json::Value as Json;

const DAY: i64 = 24 * 60 * 60;

/// A picture whose thumbnails are an object of the bucket, and one whose are in a row.
fn large() -> &'static [u8] {
    pictures::file("turned-6.jpg").leak()
}

fn small() -> &'static [u8] {
    pictures::file("pixel.jpg").leak()
}

async fn get(drive: &Drive, platform: &Labouring<'_>, path: &str) -> Answer {
    drive.send(platform, drive.request("GET", &format!("thumbnail/{path}"), b"")).await
}

async fn put(drive: &Drive, platform: &Labouring<'_>, name: &str, file: &'static [u8]) {
    let saved = drive.send(platform, drive.request("PUT", &format!("files/{name}"), file)).await;
    assert!([201, 204].contains(&saved.status), "{}", saved.status);
}

fn json(answer: &Answer) -> Json {
    serde_json::from_slice(&answer.body).unwrap()
}

async fn number(drive: &Drive, sql: &'static str) -> i64 {
    let [Value::Integer(number)] = drive.column(sql).await[..] else { unreachable!("one number") };
    number
}

const SHEETS: &str = "select count(*) as it from thumbnails where sheet is not null";
const JOBS: &str = "select count(*) as it from jobs where input like '%\"thumbnails\"%'";

/// All that is there fits together, and nothing but the bucket's objects that rows know is there.
async fn whole(drive: &Drive, platform: &impl Platform) {
    check(drive).await;
    assert_eq!(drive.lost_objects().await, Vec::<String>::new());
    run_all(drive, platform, &Work::Doctor { content: true }).await;
    let found = drive
        .column("select result as it from jobs where input like '%doctor%' order by created_at desc limit 1");
    let [Value::Text(report)] = &found.await[..] else { unreachable!("it has examined") };
    let report: Json = serde_json::from_str(report).unwrap();
    assert_eq!(report["findings"].as_object().map(serde_json::Map::len).unwrap_or_default(), 0, "{report}");
}

/// Removes all files for good, and lets the grace time pass.
async fn remove_all(drive: &Drive, labour: &Labour<'_>, platform: &Labouring<'_>, names: &[&str]) {
    for name in names {
        let gone = drive.send(platform, drive.request("DELETE", &format!("files/{name}"), b"")).await;
        assert_eq!(gone.status, 204);
    }
    assert_eq!(drive.send(platform, drive.request("DELETE", "trash", b"")).await.status, 204);
    for _ in 0..2 {
        run_all(drive, platform, &Work::Reclaim).await;
        labour.pass_secs(8 * DAY);
    }
    run_all(drive, platform, &Work::Reclaim).await;
}

#[test]
fn thumbnails_are_made_once_for_all_copies_and_go_with_the_last() {
    run(async {
        for (file, objects) in [(large(), 2), (small(), 0)] {
            let drive = Drive::new().await;
            let labour = Labour::new(drive.plain());
            let platform = labour.platform();
            put(&drive, &platform, "a.jpg", file).await;
            let first = get(&drive, &platform, "a.jpg?size=128").await;
            assert_eq!(first.status, 202, "{}", json(&first));
            let job = json(&first)["id"].clone();
            assert_eq!(first.headers["location"], format!("/api/v1/jobs/{}", job.as_str().unwrap()));
            for again in ["a.jpg?size=128", "a.jpg?size=1024"] {
                let again = get(&drive, &platform, again).await;
                assert_eq!((again.status, &json(&again)["id"]), (202, &job));
            }
            assert_eq!(labour.take().len(), 1, "who comes second wakes nobody");
            labour.pass_secs(600);
            ledge_functions::tick(&platform, None).await;
            labour.settle().await;
            let made = get(&drive, &platform, "a.jpg?size=128").await;
            assert_eq!(made.status, 200);
            assert_eq!(made.headers["content-type"], "image/jpeg");

            let batch = br#"{"operations": [
                {"op": "copy", "path": "/a.jpg", "to": {"name": "b.jpg"}},
                {"op": "move", "path": "/a.jpg", "to": {"name": "c.jpg"}}]}"#;
            assert_eq!(drive.send(&platform, drive.request("POST", "nodes/batch", batch)).await.status, 200);
            for name in ["b.jpg", "c.jpg"] {
                let same = get(&drive, &platform, &format!("{name}?size=128")).await;
                assert_eq!((same.status, same.body == made.body), (200, true), "{name}");
            }
            assert_eq!(number(&drive, JOBS).await, 1);
            assert_eq!(drive.objects().await.len(), objects);
            whole(&drive, &platform).await;

            remove_all(&drive, &labour, &platform, &["b.jpg"]).await;
            assert_eq!(number(&drive, SHEETS).await, 1);
            assert_eq!(get(&drive, &platform, "c.jpg?size=512").await.status, 200);
            remove_all(&drive, &labour, &platform, &["c.jpg"]).await;
            assert_eq!(number(&drive, "select count(*) as it from thumbnails").await, 0);
            assert_eq!(number(&drive, "select count(*) as it from blobs").await, 0);
            assert_eq!(drive.objects().await, Vec::<String>::new());
            whole(&drive, &platform).await;
        }
    });
}

#[test]
fn sweeps_and_full_passes_leave_thumbnails_alone() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        put(&drive, &platform, "a.jpg", large()).await;
        get(&drive, &platform, "a.jpg?size=128").await;
        labour.settle().await;
        let made = get(&drive, &platform, "a.jpg?size=256").await;
        for _ in 0..3 {
            run_all(&drive, &platform, &Work::Reclaim).await;
            run_all(&drive, &platform, &Work::ReclaimFullPass).await;
            labour.pass_secs(8 * DAY);
        }
        let after = get(&drive, &platform, "a.jpg?size=256").await;
        assert_eq!((after.status, after.body == made.body), (200, true));
        whole(&drive, &platform).await;
    });
}

#[test]
fn whatever_fails_and_wherever_the_worker_dies_thumbnails_are_made_and_nothing_is_lost() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let at = format!("call {call}, {when:?}");
                let drive = Drive::quick().await;
                let labour = Labour::new(drive.plain());
                let platform = labour.platform();
                put(&drive, &platform, "a.jpg", large()).await;
                assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 202);
                let job = labour.take().pop().unwrap().job;
                let faults = Faults::at(call, when);
                {
                    let failing = fail(&platform, &faults);
                    let worker = pin!(ledge_functions::run(&failing, &job));
                    let _died = matches!(select(worker, pin!(faults.death())).await, Either::Right(_));
                }
                labour.pass_secs(600);
                ledge_functions::tick(&platform, None).await;
                labour.settle().await;
                assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 200, "{at}");
                assert_eq!(number(&drive, SHEETS).await, 1, "{at}");
                check(&drive).await;
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{at}");
                // What an attempt has left goes with its ingest.
                labour.pass_secs(DAY);
                run_all(&drive, &platform, &Work::Reclaim).await;
                assert_eq!(drive.objects().await.len(), 2, "{at}");
                if faults.calls() <= call {
                    assert!(call >= 7, "{call} calls");
                    break;
                }
            }
        }
    });
}

#[test]
fn whatever_fails_when_they_are_asked_for_they_come_when_asked_again() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let drive = Drive::quick().await;
                let labour = Labour::new(drive.plain());
                let platform = labour.platform();
                put(&drive, &platform, "a.jpg", small()).await;
                let faults = Faults::at(call, when);
                {
                    let failing = fail(&platform, &faults);
                    let request = drive.request("GET", "thumbnail/a.jpg?size=128", b"");
                    let asked = pin!(drive.send(&failing, request));
                    if let Either::Left((answer, _)) = select(asked, pin!(faults.death())).await {
                        assert!([202, 503].contains(&answer.status), "{}", answer.status);
                    }
                }
                assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 202);
                labour.pass_secs(600);
                ledge_functions::tick(&platform, None).await;
                labour.settle().await;
                assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 200);
                assert_eq!(number(&drive, JOBS).await, 1);
                if faults.calls() <= call {
                    break;
                }
            }
        }
    });
}

async fn claimed(platform: &Labouring<'_>, job: &JobId) -> Claimed {
    match jobs::claim(platform, job).await.unwrap() {
        Claim::Job(job) => *job,
        other => panic!("{other:?}"),
    }
}

#[test]
fn of_a_picture_that_goes_while_they_are_made_nothing_stays() {
    run(async {
        for before_it_is_read in [true, false] {
            let drive = Drive::new().await;
            let labour = Labour::new(drive.plain());
            let platform = labour.platform();
            put(&drive, &platform, "a.jpg", large()).await;
            get(&drive, &platform, "a.jpg?size=128").await;
            let message = labour.take().pop().unwrap();
            if before_it_is_read {
                remove_all(&drive, &labour, &platform, &["a.jpg"]).await;
                ledge_functions::run(&platform, &message.job).await;
            } else {
                let Some(Value::Text(blob)) =
                    drive.column("select blob_id as it from thumbnails").await.pop()
                else {
                    unreachable!("it was asked for")
                };
                let job = claimed(&platform, &message.job).await;
                let source = thumbnails::source(&platform, &job, &blob).await.unwrap().unwrap();
                assert!(source.read(&platform, 0..source.size_bytes).await.unwrap() == large());
                let gone = drive.send(&platform, drive.request("DELETE", "files/a.jpg", b"")).await;
                assert_eq!(gone.status, 204);
                assert_eq!(drive.send(&platform, drive.request("DELETE", "trash", b"")).await.status, 204);
                let made = Made { sizes: vec![128], media_type: "image/jpeg", bytes: noise(1, 9000) };
                thumbnails::keep(&platform, &job, &blob, &source, vec![made]).await.unwrap();
                labour.pass_secs(8 * DAY);
                run_all(&drive, &platform, &Work::Reclaim).await;
                labour.pass_secs(8 * DAY);
                run_all(&drive, &platform, &Work::Reclaim).await;
            }
            assert_eq!(number(&drive, "select count(*) as it from thumbnails").await, 0);
            assert_eq!(drive.objects().await, Vec::<String>::new());
            whole(&drive, &platform).await;
        }
    });
}

#[test]
fn of_two_workers_one_keeps_what_it_has_made() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        put(&drive, &platform, "a.jpg", large()).await;
        get(&drive, &platform, "a.jpg?size=128").await;
        let message = labour.take().pop().unwrap();
        let Some(Value::Text(blob)) = drive.column("select blob_id as it from thumbnails").await.pop() else {
            unreachable!("it was asked for")
        };
        let slow = claimed(&platform, &message.job).await;
        let source = thumbnails::source(&platform, &slow, &blob).await.unwrap().unwrap();
        labour.pass_secs(600);
        ledge_functions::run(&platform, &message.job).await;
        let made = get(&drive, &platform, "a.jpg?size=128").await;
        assert_eq!(made.status, 200);
        let other = Made { sizes: vec![128], media_type: "image/jpeg", bytes: noise(1, 9000) };
        thumbnails::keep(&platform, &slow, &blob, &source, vec![other]).await.unwrap();
        thumbnails::refuse(&platform, &slow, &blob, "it is late").await.unwrap();
        assert!(get(&drive, &platform, "a.jpg?size=128").await.body == made.body);
        assert_eq!(drive.objects().await.len(), 2);
        // A message that comes twice.
        ledge_functions::run(&platform, &message.job).await;
        whole(&drive, &platform).await;
    });
}

#[test]
fn what_is_no_picture_ends_the_job_at_once_and_is_not_asked_for_again() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let torn = large()[..large().len() / 2].to_vec().leak();
        let long: &'static [u8] = noise(1, 300_000).leak();
        for (name, file, why) in [
            ("torn.jpg", torn as &'static [u8], "this JPEG file is damaged"),
            ("none.png", b"none".as_slice(), "no JPEG, PNG, GIF, WebP or BMP"),
            ("long.png", long, "no JPEG, PNG, GIF, WebP or BMP"),
        ] {
            put(&drive, &platform, name, file).await;
            let path = format!("{name}?size=128");
            assert_eq!(get(&drive, &platform, &path).await.status, 202);
            labour.settle().await;
            for _ in 0..2 {
                let refused = get(&drive, &platform, &path).await;
                let problem = json(&refused);
                assert_eq!(
                    (refused.status, problem["code"].as_str()),
                    (422, Some("no_thumbnail")),
                    "{problem}"
                );
                assert!(problem["detail"].as_str().unwrap().contains(why), "{problem}");
            }
        }
        let states = drive
            .column("select state || attempts as it from jobs where input like '%\"thumbnails\"%'")
            .await;
        assert_eq!(states, vec![Value::Text("dead1".to_owned()); 3], "one attempt each");
        assert_eq!(labour.take(), []);
        // What says itself that it is none isn't even looked at.
        put(&drive, &platform, "a.txt", b"text").await;
        put(&drive, &platform, "empty.jpg", b"").await;
        for name in ["a.txt", "empty.jpg"] {
            assert_eq!(get(&drive, &platform, &format!("{name}?size=128")).await.status, 422);
        }
        assert_eq!(number(&drive, JOBS).await, 3);
        whole(&drive, &platform).await;
    });
}

#[test]
fn a_job_that_was_given_up_is_told_of_and_made_when_it_is_tried_again() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        put(&drive, &platform, "a.jpg", large()).await;
        let key = drive.objects().await.pop().unwrap();
        let object = drive.ports.bucket.get(&key, 0..large().len() as u64).await.unwrap();
        drive.ports.bucket.delete(std::slice::from_ref(&key)).await.unwrap();
        let asked = json(&get(&drive, &platform, "a.jpg?size=128").await);
        labour.settle().await;
        let told = get(&drive, &platform, "a.jpg?size=128").await;
        assert_eq!(told.status, 422);
        let detail = json(&told)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("was given up: the bucket is unavailable"), "{detail}");
        let sha256 = ledge_core::digest::Sha256::of(&object);
        drive.ports.bucket.put(&key, &object, sha256).await.unwrap();
        let mut retry = drive.request("POST", "", b"");
        *retry.uri_mut() = format!("/api/v1/jobs/{}/retry", asked["id"].as_str().unwrap()).parse().unwrap();
        assert_eq!(drive.send(&platform, retry).await.status, 200);
        labour.settle().await;
        assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 200);
        whole(&drive, &platform).await;
    });
}

#[test]
fn a_job_that_was_cancelled_or_forgotten_is_asked_for_anew() {
    run(async {
        for gone in [
            "update jobs set state = 'cancelled', finished_at = 1 where input like '%\"thumbnails\"%'",
            "delete from jobs where input like '%\"thumbnails\"%'",
        ] {
            let drive = Drive::new().await;
            let labour = Labour::new(drive.plain());
            let platform = labour.platform();
            put(&drive, &platform, "a.jpg", large()).await;
            let first = json(&get(&drive, &platform, "a.jpg?size=128").await);
            drive.ports.db.write(vec![Statement::new(gone)]).await.unwrap();
            let second = get(&drive, &platform, "a.jpg?size=128").await;
            assert_eq!(second.status, 202);
            assert_ne!(json(&second)["id"], first["id"]);
            labour.settle().await;
            assert_eq!(get(&drive, &platform, "a.jpg?size=128").await.status, 200);
        }
    });
}

#[test]
fn where_the_operator_wants_it_they_are_made_with_the_upload() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let on_demand = labour.platform();
        let settings = Settings { thumbnails_on_upload: true, ..(*on_demand.settings).clone() };
        let platform = Ports { settings: Rc::new(settings), ..labour.platform() };
        put(&drive, &platform, "a.jpg", large()).await;
        put(&drive, &platform, "b.txt", b"none").await;
        put(&drive, &platform, "empty.jpg", b"").await;
        assert_eq!(number(&drive, JOBS).await, 1);
        // It is the system's: who looks sees that it is made, and not where to watch it.
        let making = get(&drive, &platform, "a.jpg?size=512").await;
        assert_eq!((making.status, making.headers.get("location")), (202, None));
        assert_eq!(
            (json(&making)["account_id"].clone(), json(&making)["space_id"].clone()),
            (Json::Null, Json::Null)
        );
        labour.settle().await;
        assert_eq!(get(&drive, &platform, "a.jpg?size=512").await.status, 200);
        // A lost message: the rows are there.
        put(&drive, &platform, "a.jpg", small()).await;
        assert_eq!(labour.take().len(), 1);
        labour.pass_secs(600);
        ledge_functions::tick(&platform, None).await;
        labour.settle().await;
        assert_eq!(get(&drive, &platform, "a.jpg?size=512").await.status, 200);
        whole(&drive, &platform).await;
    });
}
