//! Removing a part from a folder: a client has put one that it doesn't want any more.

use super::append::{guard, refused, stamp};
use super::folder::{folder, place};
use super::row::look_up;
use crate::error::{Error, Result};
use crate::files::commit::write_once;
use crate::ports::{Db, Host, Platform, Statement};
use crate::token::Token;
use crate::versions::remove_unused_pages;

/// Removes a part of the folder that the caller calls so, and gives back what it took of the quota. Two round trips.
///
/// # Errors
/// [`Error::NotFound`] where there is no such part, or the folder's parts are joined.
pub async fn remove_part<P: Platform>(platform: &P, token: &Token, of: &str, name: &str) -> Result<()> {
    let host = platform.host();
    let (now, place) = (host.now(), place(name));
    let there = Statement::new(
        "select 1 as it
           from tokens k cross join uploads u on u.account_id = k.account_id and u.name = ?2
          cross join upload_parts p on p.upload = u.id and p.place = ?4 and p.name = ?3
          where k.hash = ?1",
    )
    .bind(token.hash().to_string())
    .bind(of)
    .bind(name)
    .bind(place.as_str());
    let results = platform.db().read(vec![look_up(token, of, now), there]).await?;
    let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
    let open = folder(rows(0))?;
    if rows(1).is_empty() {
        return Err(Error::NotFound);
    }
    // Another stamp: what was about to be joined isn't all any more.
    let (upload, stamp) = (&open.upload.id, stamp(host));
    let mut batch = vec![
        guard(token, &open.upload, None, now, 0),
        Statement::new("delete from upload_parts where upload = ?1 and place = ?2 and name = ?3")
            .bind(upload)
            .bind(place)
            .bind(name),
        Statement::new("update uploads set stamp = ?2, expires_at = ?3 where id = ?1")
            .bind(upload)
            .bind(stamp.as_str())
            .bind(now.plus_secs(platform.settings().upload_ttl_secs)),
    ];
    batch.extend(remove_unused_pages());
    let happened =
        Statement::new("select 1 from uploads where id = ?1 and stamp = ?2").bind(upload).bind(stamp);
    write_once(platform, batch, &happened).await.map_err(refused)
}
