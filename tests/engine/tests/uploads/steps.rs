//! A failure, or the process's death, at every step of each request that an upload in parts consists of. Whatever it was,
//! nothing is half done: the client asks again, or finds that it was done, and rows, bucket and quota fit together.

use std::pin::pin;

use futures::future::{Either, select};
use http::Request;
use ledge_core::ports::Value;
use ledge_core::reclaim::{Limits, Sweep, sweep};
use ledge_core::uploads;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Drive, check, noise, run};

use super::{begin, begun, nothing_is_left, part, resume, sql, tus};

type Sent = Request<&'static [u8]>;

/// A request, and what is true before and after it.
trait Case: Sized {
    /// What it is about is there.
    async fn new(drive: &Drive) -> Self;

    fn request(&self, drive: &Drive) -> Sent;

    /// The client goes on: it was answered so, or, with None, not at all.
    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str);
}

async fn at_every_step<C: Case>(done: u16) {
    let drive = Drive::quick().await;
    let case = C::new(&drive).await;
    let faults = Faults::default();
    assert_eq!(drive.send(&fail(drive.plain(), &faults), case.request(&drive)).await.status, done);
    let steps = faults.calls();
    assert!(steps >= 2, "{steps} steps");
    for step in 0..steps {
        for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
            let drive = Drive::quick().await;
            let case = C::new(&drive).await;
            let faults = Faults::at(step, when);
            let platform = fail(drive.plain(), &faults);
            let status =
                match select(pin!(drive.send(&platform, case.request(&drive))), pin!(faults.death())).await {
                    Either::Left((answer, _)) => Some(answer.status),
                    Either::Right(_) => None,
                };
            let at = format!("step {step} of {steps}, {when:?}: {status:?}");
            assert!(status.is_none_or(|status| status == done || status == 503), "{at}");
            check(&drive).await;
            assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{at}");
            case.go_on(&drive, status, &at).await;
            all_is_over(&drive).await;
        }
    }
}

/// Whatever is open expires, and is swept: what is left is needed.
async fn all_is_over(drive: &Drive) {
    sql(drive, "update uploads set expires_at = 1").await;
    while uploads::expire(drive.plain(), 10).await.unwrap() > 0 {}
    nothing_is_left(drive).await;
    sql(drive, "update ingests set expires_at = 1").await;
    for _ in 0..2 {
        let mut at = Sweep::default();
        while !at.is_done() {
            at = sweep(drive.plain(), at, &Limits::default()).await.unwrap();
        }
        sql(drive, "update segments set state_at = 1 where state <> 'live'").await;
        sql(drive, "update chunks set seen_at = 1").await;
    }
    let needed = "select s.key as it from segments s
                   where s.id in (select segment from page_segments) order by s.key";
    let needed: Vec<Value> = drive.column(needed).await;
    let objects: Vec<Value> = drive.objects().await.into_iter().map(Value::Text).collect();
    assert_eq!(objects, needed);
}

async fn is_there(drive: &Drive, content: &[u8]) -> bool {
    let file = drive.get("a").await;
    assert!(file.status == 404 || file.body == content, "{} and {} bytes", file.status, file.body.len());
    file.status == 200
}

async fn count(drive: &Drive, sql: &'static str) -> i64 {
    match drive.column(sql).await.as_slice() {
        [Value::Integer(count)] => *count,
        other => panic!("{other:?}"),
    }
}

const OPEN: &str = "select count(*) as it from uploads where finished is null";
const VERSIONS: &str = "select count(*) as it from versions";

/// Two segments.
fn large() -> &'static [u8] {
    static LARGE: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| noise(20, 9 << 20));
    &LARGE
}

fn medium() -> &'static [u8] {
    &large()[..300_000]
}

/// Three parts, of which one lies in a row.
fn parts() -> [&'static [u8]; 3] {
    [medium(), &large()[..100], &large()[300_000..500_000]]
}

struct Creation;

