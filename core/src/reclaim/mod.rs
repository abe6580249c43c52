//! Giving bytes back: what nothing needs any more leaves the bucket, and nothing else does.
//!
//! Everything here is a step: bounded, safe to repeat, and safe to run beside itself and beside any request. A job
//! strings steps together, and carries a checkpoint from one to the next. When in doubt, a step keeps. The life of a
//! segment, and why no order of steps can hurt a reader or a commit, stand in docs/STORAGE.md.

mod ask;
mod candidates;
mod delete;
mod ingests;
mod limits;
mod orphans;
mod repack;
mod report;
mod sweep;
mod unused;

pub use ask::{ask, start};
pub use ingests::{Emptied, discard};
pub use limits::Limits;
pub use report::{Kind, Report, report};
pub use sweep::{FullPass, Reclaimed, Sweep, full_pass, sweep};

use crate::error::Result;
use crate::manifest;
use crate::ports::{Db, Platform, Row, Statement};

/// Of some keys those that no segment has: nothing can refer to these objects.
async fn without_row<P: Platform>(platform: &P, keys: &[String]) -> Result<Vec<String>> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    texts(&platform.db().read(vec![rowless(keys)?]).await?.pop().unwrap_or_default(), "key")
}

fn rowless(keys: &[String]) -> Result<Statement> {
    let look = Statement::new(
        "select e.value as key from json_each(?1) e
          where not exists (select 1 from segments s
                             where substr(s.key, 11, 12) = substr(e.value, 11, 12) and s.key = e.value)",
    );
    Ok(look.bind(manifest::to_json(&keys)?))
}

fn texts<'a>(rows: impl IntoIterator<Item = &'a Row>, column: &str) -> Result<Vec<String>> {
    rows.into_iter().map(|row| Ok(row.text(column)?.to_owned())).collect()
}
