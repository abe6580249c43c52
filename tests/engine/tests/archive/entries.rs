//! ZIP files that lie: each gets an answer that says what is wrong, and costs no more than others.

use ledge_core::wrappers::{Counts, count};
use ledge_engine_tests::zips::{Made, ZipMaker, zip_of};
use ledge_engine_tests::{Answer, Drive, Random, noise, run};
use serde_json::Value;

async fn send(drive: &Drive, method: &str, path: &str, body: &[u8]) -> Answer {
    drive.send(drive.plain(), drive.request(method, path, body.to_vec().leak())).await
}

fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// What a list of the file, or the content of its first entry, is answered with.
async fn answers(drive: &Drive, zip: &[u8], query: &str) -> (u16, String) {
    assert!(send(drive, "PUT", "files/a.zip", zip).await.status < 300);
    let answer = send(drive, "GET", &format!("entries/a.zip{query}"), b"").await;
    let code =
        if answer.status == 200 { String::new() } else { json(&answer)["code"].as_str().unwrap().to_owned() };
    (answer.status, code)
}

#[test]
fn g17_a_zip_file_that_lies_is_refused_and_says_why() {
    run(async {
        let drive = Drive::new().await;
        let plain = Made::stored("a", b"content");
        let one = |made: Made| zip_of(&[made]);
        let bad = (422, "bad_archive".to_owned());
        let unsupported = (422, "entry_unsupported".to_owned());
        let whole = one(plain.clone());
        assert_eq!(answers(&drive, &whole, "?entry=0").await, (200, String::new()));
        // The whole file in all its lengths: nothing but the whole is a ZIP file.
        for length in 0..whole.len() {
            assert_eq!(answers(&drive, &whole[..length], "").await, bad, "{length}");
        }
        for (what, zip, expected) in [
            ("a size that is too small", one(Made { size: 6, ..plain.clone() }), &bad),
            ("outside of the file", one(Made { offset: Some(1 << 30), ..plain.clone() }), &bad),
            ("within the directory", one(Made { offset: Some(60), ..plain.clone() }), &bad),
            ("where no entry is", one(Made { offset: Some(1), ..plain.clone() }), &bad),
            (
                "ZIP64 sizes of 2^64",
                one(Made { size: 1 << 40, extra: [&[1, 0, 8, 0][..], &[255; 8]].concat(), ..plain.clone() }),
                &bad,
            ),
            (
                "too little for ZIP64",
                one(Made { size: 1 << 40, extra: vec![1, 0, 2, 0, 7, 7], ..plain.clone() }),
                &bad,
            ),
            ("encrypted", one(Made { flags: 1, ..plain.clone() }), &unsupported),
            ("AES", one(Made { method: 99, ..plain.clone() }), &unsupported),
            ("deflated, and isn't", one(Made { method: 8, ..plain.clone() }), &bad),
            ("another CRC-32", one(Made { crc32: 7, ..Made::deflated("a", b"content") }), &bad),
            ("more than it says", one(Made { size: 3, ..Made::deflated("a", b"content") }), &bad),
            ("less than it says", one(Made { size: 30, ..Made::deflated("a", b"content") }), &bad),
            (
                "a bomb that says so",
                one(Made { size: 1 << 33, ..Made::deflated("a", &vec![0; 1 << 22]) }),
                &unsupported,
            ),
            ("a bomb that doesn't", one(Made { size: 100, ..Made::deflated("a", &vec![0; 1 << 24]) }), &bad),
        ] {
            assert_eq!(&answers(&drive, &zip, "?entry=0").await, expected, "{what}");
        }
        // Entries in each other are entries: each is read by itself.
        let mut maker = ZipMaker::default();
        maker.add(&plain);
        maker.add(&Made { offset: Some(0), ..plain.clone() });
        assert_eq!(answers(&drive, &maker.finish(), "?entry=47").await, (200, String::new()));
    });
}

#[test]
fn g17_a_million_entries_cost_no_more_than_a_page() {
    run(async {
        let drive = Drive::new().await;
        let mut maker = ZipMaker::default();
        for _ in 0..60_000 {
            maker.add(&Made::stored("", b""));
        }
        assert_eq!(send(&drive, "PUT", "files/a.zip", &maker.finish()).await.status, 201);
        let counts = Counts::default();
        let list = drive.request("GET", "entries/a.zip?limit=1000", b"");
        let page = drive.send(&count(drive.plain(), &counts), list).await;
        assert_eq!(page.status, 200);
        assert_eq!(
            (json(&page)["entries"].as_array().unwrap().len(), &json(&page)["total"]),
            (1000, &60_000.into())
        );
        assert!(counts.round_trips() <= 2 && counts.bucket_operations() <= 4);
    });
}

#[test]
fn damage_anywhere_is_an_answer() {
    run(async {
        let drive = Drive::quick().await;
        let zip = zip_of(&[
            Made::stored("docs/", b""),
            Made::stored("docs/a", &noise(1, 300)),
            Made::deflated("docs/b", "text ".repeat(100).as_bytes()),
        ]);
        let mut random = Random::new(17);
        for turn in 0..600 {
            let mut damaged = zip.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.len());
                damaged[at] = u8::try_from(random.below(256)).unwrap();
            }
            assert!(send(&drive, "PUT", "files/a.zip", &damaged).await.status < 300);
            let list = send(&drive, "GET", "entries/a.zip", b"").await;
            assert!([200, 422].contains(&list.status), "{turn}: {}", list.status);
            if list.status == 200 {
                for entry in json(&list)["entries"].as_array().unwrap() {
                    let id = entry["id"].as_str().unwrap();
                    let read = send(&drive, "GET", &format!("entries/a.zip?entry={id}"), b"").await;
                    assert!([200, 422].contains(&read.status), "{turn}: {}", read.status);
                }
            }
        }
    });
}
