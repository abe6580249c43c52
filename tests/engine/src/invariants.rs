//! What holds of every drive at all times.

use ledge_core::ports::Value;

use crate::Drive;

/// Asserts it.
///
/// # Panics
/// Where something doesn't hold; the message says what.
pub async fn check(drive: &Drive) {
    for (what, sql) in [
        (
            "bytes are counted",
            "select used_bytes - (select coalesce(sum(b.size_bytes), 0) from versions v
                                    join blobs b on b.id = v.blob_id) as it from spaces",
        ),
        (
            "every node is below the root, in the trash, or hidden by a job that isn't over, once",
            "with recursive down (id) as (
                select root_id from spaces
                union all select id from nodes where trashed_at is not null
                union all select n.id from nodes n join jobs j on j.finished_at is null
                           and n.parent_id in ('purge/' || j.id || '/' || n.n, 'copy/' || j.id)
                union all select k.id from down d join nodes k on k.parent_id = d.id and k.trashed_at is null)
             select (select count(*) from nodes) - count(*) + (count(*) - count(distinct id)) as it from down",
        ),
        (
            "what is in the trash hangs under its root",
            "select count(*) as it from nodes
              where (trashed_at is not null) <> (parent_id = 'trash/' || space_id)
                 or (trashed_at is null) <> (trashed_from is null)",
        ),
        (
            "every file has its version",
            "select count(*) as it from nodes n left join versions v on v.id = n.version_id and v.node_id = n.id
              where n.kind = 'file' and v.id is null",
        ),
        (
            "every blob has a version, is what has arrived of an upload, or has the thumbnails of one that has a version",
            "select count(*) as it from blobs b where not exists (select 1 from versions v where v.blob_id = b.id)
                and not exists (select 1 from uploads u where u.blob_id = b.id)
                and not exists (select 1 from upload_parts p where p.blob_id = b.id)
                and not exists (select 1 from thumbnails t join versions v on v.blob_id = t.blob_id where t.sheet = b.id)",
        ),
        (
            "what uploads may become is reserved, and what packs have stored",
            "select reserved_bytes - (select coalesce(sum(u.reserved_bytes), 0) from uploads u where u.space_id = s.id)
                  - (select coalesce(sum(p.size_bytes), 0) from packs p where p.space = s.n) as it from spaces s",
        ),
        ("no page without a blob", "select count(*) as it from pages p where not exists (
            select 1 from blobs b, json_each(b.pages) e where json_extract(e.value, '$[1]') = p.id)"),
        ("living names are unique", "select count(*) as it from (
            select 1 from nodes where trashed_at is null group by parent_id, name_nfc having count(*) > 1)"),
        ("every name can be searched", "select (select count(*) from node_names)
            - (select count(*) from nodes where parent_id <> '') as it"),
        ("no path has more than 128 names", "with recursive down (id, depth) as (
            select root_id, 0 from spaces
            union all
            select k.id, d.depth + 1 from down d cross join nodes k where k.parent_id = d.id and k.trashed_at is null
                                     and d.depth < 200)
          select count(*) as it from down where depth > 128"),
        (
            "the feed ends with the last commit, and has every one",
            "select abs(change_seq - (select coalesce(max(seq), 0) from changes))
                  + abs(change_seq - changes_gone_seq - (select count(distinct seq) from changes)) as it from spaces",
        ),
        (
            "no folder has changed later than those above it",
            "select count(*) as it from nodes n join nodes p on p.id = n.parent_id
              where n.trashed_at is null and n.changed_seq > p.changed_seq",
        ),
        ("nothing is left over", "select (select count(*) from loose_blobs) + (select count(*) from guard) as it"),
    ] {
        assert_eq!(drive.column(sql).await, [Value::Integer(0)], "{what}");
    }
}
