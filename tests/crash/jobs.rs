//! Background work whose server dies.

use ledge_tests::{Mortal, Reply, noise};

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
        assert_eq!((job["state"].as_str(), &job["error"]), (Some("done"), &serde_json::Value::Null), "{job}");
        assert!(job["attempts"].as_u64().is_some_and(|attempts| (1..=2).contains(&attempts)), "{job}");
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
