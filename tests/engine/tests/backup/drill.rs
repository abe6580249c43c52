//! The database is lost, or set back by some days: what the drive is like after a restore.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use ledge_core::digest::Sha256;
use ledge_core::doctor::{Examination, Report};
use ledge_core::ports::{Db, Platform, Ports, Statement};
use ledge_engine_tests::dumps::{SMALL, dump, now, restore_to, table_rows};
use ledge_engine_tests::{Drive, noise, run};
use serde_json::{Value, json};

/// Examines all of it.
async fn examine<P: Platform>(platform: &P) -> Report {
    let mut examination = Examination::new(true);
    while !examination.is_over() {
        examination.step(platform).await.unwrap();
    }
    examination.report
}

#[test]
fn after_a_restore_everything_reads_and_whoever_follows_begins_anew() {
    run(async {
        let drive = Drive::new().await;
        let large: &'static [u8] = noise(5, 20 << 20).leak();
        assert_eq!(drive.put("large", large).await.status, 201);
        assert_eq!(drive.put("small", b"small").await.status, 201);
        let report = examine(drive.plain()).await;
        assert_eq!((report.faults, report.notes), (0, 0), "{report:?}");
        assert!(report.content_bytes >= 20 << 20 && report.objects >= 2 && report.pages == 1, "{report:?}");

        dump(drive.plain(), "it", &SMALL).await;
        let cursor = get_json(&drive, "changes").await["cursor"].as_str().unwrap().to_owned();
        let folder = get_json(&drive, "folders/").await["folder"]["etag"].clone();
        // Lost with the database: its content is in the bucket, and no row knows it.
        assert_eq!(drive.put("later", noise(6, 5 << 20).leak()).await.status, 201);
        let later = get_json(&drive, "folders/").await["folder"]["etag"].clone();
        let ingests = drive.column("select max(id) >> 20 as it from segments").await;

        let path = drive.ports.path().join("restored.db");
        let db = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
        let plain = drive.plain();
        let restored = Ports {
            db,
            bucket: plain.bucket().clone(),
            queue: plain.queue().clone(),
            host: plain.host().clone(),
            settings: plain.settings().clone(),
        };
        let report = examine(&restored).await;
        assert_eq!(report.faults, 0, "{report:?}");
        // The segment that was saved later, and the dump itself, which the command registers.
        assert!(report.notes >= 2, "{report:?}");
        for (name, body) in [("large", large), ("small", b"small")] {
            let got = drive.send(&restored, drive.request("GET", &format!("files/{name}"), b"")).await;
            assert_eq!((got.status, got.body == body), (200, true), "{name}");
        }
        let gone = drive.send(&restored, drive.request("GET", "files/later", b"")).await;
        assert_eq!(gone.status, 404);
        let changes =
            drive.send(&restored, drive.request("GET", &format!("changes?since={cursor}"), b"")).await;
        assert_eq!(changes.status, 410, "{}", String::from_utf8_lossy(&changes.body));

        // What is saved from now on has ids and tags that the lost database never gave out.
        let put = drive.send(&restored, drive.request("PUT", "files/after", noise(8, 5 << 20).leak())).await;
        assert_eq!(put.status, 201);
        let ids = "select max(id) >> 20 as it from segments";
        let rows = restored.db.read(vec![Statement::new(ids)]).await.unwrap().remove(0);
        assert!(rows[0].integer("it").unwrap() > 1 << 20, "{ingests:?}");
        let listing = drive.send(&restored, drive.request("GET", "folders/", b"")).await;
        let listing: serde_json::Value = serde_json::from_slice(&listing.body).unwrap();
        assert!(listing["folder"]["etag"] != folder && listing["folder"]["etag"] != later);
        assert_eq!(examine(&restored).await.faults, 0);
    });
}

