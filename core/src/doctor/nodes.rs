//! Every file has its version, and every node its folder.

use super::report::{Kind, Report};
use crate::error::Result;
use crate::ports::{Db, Platform, Statement};

/// Nodes that one read looks at.
const NODES: i64 = 1000;

/// Looks at some nodes; the last one, while there are more. Hidden roots have a `/` in them, and no row.
pub(super) async fn look<P: Platform>(platform: &P, after: u64, report: &mut Report) -> Result<Option<u64>> {
    let last = Statement::new(
        "select max(n) as last, count(*) as count from (select n from nodes where n > ?1 order by n limit ?2) page",
    )
    .bind(after)
    .bind(NODES);
    let broken = Statement::new(
        "select id, case when kind = 'file' and not exists (
                              select 1 from versions v where v.id = p.version_id and v.node_id = p.id)
                           then 'it has no version ' || version_id
                         when parent_id <> '' and instr(parent_id, '/') = 0
                              and not exists (select 1 from nodes f where f.id = p.parent_id and f.kind = 'folder')
                           then 'it is in no folder ' || parent_id
                         when not exists (select 1 from spaces s where s.id = p.space_id)
                           then 'it is in no space ' || space_id end as why
           from (select * from nodes where n > ?1 order by n limit ?2) p where why is not null limit 1000",
    )
    .bind(after)
    .bind(NODES);
    let mut results = platform.db().read(vec![last, broken]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let last = rows();
    for row in rows() {
        report.add(Kind::BrokenNode, format!("node {}: {}", row.text("id")?, row.text("why")?));
    }
    let Some(last) = last.first().filter(|row| row.unsigned("count").is_ok_and(|count| count > 0)) else {
        return Ok(None);
    };
    report.nodes += last.unsigned("count")?;
    Ok(Some(last.unsigned("last")?))
}
