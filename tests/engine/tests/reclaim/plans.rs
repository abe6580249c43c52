//! No step scans a table.

use std::cell::RefCell;

use ledge_core::ports::{Db, Statement};
use ledge_core::reclaim::{FullPass, Sweep, full_pass, report, sweep};
use ledge_engine_tests::{record, run};

use crate::content::{self, SMALL};
use crate::world::{World, few};

/// What a plan may scan: bound arrays, and what the statement itself has taken out of a table by an index.
const SCANS_OF_FEW: [&str; 8] = [
    "SCAN CONSTANT ROW",
    "SCAN (subquery",
    "SCAN named",
    "SCAN c",
    "SCAN s",
    "SCAN r",
    // The first candidates in the order of their keys: a limit ends it.
    "SCAN candidates",
    "SCAN repack_candidates",
];

#[test]
fn no_step_scans_a_table() {
    run(async {
        let world = World::new(1, 24 * 60 * 60).await;
        let put = async |name: &str, content| {
            assert_eq!(world.send("PUT", &format!("files/{name}"), content).await.status, 201);
        };
        for (name, content) in
            [("a", content::of(&[0, 1, 2])), ("b", content::of(&[1])), ("c", &SMALL[0]), ("d", &SMALL[1])]
        {
            put(name, content).await;
        }
        for name in ["a", "c"] {
            assert_eq!(world.send("DELETE", &format!("files/{name}"), b"").await.status, 204);
        }
        assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
        world.sql("insert into ingests (key, space_id, expires_at) values ('abc', '', 1)").await;
        world.objects.store("ledge/seg/abc/0", b"a".to_vec());
        world.objects.store("ledge/seg/def/0", b"a".to_vec());
        let statements = RefCell::new(Vec::new());
        for _ in 0..3 {
            let free = world.free();
            let platform = record(&free, &statements);
            let mut at = Sweep::default();
            while !at.is_done() {
                at = sweep(&platform, at, &few()).await.unwrap();
            }
            let mut at = FullPass::default();
            while !at.is_done() {
                at = full_pass(&platform, at, &few()).await.unwrap();
            }
            report(&platform).await.unwrap();
            world.host.pass(3 * 24 * 60 * 60);
        }
        assert_eq!(world.states().await, ["live", "live"], "each step had something to do");
        assert_eq!(world.objects.keys().len(), 2);
        let mut statements = statements.into_inner();
        statements.sort_by(|a, b| a.sql.cmp(&b.sql));
        statements.dedup_by(|a, b| a.sql == b.sql);
        assert!(statements.len() > 30, "{} statements were run", statements.len());
        for Statement { sql, params } in statements {
            let explain = Statement { sql: format!("explain query plan {sql}").into(), params };
            for row in world.drive.ports.db.read(vec![explain]).await.unwrap().remove(0) {
                let detail = row.text("detail").unwrap();
                let is_few = |few: &&str| {
                    let rest = detail.strip_prefix(few);
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
                };
                assert!(
                    !detail.starts_with("SCAN")
                        || detail.contains("VIRTUAL TABLE")
                        || SCANS_OF_FEW.iter().any(is_few),
                    "{detail}\n in {sql}"
                );
            }
        }
    });
}
