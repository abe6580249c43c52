//! Direct uploads: what clients put into the bucket themselves is referred to only once a job has verified it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::ops::Range;
use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::digest::Sha256;
use ledge_core::jobs::Work;
use ledge_core::ports::{
    Bucket, BucketError, Buckets, Db, Direct, ListPage, Platform, Ports, Presigned, Statement, Value,
};
use ledge_core::settings::Settings;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::worker::run_all;
use ledge_engine_tests::{Ahead, Answer, Drive, Labour, check, noise, run};
use ledge_hosts::local::LocalPorts;
use ledge_tests::delta::{Piece, cut, manifest};
use serde_json::{Value as Json, json};

const DAY: i64 = 24 * 60 * 60;

/// The drive's bucket, as if it could be reached from outside: a URL is `bucket:` and the key.
struct Open<'a>(&'a <LocalPorts as Platform>::Bucket);

type Opened<'a> = Ports<<LocalPorts as Platform>::Db, Open<'a>, &'a Labour<'a>, Ahead<'a>>;

impl Bucket for Open<'_> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.0.get(key, range).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.0.get_unchanged(key, etag, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.0.etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        self.0.put(key, bytes, sha256).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.0.delete(keys).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.0.list(prefix, cursor).await
    }

    fn presign(&self, key: &str, _: &Direct<'_>) -> Option<Presigned> {
        Some(Presigned { url: format!("bucket:{key}"), headers: Vec::new() })
    }
}

impl Buckets for Open<'_> {
    type Named = <<LocalPorts as Platform>::Bucket as Buckets>::Named;

    fn named(&self, name: &str) -> Option<Self::Named> {
        self.0.named(name)
    }

    fn names(&self) -> Vec<String> {
        self.0.names()
    }
}

fn opened<'a>(labour: &'a Labour<'a>, drive: &'a Drive) -> Opened<'a> {
    let labouring = labour.platform();
    Ports {
        db: labouring.db,
        bucket: Open(&drive.ports.bucket),
        queue: labour,
        host: labouring.host,
        settings: Settings { direct_uploads: true, ..(*labouring.settings).clone() }.into(),
    }
}

/// A content, cut, and its chunks as segments of three at most.
struct Content {
    bytes: Vec<u8>,
    pieces: Vec<Piece>,
}

impl Content {
    fn new(seed: u64) -> Self {
        let bytes = noise(seed, 9 << 20);
        let pieces = cut(&bytes);
        Self { bytes, pieces }
    }

    fn segments(&self) -> Vec<&[u8]> {
        let of = |pieces: &[Piece]| pieces[0].range.start..pieces[pieces.len() - 1].range.end;
        self.pieces.chunks(3).map(|pieces| &self.bytes[of(pieces)]).collect()
    }

    fn announcement(&self) -> Json {
        let chunk = |piece: &Piece| json!({ "hash": piece.hash.to_string(), "length": piece.range.len() });
        let segments = self.pieces.chunks(3).zip(self.segments()).map(|(pieces, bytes)| {
            let chunks: Vec<Json> = pieces.iter().map(chunk).collect();
            json!({ "sha256": Sha256::of(bytes).to_string(), "chunks": chunks })
        });
        json!({ "segments": segments.collect::<Vec<_>>() })
    }
}

async fn post<P>(drive: &Drive, platform: &P, path: &str, body: &Json) -> Answer
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    drive.send(platform, drive.request("POST", path, body.to_string().leak().as_bytes())).await
}

fn body(answer: &Answer) -> Json {
    serde_json::from_slice(&answer.body).unwrap()
}

/// An upload that was begun.
struct Begun {
    path: String,
    keys: Vec<String>,
}

async fn begin(drive: &Drive, platform: &Opened<'_>, content: &Content) -> Begun {
    let begun = post(drive, platform, "segments/direct", &content.announcement()).await;
    assert_eq!(begun.status, 201, "{:?}", String::from_utf8_lossy(&begun.body));
    let answer = body(&begun);
    let url = |put: &Json| put["url"].as_str().unwrap().strip_prefix("bucket:").unwrap().to_owned();
    let keys = answer["segments"].as_array().unwrap().iter().map(url).collect();
    Begun { path: format!("segments/direct/{}", answer["id"].as_str().unwrap()), keys }
}

