//! A space of 100,000 nodes: what statements read of it, counted by SQLite and not by a clock. Plans say that an index
//! is used (tests/plans.rs); this says that it is enough.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::cell::RefCell;

use ledge_core::ports::{Statement, Value};
use ledge_engine_tests::{Drive, record, run};
use rusqlite::{Connection, StatementStatus};

/// Fills the trash with 10,000 files, then a folder `large` with 100,000. Every hundredth name holds `seldom`, the
/// hundredth of those `rarity` too.
const FILL: &str = "
    insert into blobs (id, size_bytes, etag, media_type, crc32, inline)
    with recursive series (i) as (select 0 union all select i + 1 from series where i < 109999)
    select printf('018f0000-0000-7000-8001-%012d', i), i * 7919 % 10007, 'e', 'text/plain', 0, '' from series;

    insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at,
                       trashed_at, trashed_from)
    with recursive series (i) as (select 0 union all select i + 1 from series where i < 109999),
         named (i, label) as (
            select i, printf('file %06d', i * 7919 % 110000) || case when i % 10000 = 0 then ' seldom rarity'
                                                                 when i % 100 = 0 then ' seldom' else '' end
              from series)
    select printf('018f0000-0000-7000-8002-%012d', i), s.id,
           case when i >= 10000 then f.id else 'trash/' || s.id end, label, label, 'file',
           printf('018f0000-0000-7000-8003-%012d', i), i, i * 104729 % 1000003,
           case when i < 10000 then unixepoch() * 1000 - i end, case when i < 10000 then s.root_id end
      from named, spaces s, nodes f where f.name = 'large';

    insert into versions (id, node_id, blob_id, author_id, created_at, modified_at)
    with recursive series (i) as (select 0 union all select i + 1 from series where i < 109999)
    select printf('018f0000-0000-7000-8003-%012d', i), printf('018f0000-0000-7000-8002-%012d', i),
           printf('018f0000-0000-7000-8001-%012d', i), a.id, i, i from series, accounts a;
";

/// What a request's statements did together.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    /// Operations of SQLite's machine: some ten for each row of each table.
    steps: i32,
    /// Rows that a scan of a whole table has stepped over, arrays and subqueries of few rows among them.
    scanned: i32,
}

/// Runs each statement on a connection of its own, which has nothing cached.
fn work(drive: &Drive, statements: &[Statement]) -> Work {
    let mut work = Work::default();
    for statement in statements {
        let connection = Connection::open(drive.ports.path().join("ledge.db")).unwrap();
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
        work.steps += prepared.get_status(StatementStatus::VmStep);
        work.scanned += prepared.get_status(StatementStatus::FullscanStep);
    }
    work
}

/// How far the work of a request may go.
enum Bound {
    /// Some rows, whatever the space holds.
    Constant,
    /// So many entries or hits, with all that is said of each.
    Answers(usize),
    /// The 5,000 matches that a search looks at, with the folders above each.
    Window,
    /// All nodes of the folder once, as far as they decide on the order, and the page's entries.
    Folder,
}

impl Bound {
    fn steps(&self) -> i32 {
        match self {
            Self::Constant => 1000,
            Self::Answers(answers) => 1000 + 400 * i32::try_from(*answers).unwrap(),
            Self::Window => 5000 * 300,
            Self::Folder => 100_000 * 40,
        }
    }

    /// Arrays and tables that a statement made itself: the search's matches, and a path's names.
    fn scanned(&self) -> i32 {
        match self {
            Self::Constant | Self::Folder => 100,
            Self::Answers(answers) => 100 + 20 * i32::try_from(*answers).unwrap(),
            Self::Window => 5000 * 5,
        }
    }
}

#[test]
fn g19_requests_in_a_space_of_100_000_nodes_read_what_they_answer() {
    run(async {
        let drive = Drive::new().await;
        for folder in ["large", "other"] {
            let made = drive.request("PUT", &format!("folders/{folder}"), b"");
            assert_eq!(drive.send(drive.plain(), made).await.status, 201);
        }
        let connection = Connection::open(drive.ports.path().join("ledge.db")).unwrap();
        connection.execute_batch(&format!("pragma synchronous = off; begin; {FILL} commit;")).unwrap();
        for (path, answers, bound) in [
            ("versions/large/file%20010042", 1, Bound::Constant),
            ("folders/other", 0, Bound::Constant),
            ("folders/large?limit=1000", 1000, Bound::Answers(1000)),
            ("folders/large?limit=1000&order=desc", 1000, Bound::Answers(1000)),
            ("folders/large?limit=10&kind=file", 10, Bound::Answers(10)),
            ("folders/large?limit=1000&kind=folder", 0, Bound::Folder),
            ("folders/large?limit=1000&sort=size", 1000, Bound::Folder),
            ("folders/large?limit=1000&sort=modified_at&order=desc", 1000, Bound::Folder),
            ("trash?limit=1000", 1000, Bound::Answers(1000)),
            ("search/?q=rarity", 10, Bound::Answers(11)),
            ("search/?q=seldom&limit=200", 200, Bound::Window),
            ("search/?q=nothing", 0, Bound::Constant),
            ("search/?q=fi&limit=200", 200, Bound::Window),
            ("search/large?q=file&limit=200", 200, Bound::Window),
            ("search/other?q=file", 0, Bound::Window),
            ("search/?q=file&media_type=image/", 0, Bound::Window),
            ("search/?q=file&kind=folder", 0, Bound::Window),
            ("search/?q=file&min_bytes=20000", 0, Bound::Window),
            ("search/?q=file&modified_from=2020-01-01T00:00:00Z", 0, Bound::Window),
        ] {
            let mut cursor = String::new();
            // Two pages: a cursor must be as good a beginning as none.
            for page in 1..=2 {
                let statements = RefCell::new(Vec::new());
                let platform = record(drive.plain(), &statements);
                let answer =
                    drive.send(&platform, drive.request("GET", &format!("{path}{cursor}"), b"")).await;
                assert_eq!(answer.status, 200, "{path}");
                let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
                let list = ["entries", "hits", "versions"].iter().find_map(|list| body[*list].as_array());
                assert_eq!(list.unwrap().len(), answers, "{path}, page {page}");
                let work = work(&drive, &statements.into_inner());
                let most = (bound.steps(), bound.scanned());
                assert!(work.steps <= most.0 && work.scanned <= most.1, "{path}, page {page}: {work:?}");
                let Some(next) = body["next"].as_str() else { break };
                cursor = format!("{}cursor={next}", if path.contains('?') { '&' } else { '?' });
            }
        }
    });
}
