//! Who may import, what, and how much.

use ledge_engine_tests::{Drive, Labour, check, run};
use serde_json::{Value, json};

use super::world::{Foreign, ask, body, finish, number, platform, post, tree, write};

#[test]
fn only_owners_who_are_administrators_may() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["a"]);
        let platform = platform(&labour, &drive, &foreign);
        let wanted = json!({ "bucket": "foreign" });
        let job = ask(&drive, &platform, &wanted).await;
        let path = format!("imports/{job}");
        for (demote, status) in [
            ("update accounts set role = 'user'", 403),
            ("update members set role = 'writer'", 403),
            ("delete from members", 404),
        ] {
            write(&drive, demote).await;
            assert_eq!(post(&drive, &platform, "imports", &wanted).await.status, status, "{demote}");
        }
        assert_eq!(drive.send(&platform, drive.request("GET", &path, b"")).await.status, 404);
        // Whoever has lost the right meanwhile imports nothing.
        assert_eq!(finish(&drive, &platform, &job).await.0, "dead");
        assert_eq!(number(&drive, "select count(*) as it from segments").await, 0);
        assert_eq!(number(&drive, "select count(*) as it from ingests").await, 0);
    });
}

#[test]
fn what_can_not_be_imported_names_its_field() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["a"]);
        let platform = platform(&labour, &drive, &foreign);
        assert_eq!(drive.put("file", b"x").await.status, 201);
        for (wanted, status, told) in [
            (json!({ "bucket": "third" }), 400, json!("bucket")),
            (json!({ "bucket": "foreign", "prefix": "ledge/" }), 400, json!("prefix")),
            (json!({ "bucket": "foreign", "prefix": "ledge/seg" }), 400, json!("prefix")),
            (json!({ "bucket": "foreign", "prefix": "p".repeat(1025) }), 400, json!("prefix")),
            (json!({ "bucket": "foreign", "into": "no slash" }), 400, json!("into")),
            (json!({ "bucket": "foreign", "into": "/a/../b" }), 400, json!("into")),
            (json!({ "bucket": "foreign", "into": "/file" }), 409, Value::Null),
            (json!({ "bucket": "foreign", "into": "/file/below" }), 409, Value::Null),
            (json!({ "bucket": "foreign", "more": 1 }), 400, json!("body")),
            (json!([]), 400, json!("body")),
        ] {
            let answer = post(&drive, &platform, "imports", &wanted).await;
            assert_eq!((answer.status, &body(&answer)["field"]), (status, &told), "{wanted}");
        }
        assert_eq!(number(&drive, "select count(*) as it from jobs").await, 0);
        assert_eq!(number(&drive, "select count(*) as it from imports").await, 0);
    });
}

#[test]
fn the_same_request_imports_once() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["a"]);
        let platform = platform(&labour, &drive, &foreign);
        let request = || {
            let mut request = drive.request("POST", "imports", br#"{"bucket":"foreign"}"#);
            request.headers_mut().insert("idempotency-key", "once".parse().unwrap());
            request
        };
        let first = drive.send(&platform, request()).await;
        let second = drive.send(&platform, request()).await;
        assert_eq!((first.status, second.status), (202, 202));
        assert_eq!(body(&first)["id"], body(&second)["id"]);
        assert_eq!(number(&drive, "select count(*) as it from imports").await, 1);
    });
}

#[test]
fn the_quota_ends_it_and_what_fitted_stays() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new((0..10).map(|n| format!("{n}")));
        foreign.page.set(2);
        let platform = platform(&labour, &drive, &foreign);
        write(&drive, "update spaces set quota_bytes = 45").await;
        let job = ask(&drive, &platform, &json!({ "bucket": "foreign" })).await;
        let (state, error) = finish(&drive, &platform, &job).await;
        assert_eq!((state.as_str(), error.as_deref()), ("dead", Some("the space's quota is exceeded")));
        assert_eq!(tree(&drive).await, ["0", "1", "2", "3"]);
        check(&drive).await;
    });
}
