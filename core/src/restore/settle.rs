//! What a dump doesn't hold, made anew from what it does.

use super::RestoreError;
use crate::ports::{Db, Statement, Timestamp};

/// Ids of uploads, and with them of segments and pages, go on so far behind those that are known: the lost database may
/// have given out more. A drive can be restored some eight thousand times until they reach 2^33.
const INGESTS_AHEAD: i64 = 1 << 20;
/// Commits go on so far behind those that are known, for the same reason: no cursor and no folder's entity tag of the lost
/// database is ever met again. Numbers stay exact for two million times.
const COMMITS_AHEAD: i64 = 1 << 32;

/// Nodes below the hidden roots of jobs.
const HIDDEN: &str = "with recursive hidden (id) as (
      select id from nodes where (parent_id >= 'copy/' and parent_id < 'copy0')
                              or (parent_id >= 'purge/' and parent_id < 'purge0')
      union all select n.id from hidden h join nodes n on n.parent_id = h.id)
    select id from hidden";

/// Completes a database that was loaded. All statements look at whole tables, and none is run by requests or jobs.
///
/// # Errors
/// [`RestoreError::Database`].
pub async fn settle<D: Db>(db: &D, now: Timestamp) -> Result<(), RestoreError> {
    let statements = vec![
        // Trees that jobs were putting together, or taking apart: their jobs are gone.
        Statement::new(format!("delete from versions where node_id in ({HIDDEN})")),
        Statement::new(format!("delete from nodes where id in ({HIDDEN})")),
        // Uploads in parts that were under way aren't dumped, nor which thumbnails there were: what they had stored is let go.
        Statement::new("delete from blobs where not exists (select 1 from versions v where v.blob_id = blobs.id)"),
        Statement::new("delete from pages where not exists (select 1 from page_uses u where u.page = pages.id and u.blobs > 0)"),
        Statement::new("delete from page_uses where blobs = 0"),
        Statement::new(
            "insert into page_segments (segment, page)
             select distinct json_extract(e.value, '$[0]'), p.id from pages p, json_each(p.extents) e
              where json_extract(e.value, '$[0]') <> 0",
        ),
        // What nothing needs may be gone from the bucket: a commit must not find it by its chunks.
        Statement::new(
            "delete from chunks where not exists (select 1 from page_segments u where u.segment = chunks.segment)",
        ),
        // With the full grace: whoever kept the dump may need it once more.
        Statement::new(
            "update segments set state = 'doomed', state_at = ?1
              where not exists (select 1 from page_segments u where u.segment = segments.id)",
        )
        .bind(now),
        Statement::new("delete from chunks where not exists (select 1 from segments s where s.id = chunks.segment)"),
        Statement::new("update spaces set used_bytes = 0, reserved_bytes = 0"),
        Statement::new(
            "update spaces set used_bytes = s.total
               from (select n.space_id as id, sum(b.size_bytes) as total
                       from versions v cross join nodes n on n.id = v.node_id cross join blobs b on b.id = v.blob_id
                      group by n.space_id) s
              where s.id = spaces.id",
        ),
        Statement::new("update spaces set change_seq = change_seq + ?1").bind(COMMITS_AHEAD),
        Statement::new("update spaces set changes_gone_seq = change_seq"),
        // AUTOINCREMENT goes on behind the largest id that it ever saw.
        Statement::new(
            "insert into ingests (id, key, space_id, expires_at)
             select ?1 + (max(coalesce((select max(id) from segments), 0),
                              coalesce((select max(id) from pages), 0)) >> 20), '', '', 0",
        )
        .bind(INGESTS_AHEAD),
        Statement::new("delete from ingests where key = ''"),
    ];
    for statement in statements {
        db.write(vec![statement]).await?;
    }
    Ok(())
}
