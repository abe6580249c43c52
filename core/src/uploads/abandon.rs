//! Abandoning an upload: its row goes, and with it what nothing else refers to.

use super::row::{Open, look_up};
use crate::error::{Error, Result};
use crate::ports::{Db, Host, Platform, Statement};
use crate::token::Token;
use crate::versions::remove_unused_pages;

/// Removes the upload that the caller calls so: an id, or a folder's name. Two round trips. The reservation goes with the
/// row; segments that nothing refers to any more are the sweep's.
///
/// # Errors
/// [`Error::NotFound`] where there is none, or it is finished.
pub async fn abandon<P: Platform>(platform: &P, token: &Token, name: &str) -> Result<()> {
    let results = platform.db().read(vec![look_up(token, name, platform.host().now())]).await?;
    let open = Open::read(results.first().map(Vec::as_slice).unwrap_or_default())?;
    if open.upload.finished.is_some() {
        return Err(Error::NotFound);
    }
    let mut batch =
        vec![Statement::new("delete from uploads where id = ?1 and finished is null").bind(&open.upload.id)];
    batch.extend(remove_unused_pages());
    platform.db().write(batch).await?;
    Ok(())
}
