//! The request's side: an ordinary copy was refused because of its size.

use super::super::commit::{Commit, Refused, refusal};
use super::super::decide::Copied;
use super::super::view::Way;
use super::super::{Operation, Outcome};
use super::Large;
use crate::error::{Error, Result};
use crate::jobs::{self, By, Job, Work};
use crate::path::Name;
use crate::ports::{Platform, Statement};
use crate::trash::copy_root;

/// Hands the copy that the plan consists of to a job. `tell` is told of the job before the commit.
pub(in crate::nodes) async fn begin<P: Platform>(
    platform: &P,
    commit: &Commit<'_>,
    operation: &Operation,
    tell: impl FnOnce(&Job) -> Result<()>,
) -> Result<Job, Refused> {
    let prepared = prepare(platform, commit, operation).map_err(Refused::For)?;
    tell(&prepared.job).map_err(Refused::For)?;
    let committed = jobs::commit(platform, prepared.work.lane(), &prepared.job.id, prepared.batch).await;
    committed.map_err(refusal)?;
    Ok(prepared.job)
}

struct Prepared {
    work: Work,
    job: Job,
    batch: Vec<Statement>,
}

fn prepare<P: Platform>(platform: &P, commit: &Commit<'_>, operation: &Operation) -> Result<Prepared> {
    let plan = commit.plan;
    let missing = || Error::Internal("a plan without its only copy".to_owned());
    let (Some(copied), Some(outcome)) = (plan.copies.first(), plan.outcomes.first()) else {
        return Err(missing());
    };
    let large = Large {
        space: commit.space.clone(),
        top: outcome.id.clone(),
        copied: copied.clone(),
        depth: depth(commit, outcome)?,
        folder: outcome.parent.clone(),
        name: wanted_name(commit, operation, copied)?,
        conflict: operation.conflict,
        protocol: commit.token.protocol(),
        submitted: commit.token.submitted().clone(),
    };
    let work = Work::Copy(Box::new(large));
    let by = By::Account {
        account: &commit.read.caller.account,
        space: Some(commit.space),
        token: Some(commit.token),
    };
    let (id, row) = jobs::row(platform.host(), &work, by, commit.now)?;
    let mut batch = commit.begin(copied, outcome.id.as_str(), &copy_root(&id))?;
    let first = "insert into copy_folders (job, folder, depth) select ?1, n, 0 from nodes where id = ?2";
    batch.extend([Statement::new(first).bind(&id).bind(copied.source.as_str()), row]);
    Ok(Prepared { job: Job::new(id, &work, by, commit.now)?, work, batch })
}

fn depth(commit: &Commit<'_>, outcome: &Outcome) -> Result<usize> {
    match commit.plan.before.way(outcome.parent.as_str()) {
        Way::Lives { depth } => Ok(depth + 1),
        Way::Gone { .. } => Err(Error::Internal("a copy goes to a folder that is gone".to_owned())),
    }
}

/// What was asked for, and not a number that was free for it by now.
fn wanted_name(commit: &Commit<'_>, operation: &Operation, copied: &Copied) -> Result<Name> {
    match (&operation.to.name, commit.read.view.get(&copied.source)) {
        (Some(name), _) => Ok(name.clone()),
        (None, Some(source)) => Name::parse(&source.name),
        (None, None) => Err(Error::NotFound),
    }
}
