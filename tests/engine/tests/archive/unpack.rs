//! ZIP files that jobs unpack: once, whatever fails; into the folder, whatever they say; no more than there may be.

use std::collections::BTreeMap;
use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::ids::JobId;
use ledge_core::ports::{Db, Statement, Value};
use ledge_core::wrappers::{Counts, Faults, When, count, fail};
use ledge_engine_tests::worker::{due, finish, state, step};
use ledge_engine_tests::zips::{Made, zip_of};
use ledge_engine_tests::{Answer, Drive, check, noise, run};
use serde_json::{Value as Json, json};

async fn send(drive: &Drive, method: &str, path: &str, body: &[u8]) -> Answer {
    drive.send(drive.plain(), drive.request(method, path, body.to_vec().leak())).await
}

async fn sql(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}

/// Saves a ZIP file and has it unpacked into `out`; the job's id.
async fn begin(drive: &Drive, zip: &[u8]) -> JobId {
    assert!(send(drive, "PUT", "files/a.zip", zip).await.status < 300);
    let asked = send(drive, "POST", "unpack", br#"{"path": "/a.zip", "into": "/out"}"#).await;
    assert_eq!(asked.status, 202, "{}", String::from_utf8_lossy(&asked.body));
    let job: Json = serde_json::from_slice(&asked.body).unwrap();
    JobId::parse(job["id"].as_str().unwrap()).unwrap()
}

async fn result(drive: &Drive, job: &JobId) -> Json {
    let look = Statement::new("select result from jobs where id = ?1").bind(job);
    let rows = drive.ports.db.read(vec![look]).await.unwrap().remove(0);
    serde_json::from_str(rows[0].text("result").unwrap()).unwrap()
}

/// The paths below `out`, of files with their sizes and the number of their versions.
async fn unpacked(drive: &Drive) -> BTreeMap<String, Option<(i64, i64)>> {
    let sql = "with recursive down (path, id) as (
            select '', id from nodes where name = 'out' and trashed_at is null
            union all
            select d.path || '/' || k.name, k.id from down d join nodes k on k.parent_id = d.id and k.trashed_at is null)
        select d.path, b.size_bytes, (select count(*) from versions w where w.node_id = n.id) as count
          from down d join nodes n on n.id = d.id
          left join versions v on v.id = n.version_id left join blobs b on b.id = v.blob_id where d.path <> ''";
    let rows = drive.ports.db.read(vec![Statement::new(sql)]).await.unwrap().remove(0);
    let of = |row: &ledge_core::ports::Row| {
        let size = row.integer_or_null("size_bytes").unwrap();
        (row.text("path").unwrap().to_owned(), size.map(|size| (size, row.integer("count").unwrap())))
    };
    rows.iter().map(of).collect()
}

fn file(size: usize) -> Option<(i64, i64)> {
    Some((size as i64, 1))
}

