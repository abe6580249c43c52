//! Counting what is below a folder ends somewhere, and says so.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_core::folders::MAX_COUNTED_NODES;
use ledge_core::ports::{Db, Statement};
use ledge_engine_tests::{Drive, run};
use serde_json::{Value, json};

async fn sizes(drive: &Drive) -> [Value; 2] {
    let answer = drive.send(drive.plain(), drive.request("GET", "folders/?sizes=true", b"")).await;
    assert_eq!(answer.status, 200);
    let page: Value = serde_json::from_slice(&answer.body).unwrap();
    [page["folder"]["sizes"].clone(), page["entries"][0]["sizes"].clone()]
}

#[test]
fn a_count_ends_after_200_000_nodes_and_says_so() {
    run(async {
        let drive = Drive::new().await;
        let made = drive.send(drive.plain(), drive.request("PUT", "folders/many", b"")).await;
        assert_eq!(made.status, 201);
        // Names don't matter here, and their index takes most of the time.
        let fill = Statement::new(
            "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
             with recursive n (n) as (select 1 union all select n + 1 from n limit ?1)
             select 'n' || n.n, f.space_id, f.id, 'n' || n.n, 'n' || n.n, 'folder', 0, 0
               from n cross join nodes f where f.name = 'many'",
        );
        let batch = vec![Statement::new("drop trigger node_named"), fill.bind(MAX_COUNTED_NODES - 1)];
        drive.ports.db.write(batch).await.unwrap();
        let all = |nodes: u64, incomplete: bool| json!({"nodes": nodes, "bytes": 0, "older_bytes": 0, "incomplete": incomplete});
        let most = MAX_COUNTED_NODES;
        assert_eq!(sizes(&drive).await, [all(most, false), all(most - 1, false)]);
        drive
            .ports
            .db
            .write(vec![Statement::new(
                "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
                 select 'x' || value, f.space_id, f.id, 'x' || value, 'x' || value, 'folder', 0, 0
                   from json_each('[1,2,3]') cross join nodes f where f.name = 'many'",
            )])
            .await
            .unwrap();
        let [folder, entry] = sizes(&drive).await;
        assert_eq!((&folder["incomplete"], &entry["incomplete"]), (&json!(true), &json!(true)));
        assert_eq!(folder["nodes"], most + 1, "what was counted until then");
    });
}
