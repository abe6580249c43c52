//! Background work whose server dies.

use ledge_tests::{Mortal, Reply, noise};
use serde_json::{Value, json};

/// Two segments.
const SIZE: usize = 9 << 20;

/// Saves a body with a wrong digest: what it stored is discarded by a job.
fn fail_to_save(server: &Mortal, seed: u64) {
    let wrong = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
    let put = server.in_space("PUT", &format!("files/{seed}")).header("repr-digest", wrong);
    assert_eq!(Reply::to(put.body(noise(seed, SIZE))).status, 400);
}

#[test]
fn jobs_that_a_server_dies_with_are_done_by_the_next_one() {
    let mut server = Mortal::new();
    for round in 0..3 {
        for seed in round * 10..round * 10 + 4 {
            fail_to_save(&server, seed);
        }
        server.kill();
        server.start();
    }
    let jobs = server.settled_jobs();
    assert_eq!(jobs.len(), 12);
    for job in &jobs {
        assert_eq!((job["state"].as_str(), &job["error"]), (Some("done"), &Value::Null), "{job}");
        // Each of the three servers that were killed may have begun it.
        assert!(job["attempts"].as_u64().is_some_and(|attempts| (1..=4).contains(&attempts)), "{job}");
    }
    // What failed is new to the space, so nothing of it is left; what is saved now stays.
    for seed in [0, 13, 23] {
        let saved = Reply::to(server.in_space("PUT", &format!("files/{seed}")).body(noise(seed, SIZE)));
        assert_eq!((saved.status, saved.cost().1, saved.stored_bytes()), (201, 2, SIZE as u64));
    }
    server.kill();
    server.start();
    let read = Reply::to(server.in_space("GET", "files/13"));
    assert!(read.body == noise(13, SIZE), "{}", read.status);
}

/// Each dump has every row once, wherever the servers died that were making it.
#[test]
fn dumps_that_servers_die_with_are_made_once_by_the_next_ones() {
    let mut server = Mortal::new();
    assert_eq!(Reply::to(server.in_space("PUT", "files/a").body("content")).status, 201);
    let copy = |n: usize| json!({ "op": "copy", "path": "/a", "to": { "name": format!("{n:05}") } });
    for thousand in 0..3 {
        let operations: Vec<Value> = (thousand * 1000..(thousand + 1) * 1000).map(copy).collect();
        let body = json!({ "operations": operations }).to_string();
        assert_eq!(Reply::to(server.in_space("POST", "nodes/batch").body(body)).status, 200);
    }
    for looks in 0..5 {
        let asked = Reply::to(server.request("POST", "/api/v1/admin/backups"));
        assert_eq!(asked.status, 202);
        let path = asked.header("location").to_owned();
        for _ in 0..looks {
            assert_eq!(Reply::to(server.request("GET", &path)).status, 200);
        }
        server.kill();
        server.start();
    }
    let jobs = server.settled_jobs();
    assert!(jobs.iter().all(|job| job["state"] == "done"), "{jobs:?}");
    let dumps = Reply::to(server.request("GET", "/api/v1/admin/backups")).json()["backups"].take();
    let dumps = dumps.as_array().unwrap();
    let of_dumps: Vec<&Value> = dumps.iter().map(|dump| &dump["id"]).collect();
    let of_jobs: Vec<&Value> = jobs.iter().map(|job| &job["id"]).collect();
    assert_eq!(of_dumps, of_jobs);
    for dump in dumps {
        assert_eq!((&dump["state"], &dump["rows"]), (&json!("done"), &dumps[0]["rows"]), "{dumps:?}");
        assert!(dump["rows"].as_u64().is_some_and(|rows| rows > 6000), "{dump}");
    }
}
