//! How much is below each folder of a page, in SQL that joins the listing's own statement.
//!
//! One walk goes down from the listed folder, and ends after so many nodes: then all numbers are of what it had met, and
//! say so. Every step is a search by the index on parents, versions and blobs are found by theirs.

/// The most nodes that are counted: about a second and a half of the database's time, a limit of one request's use.
pub const MAX_COUNTED_NODES: u64 = 200_000;

/// `sizes(top, nodes, bytes, kept)`: for each folder on the page `page(n, …)` of the folder at the end of the walk, and
/// for all else that is in it together (`top` null), how many nodes there are, the bytes of their current versions and of
/// all versions. The page keeps the rows few: they are joined without an index.
macro_rules! sizes {
    () => {
        ", down (top, id, version_id) as (
             select case when k.kind = 'folder' and k.n in (select page.n from page) then k.id end, k.id, k.version_id
               from walk w cross join nodes k
              where w.depth = ?3 and k.parent_id = w.id and k.trashed_at is null
             union all
             select d.top, k.id, k.version_id
               from down d cross join nodes k
              where d.version_id is null and k.parent_id = d.id and k.trashed_at is null
              limit 200001
         ), sizes (top, nodes, bytes, kept, all_nodes, all_bytes, all_kept) as materialized (
             select d.top, count(*), coalesce(sum(d.bytes), 0), coalesce(sum(d.kept), 0),
                    sum(count(*)) over (), sum(coalesce(sum(d.bytes), 0)) over (),
                    sum(coalesce(sum(d.kept), 0)) over ()
               from (select down.top,
                            (select b.size_bytes from versions v cross join blobs b on b.id = v.blob_id
                              where v.id = down.version_id) as bytes,
                            case when down.version_id is not null then
                              (select sum(b.size_bytes) from versions v cross join blobs b on b.id = v.blob_id
                                where v.node_id = down.id) end as kept
                       from down) d
              group by d.top
         ) "
    };
}
pub(super) use sizes;

/// A member of an entry's JSON: of a folder `n`, what is below it by its row `z`. The folder itself isn't counted; without
/// a row, the walk has ended before it.
pub(super) const OF_ENTRY: &str = ", 'sizes', json(case n.kind when 'folder' then json_object(
         'nodes', coalesce(z.nodes - 1, 0), 'bytes', coalesce(z.bytes, 0),
         'older_bytes', coalesce(z.kept - z.bytes, 0),
         'incomplete', json(case when z.all_nodes <= 200000 then 'false' else 'true' end)) end)";

/// The same of the listed folder.
pub(super) const OF_FOLDER: &str = "(select json_object(
         'nodes', coalesce(max(all_nodes), 0), 'bytes', coalesce(max(all_bytes), 0),
         'older_bytes', coalesce(max(all_kept - all_bytes), 0),
         'incomplete', json(case when max(all_nodes) > 200000 then 'true' else 'false' end)) from sizes)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_in_the_statement_is_the_one_that_is_named() {
        assert!(sizes!().contains(&format!("limit {}\n", MAX_COUNTED_NODES + 1)));
        assert!(OF_FOLDER.contains(&format!("> {MAX_COUNTED_NODES} ")));
        assert!(OF_ENTRY.contains(&format!("<= {MAX_COUNTED_NODES} ")));
    }
}
