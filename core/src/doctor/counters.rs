//! What is counted along the way, counted again.

use super::report::{Kind, Report};
use crate::error::Result;
use crate::ports::{Db, Platform, Statement};

/// The two sums look at all versions and at all blobs: seconds for a million. A database that refuses so much in one
/// statement leaves a note.
pub(super) async fn look<P: Platform>(platform: &P, report: &mut Report) -> Result<()> {
    for (what, sql) in [
        (
            "used_bytes of space",
            "select s.id, s.used_bytes as kept, coalesce(c.total, 0) as counted
               from spaces s left join (
                 select n.space_id, sum(b.size_bytes) as total
                   from versions v cross join nodes n on n.id = v.node_id cross join blobs b on b.id = v.blob_id
                  group by n.space_id) c on c.space_id = s.id
              where kept <> counted limit 1000",
        ),
        (
            "reserved_bytes of space",
            "select s.id, s.reserved_bytes as kept, coalesce(c.total, 0) as counted
               from spaces s left join (
                 select space, sum(bytes) as total
                   from (select space_id as space, reserved_bytes as bytes from uploads
                         union all select space_id, size_bytes from direct_uploads
                         union all select o.id, k.size_bytes from packs k cross join spaces o on o.n = k.space)
                  group by space) c on c.space = s.id
              where kept <> counted limit 1000",
        ),
        (
            "uses of page",
            "select p.id, coalesce(u.blobs, 0) as kept, coalesce(c.total, 0) as counted
               from pages p left join page_uses u on u.page = p.id
               left join (select json_extract(e.value, '$[1]') as page, count(distinct b.id) as total
                            from blobs b cross join json_each(b.pages) e group by 1) c on c.page = p.id
              where kept <> counted or counted = 0 limit 1000",
        ),
    ] {
        let rows = match platform.db().read(vec![Statement::new(sql)]).await {
            Ok(results) => results.into_iter().next().unwrap_or_default(),
            Err(error) => {
                report.add(Kind::NotChecked, format!("{what}: {error}"));
                continue;
            }
        };
        for row in rows {
            let id = row.text("id").map(str::to_owned).or_else(|_| row.integer("id").map(|id| id.to_string()))?;
            let (kept, counted) = (row.integer("kept")?, row.integer("counted")?);
            report.add(Kind::WrongCounter, format!("{what} {id} is {kept}, and {counted} were counted"));
        }
    }
    Ok(())
}
