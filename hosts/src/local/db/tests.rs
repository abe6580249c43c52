//! What the conformance suite can't see: other processes, limits, recovery after a failed batch.

use super::*;
use futures::executor::block_on;

struct Fixture {
    db: Sqlite,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = Sqlite::open(&folder.path().join("ledge.db")).unwrap();
        let fixture = Self { db, folder };
        fixture
            .write(&["create table t (a integer primary key, b text constraint short check (length(b) < 4))"])
            .unwrap();
        fixture
    }

    fn write(&self, batch: &[&'static str]) -> Result<Vec<Rows>, DbError> {
        block_on(self.db.write(batch.iter().copied().map(Statement::new).collect()))
    }

    fn read(&self, sql: &'static str) -> Result<Rows, DbError> {
        block_on(self.db.read(vec![Statement::new(sql)])).map(|mut results| results.remove(0))
    }

    fn count(&self) -> i64 {
        self.read("select count(*) as n from t").unwrap()[0].integer("n").unwrap()
    }
}

#[test]
fn a_failed_statement_rolls_the_whole_batch_back_and_the_next_batch_works() {
    let fixture = Fixture::new();
    for (sql, error) in [
        ("insert into t values (2, 'long')", DbError::Violated("short".to_owned())),
        ("insert into t values (1, 'y')", DbError::Duplicate("t.a".to_owned())),
    ] {
        assert_eq!(fixture.write(&["insert into t values (1, 'x')", sql]), Err(error));
        assert_eq!(fixture.count(), 0);
    }
    for sql in
        ["insert into nowhere values (1)", "selec", "select 1; select 2", "select x'00'", "select ?1", ""]
    {
        let result = fixture.write(&["insert into t values (1, 'x')", sql]);
        assert!(matches!(result, Err(DbError::Rejected(_))), "{sql}: {result:?}");
        assert_eq!(fixture.count(), 0);
    }
    fixture.write(&["insert into t values (1, 'x')"]).unwrap();
    assert_eq!(fixture.count(), 1);
}

#[test]
fn a_foreign_key_that_fails_at_the_commit_rolls_back() {
    let fixture = Fixture::new();
    fixture.write(&["create table c (a integer references t (a) deferrable initially deferred)"]).unwrap();
    let result = fixture.write(&["insert into t values (1, 'x')", "insert into c values (7)"]);
    assert!(matches!(result, Err(DbError::Rejected(_))), "{result:?}");
    assert_eq!(fixture.count(), 0);
    fixture.write(&["insert into t values (1, 'x')"]).unwrap();
}

#[test]
fn rows_of_a_result_share_their_column_names() {
    let fixture = Fixture::new();
    let results = fixture
        .write(&[
            "insert into t values (1, 'x'), (2, null) returning a, b",
            "update t set b = 'y' where a = 9",
        ])
        .unwrap();
    assert_eq!(results[0][1].text_or_null("b"), Ok(None));
    assert_eq!(results[0][0].text("b"), Ok("x"));
    assert!(results[1].is_empty());
}

#[test]
fn reading_never_writes() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.read("insert into t values (1, 'x')"), Err(DbError::Rejected(_))));
    assert_eq!(fixture.count(), 0);
}

#[test]
fn a_lock_that_another_process_keeps_is_unavailable() {
    let fixture = Fixture::new();
    fixture.db.connections.writer.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(fixture.folder.path().join("ledge.db")).unwrap();
    other.execute_batch("begin immediate").unwrap();
    assert!(matches!(fixture.write(&["delete from t"]), Err(DbError::Unavailable(_))));
    assert_eq!(fixture.count(), 0);
    other.execute_batch("commit").unwrap();
    fixture.write(&["delete from t"]).unwrap();
}

#[test]
fn a_statement_prepared_before_the_schema_changed_sees_the_new_columns() {
    let fixture = Fixture::new();
    fixture.write(&["insert into t values (1, 'x')"]).unwrap();
    assert!(fixture.read("select * from t").unwrap()[0].value("c").is_none());
    fixture.write(&["alter table t add column c text default 'new'"]).unwrap();
    assert_eq!(fixture.read("select * from t").unwrap()[0].text("c"), Ok("new"));
}

#[test]
fn limits_are_those_of_d1() {
    let fixture = Fixture::new();
    let many = |count: usize| {
        let marks = (1..=count).map(|n| format!("?{n}")).collect::<Vec<_>>().join(", ");
        let mut statement = Statement::new(format!("select 1 where 1 in ({marks})"));
        statement.params = vec![Value::Integer(1); count];
        block_on(fixture.db.read(vec![statement]))
    };
    assert!(many(100).is_ok());
    assert!(matches!(many(101), Err(DbError::Rejected(_))));
    let long = |bytes: usize| {
        block_on(fixture.db.read(vec![Statement::new("select length(?1) as n").bind("x".repeat(bytes))]))
    };
    assert!(long(1_999_999).is_ok());
    assert!(matches!(long(2_000_001), Err(DbError::Rejected(_))));
}
