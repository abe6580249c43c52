//! Cursors of lists that are newest first: the time and the id of the last item that was shown. Opaque to clients.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ledge_core::error::{Error, Result};
use ledge_core::ports::Timestamp;

use super::query::Query;

/// How many items a page has unless the client says.
const DEFAULT_LIMIT: u64 = 100;
/// The most that a client may ask for.
const MAX_LIMIT: u64 = 1000;

/// Which page a client asks for: the item before it, by what `parse` makes of its id, and the number of items.
pub(super) fn page<T>(
    query: &Query<'_>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<(Option<(Timestamp, T)>, u64)> {
    let limit = match query.get("limit") {
        None => DEFAULT_LIMIT,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MAX_LIMIT).contains(limit))
            .ok_or_else(|| Error::invalid("limit", format!("expected a number from 1 to {MAX_LIMIT}")))?,
    };
    let after = query.get("cursor").map(|text| {
        let text = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let after = text.as_deref().and_then(|text| text.split_once(' ')).and_then(|(time, id)| {
            let time = time.parse().ok().filter(|time| (0..1 << 53).contains(time));
            Some((Timestamp(time?), parse(id)?))
        });
        after.ok_or_else(|| Error::invalid("cursor", "expected a cursor from the page before"))
    });
    Ok((after.transpose()?, limit))
}

/// The cursor behind an item.
pub(super) fn after(time: Timestamp, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {id}", time.0))
}
