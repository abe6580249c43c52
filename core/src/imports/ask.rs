//! Asking for an import.

use crate::auth::{self, Right};
use crate::buckets::OWN_KEYS;
use crate::error::{Conflict, Error, Result};
use crate::jobs::{self, By, Job, Work};
use crate::ports::{Buckets, Db, DbError, Host, Platform, Statement};
use crate::tree::{Address, Kind, Node, deepest, resolve};

/// The longest prefix: as long as a key.
pub const MAX_PREFIX_BYTES: usize = 1024;

/// What to import.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The folder that takes it in; it, and those above it, are made where they are missing.
    pub into: Address,
    /// The bucket's name; None: the default one.
    pub bucket: Option<String>,
    /// What the keys begin with: it isn't part of the names.
    pub prefix: String,
}

const GUARD: &str = "insert into guard (why) select 'access_gone' where not (";

/// Has a job import it. Only the space's owners may, who are administrators too: it shows what lies in a bucket. `tell` is told
/// of the job before the commit. Two round trips.
///
/// # Errors
/// [`Conflict::NotAFolder`] where a file stands in the way.
pub async fn ask<P: Platform>(
    platform: &P,
    wanted: &Wanted,
    tell: impl FnOnce(&Job) -> Result<()>,
) -> Result<Job> {
    let Wanted { into, bucket, prefix } = wanted;
    let (token, now) = (&into.token, platform.host().now());
    let batch = vec![auth::look_up(token, &into.space, now), auth::look_up_admin(token, now), resolve(into)];
    let results = platform.db().read(batch).await?;
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let caller = auth::authorise(first(0), Right::Own)?;
    auth::authorise_admin(first(1), Right::Write)?;
    check(platform, wanted)?;
    if let Some((_, Node { kind: Kind::File(_), .. })) =
        deepest(results.get(2).map(Vec::as_slice).unwrap_or_default())?
    {
        return Err(Error::Conflict(Conflict::NotAFolder));
    }
    let by = By::Account { account: &caller.account, space: Some(&into.space), token: Some(token) };
    let (id, row) = jobs::row(platform.host(), &Work::Import, by, now)?;
    let job = Job::new(id.clone(), &Work::Import, by, now)?;
    tell(&job)?;
    let admin = auth::STILL_ADMINISTERS.replace("?2", "?3");
    let guard = Statement::new(format!("{GUARD}{} and {admin})", auth::STILL_OWNS))
        .bind(token.hash().to_string())
        .bind(&into.space)
        .bind(now);
    let mut batch = vec![guard, row];
    batch.extend(bucket.as_deref().map(|name| {
        Statement::new("insert into buckets (name, stores) select ?1, 0 where true on conflict do nothing")
            .bind(name)
    }));
    let names: Vec<&str> = into.path.names().iter().map(crate::path::Name::as_str).collect();
    batch.push(
        Statement::new(
            "insert into imports (id, space_id, bucket, prefix, folder, created_at)
             values (?1, ?2, (select n from buckets where name = ?3), ?4, ?5, ?6)",
        )
        .bind(&id)
        .bind(&into.space)
        .bind(bucket.as_deref())
        .bind(prefix.as_str())
        .bind(names.join("/"))
        .bind(now),
    );
    match jobs::commit(platform, Work::Import.lane(), &id, batch).await {
        Err(DbError::Violated(why)) if why == "access_gone" => Err(Error::Conflict(Conflict::Contended)),
        done => Ok(done.map(|()| job)?),
    }
}

fn check<P: Platform>(platform: &P, wanted: &Wanted) -> Result<()> {
    if let Some(name) = wanted.bucket.as_deref()
        && platform.bucket().named(name).is_none()
    {
        return Err(Error::invalid("bucket", format!("no bucket {name:?} is configured")));
    }
    if wanted.prefix.len() > MAX_PREFIX_BYTES {
        return Err(Error::invalid("prefix", format!("expected at most {MAX_PREFIX_BYTES} bytes")));
    }
    if wanted.prefix.starts_with(OWN_KEYS) {
        return Err(Error::invalid("prefix", format!("what lies below {OWN_KEYS} is a drive's own")));
    }
    Ok(())
}
