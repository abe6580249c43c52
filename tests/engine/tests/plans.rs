//! Every statement that requests and jobs run finds its rows by an index.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::cell::RefCell;

use ledge_core::ids::JobId;
use ledge_core::ports::{Db, Statement, Value};
use ledge_engine_tests::{Drive, noise, record, run};

/// What a plan may scan: values of a bound JSON array, the rows that the statement itself has made, and the one
/// row that a guard selects from nothing.
const SCANS_OF_FEW: [&str; 12] = [
    "SCAN json_each VIRTUAL TABLE",
    "SCAN e VIRTUAL TABLE",
    "SCAN r VIRTUAL TABLE",
    "SCAN x VIRTUAL TABLE",
    "SCAN CONSTANT ROW",
    "SCAN w",
    "SCAN u",
    "SCAN at",
    "SCAN named",
    "SCAN (subquery",
    "SCAN up",
    "SCAN walk",
];

#[test]
fn no_statement_scans_a_table() {
    run(async {
        let drive = Drive::new().await;
        let statements = RefCell::new(Vec::new());
        let platform = record(drive.plain(), &statements);
        let large: &'static [u8] = noise(1, 9 << 20).leak();
        for (method, path, body, status) in [
            ("PUT", "folders/photos", b"".as_slice(), 201),
            ("PUT", "folders/photos", b"", 200),
            ("PUT", "files/photos/small", b"small", 201),
            ("PUT", "files/photos/small", b"small again", 204),
            ("PUT", "files/photos/large", large, 201),
            ("PUT", "files/photos/large", large, 204),
            ("GET", "files/photos/small", b"", 200),
            ("GET", "files/photos/large", b"", 200),
            ("HEAD", "files/photos/large", b"", 200),
            ("GET", "files/none", b"", 404),
            ("GET", "folders/photos", b"", 200),
            ("GET", "folders/photos?sort=size&order=desc", b"", 200),
        ] {
            assert_eq!(
                drive.send(&platform, drive.request(method, path, body)).await.status,
                status,
                "{path}"
            );
        }
        let mut ranged = drive.request("GET", "files/photos/large", b"");
        ranged.headers_mut().insert("range", "bytes=-5,100-8000000".parse().unwrap());
        assert_eq!(drive.send(&platform, ranged).await.status, 206);
        let mut refused = drive.request("PUT", "files/photos/large", noise(2, 9 << 20).leak());
        refused.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
        assert_eq!(drive.send(&platform, refused).await.status, 400);
        let Some(Value::Text(job)) = drive.column("select id as it from jobs").await.pop() else {
            unreachable!("the refused upload left a job")
        };
        ledge_functions::run(&platform, &JobId::parse(&job).unwrap()).await;
        let jobs = drive.request("GET", "../../jobs", b"");
        let mut jobs = jobs;
        *jobs.uri_mut() = "/api/v1/jobs".parse().unwrap();
        assert_eq!(drive.send(&platform, jobs).await.status, 200);

        let mut statements = statements.into_inner();
        statements.sort_by(|a, b| a.sql.cmp(&b.sql));
        statements.dedup_by(|a, b| a.sql == b.sql);
        assert!(statements.len() > 15, "{} statements were run", statements.len());
        for statement in statements {
            check(&drive, &statement).await;
        }
    });
}

async fn check(drive: &Drive, statement: &Statement) {
    let explain = Statement {
        sql: format!("explain query plan {}", statement.sql).into(),
        params: statement.params.clone(),
    };
    let rows = drive.ports.db.read(vec![explain]).await.unwrap().remove(0);
    for row in rows {
        let detail = row.text("detail").unwrap();
        let is_fine = !detail.starts_with("SCAN") || SCANS_OF_FEW.iter().any(|few| detail.starts_with(few));
        assert!(is_fine, "{detail}\n in {}", statement.sql);
    }
}
