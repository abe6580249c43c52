//! Giving bytes back, by hand.

use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

const RECLAIM: &str = "/api/v1/admin/reclaim";

fn ask(body: &Value) -> Reply {
    let request = Drive::signed("POST", &Drive::absolute(RECLAIM)).header("content-type", "application/json");
    Reply::to(request.body(body.to_string()))
}

/// How many there are of a kind.
fn count(kind: &str) -> u64 {
    let reply = ask(&json!({"dry_run": true}));
    assert_eq!(reply.status, 200);
    let report = reply.json();
    assert!(report["grace_secs"].is_u64());
    let kinds = report["kinds"].as_array().unwrap();
    let found = kinds.iter().find(|found| found["kind"] == kind).unwrap();
    found["count"].as_u64().unwrap()
}

#[test]
fn a_sweep_dooms_what_nothing_refers_to_and_what_is_needed_stays() {
    let drive = Drive::new();
    let (gone, kept) = (noise(3301, 300_000), noise(3302, 300_000));
    assert_eq!(drive.put("gone", gone.clone()).status, 201);
    assert_eq!(drive.put("kept", kept.clone()).status, 201);
    assert_eq!(drive.put("gone", "something else").status, 204);
    let versions = drive.versions("gone");
    let older = versions.last().unwrap()["id"].as_str().unwrap();
    let delete = drive.version_request("DELETE", "gone", &format!("?version={older}"));
    assert_eq!(Reply::to(delete).status, 204);

    let started = ask(&json!({}));
    assert_eq!(started.status, 202);
    let job = started.json();
    assert_eq!(job["kind"], "reclaim");
    let location = started.header("location").to_owned();
    assert_eq!(location, format!("/api/v1/jobs/{}", job["id"].as_str().unwrap()));
    let done = Drive::wait_for("the sweep is done", || {
        let job = Reply::to(Drive::signed("GET", &Drive::absolute(&location))).json();
        (job["state"] == "done").then_some(job)
    });
    assert!(done["result"]["doomed"].is_u64(), "{done}");
    assert!(count("doomed") > 0, "nothing is deleted within the grace time");
    assert_eq!(drive.get("kept").body, kept);

    // A doomed segment is still known: the same content is stored at no cost.
    let again = drive.put("again", gone.clone());
    assert_eq!((again.status, again.stored_bytes()), (201, 0));
    assert_eq!(drive.get("again").body, gone);
}

#[test]
fn a_full_pass_is_a_job_of_its_own() {
    let started = ask(&json!({"full": true}));
    assert_eq!(started.status, 202);
    assert_eq!(started.json()["kind"], "reclaim_full_pass");
    let location = started.header("location").to_owned();
    Drive::wait_for("the pass is done", || {
        let job = Reply::to(Drive::signed("GET", &Drive::absolute(&location))).json();
        (job["state"] == "done").then_some(())
    });
}

#[test]
fn what_a_full_pass_would_find_is_not_foretold() {
    ask(&json!({"dry_run": true, "full": true})).expect_problem(400, "invalid");
    ask(&json!({"dry": true})).expect_problem(400, "invalid");
}
