//! What imported files hold, and whose it is.

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_core::digest::Sha256;
use ledge_core::doctor::{Examination, Kind};
use ledge_core::jobs::Work;
use ledge_core::ports::{Bucket, Buckets, Db, Platform, Statement};
use ledge_engine_tests::worker::run_all;
use ledge_engine_tests::{Answer, Drive, Labour, check, run};
use serde_json::json;

use super::world::{Foreign, ask, body, byte, finish, import, number, platform, post, write};

const DAY: i64 = 24 * 60 * 60;

/// Puts an object into the drive's second bucket, past the drive.
async fn store(drive: &Drive, key: &str, content: &[u8]) {
    let second = drive.ports.bucket.named("second").unwrap();
    second.put(key, content, Sha256::of(content)).await.unwrap();
}

async fn stored(drive: &Drive) -> Vec<String> {
    let page = drive.ports.bucket.named("second").unwrap().list("", None).await.unwrap();
    page.objects.into_iter().map(|object| object.key).collect()
}

async fn imported(drive: &Drive, labour: &Labour<'_>) {
    let job = ask(drive, &labour.platform(), &json!({ "bucket": "second" })).await;
    assert_eq!(finish(drive, &labour.platform(), &job).await, ("done".to_owned(), None));
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, body(answer)["code"].as_str().unwrap_or_default().to_owned())
}

async fn findings<P: Platform>(platform: &P, content: bool) -> Vec<Kind> {
    let mut examination = Examination::new(content);
    while !examination.is_over() {
        examination.step(platform).await.unwrap();
    }
    examination.report.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn files_are_read_in_place_and_never_as_something_else() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let content: Vec<u8> = (0..300_000).map(byte).collect();
        store(&drive, "a/photo.jpg", &content).await;
        store(&drive, "a/empty", b"").await;
        imported(&drive, &labour).await;
        assert_eq!(drive.objects().await, Vec::<String>::new(), "not a byte is stored");
        let whole = drive.get("a/photo.jpg").await;
        assert!(whole.status == 200 && whole.body == content);
        assert_eq!(whole.headers["content-type"], "image/jpeg");
        let mut ranged = drive.request("GET", "files/a/photo.jpg", b"");
        ranged.headers_mut().insert("range", "bytes=1000-1009".parse().unwrap());
        let part = drive.send(drive.plain(), ranged).await;
        assert!(part.status == 206 && part.body == content[1000..1010]);
        assert_eq!((drive.get("a/empty").await.status, drive.get("a/empty").await.body.len()), (200, 0));
        assert_eq!(findings(drive.plain(), true).await, []);
        store(&drive, "a/photo.jpg", b"something else").await;
        assert_eq!(code(&drive.get("a/photo.jpg").await), (409, "source_changed".to_owned()));
        assert_eq!(findings(drive.plain(), true).await, [Kind::ChangedSource]);
        // Of the same size it is another object, too.
        store(&drive, "a/photo.jpg", &vec![7; content.len()]).await;
        assert_eq!(code(&drive.get("a/photo.jpg").await), (409, "source_changed".to_owned()));
        drive.ports.bucket.named("second").unwrap().delete(&["a/photo.jpg".to_owned()]).await.unwrap();
        assert_eq!(code(&drive.get("a/photo.jpg").await), (409, "source_changed".to_owned()));
        check(&drive).await;
    });
}

#[test]
fn what_is_deleted_and_forgotten_leaves_its_object() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        store(&drive, "x/file", &[1; 100_000]).await;
        // What looks like a segment of a drive's isn't ours either, as long as no space stores there.
        store(&drive, "ledge/seg/0123456789abcdef0123456789abcdef/0", &[2; 100]).await;
        let before = stored(&drive).await;
        imported(&drive, &labour).await;
        let gone = drive.send(drive.plain(), drive.request("DELETE", "files/x/file", b"")).await;
        assert_eq!(gone.status, 204);
        let emptied = drive.send(&labour.platform(), drive.request("DELETE", "trash", b"")).await;
        assert!([200, 202, 204].contains(&emptied.status), "{}", emptied.status);
        labour.settle().await;
        for _ in 0..3 {
            run_all(&drive, &labour.platform(), &Work::Reclaim).await;
            run_all(&drive, &labour.platform(), &Work::ReclaimFullPass).await;
            labour.pass_secs(30 * DAY);
        }
        assert_eq!(
            number(&drive, "select count(*) as it from segments").await,
            0,
            "the drive has forgotten it"
        );
        assert_eq!(stored(&drive).await, before);
        check(&drive).await;
    });
}

