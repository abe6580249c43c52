//! Background work: written as a row, woken by the queue, done by the functions.

use ledge_tests::{Drive, Reply, noise};
use serde_json::{Value, json};

#[test]
fn what_a_failed_upload_stored_is_discarded_by_a_job() {
    let drive = Drive::new();
    let known: Vec<String> = ids(&Drive::jobs());
    let wrong = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let put = drive.request("PUT", "a").header("repr-digest", wrong).body(noise(11, 9 << 20));
    let reply = Reply::to(put);
    reply.expect_problem(400, "invalid");
    assert_eq!(reply.json()["field"], "Repr-Digest");
    assert_eq!(drive.get("a").status, 404);

    let job = Drive::wait_for("the job is done", || {
        Drive::jobs().into_iter().find(|job| {
            job["kind"] == "discard_ingest" && job["state"] == "done" && !known.contains(&id(job))
        })
    });
    assert_eq!(job["error"], Value::Null);
    assert_eq!(job["attempts"], 1);

    // The same content is new to the space: nothing refers to what is gone.
    let saved = drive.put("a", noise(11, 9 << 20));
    assert_eq!((saved.status, saved.cost().1), (201, 2));
    assert_eq!(drive.get("a").body, noise(11, 9 << 20));
}

#[test]
fn a_job_is_watched_by_its_id_and_what_is_done_can_not_be_steered() {
    let drive = Drive::new();
    let known: Vec<String> = ids(&Drive::jobs());
    fail_to_save(&drive);
    let job =
        Drive::wait_for("there is a job", || Drive::jobs().into_iter().find(|job| !known.contains(&id(job))));
    let path = format!("/api/v1/jobs/{}", id(&job));
    let done = Drive::wait_for("the job is done", || {
        let reply = Reply::to(Drive::signed("GET", &Drive::absolute(&path)));
        assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
        Some(reply.json()).filter(|job| job["state"] == "done")
    });
    assert_eq!((&done["lane"], &done["space_id"]), (&json!("maintenance"), &json!(Drive::space())));
    assert_eq!((&done["cancel_requested"], &done["due_at"]), (&json!(false), &Value::Null));
    assert_eq!(done["progress"]["items_done"], 2, "{done}");
    assert!(done["finished_at"].as_str() >= done["created_at"].as_str());
    for verb in ["cancel", "retry"] {
        let reply = Reply::to(Drive::signed("POST", &Drive::absolute(&format!("{path}/{verb}"))));
        reply.expect_problem(409, "job_over");
        assert_eq!(reply.cost(), (1, 0));
    }
    for (method, path, status, code) in [
        ("GET", "/api/v1/jobs/018f0000-0000-7000-8000-000000000000", 404, "not_found"),
        ("GET", "/api/v1/jobs/none", 404, "not_found"),
        ("POST", "/api/v1/jobs/018f0000-0000-7000-8000-000000000000/cancel", 404, "not_found"),
        ("POST", "/api/v1/jobs/018f0000-0000-7000-8000-000000000000/retry", 404, "not_found"),
        ("GET", "/api/v1/jobs/018f0000-0000-7000-8000-000000000000/retry", 405, "method_not_allowed"),
        ("GET", "/api/v1/jobs?state=late", 400, "invalid"),
        ("GET", "/api/v1/jobs?limit=0", 400, "invalid"),
    ] {
        Reply::to(Drive::signed(method, &Drive::absolute(path))).expect_problem(status, code);
    }
}

#[test]
fn jobs_are_listed_by_pages_and_by_state() {
    let drive = Drive::new();
    let known: Vec<String> = ids(&Drive::jobs());
    for _ in 0..3 {
        fail_to_save(&drive);
    }
    let list = |query: &str| {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let url = Drive::absolute(&format!("/api/v1/jobs?limit=1{query}{cursor}"));
            let reply = Reply::to(Drive::signed("GET", &url));
            assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
            let page = reply.json();
            all.extend(page["jobs"].as_array().unwrap().clone());
            let Some(next) = page["next"].as_str() else { return all };
            cursor = format!("&cursor={next}");
        }
    };
    Drive::wait_for("the jobs are done", || {
        let done = list("&state=done");
        assert!(done.iter().all(|job| job["state"] == "done"));
        (done.iter().filter(|job| !known.contains(&id(job))).count() >= 3).then_some(())
    });
    let all = list("");
    let times: Vec<&str> = all.iter().map(|job| job["created_at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    assert!(all.len() >= known.len() + 3);
    assert_eq!(list("&state=dead"), Vec::<Value>::new());
}

#[test]
fn an_administrator_sees_how_the_lanes_are_doing() {
    let reply = Reply::to(Drive::signed("GET", &Drive::absolute("/api/v1/admin/jobs")));
    assert_eq!((reply.status, reply.cost()), (200, (1, 0)));
    let lanes = reply.json()["lanes"].as_array().unwrap().clone();
    let names: Vec<_> = lanes.iter().map(|lane| lane["lane"].as_str().unwrap()).collect();
    assert_eq!(names, ["thumbnails", "archives", "maintenance"]);
    for lane in &lanes {
        for count in ["pending", "processing", "retry", "dead"] {
            assert!(lane[count].is_u64(), "{lane}");
        }
        assert_eq!(lane["oldest_at"].is_null(), lane["oldest_age_secs"].is_null());
    }
    assert_eq!(lanes[0]["oldest_at"], Value::Null);
}

#[test]
fn messages_that_are_doubled_do_the_work_once() {
    let url = Drive::absolute("/api/v1/admin/backups");
    let asked = Reply::to(Drive::signed("POST", &url));
    assert_eq!(asked.status, 202);
    let path = Drive::absolute(asked.header("location"));
    for _ in 0..20 {
        // Each sends a message, as long as the job isn't over.
        let again = Reply::to(Drive::signed("POST", &format!("{path}/retry")));
        assert!([200, 409].contains(&again.status), "{}", again.status);
    }
    let job = Drive::wait_for("the job is over", || {
        let job = Reply::to(Drive::signed("GET", &path)).json();
        (!job["finished_at"].is_null()).then_some(job)
    });
    assert_eq!((&job["state"], &job["attempts"]), (&json!("done"), &json!(1)), "{job}");
    let dumps = Reply::to(Drive::signed("GET", &url)).json();
    let dumps = dumps["backups"].as_array().unwrap().iter();
    let made: Vec<&Value> = dumps.filter(|dump| dump["id"] == job["id"]).collect();
    assert_eq!(made.len(), 1);
    assert_eq!(made[0]["rows"], job["result"]["rows"]);
}

/// Saves a body with a wrong digest: what it stored is discarded by a job.
fn fail_to_save(drive: &Drive) {
    let wrong = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let put = drive.request("PUT", "a").header("repr-digest", wrong).body(noise(12, 9 << 20));
    Reply::to(put).expect_problem(400, "invalid");
}

fn id(job: &Value) -> String {
    job["id"].as_str().unwrap().to_owned()
}

fn ids(jobs: &[Value]) -> Vec<String> {
    jobs.iter().map(id).collect()
}