async fn store(drive: &Drive, key: &str, bytes: &[u8]) {
    drive.ports.bucket.put(key, bytes, Sha256::of(bytes)).await.unwrap();
}

/// Has it verified; the state of the job in the end, and its error.
async fn verify(
    drive: &Drive,
    labour: &Labour<'_>,
    platform: &Opened<'_>,
    begun: &Begun,
) -> (String, String) {
    let asked = post(drive, platform, &begun.path, &Json::Null).await;
    assert_eq!(asked.status, 202, "{:?}", String::from_utf8_lossy(&asked.body));
    labour.settle().await;
    outcome(drive).await
}

async fn outcome(drive: &Drive) -> (String, String) {
    let look = "select state, coalesce(error, '') as error from jobs where input like '%verify_upload%'";
    let rows = drive.ports.db.read(vec![Statement::new(look)]).await.unwrap().remove(0);
    let row = rows.first().unwrap();
    (row.text("state").unwrap().to_owned(), row.text("error").unwrap().to_owned())
}

async fn number(drive: &Drive, sql: &'static str) -> i64 {
    let [Value::Integer(number)] = drive.column(sql).await[..] else { unreachable!("one number") };
    number
}

const RESERVED: &str = "select reserved_bytes as it from spaces";

/// Saves the content by its chunks, and reads it.
async fn saves(drive: &Drive, platform: &Opened<'_>, content: &Content) -> u16 {
    let list = manifest(&content.pieces).to_string().leak().as_bytes();
    let mut put = drive.request("PUT", "files/a", list);
    put.headers_mut().insert("content-type", "application/vnd.ledge.manifest+json".parse().unwrap());
    let status = drive.send(platform, put).await.status;
    if status == 201 {
        assert!(drive.get("a").await.body == content.bytes);
    }
    status
}

#[test]
fn chunks_can_be_named_once_their_segments_are_verified_and_not_before() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = opened(&labour, &drive);
        let content = Content::new(1);
        let begun = begin(&drive, &platform, &content).await;
        assert!(begun.keys.len() > 1);
        assert_eq!(number(&drive, RESERVED).await, 9 << 20);
        for (key, bytes) in begun.keys.iter().zip(content.segments()) {
            store(&drive, key, bytes).await;
        }
        assert_eq!(saves(&drive, &platform, &content).await, 409);
        assert_eq!(verify(&drive, &labour, &platform, &begun).await.0, "done");
        assert_eq!(number(&drive, RESERVED).await, 9 << 20, "until a file needs them");
        assert_eq!(post(&drive, &platform, &begun.path, &Json::Null).await.status, 404);
        assert_eq!(saves(&drive, &platform, &content).await, 201);
        assert_eq!(number(&drive, RESERVED).await, 0);
        assert_eq!(drive.objects().await.len(), begun.keys.len());
        check(&drive).await;
    });
}

#[test]
fn what_has_not_arrived_may_come_later() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = opened(&labour, &drive);
        let content = Content::new(2);
        let begun = begin(&drive, &platform, &content).await;
        let segments = content.segments();
        store(&drive, &begun.keys[0], segments[0]).await;
        let (state, error) = verify(&drive, &labour, &platform, &begun).await;
        assert_eq!(state, "dead");
        assert!(error.contains("segment 1 isn't in the bucket"), "{error}");
        for (key, bytes) in begun.keys.iter().zip(segments).skip(1) {
            store(&drive, key, bytes).await;
        }
        assert_eq!(verify(&drive, &labour, &platform, &begun).await.0, "done");
        assert_eq!(saves(&drive, &platform, &content).await, 201);
    });
}