impl Case for Creation {
    async fn new(_: &Drive) -> Self {
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        begin(drive, "a", medium().len() as u64)
    }

    async fn go_on(&self, drive: &Drive, _: Option<u16>, at: &str) {
        // Where the answer was lost, one is there that nobody knows of.
        assert!(count(drive, OPEN).await <= 1, "{at}");
        let url = begun(drive, "a", medium().len()).await;
        resume(drive, &url, medium()).await;
        assert!(is_there(drive, medium()).await, "{at}");
    }
}

#[test]
fn of_beginning_one() {
    run(at_every_step::<Creation>(201));
}

struct CreationWithUpload;

impl Case for CreationWithUpload {
    async fn new(_: &Drive) -> Self {
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        let mut request = begin(drive, "a", large().len() as u64);
        request.headers_mut().insert("content-type", "application/offset+octet-stream".parse().unwrap());
        request.headers_mut().insert("content-length", large().len().into());
        *request.body_mut() = large();
        request
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        assert!(is_there(drive, large()).await || status != Some(201), "{at}");
        assert_eq!(drive.send(drive.plain(), self.request(drive)).await.status, 201, "{at}");
        assert!(is_there(drive, large()).await, "{at}");
    }
}

#[test]
fn of_beginning_one_with_all_of_it() {
    run(at_every_step::<CreationWithUpload>(201));
}

struct Termination(String);

impl Case for Termination {
    async fn new(drive: &Drive) -> Self {
        let url = begun(drive, "a", 10 << 20).await;
        assert_eq!(drive.send(drive.plain(), part(drive, &url, 0, large())).await.status, 204);
        Self(url)
    }

    fn request(&self, drive: &Drive) -> Sent {
        tus(drive, "DELETE", &self.0, b"")
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        let again = drive.send(drive.plain(), self.request(drive)).await.status;
        assert!(again == 404 || again == 204 && status != Some(204), "{at}: {again}");
        assert_eq!(count(drive, OPEN).await, 0, "{at}");
    }
}

#[test]
fn of_abandoning_one() {
    run(at_every_step::<Termination>(204));
}

struct Join(Vec<String>);

impl Case for Join {
    async fn new(drive: &Drive) -> Self {
        let mut urls = Vec::new();
        for content in parts() {
            let mut partial = begin(drive, "a", content.len() as u64);
            partial.headers_mut().insert("upload-concat", "partial".parse().unwrap());
            let begun = drive.send(drive.plain(), partial).await;
            let url = begun.headers["location"].to_str().unwrap().to_owned();
            resume(drive, &url, content).await;
            urls.push(url);
        }
        Self(urls)
    }

    fn request(&self, drive: &Drive) -> Sent {
        let mut request = begin(drive, "a", 0);
        request.headers_mut().remove("upload-length");
        let concat = format!("final;{}", self.0.join(" "));
        request.headers_mut().insert("upload-concat", concat.parse().unwrap());
        request
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        let content = parts().concat();
        if is_there(drive, &content).await {
            // The parts are gone.
            assert_eq!(drive.send(drive.plain(), self.request(drive)).await.status, 409, "{at}");
        } else {
            assert_ne!(status, Some(201), "{at}");
            assert_eq!(drive.send(drive.plain(), self.request(drive)).await.status, 201, "{at}");
            assert!(is_there(drive, &content).await, "{at}");
        }
        assert_eq!(count(drive, VERSIONS).await, 1, "{at}");
    }
}

#[test]
fn of_joining_parts() {
    run(at_every_step::<Join>(201));
}

fn dav(drive: &Drive, method: &str, path: &str, body: &'static [u8]) -> Sent {
    let mut request = drive.request(method, "", body);
    *request.uri_mut() = format!("/remote.php/dav/uploads/admin/{path}").parse().unwrap();
    request
}

fn join_folder(drive: &Drive) -> Sent {
    let mut request = dav(drive, "MOVE", "up/.file", b"");
    request.headers_mut().insert("destination", "/remote.php/dav/files/admin/a".parse().unwrap());
    request
}

