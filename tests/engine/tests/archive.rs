//! Folders as ZIP files: trees of many pages, spaces that change while they are read, and what one answer can't have.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

mod entries;
mod kept;
mod unpack;

use std::cell::Cell;
use std::io::{Cursor, Read};

use ledge_core::ports::{Db, DbError, Platform, Ports, Rows, Statement};
use ledge_engine_tests::{Answer, Drive, Random, run};
use serde_json::{Value, json};
use zip::ZipArchive;

/// So many nodes come with a round trip.
const PAGE: usize = 5000;

/// A drive with a random tree of `count` nodes below `top`, and the sorted paths of its ZIP file.
async fn drive_of(count: usize) -> (Drive, Vec<String>) {
    let drive = Drive::new().await;
    assert_eq!(drive.send(drive.plain(), drive.request("PUT", "folders/top", b"")).await.status, 201);
    assert_eq!(drive.put("x", b"x").await.status, 201);
    let mut random = Random::new(count as u64);
    // Names that begin alike, with what comes before and behind a slash.
    let ends = ["", " ", "!", ".", "-x", "x", "é"];
    let mut folders = vec![("top".to_owned(), "top/".to_owned())];
    let (mut rows, mut paths): (Vec<Value>, Vec<String>) = (Vec::new(), vec!["top/".to_owned()]);
    for n in 0..count {
        let folder = random.of(&folders).unwrap().clone();
        let is_folder = random.one_in(20);
        let name = format!("{}{}", n / ends.len(), ends[n % ends.len()]);
        let (id, path) = (format!("n{n}"), format!("{}{name}{}", folder.1, if is_folder { "/" } else { "" }));
        rows.push(json!([id, folder.0, name, is_folder]));
        paths.push(path.clone());
        if is_folder && path.matches('/').count() < 100 {
            folders.push((id, path));
        }
    }
    let mut batch = vec![Statement::new("drop trigger node_named")];
    for rows in rows.chunks(10_000) {
        batch.push(
            Statement::new(
                "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, version_id, created_at, modified_at)
                 select json_extract(value, '$[0]'), s.id,
                        case json_extract(value, '$[1]') when 'top' then t.id else json_extract(value, '$[1]') end,
                        json_extract(value, '$[2]'), json_extract(value, '$[2]'),
                        iif(json_extract(value, '$[3]'), 'folder', 'file'),
                        iif(json_extract(value, '$[3]'), null, x.version_id), 0, 0
                   from json_each(?1) cross join spaces s
                  cross join nodes t on t.name = 'top' cross join nodes x on x.name = 'x'",
            )
            .bind(Value::from(rows).to_string()),
        );
    }
    drive.ports.db.write(batch).await.unwrap();
    paths.sort();
    (drive, paths)
}

async fn head(drive: &Drive) -> Answer {
    drive.send(drive.plain(), drive.request("HEAD", "archive/top", b"")).await
}

fn round_trips(answer: &Answer) -> usize {
    let timing = answer.headers["server-timing"].to_str().unwrap();
    timing.split('"').nth(1).unwrap().parse().unwrap()
}

async fn is_whole(count: usize) {
    let (drive, paths) = drive_of(count).await;
    assert_eq!(round_trips(&head(&drive).await), count.div_ceil(PAGE));
    let answer = drive.send(drive.plain(), drive.request("GET", "archive/top", b"")).await;
    assert_eq!(answer.status, 200);
    let mut zip = ZipArchive::new(Cursor::new(answer.body)).unwrap();
    let mut names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    names.sort();
    assert!(names == paths, "{} names", names.len());
    for at in 0..zip.len() {
        let (mut entry, mut content) = (zip.by_index(at).unwrap(), String::new());
        entry.read_to_string(&mut content).unwrap();
        assert_eq!(content, if entry.is_dir() { "" } else { "x" });
    }
}

#[test]
fn a_tree_of_many_pages_is_packed_whole() {
    run(async {
        for count in [PAGE - 1, PAGE, PAGE + 1, 70_000] {
            is_whole(count).await;
        }
    });
}

/// A database in which somebody changes the space right after a read, so many times.
struct Changing<'a, T> {
    inner: &'a T,
    times: Cell<u32>,
}

impl<T: Db> Db for Changing<'_, T> {
    type Detached = T::Detached;

    fn detached(&self) -> T::Detached {
        self.inner.detached()
    }

    async fn read(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        let read = self.inner.read(batch).await;
        if self.times.get() > 0 {
            self.times.set(self.times.get() - 1);
            let change = Statement::new("update spaces set change_seq = change_seq + 1");
            self.inner.write(vec![change]).await?;
        }
        read
    }

    async fn write(&self, batch: Vec<Statement>) -> Result<Vec<Rows>, DbError> {
        self.inner.write(batch).await
    }
}

#[test]
fn what_changes_while_it_is_read_is_read_again_but_not_for_ever() {
    run(async {
        let (drive, _) = drive_of(PAGE + 1).await;
        for (times, status) in [(0, 200), (1, 200), (2, 200), (100, 409)] {
            let ports = drive.plain();
            let changing = Ports {
                db: Changing { inner: ports.db(), times: Cell::new(times) },
                bucket: ports.bucket(),
                queue: ports.queue(),
                host: ports.host(),
                settings: ports.settings().clone(),
            };
            let answer = drive.send(&changing, drive.request("HEAD", "archive/top", b"")).await;
            assert_eq!(answer.status, status, "{times}");
        }
    });
}

#[test]
fn g21_more_than_one_answer_can_have_is_refused_at_once_with_the_way_out() {
    run(async {
        let (drive, _) = drive_of(9000).await;
        // Each of the files is as large as a row's content may be.
        let grow = "update blobs set size_bytes = 4096, inline = (
            with recursive a (text) as (select 'AAAA' union all select text || text from a where length(text) < 5461)
            select substr(max(text), 1, 5460) || 'AA==' from a)";
        drive.ports.db.write(vec![Statement::new(grow)]).await.unwrap();
        let whole = drive.send(drive.plain(), drive.request("GET", "archive/top", b"")).await;
        assert_eq!(whole.status, 413);
        let problem: Value = serde_json::from_slice(&whole.body).unwrap();
        assert_eq!(problem["code"], "too_many_entries");
        assert!(problem["detail"].as_str().unwrap().contains("by ranges"));
        let size: u64 = head(&drive).await.headers["content-length"].to_str().unwrap().parse().unwrap();
        let mut part = drive.request("GET", "archive/top", b"");
        part.headers_mut().insert("range", format!("bytes={}-{}", size / 2, size / 2 + 999).parse().unwrap());
        let part = drive.send(drive.plain(), part).await;
        assert_eq!((part.status, part.body.len()), (206, 1000));
    });
}
