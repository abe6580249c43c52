//! The end of a schedule.

use ledge_core::jobs::Work;
use ledge_engine_tests::check;

use super::operation::by_job;
use super::schedule::{DAY, Schedule};
use super::statistics::add;

impl Schedule<'_> {
    /// The grace time passes, and nothing may be left but what is needed.
    pub(super) async fn rest(&mut self) {
        // Uploads expire, twice the grace for what is repacked on the way, orphans are seen twice.
        for _ in 0..5 {
            let settings = &self.world.settings;
            self.world.host.pass(2 * settings.grace_secs + settings.upload_ttl_secs + 3 * DAY);
            for work in [Work::ExpireUploads, Work::ExpireTrash] {
                by_job(&self.world.free(), &work).await;
                self.audit().await;
            }
            let done = self.world.full_pass().await;
            add(&self.statistics.orphans, done.orphans);
            let done = self.world.sweep().await;
            add(&self.statistics.gone, done.segments);
            add(&self.statistics.repacked, done.repacked);
            self.known.strays.retain(|key| self.world.objects.holds(key));
            self.audit().await;
        }
        self.nothing_is_left().await;
    }

    async fn nothing_is_left(&mut self) {
        let world = self.world;
        for (what, sql) in [
            ("uploads", "select count(*) as it from ingests"),
            ("uploads in parts", "select (select count(*) from uploads) + (select count(*) from upload_parts) as it"),
            ("packs", "select count(*) as it from packs"),
            ("reserved bytes", "select sum(reserved_bytes) as it from spaces"),
            ("hidden nodes", "select count(*) as it from nodes where parent_id like 'purge/%' or parent_id like 'copy/%'"),
            ("blobs without a version",
             "select count(*) as it from blobs b where not exists (select 1 from versions v where v.blob_id = b.id)"),
            ("candidates", "select (select count(*) from candidates) + (select count(*) from repack_candidates) as it"),
            ("orphans", "select count(*) as it from orphans"),
            ("segments on their way", "select count(*) as it from segments where state <> 'live'"),
            ("segments without a page", "select count(*) as it from segments s
               where not exists (select 1 from page_segments p where p.segment = s.id)"),
            ("mostly dead segments", "select count(*) as it from (
                 select s.size_bytes as all_bytes, s.size_bytes - (select sum(length) from (
                    select distinct json_extract(e.value, '$[1]'), json_extract(e.value, '$[2]') as length
                      from page_segments r join pages p on p.id = r.page, json_each(p.extents) e
                     where r.segment = s.id and json_extract(e.value, '$[0]') = s.id)) as dead_bytes from segments s)
               where dead_bytes > all_bytes * 2 / 3 and dead_bytes > 65536"),
        ] {
            assert_eq!(world.number(sql).await, 0, "{what} are left");
        }
        let mut rows = world.texts("select key as it from segments order by key").await;
        rows.extend(["ledge/meta/x".to_owned(), "other/y".to_owned()]);
        rows.sort();
        assert_eq!(rows, world.objects.keys(), "rows, then objects");
        for name in
            world.texts("select name as it from nodes where kind = 'file' and trashed_at is null").await
        {
            let answer = world.send("GET", &format!("files/{}", name.replace(' ', "%20")), b"").await;
            assert_eq!(answer.status, 200, "{name}");
            let tag = answer.headers["etag"].to_str().unwrap().trim_matches('"').to_owned();
            assert!(*self.known.contents[&tag] == *answer.body, "{name} reads as something else");
        }
        check(&world.drive).await;
    }
}