#[test]
fn what_is_not_what_was_announced_is_never_known_and_goes_with_its_reservation() {
    run(async {
        for how in ["other content", "another chunk", "longer", "shorter"] {
            let drive = Drive::new().await;
            let labour = Labour::new(drive.plain());
            let platform = opened(&labour, &drive);
            let mut content = Content::new(3);
            if how == "another chunk" {
                content.pieces[1].hash = Sha256::of(b"that one");
            }
            let begun = begin(&drive, &platform, &content).await;
            for (key, bytes) in begun.keys.iter().zip(content.segments()) {
                let mut bytes = bytes.to_vec();
                match how {
                    "other content" => bytes[7] ^= 1,
                    "longer" => bytes.push(7),
                    "shorter" => bytes.truncate(bytes.len() - 1),
                    _ => {}
                }
                store(&drive, key, &bytes).await;
            }
            let (state, error) = verify(&drive, &labour, &platform, &begun).await;
            assert_eq!(state, "dead", "{how}");
            assert!(error.starts_with("segments: segment 0"), "{error}");
            assert_eq!(number(&drive, "select count(*) as it from chunks").await, 0, "{how}");
            assert_eq!(number(&drive, RESERVED).await, 9 << 20, "{how}: it is there");
            labour.pass_secs(2 * DAY);
            run_all(&drive, &platform, &Work::Reclaim).await;
            assert_eq!(number(&drive, RESERVED).await, 0, "{how}");
            assert_eq!(drive.objects().await, Vec::<String>::new(), "{how}");
            assert_eq!(post(&drive, &platform, &begun.path, &Json::Null).await.status, 404);
        }
    });
}

#[test]
fn whatever_fails_they_are_verified_once_in_effect() {
    run(async {
        let content = Content::new(4);
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let at = format!("call {call}, {when:?}");
                let drive = Drive::new().await;
                let labour = Labour::new(drive.plain());
                let platform = opened(&labour, &drive);
                let begun = begin(&drive, &platform, &content).await;
                for (key, bytes) in begun.keys.iter().zip(content.segments()) {
                    store(&drive, key, bytes).await;
                }
                assert_eq!(post(&drive, &platform, &begun.path, &Json::Null).await.status, 202);
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
                assert_eq!(outcome(&drive).await.0, "done", "{at}");
                assert_eq!(number(&drive, RESERVED).await, 9 << 20, "{at}");
                assert_eq!(saves(&drive, &platform, &content).await, 201, "{at}");
                check(&drive).await;
                if faults.calls() <= call {
                    assert!(call >= 10, "{call} calls");
                    break;
                }
            }
        }
    });
}

#[test]
fn who_may_not_and_what_may_not_be_leaves_nothing() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = opened(&labour, &drive);
        let content = Content::new(5);
        let announcement = content.announcement();
        let off = post(&drive, drive.plain(), "segments/direct", &announcement).await;
        assert_eq!((off.status, body(&off)["code"].as_str()), (409, Some("not_direct")));
        let segment = &announcement["segments"][0];
        let mut empty = segment.clone();
        empty["chunks"] = json!([]);
        let mut tiny = segment.clone();
        tiny["chunks"][0]["length"] = json!(0);
        let mut large = segment.clone();
        large["chunks"][0]["length"] = json!((4 << 20) + 1);
        let chunk = json!({ "hash": "00".repeat(32), "length": 4 << 20 });
        let too_large = json!({ "sha256": "00".repeat(32), "chunks": [chunk, chunk, chunk] });
        let mut unnamed = segment.clone();
        unnamed["sha256"] = json!("x");
        for refused in [
            json!({}),
            json!({ "segments": [] }),
            json!({ "segments": vec![segment; 65] }),
            json!({ "segments": [empty] }),
            json!({ "segments": [tiny] }),
            json!({ "segments": [large] }),
            json!({ "segments": [too_large] }),
            json!({ "segments": [unnamed] }),
            json!({ "segments": [segment], "more": 1 }),
        ] {
            let answer = post(&drive, &platform, "segments/direct", &refused).await;
            assert_eq!((answer.status, body(&answer)["code"].as_str()), (400, Some("invalid")), "{refused}");
        }
        assert_eq!(post(&drive, &platform, "segments/direct/x", &Json::Null).await.status, 404);
        let quota = "update spaces set quota_bytes = 9 * 1048576 + 100";
        drive.ports.db.write(vec![Statement::new(quota)]).await.unwrap();
        begin(&drive, &platform, &content).await;
        let full = post(&drive, &platform, "segments/direct", &announcement).await;
        assert_eq!(full.status, 507);
        assert_eq!(number(&drive, "select count(*) as it from ingests").await, 1);
        assert_eq!(number(&drive, RESERVED).await, 9 << 20);
    });
}
