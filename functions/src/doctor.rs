//! Examines whether database and bucket fit together.

use ledge_core::doctor::Examination;
use ledge_core::error::{Error, Result};
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::{Host, Platform};

/// A step begins no further piece after this time, or after so many: the examination, with what it has found, is written
/// into the job's row after each step.
const PIECES_SECS: i64 = 5;
const PIECES: usize = 20;

/// Some pieces of the examination, which is the job's checkpoint.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, content: bool) -> Result<Step> {
    let unreadable = |error: serde_json::Error| Error::Internal(format!("an examination: {error}"));
    let mut examination = if job.checkpoint.is_null() {
        Examination::new(content)
    } else {
        serde_json::from_value(job.checkpoint.clone()).map_err(unreadable)?
    };
    let until = platform.host().now().plus_secs(PIECES_SECS);
    for _ in 0..PIECES {
        examination.step(platform).await?;
        if examination.is_over() || platform.host().now() > until {
            break;
        }
    }
    let report = &examination.report;
    let items_done = report.objects + report.pages + report.blobs + report.nodes;
    let progress = Progress { items_done, bytes_done: report.content_bytes, ..Progress::default() };
    Ok(if examination.is_over() {
        Step::Done { progress, result: serde_json::to_value(report).map_err(unreadable)? }
    } else {
        let checkpoint = serde_json::to_value(&examination).map_err(unreadable)?;
        Step::More { progress, checkpoint, after_secs: 0 }
    })
}
