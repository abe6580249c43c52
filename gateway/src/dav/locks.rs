//! Locks as XML.

use ledge_core::locks::{self, Depth, Lock, Root, Scope};
use ledge_core::ports::Timestamp;

use super::href::href;
use super::prefix::Prefix;

/// Which locks there may be: the inside of `supportedlock`.
pub(super) const SUPPORTED: &str = "<D:lockentry><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>\
                     <D:lockentry><D:lockscope><D:shared/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockentry>";

/// The URL of where a lock begins; of one that begins above what the client sees, that of all that it sees.
pub(super) fn root(prefix: &Prefix, root: &Root) -> String {
    match &root.names {
        Some(names) => href(prefix, names.iter().map(String::as_str), root.is_folder),
        None => href(prefix, [], true),
    }
}

/// The inside of `lockdiscovery`.
pub(super) fn discovery<'a>(
    prefix: &Prefix,
    locks: impl IntoIterator<Item = &'a Lock>,
    now: Timestamp,
) -> String {
    locks.into_iter().map(|lock| active(prefix, lock, now)).collect()
}

fn active(prefix: &Prefix, lock: &Lock, now: Timestamp) -> String {
    let scope = match lock.scope {
        Scope::Exclusive => "exclusive",
        Scope::Shared => "shared",
    };
    let depth = match lock.depth {
        Depth::Zero => "0",
        Depth::Infinity => "infinity",
    };
    // Rounded up: a lock that was granted for a second has one.
    let secs = (lock.expires_at.0.saturating_sub(now.0).max(0) + 999) / 1000;
    format!(
        "<D:activelock><D:locktype><D:write/></D:locktype><D:lockscope><D:{scope}/></D:lockscope>\
         <D:depth>{depth}</D:depth>{owner}<D:timeout>Second-{secs}</D:timeout>\
         <D:locktoken><D:href>{token}</D:href></D:locktoken>\
         <D:lockroot><D:href>{root}</D:href></D:lockroot></D:activelock>",
        owner = lock.owner.as_deref().unwrap_or_default(),
        token = locks::token(&lock.id),
        root = root(prefix, &lock.root),
    )
}
