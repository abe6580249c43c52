//! A dump that is cut off anywhere goes on; one that is damaged is refused.

use ledge_core::backup::{Limits, Progress, begin, step};
use ledge_core::ports::{Bucket, Db, Statement};
use ledge_core::restore::RestoreError;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::dumps::{SMALL, dump, now, restore_to, snapshot};
use ledge_engine_tests::{Drive, noise, run};

async fn fill(drive: &Drive) {
    for (name, body) in [("a", b"one".as_slice()), ("b", noise(3, 9000).leak()), ("c", b"")] {
        assert_eq!(drive.put(name, body).await.status, 201);
    }
}

#[test]
fn a_dump_that_is_cut_off_at_any_call_goes_on_and_no_key_gets_other_bytes() {
    run(async {
        for (first, when) in
            [When::Before, When::After, When::DiesBefore, When::DiesAfter].into_iter().enumerate()
        {
            // Each way at every fourth call: together they meet every one.
            let mut call = u32::try_from(first).unwrap();
            loop {
                let drive = Drive::new().await;
                fill(&drive).await;
                let was = snapshot(&drive.ports.db).await;
                let faults = Faults::at(call, when);
                let failing = fail(drive.plain(), &faults);
                let work = async {
                    begin(&failing, "it").await?;
                    // Somebody writes after the beginning, so that a part that is read anew may be another one.
                    assert!(drive.put("a", b"two").await.status < 300);
                    while !matches!(step(&failing, "it", &SMALL).await?, Progress::Done { .. }) {}
                    Ok::<_, ledge_core::error::Error>(())
                };
                let ended = futures::future::select(Box::pin(work), Box::pin(faults.death())).await;
                let is_begun = !drive.column("select id as it from backups").await.is_empty();
                if matches!(ended, futures::future::Either::Left((Ok(()), _))) {
                    break assert!(call > 20, "{call} calls");
                }
                if is_begun {
                    assert!(drive.put("b", b"three").await.status < 300);
                    dump(drive.plain(), "it", &SMALL).await;
                    let path = drive.ports.path().join("restored.db");
                    let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await;
                    assert_eq!(snapshot(&restored.unwrap()).await, was, "call {call}, {when:?}");
                    let index = index(&drive, "it").await;
                    let parts = index["parts"].as_array().unwrap().len();
                    let objects = drive.objects().await;
                    let meta = objects.iter().filter(|key| key.starts_with("ledge/meta/")).count();
                    assert_eq!(meta, parts + 1, "what a lost attempt has stored is gone: {objects:?}");
                }
                call += 4;
            }
        }
    });
}

async fn index(drive: &Drive, id: &str) -> serde_json::Value {
    let key = format!("ledge/meta/{id}/index.json");
    let page = drive.ports.bucket.list(&key, None).await.unwrap();
    let size_bytes = page.objects[0].size_bytes;
    serde_json::from_slice(&drive.ports.bucket.get(&key, 0..size_bytes).await.unwrap()).unwrap()
}

#[test]
fn a_dump_with_a_part_that_is_damaged_shorter_or_missing_is_refused() {
    run(async {
        let drive = Drive::new().await;
        fill(&drive).await;
        dump(drive.plain(), "it", &Limits { part_bytes: 500, ..SMALL }).await;
        let parts = index(&drive, "it").await["parts"].as_array().unwrap().clone();
        assert!(parts.len() > 2);
        let file = |key: &str| drive.ports.path().join("objects").join(format!("{key}%o"));
        let key = parts[1]["key"].as_str().unwrap();
        let whole = std::fs::read(file(key)).unwrap();
        let mut damaged = whole.clone();
        damaged[20] ^= 1;
        for (content, why) in
            [(Some(damaged), "SHA-256"), (Some(whole[..30].to_vec()), "shorter"), (None, "isn't there")]
        {
            match content {
                Some(content) => std::fs::write(file(key), content).unwrap(),
                None => std::fs::remove_file(file(key)).unwrap(),
            }
            let path = drive.ports.path().join("restored.db");
            let refused = restore_to(&drive.ports.bucket, Some("it"), &path, now(drive.plain())).await;
            let refused = refused.unwrap_err();
            assert!(matches!(refused, RestoreError::Damaged { .. }), "{refused}");
            assert!(refused.to_string().contains(why) && refused.to_string().contains(key), "{refused}");
            assert!(!path.exists(), "nothing is made before all is read");
        }
        std::fs::write(file(key), whole).unwrap();
        let index = file("ledge/meta/it/index.json");
        let text = std::fs::read_to_string(&index).unwrap();
        for (from, to, why) in [
            ("\"format\":1", "\"format\":2", "newer"),
            ("\"backup\":\"it\"", "\"backup\":\"other\"", "index of other"),
            ("\"parts\":[", "\"parts\":[[", "damaged"),
        ] {
            std::fs::write(&index, text.replace(from, to)).unwrap();
            let path = drive.ports.path().join("restored.db");
            let refused = restore_to(&drive.ports.bucket, Some("it"), &path, now(drive.plain())).await;
            assert!(refused.unwrap_err().to_string().contains(why), "{why}");
        }
    });
}

