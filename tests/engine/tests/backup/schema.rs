//! Nothing is forgotten: every table and every column is dumped, follows from what is, or is left out for a reason.

use std::collections::BTreeSet;

use ledge_core::backup::tables::{DERIVED, Key, LEFT_OUT, SCHEMA, TABLES, Table, Undo};
use ledge_core::ports::{Db, Statement};
use ledge_engine_tests::{Drive, run};

#[test]
fn every_table_and_every_column_has_its_place_in_a_dump() {
    run(async {
        let drive = Drive::new().await;
        let tables: BTreeSet<String> = texts(
            &drive,
            "select name as it from sqlite_master where type = 'table' and name not like 'sqlite_%'
                and name not like 'node_names_%'",
        )
        .await;
        let known: BTreeSet<String> = (TABLES.iter().map(|table| table.name))
            .chain(DERIVED)
            .chain(LEFT_OUT.map(|(name, _)| name))
            .map(str::to_owned)
            .collect();
        assert_eq!(tables, known, "the schema's tables, then those of core/src/backup/tables.rs");
        for table in &TABLES {
            let there =
                texts(&drive, format!("select name as it from pragma_table_info('{}')", table.name)).await;
            let dumped =
                table.columns.iter().chain(table.left_out).map(|column| (*column).to_owned()).collect();
            assert_eq!(
                there, dumped,
                "{}: the schema's columns, then those of core/src/backup/tables.rs",
                table.name
            );
            let key = texts(
                &drive,
                format!("select name as it from pragma_table_info('{}') where pk > 0", table.name),
            );
            let mut key = key.await;
            if table.name == "properties" {
                // It has no primary key, and a unique index instead.
                key = texts(&drive, "select name as it from pragma_index_info('properties_node')").await;
            }
            assert_eq!(key, table.key.iter().map(|key| key.column().to_owned()).collect(), "{}", table.name);
        }
        let newest = drive.column("select max(version) as it from schema_version").await;
        assert_eq!(newest, [i64::from(SCHEMA).into()], "the newest migration, then SCHEMA of tables.rs");
    });
}

#[test]
fn the_triggers_keep_every_column_in_the_order_of_a_dump() {
    run(async {
        let drive = Drive::new().await;
        let there = texts(
            &drive,
            "select sql as it from sqlite_master where type = 'trigger' and name like 'backup\\_%' escape '\\' and name <> 'backup_ended'",
        );
        let there: BTreeSet<String> = there.await.iter().map(|sql| spaced(sql)).collect();
        let wanted: BTreeSet<String> = TABLES.iter().flat_map(triggers).map(|sql| spaced(&sql)).collect();
        let [missing, other] = [&wanted - &there, &there - &wanted];
        assert!(
            missing.is_empty() && other.is_empty(),
            "should be:\n{missing:#?}\nbut there is:\n{other:#?}"
        );
    });
}

/// The triggers that a table must have.
fn triggers(table: &Table) -> Vec<String> {
    let events: &[(&str, &str)] = match table.undo {
        Undo::All => &[("made", "insert"), ("changed", "update"), ("gone", "delete")],
        Undo::Deleted => &[("gone", "delete")],
        Undo::None => &[],
    };
    let name = table.name;
    let row = table.columns.iter().map(|column| format!("old.{column}")).collect::<Vec<_>>().join(", ");
    let trigger = |&(what, event): &(&str, &str)| {
        let which = if event == "insert" { "new" } else { "old" };
        let was = if event == "insert" { "null".to_owned() } else { format!("json_array({row})") };
        let keys: Vec<String> =
            table.key.iter().map(|key: &Key| format!("{which}.{}", key.column())).collect();
        let key = if let [key] = keys.as_slice() {
            key.clone()
        } else {
            format!("json_array({})", keys.join(", "))
        };
        format!(
            "create trigger backup_{name}_{what} after {event} on {name}
               when exists (select 1 from backups where state = 'running')
             begin
               insert into backup_undo (backup, of_table, key, was)
               select n, '{name}', {key}, {was}
                 from backups where state = 'running' on conflict do nothing;
             END"
        )
    };
    events.iter().map(trigger).collect()
}

/// White space doesn't matter.
fn spaced(sql: &str) -> String {
    let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    words.replace("json_array( ", "json_array(").replace("CREATE TRIGGER", "create trigger")
}

async fn texts(drive: &Drive, sql: impl Into<String>) -> BTreeSet<String> {
    let rows = drive.ports.db.read(vec![Statement::new(sql.into())]).await.unwrap().remove(0);
    rows.iter().map(|row| row.text("it").unwrap().to_owned()).collect()
}
