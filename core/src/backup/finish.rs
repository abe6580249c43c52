//! Ends a dump: its index is stored when all else is.

use super::index::{FORMAT, Index, Part, index_key, prefix};
use super::step::{Progress, Running};
use crate::error::{Error, Result};
use crate::manifest::to_json;
use crate::ports::{Bucket, Db, Host, Platform, Statement};

/// Parts that one statement reads.
const PAGE_PARTS: u64 = 1000;

/// Removes what attempts that were cut off have stored, stores the index, and notes that the dump is done.
pub(super) async fn run<P: Platform>(platform: &P, backup: &Running, finished_at: i64) -> Result<Progress> {
    let parts = parts(platform, backup).await?;
    remove_strangers(platform, backup, &parts).await?;
    let index = Index {
        format: FORMAT,
        backup: backup.id.clone(),
        schema_version: u32::try_from(backup.schema_version)
            .map_err(|_| Error::Internal("a schema version out of range".to_owned()))?,
        begun_at: backup.begun_at,
        finished_at,
        rows: backup.rows,
        parts,
    };
    // The same bytes whoever stores them: the rows don't change any more.
    let bytes = to_json(&index)?.into_bytes();
    let sha256 = platform.host().sha256(&bytes).await;
    platform.bucket().put(&index_key(&backup.id), &bytes, sha256).await?;
    let done = Statement::new(
        "update backups set state = 'done', finished_at = ?2, size_bytes = size_bytes + ?3
          where id = ?1 and state = 'running'",
    )
    .bind(backup.id.as_str())
    .bind(finished_at)
    .bind(bytes.len() as u64);
    platform.db().write(vec![done]).await?;
    Ok(Progress::More { rows: backup.rows, bytes: backup.bytes + bytes.len() as u64 })
}

async fn parts<P: Platform>(platform: &P, backup: &Running) -> Result<Vec<Part>> {
    let mut parts: Vec<Part> = Vec::new();
    loop {
        let page = Statement::new(
            "select key, sha256, size_bytes, rows_dumped from backup_parts
              where backup = ?1 and part >= ?2 order by part limit ?3",
        )
        .bind(backup.n)
        .bind(parts.len() as u64)
        .bind(PAGE_PARTS);
        let rows = platform.db().read(vec![page]).await?.into_iter().next().unwrap_or_default();
        for row in &rows {
            parts.push(Part {
                key: row.text("key")?.to_owned(),
                size_bytes: row.unsigned("size_bytes")?,
                sha256: row.text("sha256")?.to_owned(),
                rows: row.unsigned("rows_dumped")?,
            });
        }
        if (rows.len() as u64) < PAGE_PARTS {
            return Ok(parts);
        }
    }
}

async fn remove_strangers<P: Platform>(platform: &P, backup: &Running, parts: &[Part]) -> Result<()> {
    let known: std::collections::HashSet<&str> = parts.iter().map(|part| part.key.as_str()).collect();
    let (prefix, index) = (prefix(&backup.id), index_key(&backup.id));
    let mut cursor = None;
    loop {
        let page = platform.bucket().list(&prefix, cursor.as_deref()).await?;
        let keys = page.objects.into_iter().map(|object| object.key);
        let strangers: Vec<String> =
            keys.filter(|key| *key != index && !known.contains(key.as_str())).collect();
        if !strangers.is_empty() {
            platform.bucket().delete(&strangers).await?;
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}