#[test]
fn a_dump_that_is_not_complete_is_passed_by_for_an_older_one() {
    run(async {
        let drive = Drive::new().await;
        fill(&drive).await;
        let path = drive.ports.path().join("restored.db");
        let none = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap_err();
        assert!(matches!(none, RestoreError::NoneComplete), "{none}");
        dump(drive.plain(), "first", &SMALL).await;
        let was = snapshot(&drive.ports.db).await;
        assert_eq!(drive.put("a", b"later").await.status, 204);
        begin(drive.plain(), "second").await.unwrap();
        step(drive.plain(), "second", &SMALL).await.unwrap();
        let refused = restore_to(&drive.ports.bucket, Some("second"), &path, now(drive.plain())).await;
        assert!(matches!(refused, Err(RestoreError::Incomplete(_))));
        let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
        assert_eq!(snapshot(&restored).await, was);
    });
}

#[test]
fn a_dump_of_a_database_that_is_ahead_of_the_program_is_not_begun() {
    run(async {
        let drive = Drive::new().await;
        let ahead = Statement::new("insert into schema_version (version) values (9999)");
        drive.ports.db.write(vec![ahead]).await.unwrap();
        let refused = begin(drive.plain(), "it").await.unwrap_err().to_string();
        assert!(refused.contains("9999") && refused.contains("update"), "{refused}");
        assert_eq!(drive.column("select id as it from backups").await, []);
    });
}

#[test]
fn parts_are_bounded_whatever_the_rows_are() {
    run(async {
        let drive = Drive::new().await;
        // Rows of very different sizes: inline content, and texts that JSON makes six times as long.
        let fill = "insert into blobs (id, size_bytes, etag, media_type, crc32, inline)
            with recursive series (i) as (select 0 union all select i + 1 from series where i < 9999)
            select printf('018f0000-0000-7000-8001-%012d', i), 0, 'e', replace(printf('%.1000c', '*'), '*', char(1)), 0,
                   printf('%.' || (i % 5000 + 1) || 'c', 'A') from series";
        drive.ports.db.write(vec![Statement::new(fill)]).await.unwrap();
        dump(drive.plain(), "it", &Limits::default()).await;
        for part in index(&drive, "it").await["parts"].as_array().unwrap() {
            let (key, size_bytes) = (part["key"].as_str().unwrap(), part["size_bytes"].as_u64().unwrap());
            let packed = drive.ports.bucket.get(key, 0..size_bytes).await.unwrap();
            let plain = ledge_core::backup::unpack(&packed, 1 << 30).unwrap();
            assert!(plain.len() <= 4 << 20, "{key}: {} bytes", plain.len());
        }
    });
}

#[test]
fn of_two_workers_on_one_step_one_takes_it() {
    run(async {
        let drive = Drive::new().await;
        fill(&drive).await;
        let was = snapshot(&drive.ports.db).await;
        begin(drive.plain(), "it").await.unwrap();
        loop {
            let both =
                futures::future::join(step(drive.plain(), "it", &SMALL), step(drive.plain(), "it", &SMALL));
            let (one, other) = both.await;
            assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
            if matches!(one, Ok(Progress::Done { .. })) {
                break;
            }
        }
        let path = drive.ports.path().join("restored.db");
        let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
        assert_eq!(snapshot(&restored).await, was);
    });
}
