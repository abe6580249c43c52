//! A bucket of somebody else's beside the drive's own.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

use ledge_core::digest::Sha256;
use ledge_core::ids::JobId;
use ledge_core::ports::{
    Bucket, BucketError, Buckets, Db, Direct, ListPage, Listed, Platform, Ports, Presigned, Statement,
    Timestamp, Value,
};
use ledge_core::wrappers::Either;
use ledge_engine_tests::{Ahead, Answer, Drive, Labour, worker};
use ledge_hosts::local::LocalPorts;
use serde_json::{Value as Json, json};

type Own = <LocalPorts as Platform>::Bucket;

/// Objects with whatever keys, each with its size and the number of its content.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    objects: RefCell<BTreeMap<String, (u64, u64)>>,
    /// How many a page of the listing has.
    pub(super) page: Cell<usize>,
}

impl Foreign {
    pub(super) fn new(keys: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let objects = keys.into_iter().map(|key| {
            let key = key.into();
            let size = if key.ends_with('/') { 0 } else { 10 };
            (key, (size, 0))
        });
        Self { objects: RefCell::new(objects.collect()), page: Cell::new(1000) }
    }

    pub(super) fn change(&self, key: &str) {
        self.objects.borrow_mut().get_mut(key).unwrap().1 += 1;
    }

    pub(super) fn set_size(&self, key: &str, size: u64) {
        self.objects.borrow_mut().get_mut(key).unwrap().0 = size;
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.objects.borrow().keys().cloned().collect()
    }
}

/// The byte at a place of every object.
pub(super) fn byte(at: u64) -> u8 {
    (at % 251) as u8
}

impl Bucket for &Foreign {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let objects = self.objects.borrow();
        let (size, _) = objects.get(key).ok_or_else(|| BucketError::NotFound(key.to_owned()))?;
        if range.end > *size {
            return Err(BucketError::OutOfRange(key.to_owned()));
        }
        Ok(range.map(byte).collect())
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let now = self.objects.borrow().get(key).map(|(_, content)| content.to_string());
        if now.as_deref() != Some(etag) {
            return Err(BucketError::Changed(key.to_owned()));
        }
        self.get(key, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        let objects = self.objects.borrow();
        let (_, content) = objects.get(key).ok_or_else(|| BucketError::NotFound(key.to_owned()))?;
        Ok(content.to_string())
    }

    async fn put(&self, key: &str, _: &[u8], _: Sha256) -> Result<(), BucketError> {
        panic!("{key} is put into somebody else's bucket")
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        panic!("{keys:?} are deleted from somebody else's bucket")
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        let objects = self.objects.borrow();
        let mut found = objects
            .range(cursor.unwrap_or(prefix).to_owned()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| cursor.is_none_or(|cursor| key.as_str() > cursor));
        let listed = |(key, (size, content)): (&String, &(u64, u64))| Listed {
            key: key.clone(),
            size_bytes: *size,
            // As some stores, it doesn't list all of them.
            etag: key.len().is_multiple_of(2).then(|| content.to_string()),
            stored_at: Timestamp(1_000_000_000_000),
        };
        let page: Vec<Listed> = found.by_ref().take(self.page.get()).map(listed).collect();
        let next = found.next().and_then(|_| page.last()).map(|last| last.key.clone());
        Ok(ListPage { objects: page, next })
    }

    fn presign(&self, _: &str, _: &Direct<'_>) -> Option<Presigned> {
        None
    }
}

/// The drive's buckets, and `foreign`.
pub(super) struct Both<'a> {
    own: &'a Own,
    foreign: &'a Foreign,
}

impl Bucket for Both<'_> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.own.get(key, range).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.own.get_unchanged(key, etag, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.own.etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        self.own.put(key, bytes, sha256).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.own.delete(keys).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.own.list(prefix, cursor).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        self.own.presign(key, direct)
    }
}

impl<'a> Buckets for Both<'a> {
    type Named = Either<&'a Foreign, <Own as Buckets>::Named>;

    fn named(&self, name: &str) -> Option<Self::Named> {
        if name == "foreign" {
            Some(Either::Left(self.foreign))
        } else {
            self.own.named(name).map(Either::Right)
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.own.names();
        names.push("foreign".to_owned());
        names.sort();
        names
    }
}

pub(super) type Platformed<'a> = Ports<<LocalPorts as Platform>::Db, Both<'a>, &'a Labour<'a>, Ahead<'a>>;

pub(super) fn platform<'a>(labour: &'a Labour<'a>, drive: &'a Drive, foreign: &'a Foreign) -> Platformed<'a> {
    let labouring = labour.platform();
    Ports {
        db: labouring.db,
        bucket: Both { own: &drive.ports.bucket, foreign },
        queue: labour,
        host: labouring.host,
        settings: labouring.settings,
    }
}

pub(super) async fn post<P>(drive: &Drive, platform: &P, path: &str, body: &Json) -> Answer
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    drive.send(platform, drive.request("POST", path, body.to_string().leak().as_bytes())).await
}

pub(super) fn body(answer: &Answer) -> Json {
    serde_json::from_slice(&answer.body).unwrap()
}

/// Asks for an import of `bucket`; its job.
pub(super) async fn ask<P>(drive: &Drive, platform: &P, wanted: &Json) -> JobId
where
    P: Platform,
    P::Host: ledge_core::ports::Host<Body = ledge_hosts::local::Body>,
{
    let answer = post(drive, platform, "imports", wanted).await;
    assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
    JobId::parse(body(&answer)["id"].as_str().unwrap()).unwrap()
}

/// Does a job to its end; its state and error.
pub(super) async fn finish<P: Platform>(
    drive: &Drive,
    platform: &P,
    job: &JobId,
) -> (String, Option<String>) {
    for _ in 0..10_000 {
        let (state, error) = worker::state(drive, job).await;
        if ["done", "dead", "cancelled"].contains(&state.as_str()) {
            return (state, error);
        }
        worker::due(drive).await;
        ledge_functions::run(platform, job).await;
    }
    panic!("the job {job} doesn't end");
}

/// Imports all of `foreign` into the folder `in`; what the report says.
pub(super) async fn import(drive: &Drive, platform: &Platformed<'_>) -> Json {
    let job = ask(drive, platform, &json!({ "bucket": "foreign", "into": "/in" })).await;
    assert_eq!(finish(drive, platform, &job).await, ("done".to_owned(), None));
    report(drive, platform, &job).await
}

pub(super) async fn report(drive: &Drive, platform: &Platformed<'_>, job: &JobId) -> Json {
    let answer = drive.send(platform, drive.request("GET", &format!("imports/{job}"), b"")).await;
    assert_eq!(answer.status, 200);
    body(&answer)
}

/// The paths of all living nodes; those of folders end with a slash.
pub(super) async fn tree(drive: &Drive) -> Vec<String> {
    let sql = "with recursive down (id, path) as (
            select root_id, '' from spaces
            union all
            select n.id, d.path || n.name || iif(n.kind = 'folder', '/', '')
              from down d join nodes n on n.parent_id = d.id where n.trashed_at is null)
         select path as it from down where path <> '' order by path";
    drive
        .column(sql)
        .await
        .into_iter()
        .map(|path| if let Value::Text(path) = path { path } else { String::new() })
        .collect()
}

pub(super) async fn number(drive: &Drive, sql: &'static str) -> i64 {
    let [Value::Integer(number)] = drive.column(sql).await[..] else { unreachable!("one number") };
    number
}

pub(super) async fn write(drive: &Drive, sql: &'static str) {
    drive.ports.db.write(vec![Statement::new(sql)]).await.unwrap();
}
