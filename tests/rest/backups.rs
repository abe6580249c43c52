//! Dumps and examinations, as administrators ask for them.

use ledge_tests::{Drive, Reply};
use serde_json::{Value, json};

fn ask(method: &str, path: &str) -> Reply {
    Reply::to(Drive::signed(method, &Drive::absolute(path)))
}

/// Waits for a job.
fn over(id: &str) -> Value {
    Drive::wait_for("the job is over", || {
        let job = ask("GET", &format!("/api/v1/jobs/{id}")).json();
        (!job["finished_at"].is_null()).then_some(job)
    })
}

#[test]
fn a_dump_is_made_by_a_job_and_listed() {
    let asked = ask("POST", "/api/v1/admin/backups");
    assert_eq!(asked.status, 202, "{}", asked.json());
    let id = asked.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(asked.header("location"), format!("/api/v1/jobs/{id}"));
    let job = over(&id);
    assert_eq!((&job["state"], &job["kind"]), (&json!("done"), &json!("backup")), "{job}");
    assert_eq!(job["result"]["backup"].as_str(), Some(id.as_str()));
    let listed = ask("GET", "/api/v1/admin/backups").json();
    let listed = listed["backups"].as_array().unwrap();
    let dump = listed.iter().find(|dump| dump["id"] == id.as_str()).unwrap();
    assert_eq!(dump["state"], "done");
    assert_eq!(dump["rows"], job["progress"]["items_done"]);
    assert!(dump["size_bytes"].as_u64().unwrap() > 200, "{dump}");
}

#[test]
fn an_examination_reports_what_it_found() {
    let drive = Drive::new();
    assert_eq!(drive.put("a", ledge_tests::noise(70, 5 << 20)).status, 201);
    let asked = ask("POST", "/api/v1/admin/doctor?content=true");
    assert_eq!(asked.status, 202, "{}", asked.json());
    let job = over(asked.json()["id"].as_str().unwrap());
    assert_eq!(job["state"], "done", "{job}");
    // Tests beside this one save and delete meanwhile.
    assert_eq!(job["result"]["faults"], 0, "{job}");
    assert!(job["result"]["nodes"].as_u64().unwrap() > 0, "{job}");
}

#[test]
fn what_is_malformed_is_refused() {
    ask("POST", "/api/v1/admin/doctor?content=perhaps").expect_problem(400, "invalid");
    ask("POST", "/api/v1/admin/backups?now=true").expect_problem(400, "invalid");
    ask("DELETE", "/api/v1/admin/backups").expect_problem(405, "method_not_allowed");
}

#[test]
fn a_token_that_may_only_read_or_reaches_one_space_asks_for_neither() {
    for limits in
        [json!({ "name": "reads", "rights": "read" }), json!({ "name": "here", "space_id": Drive::space() })]
    {
        let made = Reply::to(
            Drive::signed("POST", &Drive::absolute("/api/v1/tokens"))
                .header("content-type", "application/json")
                .body(limits.to_string()),
        );
        let token = made.json()["token"].as_str().unwrap().to_owned();
        for path in ["/api/v1/admin/backups", "/api/v1/admin/doctor"] {
            let asked = Drive::anonymous("POST", &Drive::absolute(path)).bearer_auth(&token);
            Reply::to(asked).expect_problem(403, "forbidden");
        }
    }
    Reply::to(Drive::anonymous("POST", &Drive::absolute("/api/v1/admin/doctor")))
        .expect_problem(401, "unauthenticated");
}
