//! An import that fails or is killed anywhere goes on where it was, and makes nothing twice.

use std::cell::RefCell;
use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::ports::Statement;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, Labour, check, race, run, worker};
use serde_json::json;

use super::world::{Foreign, ask, body, finish, import, number, platform, report, tree};

const KEYS: [&str; 8] = ["a", "b//c", "d/e", "d/f", "d/g/h", "i/", "ledge/x", "z"];

#[test]
fn whatever_fails_each_object_becomes_one_file() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let at = format!("call {call}, {when:?}");
                let drive = Drive::quick().await;
                let labour = Labour::new(drive.plain());
                let foreign = Foreign::new(KEYS);
                foreign.page.set(3);
                let platform = platform(&labour, &drive, &foreign);
                let job = ask(&drive, &platform, &json!({ "bucket": "foreign", "into": "/in" })).await;
                let faults = Faults::at(call, when);
                {
                    let failing = fail(&platform, &faults);
                    let worker = pin!(ledge_functions::run(&failing, &job));
                    let _died = matches!(select(worker, pin!(faults.death())).await, Either::Right(_));
                }
                assert_eq!(finish(&drive, &platform, &job).await, ("done".to_owned(), None), "{at}");
                let wanted =
                    ["in/", "in/a", "in/d/", "in/d/e", "in/d/f", "in/d/g/", "in/d/g/h", "in/i/", "in/z"];
                assert_eq!(tree(&drive).await, wanted, "{at}");
                let told = report(&drive, &platform, &job).await;
                let counts =
                    ["files", "folders", "own", "refused_count"].map(|name| told[name].as_u64().unwrap());
                assert_eq!(counts, [5, 4, 1, 1], "{at}");
                assert_eq!(number(&drive, "select count(*) as it from segments").await, 5, "{at}");
                check(&drive).await;
                if faults.calls() <= call {
                    assert!(call >= 12, "{call} calls");
                    break;
                }
            }
        }
    });
}

#[test]
fn hashing_survives_the_same() {
    run(async {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            for call in 0.. {
                let at = format!("call {call}, {when:?}");
                let drive = Drive::quick().await;
                let labour = Labour::new(drive.plain());
                let foreign = Foreign::new(["a", "b", "c"]);
                foreign.set_size("b", 40 << 20);
                let platform = platform(&labour, &drive, &foreign);
                import(&drive, &platform).await;
                let refused = drive.send(&platform, drive.request("GET", "archive/in", b"")).await;
                let job = ledge_core::ids::JobId::parse(body(&refused)["job"].as_str().unwrap()).unwrap();
                let faults = Faults::at(call, when);
                {
                    let failing = fail(&platform, &faults);
                    let worker = pin!(ledge_functions::run(&failing, &job));
                    let _died = matches!(select(worker, pin!(faults.death())).await, Either::Right(_));
                }
                assert_eq!(finish(&drive, &platform, &job).await, ("done".to_owned(), None), "{at}");
                assert_eq!(
                    number(&drive, "select count(*) as it from blobs where crc32 < 0").await,
                    0,
                    "{at}"
                );
                let head = drive.send(&platform, drive.request("HEAD", "archive/in", b"")).await;
                assert_eq!(head.status, 200, "{at}");
                check(&drive).await;
                if faults.calls() <= call {
                    assert!(call >= 8, "{call} calls");
                    break;
                }
            }
        }
    });
}

#[test]
fn a_space_that_changes_meanwhile_is_read_again() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["a", "b"]);
        let platform = platform(&labour, &drive, &foreign);
        let job = ask(&drive, &platform, &json!({ "bucket": "foreign" })).await;
        // Somebody takes a name just before the commit.
        let others = RefCell::new(vec![
            Statement::new(
                "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
                 select '018f0000-0000-7000-8000-00000000000a', id, root_id, 'a', 'a', 'folder', 0, 0 from spaces",
            ),
            Statement::new("update spaces set change_seq = change_seq + 1"),
        ]);
        ledge_functions::run(&race(&platform, &others), &job).await;
        assert_eq!(finish(&drive, &platform, &job).await.0, "done");
        assert_eq!(tree(&drive).await, ["a/", "b"]);
        let told = report(&drive, &platform, &job).await;
        assert_eq!((told["files"].as_u64(), told["refused_count"].as_u64()), (Some(1), Some(1)));
    });
}

#[test]
fn a_cancelled_import_keeps_what_it_has_made() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new((0..10).map(|n| format!("{n}")));
        foreign.page.set(2);
        let platform = platform(&labour, &drive, &foreign);
        let job = ask(&drive, &platform, &json!({ "bucket": "foreign" })).await;
        let ledge_core::jobs::Claim::Job(claimed) = ledge_core::jobs::claim(&platform, &job).await.unwrap()
        else {
            panic!("it is due")
        };
        let stepped = ledge_core::imports::step(&platform, &claimed).await;
        ledge_core::jobs::leave(&platform, *claimed, stepped, false).await.unwrap();
        let mut cancel = drive.request("POST", "", b"");
        *cancel.uri_mut() = format!("/api/v1/jobs/{job}/cancel").parse().unwrap();
        assert!([200, 202].contains(&drive.send(&platform, cancel).await.status));
        worker::due(&drive).await;
        ledge_functions::run(&platform, &job).await;
        assert_eq!(worker::state(&drive, &job).await.0, "cancelled");
        assert_eq!(tree(&drive).await, ["0", "1"]);
        check(&drive).await;
    });
}
