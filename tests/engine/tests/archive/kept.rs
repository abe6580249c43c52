//! Archives that are kept as files: they are what a download would have been, hardly a byte of them is written, and they
//! outlive what they were made of.

use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::ports::{Db, Platform, Statement, Value};
use ledge_core::wrappers::{Counts, Faults, When, count, fail};
use ledge_engine_tests::{Answer, Drive, check, noise, run};
use serde_json::json;

/// So many files of one GiB in all, none of which fits a row.
const FILES: usize = 10_000;
const FILE_BYTES: usize = (1 << 30) / FILES;

async fn send<P>(drive: &Drive, platform: &P, method: &str, path: &str, body: &[u8]) -> Answer
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    drive.send(platform, drive.request(method, path, body.to_vec().leak())).await
}

async fn keep<P>(drive: &Drive, platform: &P, paths: &[&str], to: &str) -> Answer
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    let body = json!({"paths": paths, "to": to}).to_string();
    send(drive, platform, "POST", "archives", body.as_bytes()).await
}

fn code(answer: &Answer) -> String {
    let problem: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    format!("{} {}", answer.status, problem["code"].as_str().unwrap())
}

/// A folder `t` of whatever content can be: in the bucket, in rows, in both, holes, nothing.
async fn drive() -> Drive {
    let drive = Drive::new().await;
    for folder in ["t", "t/empty", "t/sub"] {
        assert_eq!(send(&drive, drive.plain(), "PUT", &format!("folders/{folder}"), b"").await.status, 201);
    }
    for (name, content) in [
        ("t/large", noise(1, 9 << 20)),
        ("t/sub/middle", noise(2, 100_000)),
        ("t/sub/small", b"small".to_vec()),
        ("t/nothing", Vec::new()),
        ("t/grown", noise(3, 20_000)),
    ] {
        let put = send(&drive, drive.plain(), "PUT", &format!("files/{name}"), &content).await;
        assert_eq!(put.status, 201);
    }
    assert_eq!(send(&drive, drive.plain(), "POST", "append/t/grown", b" and more").await.status, 200);
    let mut far = drive.request("PATCH", "files/t/sub/small", b"end");
    far.headers_mut().insert("content-range", "bytes 9000000-9000002/*".parse().unwrap());
    assert_eq!(drive.send(drive.plain(), far).await.status, 204);
    drive
}

/// What a download of the folder `t` is.
async fn downloaded(drive: &Drive) -> Answer {
    send(drive, drive.plain(), "GET", "archive/t", b"").await
}

#[test]
fn what_is_kept_is_what_a_download_would_have_been() {
    run(async {
        let drive = drive().await;
        let download = downloaded(&drive).await;
        let counts = Counts::default();
        let kept = keep(&drive, &count(drive.plain(), &counts), &["/t"], "/kept ü.zip").await;
        assert_eq!(kept.status, 201, "{}", String::from_utf8_lossy(&kept.body));
        // Find the place, the list, the tree; the files; look up and open; find the place again, commit.
        assert_eq!(counts.round_trips(), 7);
        assert_eq!(counts.bucket_operations(), 1);
        assert!(counts.stored_bytes() < 3_000, "{} bytes", counts.stored_bytes());
        assert_eq!(kept.headers["etag"], download.headers["etag"]);
        let location = kept.headers["location"].to_str().unwrap();
        assert!(location.ends_with("/files/kept%20%C3%BC.zip"), "{location}");
        let read = drive.get("kept%20%C3%BC.zip").await;
        assert!(read.body == download.body);
        assert_eq!(read.headers["content-type"], "application/zip");
        let crc32 = i64::from(crc32fast::hash(&read.body));
        let blobs =
            drive.column("select b.crc32 as it from blobs b order by b.size_bytes desc limit 1").await;
        assert_eq!(blobs, [Value::from(crc32)]);
        // Again: the same headers are known, but lie in the same segment only where they are whole chunks.
        assert_eq!(keep(&drive, drive.plain(), &["/t"], "/again.zip").await.status, 201);
        assert!(drive.get("again.zip").await.body == download.body);
        // Any part of it, and a copy of it within itself.
        for range in ["bytes=0-40", "bytes=1000000-9500000", "bytes=-70"] {
            let mut part = drive.request("GET", "files/again.zip", b"");
            part.headers_mut().insert("range", range.parse().unwrap());
            let part = drive.send(drive.plain(), part).await;
            assert_eq!(part.status, 206);
            let from = part.headers["content-range"].to_str().unwrap();
            let from: usize = from[6..from.find('-').unwrap()].parse().unwrap();
            assert!(part.body == download.body[from..from + part.body.len()]);
        }
        assert_eq!(keep(&drive, drive.plain(), &["/t", "/again.zip"], "/again.zip").await.status, 200);
        check(&drive).await;
        assert_eq!(drive.column("select id as it from ingests").await, []);
    });
}

