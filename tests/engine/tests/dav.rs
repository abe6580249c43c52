//! WebDAV's own writes fail whole, and its listings never end early and look whole.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::cell::Cell;
use std::rc::Rc;

use http::Request;
use http_body_util::BodyExt;
use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement, Value};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Answer, Drive, run};
use ledge_hosts::local::Sqlite;

const SET: &[u8] = b"<propertyupdate xmlns='DAV:'><set><prop><x xmlns='urn:x'>1</x>\
    <getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</getlastmodified></prop></set></propertyupdate>";

fn dav(drive: &Drive, method: &str, path: &str, body: &'static [u8]) -> Request<&'static [u8]> {
    let mut request = drive.request(method, "", body);
    *request.uri_mut() = format!("/dav/{path}").parse().unwrap();
    request
}

fn transfer(drive: &Drive, method: &str, from: &str, to: &'static str) -> Request<&'static [u8]> {
    let mut request = dav(drive, method, from, b"");
    request.headers_mut().insert("destination", to.parse().unwrap());
    request
}

async fn plain(drive: &Drive, request: Request<&'static [u8]>) -> Answer {
    drive.send(drive.plain(), request).await
}

/// How often `sql` says 1, for a request that fails at each of its steps in each way. Every answer is success or 503, and
/// of a failure nothing is left.
async fn at_every_step(
    prepare: impl AsyncFn(&Drive),
    request: impl Fn(&Drive) -> Request<&'static [u8]>,
    success: u16,
    sql: &'static str,
) {
    let mut steps = 0;
    for step in 0.. {
        let mut is_over = true;
        for when in [When::Before, When::After] {
            let drive = Drive::new().await;
            prepare(&drive).await;
            // The token is known: a step that isn't there every time would be another one.
            assert_eq!(plain(&drive, dav(&drive, "PROPFIND", "", b"")).await.status, 207);
            let faults = Faults::at(step, when);
            let answer = drive.send(&fail(drive.plain(), &faults), request(&drive)).await;
            let done = drive.column(sql).await == [Value::Integer(1)];
            assert!(answer.status == success && done || answer.status == 503 && !done, "{step}: {answer:?}");
            is_over &= faults.calls() <= step;
        }
        if is_over {
            break;
        }
        steps += 1;
    }
    assert!(steps >= 2, "{steps} steps");
}

#[test]
fn properties_and_times_change_together_or_not_at_all() {
    run(async {
        at_every_step(
            async |drive| assert_eq!(drive.put("a", b"x").await.status, 201),
            |drive| dav(drive, "PROPPATCH", "a", SET),
            207,
            "select count(*) as it from properties p join nodes n on n.n = p.node
               join versions v on v.id = n.version_id
              where n.modified_at = 784111777000 and v.modified_at = 784111777000",
        )
        .await;
    });
}

#[test]
fn a_folder_is_copied_alone_or_not_at_all() {
    run(async {
        at_every_step(
            async |drive| {
                assert_eq!(plain(drive, dav(drive, "MKCOL", "a", b"")).await.status, 201);
                assert_eq!(plain(drive, dav(drive, "PROPPATCH", "a", SET)).await.status, 207);
                assert_eq!(drive.put("a/f", b"x").await.status, 201);
            },
            |drive| {
                let mut request = transfer(drive, "COPY", "a", "/dav/b");
                request.headers_mut().insert("depth", "0".parse().unwrap());
                request
            },
            201,
            "select count(*) as it from nodes n join properties p on p.node = n.n
              where n.name = 'b' and (select count(*) from nodes) = 4",
        )
        .await;
    });
}

#[test]
fn a_file_is_moved_or_copied_over_another_or_not_at_all() {
    run(async {
        let prepare = async |drive: &Drive| {
            assert_eq!(drive.put("a", b"old").await.status, 201);
            assert_eq!(drive.put("b", b"new").await.status, 201);
        };
        at_every_step(
            prepare,
            |drive| transfer(drive, "MOVE", "b", "/dav/a"),
            204,
            "select count(*) as it from nodes n
              where n.name = 'a' and (select count(*) from versions where node_id = n.id) = 2
                and (select count(*) from nodes) = 2 and (select used_bytes from spaces) = 6",
        )
        .await;
        at_every_step(
            prepare,
            |drive| transfer(drive, "COPY", "b", "/dav/a"),
            204,
            "select count(*) as it from nodes n
              where n.name = 'a' and (select count(*) from versions where node_id = n.id) = 2
                and (select count(*) from nodes) = 3 and (select used_bytes from spaces) = 9",
        )
        .await;
    });
}

#[test]
fn purging_a_node_removes_its_properties() {
    run(async {
        let drive = Drive::new().await;
        assert_eq!(drive.put("a", b"x").await.status, 201);
        assert_eq!(plain(&drive, dav(&drive, "PROPPATCH", "a", SET)).await.status, 207);
        assert_eq!(plain(&drive, dav(&drive, "DELETE", "a", b"")).await.status, 204);
        let properties = "select count(*) as it from properties";
        assert_eq!(drive.column(properties).await, [Value::Integer(1)], "restoring brings it back");
        assert_eq!(plain(&drive, drive.request("DELETE", "trash", b"")).await.status, 204);
        assert_eq!(drive.column(properties).await, [Value::Integer(0)]);
    });
}

/// A database that counts what response bodies read on, and fails from some page on.
struct ReadOn {
    db: Sqlite,
    pages: Rc<Cell<u32>>,
    fails_at: u32,
}

impl Db for ReadOn {
    type Detached = Self;

    fn detached(&self) -> Self {
        Self { db: self.db.clone(), pages: self.pages.clone(), fails_at: self.fails_at }
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.pages.set(self.pages.get() + 1);
        if self.pages.get() >= self.fails_at {
            return Err(DbError::Unavailable("injected".to_owned()));
        }
        self.db.read(batch).await
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.db.write(batch).await
    }
}

#[test]
fn a_listing_takes_a_round_trip_a_page_and_breaks_off_where_one_fails() {
    run(async {
        let drive = Drive::new().await;
        let fill =
            "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
            with recursive c (at) as (select 1 union all select at + 1 from c where at < 3500)
            select printf('018f0000-0000-7000-8000-%012d', at), s.id, s.root_id, printf('%05d', at),
                   printf('%05d', at), 'folder', 0, 0 from c cross join spaces s";
        drive.plain().db().write(vec![Statement::new(fill)]).await.unwrap();
        assert_eq!(plain(&drive, dav(&drive, "PROPFIND", "", b"")).await.status, 207);
        for (fails_at, pages) in [(u32::MAX, 4), (3, 3), (2, 2)] {
            let read = Rc::new(Cell::new(0));
            let db = ReadOn { db: drive.plain().db().clone(), pages: read.clone(), fails_at };
            let ports = drive.plain();
            let platform = Ports {
                db,
                bucket: ports.bucket(),
                queue: ports.queue(),
                host: ports.host(),
                settings: ports.settings().clone(),
            };
            let response = ledge_gateway::handle(&platform, dav(&drive, "PROPFIND", "", b"")).await;
            assert_eq!((response.status().as_u16(), read.get()), (207, 1));
            match response.into_body().collect().await {
                Ok(body) => {
                    let text = String::from_utf8(body.to_bytes().to_vec()).unwrap();
                    assert_eq!(text.matches("<D:response>").count(), 3501);
                    assert!(fails_at == u32::MAX && text.ends_with("</D:multistatus>\n"));
                }
                Err(_) => assert!(fails_at < u32::MAX),
            }
            assert_eq!(read.get(), pages);
        }
    });
}

#[test]
fn w071_a_failing_database_is_503_and_never_an_empty_or_missing_folder() {
    run(async {
        for depth in ["0", "1"] {
            for path in ["", "d", "d/f"] {
                let drive = Drive::new().await;
                assert_eq!(drive.send(drive.plain(), dav(&drive, "MKCOL", "d", b"")).await.status, 201);
                assert_eq!(drive.send(drive.plain(), dav(&drive, "PUT", "d/f", b"x")).await.status, 201);
                let request = || {
                    let mut request = dav(&drive, "PROPFIND", path, b"");
                    request.headers_mut().insert("depth", depth.parse().unwrap());
                    request
                };
                let unhurt = Faults::default();
                assert_eq!(drive.send(&fail(drive.plain(), &unhurt), request()).await.status, 207);
                assert!(unhurt.calls() >= 1);
                for step in 0..unhurt.calls() {
                    let faults = Faults::at(step, When::Before);
                    let answer = drive.send(&fail(drive.plain(), &faults), request()).await;
                    assert_eq!(answer.status, 503, "{path:?} to depth {depth}, step {step}");
                    assert!(answer.headers.contains_key("retry-after"));
                    assert!(!String::from_utf8_lossy(&answer.body).contains("multistatus"));
                }
            }
        }
    });
}