#[test]
fn an_examination_names_what_is_wrong() {
    run(async {
        for (what, kind, sql) in [
            ("a segment's row is gone", "BrokenExtent", "delete from segments"),
            ("a segment is doomed", "BrokenExtent", "update segments set state = 'doomed'"),
            ("an extent ends behind its segment", "BrokenExtent", "update segments set size_bytes = 5"),
            ("a use isn't noted", "BrokenExtent", "delete from page_segments"),
            ("a page is gone", "BrokenBlob", "delete from pages"),
            ("a size is wrong", "BrokenBlob", "update blobs set size_bytes = size_bytes + 1"),
            ("a checksum is wrong", "BrokenBlob", "update blobs set crc32 = crc32 + 1"),
            ("inline content is no base64", "BrokenBlob", "update blobs set inline = '?' where inline <> ''"),
            (
                "a version is another node's",
                "BrokenNode",
                "update nodes set version_id = 'x' where kind = 'file'",
            ),
            ("a folder is gone", "BrokenNode", "update nodes set parent_id = 'x' where parent_id <> ''"),
            ("bytes are counted wrong", "WrongCounter", "update spaces set used_bytes = used_bytes + 1"),
            ("bytes are reserved for nothing", "WrongCounter", "update spaces set reserved_bytes = 1"),
            ("uses are counted wrong", "WrongCounter", "update page_uses set blobs = 2"),
            ("a chunk has another hash", "DamagedContent", "update chunks set hash = 'x'"),
            ("a key is another", "MissingObject", "update segments set key = key || 'x'"),
            ("a segment's size is another", "WrongSize", "update segments set size_bytes = size_bytes + 1"),
        ] {
            let drive = Drive::new().await;
            assert_eq!(drive.put("large", noise(5, 300_000).leak()).await.status, 201);
            assert_eq!(drive.put("small", b"small").await.status, 201);
            drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
            let report = examine(drive.plain()).await;
            let kinds: Vec<String> =
                report.findings.iter().map(|found| format!("{:?}", found.kind)).collect();
            assert!(report.faults > 0 && kinds.iter().any(|found| found == kind), "{what}: {report:?}");
        }
    });
}

#[test]
fn an_examination_meets_damage_in_the_bucket_and_strangers() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("large", noise(5, 300_000).leak()).await.status, 201);
        let Some(key) = drive.objects().await.pop() else { unreachable!("it has a segment") };
        let file = drive.ports.path().join("objects").join(format!("{key}%o"));
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[1000] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        std::fs::write(file.with_file_name("9%o"), "a stranger").unwrap();
        let report = examine(drive.plain()).await;
        let kinds: Vec<String> = report.findings.iter().map(|found| format!("{:?}", found.kind)).collect();
        assert_eq!(kinds, ["UnknownObject", "DamagedContent", "DamagedContent"], "{report:?}");
        assert_eq!((report.faults, report.notes), (2, 1));
    });
}

#[test]
fn a_dump_made_before_later_migrations_is_restored_and_brought_up_to_date() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("small", b"small").await.status, 201);
        dump(drive.plain(), "it", &SMALL).await;
        let was = table_rows(&drive.ports.db, "nodes", &["id", "name"], &[]).await;
        // As the migrations of that time would have left it: it has no buckets, the index says so, and the last ones run
        // afterwards.
        let newest = ledge_core::backup::tables::SCHEMA;
        let objects = drive.ports.path().join("objects");
        let path = objects.join("ledge/meta/it/index.json%o");
        let mut index: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for part in index["parts"].as_array_mut().unwrap() {
            let file = objects.join(format!("{}%o", part["key"].as_str().unwrap()));
            let stored = without_imports(&std::fs::read(&file).unwrap());
            part["size_bytes"] = json!(stored.len());
            part["sha256"] = json!(Sha256::of(&stored).to_string());
            std::fs::write(&file, stored).unwrap();
        }
        index["schema_version"] = json!(newest - 1);
        std::fs::write(&path, index.to_string()).unwrap();
        let path = drive.ports.path().join("restored.db");
        let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
        assert_eq!(table_rows(&restored, "nodes", &["id", "name"], &[]).await, was);
        let version = Statement::new("select max(version) as it from schema_version");
        let rows = restored.read(vec![version]).await.unwrap().remove(0);
        assert_eq!(rows[0].unsigned("it").unwrap(), u64::from(newest));
    });
}

/// A part of a dump from before objects could be imported.
fn without_imports(part: &[u8]) -> Vec<u8> {
    let mut text = String::new();
    GzDecoder::new(part).read_to_string(&mut text).unwrap();
    let (mut older, mut is_newer) = (String::new(), false);
    for line in text.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if value.is_object() {
            let columns = value["columns"].as_array_mut().unwrap();
            is_newer = columns.pop_if(|last| last == "source_etag" || last == "stores").is_some();
        } else if is_newer {
            let popped = value.as_array_mut().unwrap().pop();
            assert!([Some(Value::Null), Some(json!(1))].contains(&popped), "{popped:?}");
        }
        older += &format!("{value}\n");
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(older.as_bytes()).unwrap();
    packed.finish().unwrap()
}

async fn get_json(drive: &Drive, path: &str) -> Value {
    let answer = drive.send(drive.plain(), drive.request("GET", path, b"")).await;
    assert_eq!(answer.status, 200, "{path}");
    serde_json::from_slice(&answer.body).unwrap()
}