async fn put_parts(drive: &Drive) {
    assert_eq!(drive.send(drive.plain(), dav(drive, "MKCOL", "up", b"")).await.status, 201);
    for (n, content) in parts().into_iter().enumerate() {
        let put = drive.send(drive.plain(), dav(drive, "PUT", &format!("up/{n}"), content)).await;
        assert_eq!(put.status, 201);
    }
}

struct Folder;

impl Case for Folder {
    async fn new(_: &Drive) -> Self {
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        dav(drive, "MKCOL", "up", b"")
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        let again = drive.send(drive.plain(), self.request(drive)).await.status;
        assert!(again == 405 || again == 201 && status != Some(201), "{at}: {again}");
        assert_eq!(count(drive, OPEN).await, 1, "{at}");
        assert_eq!(drive.send(drive.plain(), dav(drive, "PUT", "up/1", medium())).await.status, 201, "{at}");
        assert_eq!(drive.send(drive.plain(), join_folder(drive)).await.status, 201, "{at}");
        assert!(is_there(drive, medium()).await, "{at}");
    }
}

#[test]
fn of_making_a_folder() {
    run(at_every_step::<Folder>(201));
}

struct PartOfFolder;

impl Case for PartOfFolder {
    async fn new(drive: &Drive) -> Self {
        put_parts(drive).await;
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        dav(drive, "PUT", "up/1", large())
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        let received = count(drive, "select received_bytes as it from uploads").await;
        let [first, old, last] = parts().map(|part| part.len() as i64);
        let new = large().len() as i64;
        assert!(
            received == first + new + last || received == first + old + last && status != Some(204),
            "{at}"
        );
        assert_eq!(drive.send(drive.plain(), self.request(drive)).await.status, 204, "{at}");
        assert_eq!(drive.send(drive.plain(), join_folder(drive)).await.status, 201, "{at}");
        assert!(is_there(drive, &[parts()[0], large(), parts()[2]].concat()).await, "{at}");
    }
}

#[test]
fn of_putting_a_part_in_place_of_another() {
    run(at_every_step::<PartOfFolder>(204));
}

struct JoinFolder;

impl Case for JoinFolder {
    async fn new(drive: &Drive) -> Self {
        put_parts(drive).await;
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        join_folder(drive)
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        assert!(is_there(drive, &parts().concat()).await || status != Some(201), "{at}");
        // What was done already is answered as it was then.
        assert_eq!(drive.send(drive.plain(), self.request(drive)).await.status, 201, "{at}");
        assert!(is_there(drive, &parts().concat()).await, "{at}");
        assert_eq!(count(drive, VERSIONS).await, 1, "{at}");
    }
}

#[test]
fn of_joining_a_folder() {
    run(at_every_step::<JoinFolder>(201));
}

struct RemovalOfPart;

impl Case for RemovalOfPart {
    async fn new(drive: &Drive) -> Self {
        put_parts(drive).await;
        Self
    }

    fn request(&self, drive: &Drive) -> Sent {
        dav(drive, "DELETE", "up/0", b"")
    }

    async fn go_on(&self, drive: &Drive, status: Option<u16>, at: &str) {
        let again = drive.send(drive.plain(), self.request(drive)).await.status;
        assert!(again == 404 || again == 204 && status != Some(204), "{at}: {again}");
        let [_, second, third] = parts();
        let left =
            count(drive, "select received_bytes as it from uploads where reserved_bytes = received_bytes");
        assert_eq!(left.await, (second.len() + third.len()) as i64, "{at}");
        assert_eq!(drive.send(drive.plain(), join_folder(drive)).await.status, 201, "{at}");
        assert!(is_there(drive, &[second, third].concat()).await, "{at}");
    }
}

#[test]
fn of_removing_a_part() {
    run(at_every_step::<RemovalOfPart>(204));
}
