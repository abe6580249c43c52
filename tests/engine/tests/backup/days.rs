//! A database that is set back by days: the grace keeps what the files of that day need.

use ledge_core::doctor::{Examination, Kind};
use ledge_core::ports::{Platform, Ports};
use ledge_core::reclaim::{FullPass, Limits, Sweep, full_pass, sweep};
use ledge_engine_tests::dumps::{SMALL, dump, now, restore_to};
use ledge_engine_tests::{Drive, Labour, noise, run};

const DAY_SECS: i64 = 24 * 60 * 60;

/// Gives back whatever may be given back.
async fn reclaim<P: Platform>(platform: &P) {
    let limits = Limits { settled_secs: 0, ..Limits::default() };
    let mut state = Sweep::default();
    while !state.is_done() {
        state = sweep(platform, state, &limits).await.unwrap();
    }
    let mut state = FullPass::default();
    while !state.is_done() {
        state = full_pass(platform, state, &limits).await.unwrap();
    }
}

/// So many bytes with `change` in the middle: most chunks are shared with those of another change.
fn content(seed: u64, change: u8) -> &'static [u8] {
    let mut bytes = noise(seed, 6 << 20);
    bytes[3 << 20..(3 << 20) + 100].fill(change);
    bytes.leak()
}

#[test]
fn a_database_of_six_days_ago_reads_every_file_of_that_day_and_one_of_ten_days_ago_does_not() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let files: Vec<(String, &'static [u8])> =
            (0..6).map(|seed| (format!("file{seed}"), content(seed, 0))).collect();
        for (name, body) in &files {
            let put = drive.request("PUT", &format!("files/{name}"), body);
            assert_eq!(drive.send(&platform, put).await.status, 201);
        }
        dump(&platform, "it", &SMALL).await;
        // Each day something is overwritten, deleted for good and written anew, and all that nothing needs goes.
        for (day, (name, _)) in files.iter().enumerate() {
            labour.pass_secs(DAY_SECS);
            let (first, then) = if day % 2 == 0 {
                (("DELETE", name.as_str(), b"".as_slice()), ("PUT", "other", content(day as u64 + 50, 1)))
            } else {
                (("PUT", name.as_str(), content(day as u64, 2)), ("DELETE", name.as_str(), b"".as_slice()))
            };
            for (method, name, body) in [first, then] {
                let request = drive.request(method, &format!("files/{name}"), body);
                assert_eq!(drive.send(&platform, request).await.status / 100, 2, "{method} {name}");
            }
            assert_eq!(drive.send(&platform, drive.request("DELETE", "trash", b"")).await.status, 204);
            reclaim(&platform).await;
        }
        let set_back = async |name: &str| {
            let path = drive.ports.path().join(name);
            let db = restore_to(&drive.ports.bucket, Some("it"), &path, now(&platform)).await.unwrap();
            let plain = drive.plain();
            let restored = Ports {
                db,
                bucket: plain.bucket().clone(),
                queue: plain.queue().clone(),
                host: plain.host().clone(),
                settings: plain.settings().clone(),
            };
            let mut examination = Examination::new(true);
            while !examination.is_over() {
                examination.step(&restored).await.unwrap();
            }
            (restored, examination.report)
        };
        let (restored, report) = set_back("six.db").await;
        assert_eq!(report.faults, 0, "{report:?}");
        for (name, body) in &files {
            let got = drive.send(&restored, drive.request("GET", &format!("files/{name}"), b"")).await;
            assert_eq!((got.status, got.body == *body), (200, true), "{name}");
        }
        // Past the grace, bytes go: the examination says so, and which.
        for _ in 0..2 {
            labour.pass_secs(8 * DAY_SECS);
            reclaim(&platform).await;
        }
        let (_, report) = set_back("ten.db").await;
        assert!(report.findings.iter().any(|found| found.kind == Kind::MissingObject), "{report:?}");
    });
}
