//! A dump shows the moment at which it began, whatever others write while it runs.
//!
//! `LEDGE_TEST_SEED` runs one seed alone.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use ledge_core::backup::{Progress, begin, step};
use ledge_core::ports::{Db, Platform, Statement, Value};
use ledge_engine_tests::dumps::{SMALL, dump, now, restore_to, snapshot, table_rows};
use ledge_engine_tests::{Answer, Drive, Pace, Random, noise, pace, run};

const WRITERS: usize = 3;
const REQUESTS: usize = 150;
const SEEDS: std::ops::RangeInclusive<u64> = 1..=6;

#[test]
fn a_dump_restores_the_drive_as_it_was() {
    run(async {
        let drive = Drive::new().await;
        fill(&drive, &mut Random::new(1), 30).await;
        let second = [
            "insert into buckets (name) values ('second')",
            "update spaces set bucket = (select n from buckets)",
        ];
        drive.ports.db.write(second.map(Statement::new).to_vec()).await.unwrap();
        fill(&drive, &mut Random::new(2), 30).await;
        let was = snapshot(&drive.ports.db).await;
        let chunks = chunks(&drive.ports.db).await;
        assert!(was.iter().all(|(table, rows)| !rows.is_empty() || *table == "properties"), "{was:?}");
        dump(drive.plain(), "one", &SMALL).await;
        let path = drive.ports.path().join("restored.db");
        let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
        assert_eq!(snapshot(&restored).await, was);
        assert_eq!(self::chunks(&restored).await, chunks);
        for (what, sql) in DERIVED {
            assert_eq!(column(&restored, sql).await, column(&drive.ports.db, sql).await, "{what}");
        }
    });
}

/// What is made anew must be what was.
const DERIVED: [(&str, &str); 4] = [
    ("uses of pages", "select page || ' ' || blobs as it from page_uses order by page"),
    ("segments of pages", "select segment || ' ' || page as it from page_segments order by segment, page"),
    ("counters", "select id || ' ' || used_bytes as it from spaces order by n"),
    ("names to search", "select rowid as it from node_names where node_names match 'ile' order by rowid"),
];

#[test]
fn whatever_is_written_while_it_runs_a_dump_shows_the_moment_of_its_beginning() {
    let one = std::env::var("LEDGE_TEST_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let mut changed = 0;
    for seed in one.map_or(SEEDS, |seed| seed..=seed) {
        println!("seed {seed}");
        run(async {
            let drive = Drive::new().await;
            let mut random = Random::new(seed);
            fill(&drive, &mut random, 30).await;
            changed += interleave(&drive, random).await;
        });
    }
    // A test in which nothing changes proves nothing.
    assert!(changed > 100, "{changed}");
}

/// Lets writers and a dump run into each other, batch by batch; the number of rows that were changed meanwhile.
async fn interleave(drive: &Drive, mut random: Random) -> usize {
    let paces: Vec<Pace> = (0..=WRITERS).map(|_| Pace::default()).collect();
    let platforms: Vec<_> = paces.iter().map(|one| pace(drive.plain(), one)).collect();
    let mut writers: Vec<Option<Running<'_, Answer>>> = (0..WRITERS).map(|_| None).collect();
    let mut dump: Option<Running<'_, ()>> = None;
    let (mut was, mut is_dumped, mut requests, mut undone) = (Vec::new(), false, 0, 0);
    while requests < REQUESTS || writers.iter().any(Option::is_some) || !is_dumped {
        let at = random.below(WRITERS + 2);
        if at > WRITERS {
            swap_page(drive, &mut random).await;
        } else if at < WRITERS {
            if writers[at].is_none() {
                if requests >= REQUESTS && is_dumped {
                    continue;
                }
                requests += 1;
                let request = some_request(drive, &mut random);
                writers[at] = Some(Box::pin(drive.send(&platforms[at], request)));
            }
            let Some(writer) = writers[at].as_mut() else { continue };
            if go_on(writer, &paces[at]).await {
                writers[at] = None;
            }
        } else if is_dumped {
            continue;
        } else if let Some(running) = &mut dump {
            undone = undone.max(column(&drive.ports.db, "select key as it from backup_undo").await.len());
            is_dumped = go_on(running, &paces[WRITERS]).await;
        } else if requests > 10 {
            begin(drive.plain(), "dump").await.unwrap();
            was = snapshot(&drive.ports.db).await;
            let platform = &platforms[WRITERS];
            dump = Some(Box::pin(async move {
                while !matches!(step(platform, "dump", &SMALL).await.unwrap(), Progress::Done { .. }) {}
            }));
        }
    }
    drop(dump);
    let path = drive.ports.path().join("restored.db");
    let restored = restore_to(&drive.ports.bucket, None, &path, now(drive.plain())).await.unwrap();
    for ((table, is), (_, was)) in snapshot(&restored).await.into_iter().zip(was) {
        assert_eq!(is, was, "{table}: restored, then as it was");
    }
    holds_together(&restored).await;
    assert_eq!(column(&drive.ports.db, "select key as it from backup_undo").await, []);
    undone
}

/// Every page of the restored database finds its segments, and all that is counted is counted.
async fn holds_together(db: &impl Db) {
    for (what, sql) in [
        (
            "segments of pages are there",
            "select p.id as it from pages p, json_each(p.extents) e where json_extract(e.value, '$[0]') not in (
                select id from segments where state = 'live')",
        ),
        ("chunks have segments", "select hash as it from chunks where segment not in (select id from segments)"),
        (
            "bytes are counted",
            "select id as it from spaces where used_bytes <> (select coalesce(sum(b.size_bytes), 0) from versions v
                join blobs b on b.id = v.blob_id join nodes n on n.id = v.node_id where n.space_id = spaces.id)",
        ),
        (
            "every name can be searched",
            "select n as it from nodes where parent_id <> '' and n not in (select rowid from node_names)",
        ),
    ] {
        assert_eq!(column(db, sql).await, [], "{what}");
    }
}

