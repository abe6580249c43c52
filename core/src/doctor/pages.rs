//! Every extent of every page resolves to a range of a segment that is in use.

use super::report::{Kind, Report};
use crate::error::Result;
use crate::ports::{Db, Platform, Statement};

/// Pages that one read looks at, with up to 256 extents each.
const PAGES: i64 = 200;

/// Looks at some pages; the last one, while there are more. A page that goes meanwhile isn't met: one batch sees one
/// moment.
pub(super) async fn look<P: Platform>(platform: &P, after: u64, report: &mut Report) -> Result<Option<u64>> {
    let last = Statement::new(
        "select max(id) as last, count(*) as count from (select id from pages where id > ?1 order by id limit ?2) page",
    )
    .bind(after)
    .bind(PAGES);
    let broken = Statement::new(
        "select p.id, e.value as extent,
                case when s.id is null then 'no row has this segment'
                     when s.state <> 'live' then 'the segment is ' || s.state
                     when json_extract(e.value, '$[1]') + json_extract(e.value, '$[2]') > s.size_bytes
                       then 'the segment has ' || s.size_bytes || ' bytes'
                     when not exists (select 1 from page_segments u where u.segment = s.id and u.page = p.id)
                       then 'page_segments doesn''t have it' end as why
           from (select id, extents from pages where id > ?1 order by id limit ?2) p
          cross join json_each(p.extents) e
           left join segments s on s.id = json_extract(e.value, '$[0]')
          where json_extract(e.value, '$[0]') <> 0 and why is not null limit 1000",
    )
    .bind(after)
    .bind(PAGES);
    let mut results = platform.db().read(vec![last, broken]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let last = rows();
    for row in rows() {
        let what =
            format!("page {}, extent {}: {}", row.integer("id")?, row.text("extent")?, row.text("why")?);
        report.add(Kind::BrokenExtent, what);
    }
    let Some(last) = last.first().filter(|row| row.unsigned("count").is_ok_and(|count| count > 0)) else {
        return Ok(None);
    };
    report.pages += last.unsigned("count")?;
    Ok(Some(last.unsigned("last")?))
}
