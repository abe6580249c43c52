//! The last step: what was built gets its place.

use serde_json::json;

use super::super::batch::decided;
use super::super::commit::{Commit, Refused};
use super::super::decide::Copied;
use super::super::{Expected, Operation, Target, To, Verb};
use super::Large;
use crate::error::{Conflict, Error, Result};
use crate::jobs::{Claimed, Step};
use crate::locks;
use crate::ports::{Host, Platform, Statement};
use crate::token::Token;
use crate::trash::copy_root;

/// So often is decided again, when others keep changing what was read.
const ATTEMPTS: usize = 100;

/// Nothing else may have happened to it.
const STILL_THERE: &str = "insert into guard (why) select 'tree_changed' where not exists (
    select 1 from nodes where id = ?1 and parent_id = ?2)";

/// Decides as for an ordinary copy, on what is there by now, and commits. What came of it is the job's checkpoint from the same
/// batch on.
pub(super) async fn place<P: Platform>(
    platform: &P,
    job: &Claimed,
    large: &Large,
    token: &Token,
) -> Result<Step> {
    let operation = Operation {
        verb: Verb::Copy,
        node: Target::Id(large.source()?),
        to: To { parent: Some(Target::Id(large.folder.clone())), name: Some(large.name.clone()) },
        conflict: large.conflict,
        expected: Expected::Any,
        alone: false,
    };
    let built = Copied { built_for: Some(large.depth), ..large.copied.clone() };
    let operations = [operation];
    for _ in 0..ATTEMPTS {
        let decided = decided(platform, token, &large.space, &operations, Some(&built)).await;
        let (read, plan) = decided.map_err(Error::alone)?;
        let Some(outcome) = plan.outcomes.first() else { break };
        let result = json!({
            "id": outcome.id.as_str(),
            "name": outcome.name,
            "parent_id": outcome.parent.as_str(),
            "replaced_id": outcome.replaced.as_ref().map(ToString::to_string),
        });
        let now = platform.host().now();
        let there = Statement::new(STILL_THERE).bind(&large.top).bind(copy_root(&job.id));
        let commit = Commit {
            token,
            space: &large.space,
            read: &read,
            now,
            plan: &plan,
            first: vec![job.guard(), there],
            last: vec![job.checkpoint(&result, job.progress, now)?],
        };
        match commit.run(platform).await {
            Ok(()) => return Ok(Step::Done { progress: job.progress, result }),
            Err(Refused::TreeChanged) => {}
            Err(Refused::Locked) => locks::refusal(platform, token, &large.space, &plan.touched()).await?,
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}