/// Whatever can be in one.
fn whole() -> (Vec<u8>, Vec<(&'static str, Vec<u8>)>) {
    let text = "all work and no play ".repeat(40_000).into_bytes();
    let files = vec![
        ("docs/large.bin", noise(1, 9 << 20)),
        ("docs/middle.bin", noise(2, 70_000)),
        ("docs/small.txt", b"small".to_vec()),
        ("docs/nothing", Vec::new()),
        ("deep/er/text.txt", text),
        ("deep/er/noise.bin", noise(3, 10 << 20)),
        ("tiny.txt", b"tiny tiny tiny tiny tiny tiny".to_vec()),
    ];
    let mut entries = vec![Made::stored("docs/", b""), Made::stored("empty/", b"")];
    for (name, content) in &files {
        entries.push(if name.starts_with("docs/") {
            Made::stored(name, content)
        } else {
            Made::deflated(name, content)
        });
    }
    (zip_of(&entries), files)
}

#[test]
fn all_of_it_is_unpacked_and_what_is_not_packed_stays_where_it_is() {
    run(async {
        let drive = Drive::new().await;
        let (zip, files) = whole();
        let job = begin(&drive, &zip).await;
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
        for (name, content) in &files {
            assert!(drive.get(&format!("out/{name}")).await.body == *content, "{name}");
        }
        let bytes: usize = files.iter().map(|(_, content)| content.len()).sum();
        let expected = json!({"files": 7, "bytes": bytes, "skipped": [], "skipped_total": 0});
        assert_eq!(result(&drive, &job).await, expected);
        let crc32s = "select sum(crc32) as it from blobs where size_bytes in (70000, 9437184)";
        let wanted = i64::from(crc32fast::hash(&files[0].1)) + i64::from(crc32fast::hash(&files[1].1));
        assert_eq!(drive.column(crc32s).await, [Value::from(wanted)]);
        check(&drive).await;
        assert_eq!(drive.column("select id as it from ingests").await, []);
        // What it was made of goes; the files stay.
        assert_eq!(send(&drive, "DELETE", "files/a.zip", b"").await.status, 204);
        assert_eq!(send(&drive, "DELETE", "trash", b"").await.status, 204);
        for (name, content) in &files {
            assert!(drive.get(&format!("out/{name}")).await.body == *content, "{name}");
        }
    });
}

#[test]
fn stored_entries_write_nothing_to_the_bucket() {
    run(async {
        let drive = Drive::new().await;
        let entries: Vec<Made> =
            (0..6).map(|n| Made::stored(&format!("{n}"), &noise(n, 3_000_000 + n as usize))).collect();
        let job = begin(&drive, &zip_of(&entries)).await;
        let counts = Counts::default();
        for _ in 0..5 {
            due(&drive).await;
            step(&count(drive.plain(), &counts), &job).await.unwrap();
        }
        assert_eq!(state(&drive, &job).await.0, "done");
        assert_eq!(counts.stored_bytes(), 0);
        assert_eq!(unpacked(&drive).await.len(), 6);
        for n in 0..6 {
            assert!(drive.get(&format!("out/{n}")).await.body == noise(n, 3_000_000 + n as usize));
        }
        check(&drive).await;
    });
}

#[test]
fn it_is_unpacked_once_whatever_fails_and_wherever_its_worker_dies() {
    run(async {
        let entries = [
            Made::stored("d/", b""),
            Made::stored("d/shared", &noise(5, 20_000)),
            Made::deflated("d/written", &noise(6, 30_000)),
            Made::deflated("e/row", b"a row"),
            Made::stored("../up", b"skipped"),
            Made::stored("d/shared", &noise(7, 6_000)),
        ];
        let zip = zip_of(&entries);
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let drive = Drive::quick().await;
                let job = begin(&drive, &zip).await;
                let faults = Faults::at(call, when);
                let failing = fail(drive.plain(), &faults);
                loop {
                    if state(&drive, &job).await.0 == "done" || faults.calls() > call {
                        break;
                    }
                    due(&drive).await;
                    match select(pin!(step(&failing, &job)), pin!(faults.death())).await {
                        Either::Left(_) | Either::Right(_) => {}
                    }
                }
                assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None), "{call}, {when:?}");
                let expected = BTreeMap::from([
                    ("/d".to_owned(), None),
                    ("/d/shared".to_owned(), file(20_000)),
                    ("/d/shared (2)".to_owned(), file(6_000)),
                    ("/d/written".to_owned(), file(30_000)),
                    ("/e".to_owned(), None),
                    ("/e/row".to_owned(), file(5)),
                ]);
                assert_eq!(unpacked(&drive).await, expected, "{call}, {when:?}");
                let result = result(&drive, &job).await;
                assert_eq!((&result["files"], &result["skipped_total"]), (&json!(4), &json!(1)));
                check(&drive).await;
                assert_eq!(drive.lost_objects().await, Vec::<String>::new());
                if faults.calls() <= call {
                    assert!(call > 20, "{call}");
                    break;
                }
            }
        }
    });
}

#[test]
fn g17_nothing_leads_out_of_the_folder_and_what_can_not_be_a_file_is_named() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(send(&drive, "PUT", "folders/out", b"").await.status, 201);
        assert_eq!(send(&drive, "PUT", "files/out/taken", b"mine").await.status, 201);
        let mut link = Made::stored("link", b"/etc/passwd");
        link.mode = 0o120_777;
        let secret = Made { flags: 1, ..Made::stored("secret", b"x") };
        let entries = vec![
            Made::stored("../up", b"1"),
            Made::stored("/abs", b"1"),
            Made::stored("C:\\drive", b"1"),
            Made::stored("a/../../b", b"1"),
            Made::stored("..\\up", b"1"),
            Made::stored("bad\u{1}name", b"1"),
            Made::stored(&"d/".repeat(140), b""),
            Made::stored(&"x".repeat(300), b"1"),
            link,
            secret,
            Made { method: 12, ..Made::stored("bzip2", b"x") },
            Made { crc32: 1, ..Made::stored("crc", b"x") },
            Made { crc32: 1, ..Made::stored("crc of what is shared", &noise(1, 9_000)) },
            Made { size: 1, ..Made::deflated("small lie", &noise(1, 9_000)) },
            Made { size: 9_001, ..Made::deflated("large lie", &noise(1, 9_000)) },
            Made { packed: b"\xff\xff\xff".to_vec(), ..Made::deflated("damaged", b"x") },
            Made { offset: Some(1 << 30), ..Made::stored("elsewhere", b"x") },
            Made::stored("taken/in a file", b"1"),
            // And what can be.
            Made::stored("./taken", b"theirs"),
            Made::stored("win\\dows", b"1"),
        ];
        let skipped = entries.len() - 2;
        let job = begin(&drive, &zip_of(&entries)).await;
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
        let result = result(&drive, &job).await;
        assert_eq!(result["skipped_total"], skipped, "{result}");
        assert!(
            result["skipped"].as_array().unwrap().iter().all(|it| !it["reason"].as_str().unwrap().is_empty())
        );
        let expected = BTreeMap::from([
            ("/taken".to_owned(), file(4)),
            ("/taken (2)".to_owned(), file(6)),
            ("/win".to_owned(), None),
            ("/win/dows".to_owned(), file(1)),
        ]);
        let found = unpacked(&drive).await;
        assert_eq!(found, expected);
        assert_eq!(drive.get("out/taken").await.body, b"mine");
        assert_eq!(drive.get("up").await.status, 404);
        check(&drive).await;
    });
}