#[test]
fn archives_and_edits_wait_for_checksums() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let content: Vec<u8> = (0..20_000_000).map(byte).collect();
        store(&drive, "big", &content).await;
        store(&drive, "small", b"0123456789").await;
        imported(&drive, &labour).await;
        labour.take();
        let platform = labour.platform();
        let archive = async || drive.send(&platform, drive.request("GET", "archive/", b"")).await;
        let refused = archive().await;
        assert_eq!(code(&refused), (409, "needs_hash".to_owned()));
        let job = body(&refused)["job"].as_str().unwrap().to_owned();
        // Who asks again waits for the same.
        assert_eq!(body(&archive().await)["job"], job.as_str());
        let append = post(&drive, &platform, "append/small", &json!(1)).await;
        assert_eq!((append.status, body(&append)["job"].as_str()), (409, Some(job.as_str())));
        let concat = json!({ "sources": [{ "path": "/small" }] });
        let concat = post(&drive, &platform, "concat/joined", &concat).await;
        assert_eq!(
            code(&concat),
            (409, "needs_hash".to_owned()),
            "{}",
            String::from_utf8_lossy(&concat.body)
        );
        labour.settle().await;
        assert_eq!(
            number(&drive, "select count(*) as it from jobs where state = 'done' and input like '%hash%'")
                .await,
            1
        );
        assert_eq!(number(&drive, "select count(*) as it from wanted_hashes").await, 0);
        let archived = archive().await;
        assert_eq!(archived.status, 200);
        assert!(archived.body.len() > content.len());
        let mut wants = drive.request("GET", "files/big", b"");
        wants.headers_mut().insert("want-repr-digest", "sha-256=1".parse().unwrap());
        let read = drive.send(&platform, wants).await;
        assert!(read.body == content);
        let digest = read.headers["repr-digest"].to_str().unwrap().to_owned();
        assert!(digest.contains(&STANDARD.encode(Sha256::of(&content).0)), "{digest}");
        assert_eq!(findings(drive.plain(), true).await, []);
        // And now an edit refers to what is there, and stores only what is new.
        let appended = drive.send(&platform, drive.request("POST", "append/big", b"and more")).await;
        assert_eq!(appended.status, 200, "{}", String::from_utf8_lossy(&appended.body));
        assert!(drive.get("big").await.body == [&content[..], b"and more"].concat());
        assert_eq!(drive.objects().await, Vec::<String>::new());
        let mut patch = drive.request("PATCH", "files/big", b"HERE");
        patch.headers_mut().insert("content-range", "bytes 9000000-9000003/*".parse().unwrap());
        let patched = drive.send(&platform, patch).await;
        assert_eq!(patched.status, 204, "{}", String::from_utf8_lossy(&patched.body));
        let now = drive.get("big").await.body;
        assert!(now[9_000_000..9_000_004] == *b"HERE" && now[9_000_004..20_000_000] == content[9_000_004..]);
        assert_eq!(findings(drive.plain(), true).await, []);
        check(&drive).await;
    });
}

#[test]
fn large_objects_are_hashed_step_by_step() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["huge", "other"]);
        let size = (100 << 20) + 12_345;
        foreign.set_size("huge", size);
        let platform = platform(&labour, &drive, &foreign);
        import(&drive, &platform).await;
        let refused = drive.send(&platform, drive.request("GET", "archive/in", b"")).await;
        let job = ledge_core::ids::JobId::parse(body(&refused)["job"].as_str().unwrap()).unwrap();
        assert_eq!(finish(&drive, &platform, &job).await, ("done".to_owned(), None));
        let content: Vec<u8> = (0..size).map(byte).collect();
        let look = Statement::new(
            "select b.crc32, b.digests, json_array_length(p.extents) as extents from blobs b
               join pages p on p.id = json_extract(b.pages, '$[0][1]') where b.size_bytes > 1000",
        );
        let rows = drive.ports.db.read(vec![look]).await.unwrap().remove(0);
        assert_eq!(rows[0].unsigned("crc32").unwrap(), u64::from(crc32fast::hash(&content)));
        assert_eq!(rows[0].unsigned("extents").unwrap(), 13);
        let sha256 = STANDARD.encode(Sha256::of(&content).0);
        assert!(rows[0].text("digests").unwrap().contains(&sha256));
        check(&drive).await;
    });
}

#[test]
fn what_has_changed_is_not_hashed() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["changed", "kept"]);
        let platform = platform(&labour, &drive, &foreign);
        import(&drive, &platform).await;
        foreign.change("changed");
        let refused = drive.send(&platform, drive.request("GET", "archive/in", b"")).await;
        let job = ledge_core::ids::JobId::parse(body(&refused)["job"].as_str().unwrap()).unwrap();
        let (state, error) = finish(&drive, &platform, &job).await;
        assert_eq!(state, "dead");
        assert!(error.unwrap().contains("changed or removed"), "the reason is told");
        assert_eq!(number(&drive, "select count(*) as it from blobs where crc32 >= 0").await, 1);
        assert_eq!(number(&drive, "select count(*) as it from wanted_hashes").await, 0);
        assert_eq!(foreign.keys(), ["changed", "kept"]);
        write(&drive, "delete from jobs").await;
        check(&drive).await;
    });
}
