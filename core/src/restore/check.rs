//! Which dump, and whether it is whole.

use std::str::FromStr;

use super::{RestoreError, damaged};
use crate::backup::tables::{SCHEMA, table};
use crate::backup::{FORMAT, Header, Index, META, Part, index_key, unpack};
use crate::digest::Sha256;
use crate::ports::{Bucket, BucketError};

/// No part is larger, packed or not: room for pages of 2 MB, whoever wrote it.
const PART_LIMIT_BYTES: u64 = 16 << 20;
/// No index is larger: a hundred thousand parts.
const INDEX_LIMIT_BYTES: u64 = 32 << 20;

/// The dump of that id, or the complete one that shows the latest moment.
///
/// # Errors
/// [`RestoreError::NoneComplete`], [`RestoreError::Incomplete`], [`RestoreError::Damaged`], [`RestoreError::Newer`].
pub async fn find<B: Bucket>(bucket: &B, wanted: Option<&str>) -> Result<Index, RestoreError> {
    let mut found: Vec<Index> = Vec::new();
    let mut is_damaged = None;
    for (id, size_bytes) in indexes(bucket).await? {
        if wanted.is_some_and(|wanted| wanted != id) {
            continue;
        }
        match read_index(bucket, &id, size_bytes).await {
            Ok(index) => found.push(index),
            Err(error) if wanted.is_some() => return Err(error),
            // Another one may do.
            Err(error) => is_damaged = Some(error),
        }
    }
    let missing = || match (wanted, is_damaged) {
        (Some(id), _) => RestoreError::Incomplete(id.to_owned()),
        (None, Some(error)) => error,
        (None, None) => RestoreError::NoneComplete,
    };
    let newest =
        found.into_iter().max_by_key(|index| (index.begun_at, index.backup.clone())).ok_or_else(missing)?;
    if newest.format > FORMAT || newest.schema_version > SCHEMA {
        return Err(RestoreError::Newer(format!(
            "it has format {} and schema {}, and this program knows {FORMAT} and {SCHEMA}",
            newest.format, newest.schema_version
        )));
    }
    Ok(newest)
}

/// The dumps that have an index, and its size.
pub(super) async fn indexes<B: Bucket>(bucket: &B) -> Result<Vec<(String, u64)>, RestoreError> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = bucket.list(META, cursor.as_deref()).await?;
        for object in page.objects {
            let id = object.key.strip_prefix(META).and_then(|rest| rest.strip_suffix("/index.json"));
            if let Some(id) = id {
                found.push((id.to_owned(), object.size_bytes));
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(found),
        }
    }
}

pub(super) async fn read_index<B: Bucket>(
    bucket: &B,
    id: &str,
    size_bytes: u64,
) -> Result<Index, RestoreError> {
    let key = index_key(id);
    if size_bytes > INDEX_LIMIT_BYTES {
        return Err(damaged(&key, "it is too long for an index"));
    }
    let bytes = bucket.get(&key, 0..size_bytes).await?;
    let index: Index = serde_json::from_slice(&bytes).map_err(|error| damaged(&key, error))?;
    if index.backup != id {
        return Err(damaged(&key, format!("it is the index of {}", index.backup)));
    }
    Ok(index)
}

/// Reads every part: it is there, has the size and the SHA-256 that the index says, and its lines are rows of tables that
/// this program knows. Tells `progress` how many parts are done.
///
/// # Errors
/// [`RestoreError::Damaged`].
pub async fn check<B: Bucket>(
    bucket: &B,
    index: &Index,
    mut progress: impl FnMut(usize),
) -> Result<(), RestoreError> {
    let mut rows = 0;
    for (at, part) in index.parts.iter().enumerate() {
        let mut of_part = 0;
        for section in sections(&part.key, &read_part(bucket, part).await?)? {
            let (header, lines) = section;
            if table(&header.table).is_none() {
                return Err(damaged(&part.key, format!("it has a table {}", header.table)));
            }
            of_part += lines.len() as u64;
        }
        if of_part != part.rows {
            return Err(damaged(
                &part.key,
                format!("it has {of_part} rows, and the index says {}", part.rows),
            ));
        }
        rows += of_part;
        progress(at + 1);
    }
    if rows != index.rows {
        return Err(damaged(
            &index_key(&index.backup),
            format!("the parts have {rows} rows, and it says {}", index.rows),
        ));
    }
    Ok(())
}

/// A part's text.
pub(super) async fn read_part<B: Bucket>(bucket: &B, part: &Part) -> Result<String, RestoreError> {
    let key = &part.key;
    if part.size_bytes > PART_LIMIT_BYTES {
        return Err(damaged(key, "it is too long for a part"));
    }
    let packed = bucket.get(key, 0..part.size_bytes).await.map_err(|error| match error {
        BucketError::NotFound(_) => damaged(key, "it isn't there"),
        BucketError::OutOfRange(_) => damaged(key, "it is shorter than the index says"),
        error => error.into(),
    })?;
    if Sha256::from_str(&part.sha256).map_err(|error| damaged(key, error))? != Sha256::of(&packed) {
        return Err(damaged(key, "its SHA-256 isn't the one in the index"));
    }
    let plain = unpack(&packed, PART_LIMIT_BYTES).map_err(|error| damaged(key, error))?;
    String::from_utf8(plain).map_err(|error| damaged(key, error))
}

/// A part's lines, by the table that they are of.
pub(super) fn sections<'a>(key: &str, text: &'a str) -> Result<Vec<(Header, Vec<&'a str>)>, RestoreError> {
    let mut sections: Vec<(Header, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        if line.starts_with('{') {
            let header: Header = serde_json::from_str(line).map_err(|error| damaged(key, error))?;
            sections.push((header, Vec::new()));
            continue;
        }
        let (_, lines) = sections.last_mut().ok_or_else(|| damaged(key, "it begins without a table"))?;
        if !line.starts_with('[') || !line.ends_with(']') {
            return Err(damaged(key, "a line is no row"));
        }
        lines.push(line);
    }
    Ok(sections)
}