#[test]
fn g17_what_unpacks_to_far_more_than_it_is_ends_the_job() {
    run(async {
        let drive = Drive::new().await;
        // 60 MiB of zeros in 60 KB, and once more.
        let zeros = Made::deflated("zeros", &vec![0; 60 << 20]);
        let job =
            begin(&drive, &zip_of(&[zeros.clone(), Made { name: b"more".to_vec(), ..zeros.clone() }])).await;
        let (state, error) = finish(&drive, &job).await;
        assert_eq!(state, "dead");
        assert!(error.unwrap().contains("200 times its size"));
        assert_eq!(unpacked(&drive).await, BTreeMap::from([("/zeros".to_owned(), file(60 << 20))]));
        check(&drive).await;
    });
}

#[test]
fn a_job_ends_where_its_drive_or_its_file_does() {
    run(async {
        let entries: Vec<Made> = (0..6).map(|n| Made::stored(&format!("{n}"), &noise(n, 10_000))).collect();
        let zip = zip_of(&entries);
        // The quota.
        let drive = Drive::new().await;
        let job = begin(&drive, &zip).await;
        sql(&drive, "update spaces set quota_bytes = used_bytes + 35000").await;
        let (over, error) = finish(&drive, &job).await;
        assert_eq!((over.as_str(), error.unwrap().contains("quota")), ("dead", true));
        assert_eq!(unpacked(&drive).await.len(), 3);
        // More room, and it goes on where it was.
        sql(&drive, "update spaces set quota_bytes = null").await;
        assert!(send(&drive, "GET", "trash", b"").await.status == 200);
        sql(&drive, "update jobs set state = 'pending', attempts = 0, finished_at = null, forget_at = null where state = 'dead'")
            .await;
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
        assert_eq!(unpacked(&drive).await.len(), 6);
        check(&drive).await;
        // The file is deleted meanwhile.
        let drive = Drive::new().await;
        let job = begin(&drive, &zip).await;
        step(drive.plain(), &job).await.unwrap();
        assert_eq!(send(&drive, "DELETE", "files/a.zip", b"").await.status, 204);
        assert_eq!(finish(&drive, &job).await.0, "dead");
        assert_eq!(unpacked(&drive).await.len(), 2);
        // It is saved anew: what was asked for is the version that was there.
        let drive = Drive::new().await;
        let job = begin(&drive, &zip).await;
        step(drive.plain(), &job).await.unwrap();
        assert_eq!(send(&drive, "PUT", "files/a.zip", b"other").await.status, 204);
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
        assert_eq!(unpacked(&drive).await.len(), 6);
        // Somebody cancels it.
        let drive = Drive::new().await;
        let job = begin(&drive, &zip).await;
        step(drive.plain(), &job).await.unwrap();
        sql(&drive, "update jobs set cancel_requested = 1").await;
        assert_eq!(finish(&drive, &job).await.0, "cancelled");
        assert_eq!(unpacked(&drive).await.len(), 2);
        check(&drive).await;
    });
}

#[test]
fn what_can_be_seen_at_once_is_refused_at_once() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(send(&drive, "PUT", "files/no.zip", b"not a ZIP file at all").await.status, 201);
        assert_eq!(send(&drive, "PUT", "files/a.zip", &zip_of(&[])).await.status, 201);
        for (body, expected) in [
            (json!({"path": "/no.zip", "into": "/out"}), "422 bad_archive"),
            (json!({"path": "/none", "into": "/out"}), "404 not_found"),
            (json!({"path": "/a.zip", "into": "/no.zip"}), "409 not_a_folder"),
            (json!({"path": "/a.zip", "into": "/no.zip/x"}), "409 not_a_folder"),
            (json!({"path": "/a.zip", "into": "out"}), "400 invalid"),
            (json!({"into": "/out"}), "400 invalid"),
        ] {
            let answer = send(&drive, "POST", "unpack", body.to_string().as_bytes()).await;
            let problem: Json = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(
                format!("{} {}", answer.status, problem["code"].as_str().unwrap()),
                expected,
                "{body}"
            );
        }
        assert_eq!(drive.column("select id as it from jobs").await, []);
        let job = begin(&drive, &zip_of(&[])).await;
        assert_eq!(finish(&drive, &job).await, ("done".to_owned(), None));
    });
}
