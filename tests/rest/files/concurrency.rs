//! Two writers, and fifty.

use std::thread;

use ledge_tests::{Drive, Reply};

#[test]
fn of_fifty_writers_with_the_same_if_match_one_wins() {
    let drive = Drive::new();
    let first = drive.put("a", "first");
    let tag = first.header("etag").to_owned();
    let replies: Vec<(usize, Reply)> = thread::scope(|scope| {
        let writers: Vec<_> = (0..50)
            .map(|n| {
                let (drive, tag) = (&drive, &tag);
                scope.spawn(move || {
                    let put = drive.request("PUT", "a").header("if-match", tag).body(format!("writer {n}"));
                    (n, Reply::to(put))
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let winners: Vec<usize> =
        replies.iter().filter(|(_, reply)| reply.status == 204).map(|(n, _)| *n).collect();
    let losers = replies.iter().filter(|(_, reply)| reply.status == 412).count();
    assert_eq!((winners.len(), losers), (1, 49));
    assert_eq!(drive.get("a").body, format!("writer {}", winners[0]).into_bytes());
}

#[test]
fn twenty_writers_without_conditions_all_succeed() {
    let drive = Drive::new();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let writers: Vec<_> = (0..20)
            .map(|n| {
                let drive = &drive;
                // Half of them small, half in the bucket.
                let body = vec![b'a' + n; if n % 2 == 0 { 100 } else { 300_000 }];
                scope.spawn(move || drive.put("a", body).status)
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 204).count(), 19, "{statuses:?}");
    let read = drive.get("a");
    let body = &read.body;
    assert!(matches!(body.len(), 100 | 300_000) && body.iter().all(|byte| *byte == body[0]), "never a mix");

    let history = drive.file_url("a").replacen("/files/", "/versions/", 1);
    let history = Reply::to(Drive::signed("GET", &history)).json();
    let versions = history["versions"].as_array().unwrap();
    assert_eq!(versions.len(), 20, "every one of them is kept");
    assert_eq!(versions[0]["etag"], read.header("etag"), "the last commit wins");
}
