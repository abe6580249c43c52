//! Dumps the metadata into the bucket.

use ledge_core::backup::{self, Limits};
use ledge_core::error::Result;
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::Platform;
use serde_json::json;

/// One part of the dump that has the job's id. Where it is stands in the dump's own row, which two workers at once can't
/// both change.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let id = job.id.as_str();
    if job.checkpoint.is_null() {
        backup::begin(platform, id).await?;
    }
    let progress = |rows, bytes| Progress { items_done: rows, bytes_done: bytes, ..Progress::default() };
    Ok(match backup::step(platform, id, &Limits::default()).await? {
        backup::Progress::More { rows, bytes } => {
            Step::More { progress: progress(rows, bytes), checkpoint: json!({ "backup": id }), after_secs: 0 }
        }
        backup::Progress::Done { rows, bytes } => Step::Done {
            progress: progress(rows, bytes),
            result: json!({ "backup": id, "rows": rows, "size_bytes": bytes }),
        },
    })
}
