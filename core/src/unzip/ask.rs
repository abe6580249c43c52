//! Asking for a ZIP file to be unpacked.

use super::source::Source;
use super::step::Wanted;
use crate::archive::MAX_ENTRIES;
use crate::auth::{self, Right};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::files::Which;
use crate::folders::{self, Create};
use crate::jobs::{self, By, Job, Work};
use crate::ports::{Db, DbError, Host, Platform, Statement};
use crate::tree::Address;

/// What to unpack, and where.
#[derive(Debug, Clone)]
pub struct Unpack {
    /// The ZIP file.
    pub archive: Address,
    /// The folder that takes it in; it is made where it is missing.
    pub into: Address,
}

/// Has a job unpack it. What can be seen at once to be no ZIP file, or too large a one, is refused at once. `tell` is told of the
/// job before the commit. Five round trips at most.
///
/// # Errors
/// [`Error::BadArchive`]; [`Error::TooManyEntries`]; [`Conflict::NotAFolder`] where a file stands in the way.
pub async fn ask<P: Platform>(
    platform: &P,
    wanted: &Unpack,
    tell: impl FnOnce(&Job) -> Result<()>,
) -> Result<Job> {
    let Unpack { archive, into } = wanted;
    let now = platform.host().now();
    let look = platform.db().read(vec![auth::look_up_at(into, now)]).await?;
    let caller = auth::authorise(look.first().and_then(|rows| rows.first()), Right::Write)?;
    let source = Source::open(platform, archive, &Which::Current).await?;
    if source.end.entries > MAX_ENTRIES as u64 {
        let reason = format!(
            "the ZIP file has {} entries, and at most {MAX_ENTRIES} are unpacked",
            source.end.entries
        );
        return Err(Error::TooManyEntries { reason });
    }
    let create = Create { address: into.clone(), parents: true, conditions: Conditions::default() };
    let folder = folders::create(platform, &create).await.map_err(|error| match error {
        Error::Conflict(Conflict::IsAFile) => Error::Conflict(Conflict::NotAFolder),
        error => error,
    })?;
    let folder = folder.node.id;
    let by = By::Account { account: &caller.account, space: Some(&into.space), token: Some(&into.token) };
    let work = Work::Unpack(Box::new(Wanted {
        archive: source.node.clone(),
        version: source.version.clone(),
        into: folder.clone(),
    }));
    let (id, row) = jobs::row(platform.host(), &work, by, now)?;
    let job = Job::new(id.clone(), &work, by, now)?;
    tell(&job)?;
    let guard = format!("insert into guard (why) select 'access_gone' where not {}", auth::STILL_WRITES_IN);
    let guard =
        Statement::new(guard).bind(into.token.hash().to_string()).bind(&into.space).bind(now).bind(&folder);
    match jobs::commit(platform, work.lane(), &id, vec![guard, row]).await {
        Err(DbError::Violated(why)) if why == "access_gone" => Err(Error::Conflict(Conflict::Contended)),
        done => Ok(done.map(|()| job)?),
    }
}
