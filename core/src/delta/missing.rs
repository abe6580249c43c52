//! Which chunks the space lacks.

use std::collections::HashSet;

use super::look_up;
use crate::auth::{self, Right};
use crate::buckets;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ports::{Db, Host, Platform};
use crate::token::Token;

/// The most hashes of a request: some 10 GiB of our own cuts.
pub const MAX_HASHES: usize = 8192;

/// Those of `hashes` that the space lacks, each once, in their order. The others stay for the grace time, whatever is deleted
/// meanwhile. One round trip.
///
/// It needs the right to write: it prepares a save, and it keeps bytes from being given back.
///
/// # Errors
/// [`Error::NotFound`] for a token that is limited to a folder.
pub async fn missing<P: Platform>(
    platform: &P,
    token: &Token,
    space: &SpaceId,
    hashes: &[Sha256],
) -> Result<Vec<Sha256>> {
    if hashes.len() > MAX_HASHES {
        return Err(Error::invalid("hashes", format!("at most {MAX_HASHES} at once")));
    }
    let now = platform.host().now();
    let mut wanted = look_up::distinct(hashes.iter().copied());
    let mut batch = vec![auth::look_up(token, space, now)];
    batch.extend(look_up::mark(token, space, &wanted, &buckets::names(platform)?, now));
    let results = platform.db().write(batch).await?;
    auth::authorise(results.first().and_then(|rows| rows.first()), Right::Write)?;
    let known: HashSet<Sha256> = look_up::marked(results.get(1..).unwrap_or_default())?.into_iter().collect();
    wanted.retain(|hash| !known.contains(hash));
    Ok(wanted)
}
