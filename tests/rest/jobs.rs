//! Background work: written as a row, woken by the queue, done by the functions.

use ledge_tests::{Drive, noise};

#[test]
fn what_a_failed_upload_stored_is_discarded_by_a_job() {
    let drive = Drive::new();
    let known: Vec<String> = ids(&Drive::jobs());
    let wrong = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let put = drive.request("PUT", "a").header("repr-digest", wrong).body(noise(11, 9 << 20));
    let reply = ledge_tests::Reply::to(put);
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "Repr-Digest");
    assert_eq!(drive.get("a").status, 404);

    let job = Drive::wait_for("the job is done", || {
        Drive::jobs().into_iter().find(|job| {
            job["kind"] == "discard_ingest" && job["state"] == "done" && !known.contains(&id(job))
        })
    });
    assert_eq!(job["error"], serde_json::Value::Null);
    assert_eq!(job["attempts"], 1);

    // The same content is new to the space: nothing refers to what is gone.
    let saved = drive.put("a", noise(11, 9 << 20));
    assert_eq!((saved.status, saved.cost().1), (201, 2));
    assert_eq!(drive.get("a").body, noise(11, 9 << 20));
}

fn id(job: &serde_json::Value) -> String {
    job["id"].as_str().unwrap().to_owned()
}

fn ids(jobs: &[serde_json::Value]) -> Vec<String> {
    jobs.iter().map(id).collect()
}
