//! Where a token leads a client that knows nothing of spaces: WebDAV has one tree.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::auth;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::ids::{NodeId, SpaceId};
use crate::ports::{Db, Host, Platform, Statement, Timestamp};
use crate::token::Token;

/// What a token's client sees as its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The space.
    pub space: SpaceId,
    /// The folder in it; None for its root.
    pub base: Option<NodeId>,
    /// The name of the token's account.
    pub account_name: String,
}

/// How many mounts an isolate remembers.
const KEPT: usize = 1000;
/// How long: a token's limits never change, but the spaces of its account do.
const KEPT_SECS: i64 = 300;

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// Where the token leads: to the folder or the space that it is limited to, or else to its account's own space, the oldest
/// one. One round trip, or none where it was asked for before; that says nothing about rights, which every request's
/// own batch decides.
///
/// # Errors
/// [`Error::NotFound`] where the account has no space.
pub async fn mount<P: Platform>(platform: &P, token: &Token) -> Result<Mount> {
    let now = platform.host().now();
    let key = token.hash();
    if let Some(mount) = CACHE.with_borrow_mut(|cache| cache.get(&key, now)) {
        return Ok(mount);
    }
    let own = Statement::new(
        "select m.space_id from tokens k
           join members m on m.account_id = k.account_id
           join spaces s on s.id = m.space_id
          where k.hash = ?1 order by m.role = 'owner' desc, s.n limit 1",
    );
    let name = Statement::new(
        "select a.name from tokens k cross join accounts a on a.id = k.account_id where k.hash = ?1",
    );
    let batch =
        vec![auth::look_up_account(token, now), own.bind(key.to_string()), name.bind(key.to_string())];
    let results = platform.db().read(batch).await?;
    let first = |at: usize| results.get(at).and_then(|rows| rows.first());
    let limits = auth::limits(first(0))?;
    let space = match limits.space {
        Some(space) => space,
        None => first(1).ok_or(Error::NotFound)?.text("space_id")?.to_owned(),
    };
    let broken = || Error::Internal("a token's limits are malformed".to_owned());
    let base = limits.folder.map(|id| NodeId::parse(&id).ok_or_else(broken)).transpose()?;
    let account_name = first(2).ok_or(Error::NotFound)?.text("name")?.to_owned();
    let mount = Mount { space: SpaceId::parse(&space).ok_or_else(broken)?, base, account_name };
    CACHE.with_borrow_mut(|cache| cache.put(key, mount.clone(), now));
    Ok(mount)
}

/// The mounts that were used last.
#[derive(Default)]
struct Cache {
    uses: u64,
    kept: HashMap<Sha256, Kept>,
}

struct Kept {
    mount: Mount,
    until: Timestamp,
    used: u64,
}

impl Cache {
    fn get(&mut self, key: &Sha256, now: Timestamp) -> Option<Mount> {
        self.uses += 1;
        let kept = self.kept.get_mut(key).filter(|kept| kept.until > now)?;
        kept.used = self.uses;
        Some(kept.mount.clone())
    }

    fn put(&mut self, key: Sha256, mount: Mount, now: Timestamp) {
        if self.kept.len() >= KEPT && !self.kept.contains_key(&key) {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| *key);
            oldest.map(|key| self.kept.remove(&key));
        }
        self.kept.insert(key, Kept { mount, until: now.plus_secs(KEPT_SECS), used: self.uses });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_what_was_used_last_and_not_for_ever() {
        let mut cache = Cache::default();
        let space = SpaceId::parse("018f0000-0000-7000-8000-000000000000").unwrap();
        let mount = Mount { space, base: None, account_name: "me".to_owned() };
        let key = |n: usize| Sha256::of(&n.to_le_bytes());
        for n in 0..KEPT {
            cache.get(&key(n), Timestamp(0));
            cache.put(key(n), mount.clone(), Timestamp(0));
        }
        assert_eq!(cache.get(&key(0), Timestamp(0)), Some(mount.clone()));
        cache.get(&key(KEPT), Timestamp(0));
        cache.put(key(KEPT), mount.clone(), Timestamp(0));
        assert_eq!(cache.kept.len(), KEPT);
        assert_eq!(cache.get(&key(1), Timestamp(0)), None, "the one that was used least recently left");
        assert_eq!(cache.get(&key(0), Timestamp(0)), Some(mount));
        assert_eq!(cache.get(&key(0), Timestamp(KEPT_SECS * 1000)), None);
    }
}
