//! A sweep over very many segments: what its steps read and how many round trips they take, counted by SQLite and not by
//! a clock.

use std::cell::Cell;

use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement, Value};
use ledge_core::reclaim::{FullPass, Limits, Sweep, full_pass, sweep};
use ledge_core::wrappers::{Counts, count};
use ledge_engine_tests::run;
use rusqlite::{Connection, StatementStatus};

use crate::world::World;

const DAY: i64 = 24 * 60 * 60;
const GRACE: i64 = 7 * DAY;

/// Fills the tables: each segment with two chunks; of 1,000 segments 960 in use by a page each, 20 due, 10 doomed and
/// not due, 10 that have just lost their last page.
fn fill(segments: i64) -> String {
    let series = format!(
        "with recursive series (i) as (select 0 union all select i + 1 from series where i < {segments} - 1)"
    );
    format!(
        "pragma synchronous = off; begin;
         insert into segments (id, key, size_bytes, state, state_at) {series}
           select 1048576 + i, printf('ledge/seg/%032x/0', i * 7919), 8000000,
                  case when i % 1000 < 970 then 'live' else 'doomed' end,
                  case when i % 1000 < 990 then 1000 else unixepoch() * 1000 end from series;
         insert into chunks (space, hash, segment, offset, length, crc32, chunker, seen_at) {series}
           select 1, printf('%043d', i * 2 + half.value), 1048576 + i, half.value * 4000000, 4000000, 0, 1, 1000
             from series, json_each('[0,1]') half;
         insert into pages (id, extents) {series}
           select i, printf('[[%d,0,8000000,0]]', 1048576 + i) from series where i % 1000 < 960;
         insert into page_segments (segment, page) {series}
           select 1048576 + i, i from series where i % 1000 < 960;
         insert into candidates (segment) {series}
           select 1048576 + i from series where i % 1000 between 960 and 969 or i % 1000 < 2;
         commit;"
    )
}

/// The most that a step of a sweep or a full pass may do: some hundred operations of SQLite's machine for each segment
/// that it deletes, dooms or looks at, however many there are.
const MOST_STEPS: i32 = 1_500_000;
const MOST_SCANNED: i32 = 20_000;

/// A database that first lets each batch run on a connection that rolls it back, and counts what that does.
struct Measured<'a, T> {
    inner: &'a T,
    world: &'a World,
    /// Operations and rows scanned, since they were last taken.
    work: &'a Cell<(i32, i32)>,
}

impl<T: Db> Measured<'_, T> {
    fn measure(&self, batch: &[Statement]) {
        let (steps, scanned) = work(self.world, batch);
        let before = self.work.get();
        self.work.set((before.0 + steps, before.1 + scanned));
    }
}

impl<T: Db> Db for Measured<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.measure(&batch);
        self.inner.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.measure(&batch);
        self.inner.write(batch).await
    }
}

fn work(world: &World, statements: &[Statement]) -> (i32, i32) {
    let connection = Connection::open(world.drive.ports.path().join("ledge.db")).unwrap();
    connection.execute_batch("begin").unwrap();
    let (mut steps, mut scanned) = (0, 0);
    for statement in statements {
        let mut prepared = connection.prepare(&statement.sql).unwrap();
        let values = statement.params.iter().map(|value| match value {
            Value::Null => rusqlite::types::Value::Null,
            Value::Integer(number) => rusqlite::types::Value::Integer(*number),
            Value::Real(number) => rusqlite::types::Value::Real(*number),
            Value::Text(text) => rusqlite::types::Value::Text(text.clone()),
        });
        let mut rows = prepared.query(rusqlite::params_from_iter(values)).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        steps += prepared.get_status(StatementStatus::VmStep);
        scanned += prepared.get_status(StatementStatus::FullscanStep);
    }
    connection.execute_batch("rollback").unwrap();
    (steps, scanned)
}

/// Round trips of a whole sweep or pass: each step has few, and each gets much done.
fn sweep_over(segments: i64) {
    run(async {
        let world = World::new(1, GRACE).await;
        let connection = Connection::open(world.drive.ports.path().join("ledge.db")).unwrap();
        connection.execute_batch(&fill(segments)).unwrap();
        drop(connection);
        let limits = Limits::default();
        let (due, unused) = (segments / 50, segments / 100);

        let done = Cell::new((0, 0));
        let counts = Counts::default();
        let free = world.free();
        let counted = count(&free, &counts);
        let platform = Ports {
            db: Measured { inner: counted.db(), world: &world, work: &done },
            bucket: counted.bucket(),
            queue: counted.queue(),
            host: counted.host(),
            settings: world.settings.clone(),
        };
        let mut at = Sweep::default();
        let (mut most, mut steps) = ((0, 0), 0);
        while !at.is_done() {
            let before = (counts.round_trips(), counts.bucket_operations());
            at = sweep(&platform, at, &limits).await.unwrap();
            steps += 1;
            let work = done.take();
            most = (most.0.max(work.0), most.1.max(work.1));
            assert!(counts.round_trips() - before.0 <= 8, "round trips of step {steps}");
            assert!(counts.bucket_operations() - before.1 <= 30, "bucket operations of step {steps}");
        }
        assert_eq!(at.reclaimed.segments, u64::try_from(due).unwrap());
        assert_eq!(at.reclaimed.doomed, u64::try_from(unused).unwrap());
        let measured = segments / 1000 * 2;
        let expected = due / 500 + (unused + measured) / 1000 + measured / 16 + 10;
        println!(
            "{segments} segments: {steps} steps, {} round trips, {most:?} at most",
            counts.round_trips()
        );
        assert!(steps <= expected, "{steps} steps, and {expected} are enough");
        assert!(most.0 <= MOST_STEPS && most.1 <= MOST_SCANNED, "{most:?}");

        let before = counts.round_trips();
        let mut at = FullPass::default();
        while !at.is_done() {
            at = full_pass(&platform, at, &limits).await.unwrap();
            let work = done.take();
            assert!(work.0 <= MOST_STEPS && work.1 <= MOST_SCANNED, "{work:?}");
        }
        let trips = i64::from(counts.round_trips() - before);
        assert!(trips <= segments / 5000 + 10, "{trips} round trips of a full pass");
    });
}

#[test]
fn a_sweep_over_100_000_segments_reads_what_it_gives_back() {
    sweep_over(100_000);
}

#[test]
#[ignore = "takes minutes: cargo xtask test --full"]
fn a_sweep_over_a_million_segments_reads_what_it_gives_back() {
    sweep_over(1_000_000);
}
