//! The dumps in the bucket, made known to the restored database: they are listed, and go when the policy says so.

use super::RestoreError;
use super::check::{indexes, read_index};
use crate::backup::META;
use crate::ports::{Bucket, Db, Statement};

/// Enters every dump that lies in the bucket: the complete ones, the oldest first, and before them what is left of others,
/// which goes with the next dump. One batch for each.
///
/// # Errors
/// Those of the ports.
pub async fn register<D: Db, B: Bucket>(db: &D, bucket: &B) -> Result<(), RestoreError> {
    let mut complete = Vec::new();
    for (id, size_bytes) in indexes(bucket).await? {
        if let Ok(index) = read_index(bucket, &id, size_bytes).await {
            complete.push((index, size_bytes));
        }
    }
    complete.sort_by(|(a, _), (b, _)| (a.begun_at, &a.backup).cmp(&(b.begun_at, &b.backup)));
    for id in prefixes(bucket).await? {
        if complete.iter().all(|(index, _)| index.backup != id) {
            let failed = Statement::new(
                "insert into backups (id, state, schema_version, begun_at, finished_at, cursor, error)
                 values (?1, 'failed', 0, 0, 0, '', 'it was not complete when the database was restored')
                 on conflict do nothing",
            );
            db.write(vec![failed.bind(id)]).await?;
        }
    }
    for (index, size_bytes) in complete {
        let parts: u64 = index.parts.iter().map(|part| part.size_bytes).sum();
        let done = Statement::new(
            "insert into backups (id, state, schema_version, begun_at, finished_at, cursor, rows_dumped, size_bytes)
             values (?1, 'done', ?2, ?3, ?4, '', ?5, ?6) on conflict do nothing",
        )
        .bind(index.backup)
        .bind(u64::from(index.schema_version))
        .bind(index.begun_at)
        .bind(index.finished_at)
        .bind(index.rows)
        .bind(parts + size_bytes);
        db.write(vec![done]).await?;
    }
    Ok(())
}

/// All dumps of which anything is there.
async fn prefixes<B: Bucket>(bucket: &B) -> Result<Vec<String>, RestoreError> {
    let (mut found, mut cursor): (Vec<String>, _) = (Vec::new(), None);
    loop {
        let page = bucket.list(META, cursor.as_deref()).await?;
        for object in page.objects {
            let id = object.key.strip_prefix(META).and_then(|rest| rest.split_once('/'));
            found.extend(id.map(|(id, _)| id.to_owned()));
        }
        found.dedup();
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(found),
        }
    }
}
