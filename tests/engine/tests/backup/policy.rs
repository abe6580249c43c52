//! What is kept, and what a dump costs those who write.

use std::cell::RefCell;
use std::rc::Rc;

use ledge_core::backup::{begin, list};
use ledge_core::ports::{Db, Platform, Ports, Statement, Value};
use ledge_core::settings::Settings;
use ledge_engine_tests::dumps::{SMALL, dump};
use ledge_engine_tests::{Drive, record, run};
use rusqlite::{Connection, StatementStatus};

#[test]
fn the_newest_are_kept_and_failed_ones_go_with_their_objects() {
    run(async {
        let drive = Drive::new().await;
        let plain = drive.plain();
        let keeps_two = Ports {
            db: plain.db().clone(),
            bucket: plain.bucket().clone(),
            queue: plain.queue().clone(),
            host: plain.host().clone(),
            settings: Rc::new(Settings { backups_kept: 2, ..Settings::default() }),
        };
        for id in ["a", "b"] {
            dump(&keeps_two, id, &SMALL).await;
        }
        begin(&keeps_two, "stopped").await.unwrap();
        ledge_core::backup::step(&keeps_two, "stopped", &SMALL).await.unwrap();
        let token = drive.address("").token;
        begin(&keeps_two, "c").await.unwrap();
        let known: Vec<_> = list(&keeps_two, &token).await.unwrap();
        let known: Vec<_> = known.iter().map(|backup| (backup.id.as_str(), backup.state.name())).collect();
        assert_eq!(known, [("c", "running"), ("stopped", "failed"), ("b", "done"), ("a", "done")]);
        dump(&keeps_two, "c", &SMALL).await;
        let left = |objects: Vec<String>| {
            let mut left: Vec<String> = objects
                .iter()
                .filter_map(|key| Some(key.strip_prefix("ledge/meta/")?.split('/').next()?.to_owned()))
                .collect();
            left.dedup();
            left
        };
        assert_eq!(left(drive.objects().await), ["b", "c"]);
        let ids: Vec<_> =
            list(&keeps_two, &token).await.unwrap().into_iter().map(|backup| backup.id).collect();
        assert_eq!(ids, ["c", "b"]);
        assert_eq!(drive.column("select part as it from backup_parts").await, []);
    });
}

#[test]
fn a_dump_whose_job_is_given_up_keeps_no_more_changes() {
    run(async {
        let drive = Drive::new().await;
        for (id, state) in [("one", "dead"), ("other", "cancelled")] {
            let job = "insert into jobs (id, lane, input, created_at, updated_at) values (?1, 'maintenance', '{}', 0, 0)";
            drive.ports.db.write(vec![Statement::new(job).bind(id)]).await.unwrap();
            begin(drive.plain(), id).await.unwrap();
            let end = "update jobs set state = ?2, finished_at = 1, forget_at = 2 where id = ?1";
            drive.ports.db.write(vec![Statement::new(end).bind(id).bind(state)]).await.unwrap();
            assert_eq!(drive.put("a", b"a").await.status / 100, 2);
            assert_eq!(drive.column("select key as it from backup_undo").await, []);
            let failed = ledge_core::backup::step(drive.plain(), id, &SMALL).await.unwrap_err();
            assert!(failed.to_string().contains("given up"), "{failed}");
        }
    });
}

/// Operations of SQLite's machine, and rows of whole tables, that a save takes.
async fn work_of_a_save(drive: &Drive, body: &'static [u8]) -> (i32, i32) {
    let statements = RefCell::new(Vec::new());
    let put = drive.request("PUT", "files/a/b/c/file", body);
    assert_eq!(drive.send(&record(drive.plain(), &statements), put).await.status, 204);
    let connection = Connection::open(drive.ports.path().join("ledge.db")).unwrap();
    let mut work = (0, 0);
    for statement in statements.into_inner() {
        // Undone again: what is counted is the statement alone, on the state that the save has left.
        connection.execute_batch("begin").unwrap();
        let mut prepared = connection.prepare(&statement.sql).unwrap();
        let values = statement.params.iter().map(|value| match value {
            Value::Null => rusqlite::types::Value::Null,
            Value::Integer(number) => rusqlite::types::Value::Integer(*number),
            Value::Real(number) => rusqlite::types::Value::Real(*number),
            Value::Text(text) => rusqlite::types::Value::Text(text.clone()),
        });
        let mut rows = prepared.query(rusqlite::params_from_iter(values)).unwrap();
        // A row that is there already is refused; by then the triggers of other tables are counted all the same.
        while rows.next().is_ok_and(|row| row.is_some()) {}
        drop(rows);
        work.0 += prepared.get_status(StatementStatus::VmStep);
        work.1 += prepared.get_status(StatementStatus::FullscanStep);
        drop(prepared);
        connection.execute_batch("rollback").unwrap();
    }
    work
}

#[test]
fn saves_pay_next_to_nothing_while_no_dump_runs() {
    run(async {
        let drive = Drive::new().await;
        let made = drive.request("PUT", "folders/a/b/c?parents=true", b"");
        assert_eq!(drive.send(drive.plain(), made).await.status, 201);
        assert_eq!(drive.put("a/b/c/file", b"zero").await.status, 201);
        let with = work_of_a_save(&drive, b"one").await;
        let triggers = drive
            .column("select name as it from sqlite_master where type = 'trigger' and name like 'backup%'");
        let drop = triggers.await.into_iter().map(|name| {
            let Value::Text(name) = name else { unreachable!("names are text") };
            Statement::new(format!("drop trigger {name}"))
        });
        drive.ports.db.write(drop.collect()).await.unwrap();
        let without = work_of_a_save(&drive, b"two").await;
        println!("operations and scanned rows with triggers {with:?}, without {without:?}");
        assert_eq!(with.1, without.1, "rows");
        // Some ten operations for each row that is written, and no row read: the index that is asked is empty.
        assert!(with.0 - without.0 < 200, "{with:?} {without:?}");
    });
}
