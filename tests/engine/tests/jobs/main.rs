//! Background work: lost and doubled messages, workers that are overtaken or never come back, people who steer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod faults;
mod lease;
mod once;
mod steer;
mod tick;
mod watch;

use http::Request;
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, By, Claim, Claimed, Work};
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_engine_tests::{Answer, Drive, Labouring, noise};

/// Work that nothing stands in the way of: the ingest isn't there.
pub(crate) fn nothing() -> Work {
    Work::DiscardIngest { ingest: 1 << 40, key: "none".to_owned() }
}

/// A job of the system's, whose message is lost.
pub(crate) async fn job<P: Platform>(platform: &P) -> JobId {
    let (id, row) = jobs::row(platform.host(), &nothing(), By::System, platform.host().now()).unwrap();
    platform.db().write(vec![row]).await.unwrap();
    id
}

/// Has a worker take the job.
pub(crate) async fn claimed<P: Platform>(platform: &P, id: &JobId) -> Claimed {
    match jobs::claim(platform, id).await.unwrap() {
        Claim::Job(job) => *job,
        other => panic!("{other:?}"),
    }
}

/// A column of the only job.
pub(crate) async fn column(drive: &Drive, sql: &'static str) -> Value {
    drive.column(sql).await.pop().unwrap_or(Value::Null)
}

/// The state of the only job that isn't a periodic one.
pub(crate) async fn state(drive: &Drive) -> String {
    match column(drive, "select state as it from jobs where unique_key is null").await {
        Value::Text(state) => state,
        other => format!("{other:?}"),
    }
}

/// Saves a body with a wrong digest: what it stored is to be discarded by a job.
pub(crate) async fn fail_to_save(drive: &Drive, platform: &Labouring<'_>) -> Answer {
    let mut refused = drive.request("PUT", "files/large", noise(2, 300_000).leak());
    refused.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
    drive.send(platform, refused).await
}

/// A request about jobs, by the drive's first token.
pub(crate) fn request(drive: &Drive, method: &str, path: &str) -> Request<&'static [u8]> {
    let mut request = drive.request(method, "", b"");
    *request.uri_mut() = format!("/api/v1/{path}").parse().unwrap();
    request
}

/// The answer as JSON.
pub(crate) fn json(answer: &Answer) -> serde_json::Value {
    serde_json::from_slice(&answer.body).unwrap()
}

/// Writes what a test needs.
pub(crate) async fn write(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}
