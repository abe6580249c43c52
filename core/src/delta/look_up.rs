//! Finds chunks in a space's index by their hashes.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::auth;
use crate::buckets::configured;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ingest::index_form;
use crate::manifest::{self, Extent};
use crate::ports::{Rows, Statement, Timestamp};
use crate::token::Token;

/// Hashes are bound in pieces of so many: the text and the answer stay far below the 2 MB that a text may have.
const AT_ONCE: usize = 8192;

/// The distinct hashes, in the order of their first mention.
pub(super) fn distinct(hashes: impl IntoIterator<Item = Sha256>) -> Vec<Sha256> {
    let mut seen = std::collections::HashSet::new();
    hashes.into_iter().filter(|hash| seen.insert(*hash)).collect()
}

fn json(hashes: &[Sha256]) -> String {
    serde_json::Value::from_iter(hashes.iter().map(|hash| index_form(*hash))).to_string()
}

/// Finds `hashes`, which are [`distinct`]; [`read`] understands the answers. What is being deleted isn't found, nor what lies
/// in a bucket that isn't one of `names`.
pub(super) fn find(space: &SpaceId, hashes: &[Sha256], names: &str) -> Vec<Statement> {
    hashes
        .chunks(AT_ONCE)
        .map(|hashes| {
            Statement::new(concat!(
                "select json_group_array(json_array(r.key, c.segment, c.offset, c.length, c.crc32)) as found
                   from spaces sp cross join json_each(?2) r
                  cross join chunks c on c.space = sp.n and c.hash = r.value
                  cross join segments s on s.id = c.segment and s.state <> 'deleting'
                  where sp.id = ?1 and ",
                configured!("s.bucket", "?3")
            ))
            .bind(space)
            .bind(json(hashes))
            .bind(names)
        })
        .collect()
}

/// Reads the answers of [`find`].
pub(super) fn read(hashes: &[Sha256], results: &[Rows]) -> Result<HashMap<Sha256, Extent>> {
    let mut found = HashMap::new();
    for (hashes, rows) in hashes.chunks(AT_ONCE).zip(results) {
        let Some(row) = rows.first() else { continue };
        let places: Vec<(usize, u64, u64, u64, u32)> = manifest::from_json(row.text("found")?)?;
        for (key, segment, offset, length, crc32) in places {
            let hash = hashes.get(key).ok_or_else(unasked)?;
            found.insert(*hash, Extent { segment, offset, length, crc32 });
        }
    }
    Ok(found)
}

/// Marks `hashes` as seen, as far as the space knows them, so that they stay for the grace time; returns a row for each that
/// it knows. Does so only for a token that may write to the whole space.
pub(super) fn mark(
    token: &Token,
    space: &SpaceId,
    hashes: &[Sha256],
    names: &str,
    now: Timestamp,
) -> Vec<Statement> {
    hashes
        .chunks(AT_ONCE)
        .map(|hashes| {
            Statement::new(format!(
                "update chunks set seen_at = ?3
                  where space = (select n from spaces where id = ?2) and hash in (select value from json_each(?4))
                    and exists (select 1 from segments s
                                 where s.id = chunks.segment and s.state <> 'deleting' and {})
                    and {}
                 returning hash",
                configured!("s.bucket", "?5"),
                auth::STILL_WRITES_ALL
            ))
            .bind(token.hash().to_string())
            .bind(space)
            .bind(now)
            .bind(json(hashes))
            .bind(names)
        })
        .collect()
}

/// Reads the rows of [`mark`].
pub(super) fn marked(results: &[Rows]) -> Result<Vec<Sha256>> {
    results.iter().flatten().map(|row| hash(row.text("hash")?)).collect()
}

/// Reads a hash as the index writes it.
pub(super) fn hash(text: &str) -> Result<Sha256> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map(Sha256).ok_or_else(|| Error::Internal(format!("a hash in the index: {text:?}")))
}

fn unasked() -> Error {
    Error::Internal("a chunk that wasn't asked for".to_owned())
}