type Running<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Lets the next batch run, and what the bucket does up to the one after it; whether it was the last one.
async fn go_on<T>(running: &mut Running<'_, T>, pace: &Pace) -> bool {
    pace.let_go();
    poll_fn(|context| match running.as_mut().poll(context) {
        Poll::Ready(_) => Poll::Ready(true),
        Poll::Pending if pace.waits() => Poll::Ready(false),
        Poll::Pending => Poll::Pending,
    })
    .await
}

async fn fill(drive: &Drive, random: &mut Random, requests: usize) {
    for folder in ["a", "b", "a/c"] {
        drive.send(drive.plain(), drive.request("PUT", &format!("folders/{folder}"), b"")).await;
    }
    drive.put("large%20file", noise(7, 5 << 20).leak()).await;
    for _ in 0..requests {
        let request = some_request(drive, random);
        drive.send(drive.plain(), request).await;
    }
}

const PROPERTIES: [&[u8]; 2] = [
    b"<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:a'>b</a><b xmlns='urn:a'>b</b></prop></set></propertyupdate>",
    b"<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:a'>c</a></prop></set>
      <remove><prop><b xmlns='urn:a'/></prop></remove></propertyupdate>",
];
const CONTENT: [&[u8]; 4] = [b"", b"small", b"smaller \xff\x00", &[7; 3000]];

/// Something that changes a row, perhaps.
fn some_request(drive: &Drive, random: &mut Random) -> http::Request<&'static [u8]> {
    let folder = ["", "a/", "b/", "a/c/"][random.below(4)];
    let path = format!("{folder}file%20{}", random.below(6));
    let other = format!("/{}file {}", ["", "a/", "b/"][random.below(3)], random.below(6));
    match random.below(12) {
        0 | 1 => drive.request("DELETE", &format!("files/{path}"), b""),
        2 => {
            let op = ["move", "copy"][random.below(2)];
            let (parent, name) = other.rsplit_once('/').unwrap();
            let parent = if parent.is_empty() { "/" } else { parent };
            let body = format!(
                r#"{{"operations": [{{"op": "{op}", "path": "/{}", "to": {{"parent": "{parent}", "name": "{name}"}},
                    "conflict": "replace"}}]}}"#,
                path.replace("%20", " ")
            );
            let mut request = drive.request("POST", "nodes/batch", body.into_bytes().leak());
            request.headers_mut().insert("content-type", "application/json".parse().unwrap());
            request
        }
        3 => drive.request("DELETE", "trash", b""),
        4 | 5 => {
            let mut request = drive.request("PROPPATCH", "files/", PROPERTIES[random.below(2)]);
            *request.uri_mut() = format!("/dav/{path}").parse().unwrap();
            request
        }
        6 => drive.request("PUT", &format!("files/{path}"), LARGE[random.below(2)]),
        7 => drive.request("PUT", &format!("folders/{}", ["a", "b", "a/c", "d"][random.below(4)]), b""),
        _ => drive.request("PUT", &format!("files/{path}"), CONTENT[random.below(CONTENT.len())]),
    }
}

/// Of more than one row can hold.
static LARGE: [&[u8]; 2] = [&[1; 9000], &[2; 5000]];

/// What repacking does: a page's content lies in a new segment, and the old one goes.
async fn swap_page(drive: &Drive, random: &mut Random) {
    let pages = drive.column("select id as it from pages order by id").await;
    let Some(Value::Integer(page)) = random.of(&pages).cloned() else { return };
    let fresh = "(select max(id) + 1 from segments)";
    let old = "(select json_extract(extents, '$[0][0]') from pages where id = ?1)";
    let batch = [
        format!("insert into segments (id, key, size_bytes, state_at)
                 select {fresh}, 'ledge/seg/other/' || {fresh}, size_bytes, 0 from segments where id = {old}"),
        "delete from page_segments where page = ?1".to_owned(),
        format!("delete from chunks where segment = {old} and not exists (select 1 from page_segments where segment = {old})"),
        "update pages set extents = json_set(extents, '$[0][0]', (select max(id) from segments)) where id = ?1".to_owned(),
        "insert into page_segments (segment, page)
         select distinct json_extract(e.value, '$[0]'), p.id from pages p, json_each(p.extents) e where p.id = ?1"
            .to_owned(),
        "delete from segments where id not in (select segment from page_segments) and id not in (select segment from chunks)"
            .to_owned(),
    ];
    let batch = batch.into_iter().map(|sql| {
        let binds = sql.contains("?1");
        let statement = Statement::new(sql);
        if binds { statement.bind(page) } else { statement }
    });
    drive.plain().db().write(batch.collect()).await.unwrap();
}

/// Those of segments that are needed: a restore forgets the others.
async fn chunks(db: &impl Db) -> Vec<String> {
    let columns = ["space", "hash", "segment", "offset", "length", "crc32", "chunker", "seen_at"];
    let needed = "chunks where segment in (select segment from page_segments)";
    table_rows(db, needed, &columns, &[]).await
}

async fn column(db: &impl Db, sql: &'static str) -> Vec<Value> {
    let rows = db.read(vec![Statement::new(sql)]).await.unwrap().remove(0);
    rows.iter().filter_map(|row| row.value("it").cloned()).collect()
}
