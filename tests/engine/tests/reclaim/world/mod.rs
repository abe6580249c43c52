//! A drive whose objects, clock and settings are the test's, and whose calls wait for its sign.

mod bucket;
mod gate;
mod host;

use std::rc::Rc;

use ledge_core::ids::JobId;
use ledge_core::ports::{Db, Lane, Ports, Queue, QueueError, Statement, Value};
use ledge_core::reclaim::{FullPass, Limits, Reclaimed, Sweep, full_pass, sweep};
use ledge_core::settings::Settings;
use ledge_engine_tests::{Answer, Drive, Random};
use ledge_hosts::local::Sqlite;

pub(crate) use bucket::Objects;
pub(crate) use gate::{Call, Gate, Gated, Sign};
pub(crate) use host::Machine;

/// What the steps do in these tests: few things at once, so that there is much between them.
pub(crate) fn few() -> Limits {
    Limits {
        ingests: 2,
        listings: 1,
        deleted: 2,
        candidates: 2,
        measured: 2,
        packed_bytes: 700_000,
        settled_secs: 600,
        passed: 2,
        ..Limits::default()
    }
}

/// The drive.
pub(crate) struct World {
    pub(crate) drive: Drive,
    pub(crate) objects: Objects,
    pub(crate) host: Machine,
    pub(crate) settings: Rc<Settings>,
    nobody: Nobody,
    /// For who needn't wait.
    free: Gate,
}

/// Whose calls wait at a gate.
pub(crate) type Paced<'a> = Ports<Gated<'a, Sqlite>, Gated<'a, Objects>, &'a Nobody, &'a Machine>;

impl World {
    pub(crate) async fn new(seed: u64, grace_secs: i64) -> Self {
        let drive = Drive::quick().await;
        let objects = Objects::default();
        let host = Machine::new(Random::new(seed), objects.clone());
        let settings = Rc::new(Settings { grace_secs, ..Settings::default() });
        Self { drive, objects, host, settings, nobody: Nobody, free: Gate::open() }
    }

    /// The drive as who waits at this gate sees it.
    pub(crate) fn at<'a>(&'a self, gate: &'a Gate) -> Paced<'a> {
        Ports {
            db: Gated::new(&self.drive.ports.db, gate, &self.host),
            bucket: Gated::new(&self.objects, gate, &self.host),
            queue: &self.nobody,
            host: &self.host,
            settings: self.settings.clone(),
        }
    }

    /// The drive for who needn't wait.
    pub(crate) fn free(&self) -> Paced<'_> {
        self.at(&self.free)
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: &'static [u8]) -> Answer {
        self.drive.send(&self.free(), self.drive.request(method, path, body)).await
    }

    /// A sweep to its end.
    pub(crate) async fn sweep(&self) -> Reclaimed {
        let mut at = Sweep::default();
        while !at.is_done() {
            at = sweep(&self.free(), at, &few()).await.expect("a step of a sweep");
        }
        at.reclaimed
    }

    /// A full pass to its end.
    pub(crate) async fn full_pass(&self) -> Reclaimed {
        let mut at = FullPass::default();
        while !at.is_done() {
            at = full_pass(&self.free(), at, &few()).await.expect("a step of a full pass");
        }
        at.reclaimed
    }

    pub(crate) async fn sql(&self, sql: &'static str) {
        self.drive.ports.db.write(vec![Statement::new(sql)]).await.expect("a statement");
    }

    /// One column of texts.
    pub(crate) async fn texts(&self, sql: &'static str) -> Vec<String> {
        let text = |value| match value {
            Value::Text(text) => text,
            other => panic!("{sql}: {other:?}"),
        };
        self.drive.column(sql).await.into_iter().map(text).collect()
    }

    pub(crate) async fn number(&self, sql: &'static str) -> i64 {
        match self.drive.column(sql).await.as_slice() {
            [Value::Integer(number)] => *number,
            other => panic!("{sql}: {other:?}"),
        }
    }

    /// The states of all segments, in the order in which they came.
    pub(crate) async fn states(&self) -> Vec<String> {
        self.texts("select state as it from segments order by id").await
    }
}

/// A queue that nobody reads: the tests run jobs themselves.
#[derive(Debug)]
pub(crate) struct Nobody;

impl Queue for Nobody {
    async fn send(&self, _: Lane, _: &JobId, _: u32) -> Result<(), QueueError> {
        Ok(())
    }
}
