//! Changing a space: its name, and what it keeps.

use super::read::one;
use super::{MAX_APPEND_WINDOW_SECS, MAX_DAYS, MAX_VERSIONS, Space, the_only};
use crate::auth::{self, Right};
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ports::{Buckets, Db, Host, Platform, Statement};
use crate::token::Token;

/// The longest name. One line of a list.
const MAX_NAME_BYTES: usize = 255;

/// What is to change; what is None stays as it is. Of the policy, `Some(None)` takes a limit away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Change {
    /// Its name.
    pub name: Option<String>,
    /// [`super::Policy::versions_kept`].
    pub versions_kept: Option<Option<u64>>,
    /// [`super::Policy::versions_days`].
    pub versions_days: Option<Option<u64>>,
    /// [`super::Policy::trash_days`].
    pub trash_days: Option<Option<u64>>,
    /// [`super::Policy::append_window_secs`].
    pub append_window_secs: Option<Option<u64>>,
    /// [`super::Space::bucket`]. Only administrators may: it shows where others' content may lie.
    pub bucket: Option<Option<String>>,
}

/// Authorised in itself, so that looking and changing are one round trip.
fn update() -> String {
    format!(
        "update spaces set name = coalesce(?4, name),
                versions_kept = case when ?5 then ?6 else versions_kept end,
                versions_days = case when ?7 then ?8 else versions_days end,
                trash_days = case when ?9 then ?10 else trash_days end,
                append_window_secs = case when ?11 then ?12 else append_window_secs end,
                bucket = case when ?13 then (select n from buckets where name = ?14) else bucket end
          where id = ?2 and {} and (?13 = 0 or {})",
        auth::STILL_OWNS,
        auth::STILL_ADMINISTERS.replace("?2", "?3")
    )
}

/// A row for a bucket that is chosen for the first time, by who may. One that was only imported from has one.
fn name_bucket() -> String {
    format!(
        "insert into buckets (name) select ?4
          where not exists (select 1 from buckets where name = ?4 and stores = 1) and {} and {}
             on conflict (name) do update set stores = 1",
        auth::STILL_OWNS,
        auth::STILL_ADMINISTERS.replace("?2", "?3")
    )
}

/// Changes a space, which only its owners may. One round trip; safe to repeat.
pub async fn change<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    change: &Change,
) -> Result<Space> {
    check(change)?;
    let bucket = change.bucket.as_ref().map(|name| name.as_deref());
    if let Some(name) = bucket.flatten()
        && platform.bucket().named(name).is_none()
    {
        return Err(Error::invalid("bucket", format!("no bucket {name:?} is configured")));
    }
    let now = platform.host().now();
    let mut update = Statement::new(update())
        .bind(token.hash().to_string())
        .bind(space)
        .bind(now)
        .bind(change.name.as_deref());
    let days = [change.versions_kept, change.versions_days, change.trash_days];
    for limit in days.into_iter().chain([change.append_window_secs]) {
        update = update.bind(i64::from(limit.is_some())).bind(limit.flatten());
    }
    update = update.bind(i64::from(bucket.is_some())).bind(bucket.flatten());
    let mut batch = vec![auth::look_up(token, space, now), auth::look_up_admin(token, now)];
    batch.extend(bucket.flatten().map(|name| {
        Statement::new(name_bucket()).bind(token.hash().to_string()).bind(space).bind(now).bind(name)
    }));
    batch.extend([update, one(token, space)]);
    let results = platform.db().write(batch).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    auth::authorise(rows(0).first(), Right::Own)?;
    if bucket.is_some() {
        auth::authorise_admin(rows(1).first(), Right::Write)?;
    }
    the_only(results.last().map(Vec::as_slice).unwrap_or_default())
}

fn check(change: &Change) -> Result<()> {
    let is_name = |name: &String| {
        !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.chars().any(char::is_control)
    };
    if !change.name.as_ref().is_none_or(is_name) {
        return Err(Error::invalid("name", "expected 1 to 255 bytes without control characters"));
    }
    for (field, limit, most) in [
        ("versions_kept", change.versions_kept, MAX_VERSIONS),
        ("versions_days", change.versions_days, MAX_DAYS),
        ("trash_days", change.trash_days, MAX_DAYS),
        ("append_window_secs", change.append_window_secs, MAX_APPEND_WINDOW_SECS),
    ] {
        if limit.flatten().is_some_and(|limit| !(1..=most).contains(&limit)) {
            return Err(Error::invalid(field, format!("expected 1 to {most}, or null for no limit")));
        }
    }
    Ok(())
}