#[test]
fn what_fits_a_row_is_kept_in_it() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(send(&drive, drive.plain(), "PUT", "folders/t", b"").await.status, 201);
        for (count, inline) in [(1, 1_i64), (100, 0), (400, 0)] {
            for n in 0..count {
                send(&drive, drive.plain(), "PUT", &format!("files/t/{n}"), b"small").await;
            }
            let counts = Counts::default();
            let kept = keep(&drive, &count_of(&drive, &counts), &["/t"], "/kept.zip").await;
            assert!(kept.status < 300);
            assert!(drive.get("kept.zip").await.body == downloaded(&drive).await.body, "{count}");
            let is_inline =
                "select b.inline is not null as it from nodes n join versions v on v.id = n.version_id
                join blobs b on b.id = v.blob_id where n.name = 'kept.zip'";
            assert_eq!(drive.column(is_inline).await, [Value::from(inline)], "{count}");
            assert_eq!(counts.bucket_operations(), u32::from(count == 400), "{count}");
        }
        check(&drive).await;
    });
}

fn count_of<'a>(
    drive: &'a Drive,
    counts: &'a Counts,
) -> impl Platform<Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>> {
    count(drive.plain(), counts)
}

/// A folder `t` of many files that lie in one segment.
async fn many(count: usize) -> Drive {
    let drive = Drive::new().await;
    assert_eq!(send(&drive, drive.plain(), "PUT", "folders/t", b"").await.status, 201);
    let content = noise(7, 4 << 20);
    assert_eq!(send(&drive, drive.plain(), "PUT", "files/x", &content).await.status, 201);
    let segments = drive.column("select id as it from segments").await;
    let [Value::Integer(segment)] = segments[..] else { unreachable!() };
    let stored: Vec<Value> = drive.column("select p.extents as it from pages p").await;
    assert_eq!(stored.len(), 1);
    let rows: Vec<serde_json::Value> = (0..count)
        .map(|n| {
            let at = n * 37 % (content.len() - FILE_BYTES);
            let crc32 = crc32fast::hash(&content[at..at + FILE_BYTES]);
            json!([n, at, crc32])
        })
        .collect();
    let page = 1_i64 << 50;
    for rows in rows.chunks(2_000) {
        let rows = serde_json::Value::from(rows).to_string();
        let row = |sql: &'static str| {
            Statement::new(sql).bind(&*rows).bind(segment).bind(page).bind(FILE_BYTES as u64)
        };
        let batch = vec![
            row("insert into pages (id, extents) select ?3 + json_extract(value, '$[0]'),
                   json_array(json_array(?2, json_extract(value, '$[1]'), ?4, json_extract(value, '$[2]')))
                   from json_each(?1)"),
            row("insert into page_segments (segment, page) select ?2, ?3 + json_extract(value, '$[0]')
                   from json_each(?1) where ?4 > 0"),
            row("insert into blobs (id, size_bytes, etag, media_type, crc32, pages, tail_bytes)
                 select 'b' || json_extract(value, '$[0]'), ?4, 'e' || json_extract(value, '$[0]'), 'x/y',
                   json_extract(value, '$[2]'),
                   json_array(json_array(0, ?3 + json_extract(value, '$[0]'), json_extract(value, '$[2]'))), 0
                   from json_each(?1) where ?2 > 0"),
            row("insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at)
                 select 'n' || json_extract(value, '$[0]'), s.id, t.id, 'file number ' || json_extract(value, '$[0]'),
                   'file number ' || json_extract(value, '$[0]'), 'file', 'v' || json_extract(value, '$[0]'), 0, 0
                   from json_each(?1) cross join spaces s cross join nodes t
                  where t.name = 't' and ?2 > 0 and ?3 > 0 and ?4 > 0"),
            row("insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
                 select 'v' || json_extract(value, '$[0]'), 'n' || json_extract(value, '$[0]'),
                   'b' || json_extract(value, '$[0]'), (select id from accounts), 0, 0
                   from json_each(?1) where ?2 > 0 and ?3 > 0 and ?4 > 0"),
            row("update spaces set used_bytes = used_bytes + ?4 * json_array_length(?1) where ?2 > 0 and ?3 > 0"),
        ];
        drive.ports.db.write(batch).await.unwrap();
    }
    drive
}

#[test]
fn a_gibibyte_in_10_000_files_is_kept_by_writing_less_than_4_mib() {
    run(async {
        let drive = many(FILES).await;
        let counts = Counts::default();
        let kept = keep(&drive, &count(drive.plain(), &counts), &["/t"], "/kept.zip").await;
        assert_eq!(kept.status, 201, "{}", String::from_utf8_lossy(&kept.body));
        let stored = counts.stored_bytes();
        assert!(stored < 4 << 20, "{stored} bytes");
        assert_eq!(counts.bucket_operations(), 1);
        assert_eq!(counts.round_trips(), 5 + FILES.div_ceil(5_000) as u32 + FILES.div_ceil(2_000) as u32);
        let etag = send(&drive, drive.plain(), "HEAD", "archive/t", b"").await.headers["etag"].clone();
        assert_eq!(kept.headers["etag"], etag);
        let size: u64 =
            send(&drive, drive.plain(), "HEAD", "files/kept.zip", b"").await.headers["content-length"]
                .to_str()
                .unwrap()
                .parse()
                .unwrap();
        assert!(size > 1_073_000_000, "{size}");
        for range in ["bytes=0-300000", "bytes=536870912-537000000", "bytes=-1200000"] {
            let part = async |path: &str| {
                let mut part = drive.request("GET", path, b"");
                part.headers_mut().insert("range", range.parse().unwrap());
                drive.send(drive.plain(), part).await
            };
            let (kept, made) = (part("files/kept.zip").await, part("archive/t").await);
            assert_eq!((kept.status, made.status), (206, 206));
            assert!(kept.body == made.body, "{range}");
        }
        let counted = "select used_bytes - (select sum(size_bytes) from blobs) as it from spaces";
        assert_eq!(drive.column(counted).await, [Value::from(0_i64)]);
    });
}

#[test]
fn more_pieces_than_one_commit_takes_are_refused_and_leave_nothing() {
    run(async {
        let drive = many(33_000).await;
        let kept = keep(&drive, drive.plain(), &["/t"], "/kept.zip").await;
        assert_eq!(code(&kept), "413 too_many_entries");
        assert_eq!(drive.get("kept.zip").await.status, 404);
        assert_eq!(drive.lost_objects().await, Vec::<String>::new());
    });
}

#[test]
fn a_failure_at_any_step_keeps_the_archive_or_nothing() {
    run(async {
        let drive = drive().await;
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let name = format!("kept-{call}-{when:?}.zip");
                // Something in it that the drive has never stored.
                assert!(
                    send(&drive, drive.plain(), "PUT", "files/t/name", name.as_bytes()).await.status < 300
                );
                let download = downloaded(&drive).await.body;
                let faults = Faults::at(call, when);
                let failing = fail(drive.plain(), &faults);
                let to = format!("/{name}");
                let sent = pin!(keep(&drive, &failing, &["/t"], &to));
                let status = match select(sent, pin!(faults.death())).await {
                    Either::Left((answer, _)) => Some(answer.status),
                    Either::Right(_) => None,
                };
                let read = drive.get(&name).await;
                match status {
                    Some(201) => assert!(read.status == 200 && read.body == download, "{name}"),
                    Some(503) => assert!(read.status == 404 || read.body == download, "{name}"),
                    None => assert!(read.status == 404 || read.body == download, "{name}"),
                    other => unreachable!("{name}: {other:?}"),
                }
                assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{name}");
                check(&drive).await;
                if faults.calls() <= call {
                    assert!(call >= 8, "{call}");
                    break;
                }
            }
        }
    });
}

#[test]
fn it_is_a_save_like_any_other() {
    run(async {
        let drive = drive().await;
        let with = async |name: &'static str, value: &str, paths: &[&str], to: &str| {
            let body = json!({"paths": paths, "to": to}).to_string();
            let mut request = drive.request("POST", "archives", body.leak().as_bytes());
            request.headers_mut().insert(name, value.parse().unwrap());
            drive.send(drive.plain(), request).await
        };
        let first = with("idempotency-key", "k", &["/t"], "/k.zip").await;
        assert_eq!(first.status, 201);
        let second = with("idempotency-key", "k", &["/t"], "/k.zip").await;
        assert_eq!((second.status, &second.body), (201, &first.body));
        assert_eq!(
            code(&with("idempotency-key", "k", &["/t"], "/l.zip").await),
            "422 idempotency_key_reused"
        );
        assert_eq!(code(&with("if-none-match", "*", &["/t"], "/k.zip").await), "412 precondition_failed");
        assert_eq!(code(&with("if-match", "\"x\"", &["/t"], "/k.zip").await), "412 precondition_failed");
        let etag = first.headers["etag"].to_str().unwrap();
        assert_eq!(with("if-match", etag, &["/t/sub"], "/k.zip").await.status, 200);
        for (paths, to, expected) in [
            (&["/t"][..], "/t", "409 is_a_folder"),
            (&["/t"], "/", "409 is_a_folder"),
            (&["/t"], "/none/k.zip", "409 parent_missing"),
            (&["/none"], "/n.zip", "404 not_found"),
            (&["/t"], "n.zip", "400 invalid"),
            (&["t"], "/n.zip", "400 invalid"),
            (&["018f0000-0000-7000-8000-000000000009"], "/n.zip", "404 not_found"),
            (&[], "/n.zip", "400 invalid"),
        ] {
            assert_eq!(code(&keep(&drive, drive.plain(), paths, to).await), expected, "{paths:?} {to}");
        }
        let quota = "update spaces set quota_bytes = used_bytes + 1000000";
        drive.ports.db.write(vec![Statement::new(quota)]).await.unwrap();
        assert_eq!(code(&keep(&drive, drive.plain(), &["/t"], "/n.zip").await), "507 quota_exceeded");
        assert_eq!(keep(&drive, drive.plain(), &["/t/sub/middle"], "/n.zip").await.status, 201);
        check(&drive).await;
        assert_eq!(drive.column("select id as it from ingests").await, []);
    });
}
