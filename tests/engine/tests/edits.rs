//! Files that are written in parts read as plain bytes that the same was done to, whatever fails.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

use std::collections::BTreeMap;

use futures::future::join_all;
use ledge_core::ports::Value;
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::{Answer, Drive, Random, check, noise, run};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// What is done to a file.
#[derive(Debug)]
enum Step {
    Put(Vec<u8>),
    Append(Vec<u8>),
    Patch(usize, Vec<u8>),
    Concat(Vec<&'static str>),
}

#[test]
fn files_that_are_written_in_parts_read_as_plain_bytes() {
    run(async {
        for seed in 0..4 {
            edits(seed, 40, false).await;
        }
    });
}

#[test]
fn a_failure_at_any_step_of_an_edit_leaves_the_old_content_or_the_new() {
    run(async {
        for seed in 100..104 {
            edits(seed, 40, true).await;
        }
    });
}

async fn edits(seed: u64, steps: usize, with_failures: bool) {
    let drive = Drive::new().await;
    let mut random = Random::new(seed);
    let mut model: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    for turn in 0..steps {
        let name = *random.of(&NAMES).unwrap();
        let step = step(&mut random, &model, name);
        let at = format!("seed {seed}, turn {turn}, {name}: {}", short(&step));
        let after = apply(&model, name, &step);
        let answer = if with_failures && random.one_in(2) {
            let when = *random.of(&[When::Before, When::After]).unwrap();
            let faults = Faults::at(u32::try_from(random.below(7)).unwrap(), when);
            drive.send(&fail(drive.plain(), &faults), request(&drive, name, &step)).await
        } else {
            drive.send(drive.plain(), request(&drive, name, &step)).await
        };
        match answer.status {
            200 | 201 | 204 => {
                model.insert(name, after);
            }
            503 if with_failures => {}
            _ => panic!("{at}: {}", String::from_utf8_lossy(&answer.body)),
        }
        reads(&drive, &mut random, &model, name, &at, &answer).await;
        assert_eq!(drive.lost_objects().await, Vec::<String>::new(), "{at}");
    }
    for (name, content) in &model {
        assert!(drive.get(name).await.body == *content, "seed {seed}: {name}");
    }
    if !with_failures {
        assert_eq!(drive.column("select id as it from ingests").await, [], "seed {seed}");
    }
    check(&drive).await;
}

fn step(random: &mut Random, model: &BTreeMap<&str, Vec<u8>>, name: &str) -> Step {
    let size = model.get(name).map_or(0, Vec::len);
    if size == 0 || random.one_in(8) {
        return Step::Put(content(random));
    }
    match random.below(10) {
        0..4 => Step::Append(content(random)),
        4..6 => Step::Patch(random.below(size + 1), some(random)),
        6 => Step::Patch(size.saturating_sub(random.below(40_000)), some(random)),
        7 => Step::Patch(size + random.below(100_000), some(random)),
        _ => {
            let known: Vec<&'static str> =
                NAMES.into_iter().filter(|name| model.contains_key(name)).collect();
            let count = 1 + random.below(3);
            // Small enough for a test of many.
            let sources: Vec<&'static str> = (0..count).map(|_| *random.of(&known).unwrap()).collect();
            let total: usize = sources.iter().map(|source| model[source].len()).sum();
            if total > 30_000_000 { Step::Put(content(random)) } else { Step::Concat(sources) }
        }
    }
}

/// Few seeds, so that content is often known already.
fn content(random: &mut Random) -> Vec<u8> {
    let length = match random.below(10) {
        0 => 0,
        1..4 => random.below(200),
        4 => random.below(10_000),
        5..7 => random.below(60_000),
        7..9 => random.below(1_500_000),
        _ => random.below(6_000_000),
    };
    match random.below(6) {
        0 => vec![0; length],
        1 => noise(7, 4_000).into_iter().cycle().take(length).collect(),
        seed => noise(seed as u64, length),
    }
}

fn some(random: &mut Random) -> Vec<u8> {
    loop {
        let content = content(random);
        if !content.is_empty() {
            return content;
        }
    }
}

fn apply(model: &BTreeMap<&str, Vec<u8>>, name: &str, step: &Step) -> Vec<u8> {
    let mut content = model.get(name).cloned().unwrap_or_default();
    match step {
        Step::Put(new) => content = new.clone(),
        Step::Append(new) => content.extend_from_slice(new),
        Step::Patch(start, new) => {
            content.resize(content.len().max(start + new.len()), 0);
            content[*start..start + new.len()].copy_from_slice(new);
        }
        Step::Concat(sources) => content = sources.iter().flat_map(|source| model[source].clone()).collect(),
    }
    content
}

fn request(drive: &Drive, name: &str, step: &Step) -> http::Request<&'static [u8]> {
    match step {
        Step::Put(new) => drive.request("PUT", &format!("files/{name}"), new.clone().leak()),
        Step::Append(new) => drive.request("POST", &format!("append/{name}"), new.clone().leak()),
        Step::Patch(start, new) => {
            let mut request = drive.request("PATCH", &format!("files/{name}"), new.clone().leak());
            let range = format!("bytes {start}-{}/*", start + new.len() - 1);
            request.headers_mut().insert("content-range", range.parse().unwrap());
            request
        }
        Step::Concat(sources) => {
            let sources: Vec<_> =
                sources.iter().map(|it| serde_json::json!({ "path": format!("/{it}") })).collect();
            let body = serde_json::json!({ "sources": sources }).to_string();
            drive.request("POST", &format!("concat/{name}"), body.into_bytes().leak())
        }
    }
}

fn short(step: &Step) -> String {
    match step {
        Step::Put(new) => format!("put {}", new.len()),
        Step::Append(new) => format!("append {}", new.len()),
        Step::Patch(start, new) => format!("patch {start}+{}", new.len()),
        Step::Concat(sources) => format!("concat {sources:?}"),
    }
}

/// The file reads as the model, whole and in ranges, and its row has the right size, checksum and tag.
async fn reads(
    drive: &Drive,
    random: &mut Random,
    model: &BTreeMap<&str, Vec<u8>>,
    name: &str,
    at: &str,
    written: &Answer,
) {
    let Some(content) = model.get(name) else { return };
    let whole = drive.get(name).await;
    assert_eq!(whole.body.len(), content.len(), "{at}");
    assert!(whole.body == *content, "{at}");
    if written.status < 300 && written.headers.contains_key("etag") {
        assert_eq!(whole.headers["etag"], written.headers["etag"], "{at}");
    }
    let row = "select b.crc32 as it from nodes n join versions v on v.id = n.version_id
                 join blobs b on b.id = v.blob_id where n.parent_id <> ''";
    let row = format!("{row} and n.name = '{name}'").leak();
    assert_eq!(drive.column(row).await, [Value::Integer(i64::from(crc32fast::hash(content)))], "{at}");
    for _ in 0..4 {
        let from = random.below(content.len() + 1);
        let to = content.len().min(from + random.below(200_000) + 1);
        if from == to {
            continue;
        }
        let mut part = drive.request("GET", &format!("files/{name}"), b"");
        part.headers_mut().insert("range", format!("bytes={from}-{}", to - 1).parse().unwrap());
        let part = drive.send(drive.plain(), part).await;
        assert_eq!(part.status, 206, "{at}");
        assert!(part.body == content[from..to], "{at}: {from}..{to}");
    }
}

#[test]
fn appends_at_once_lose_nothing_and_leave_little() {
    run(async {
        let drive = Drive::new().await;
        let lines: Vec<Vec<&'static [u8]>> = (0..8)
            .map(|client| {
                (0..125)
                    .map(|n| &*format!("client {client}, line {n}: {}\n", "x".repeat(80)).into_bytes().leak())
                    .collect()
            })
            .collect();
        let client = async |lines: &[&'static [u8]]| {
            for line in lines {
                let append = drive.request("POST", "append/log?create=true", line);
                let answer = drive.send(drive.plain(), append).await;
                assert!(matches!(answer.status, 200 | 201), "{:?}", String::from_utf8_lossy(&answer.body));
            }
        };
        join_all(lines.iter().map(|lines| client(lines))).await;
        let read = String::from_utf8(drive.get("log").await.body).unwrap();
        for (number, lines) in lines.iter().enumerate() {
            let own = read.lines().filter(|line| line.starts_with(&format!("client {number},")));
            let sent = lines.iter().map(|line| std::str::from_utf8(line).unwrap().trim_end());
            assert!(own.eq(sent), "client {number}: all of its lines, in their order");
        }
        assert_eq!(read.lines().count(), 1_000);
        // One version, one page: what the others were is in them.
        assert_eq!(drive.column("select count(*) as it from versions").await, [Value::Integer(1)]);
        assert_eq!(drive.column("select count(*) as it from blobs").await, [Value::Integer(1)]);
        assert_eq!(drive.column("select count(*) as it from pages").await, [Value::Integer(1)]);
        assert_eq!(drive.column("select id as it from ingests").await, []);
        // Each time that the tail is full, one segment: of what the last chunk was, the tail, and a line; and one for
        // each of those that lost the race to do it, which nothing refers to from the start.
        let folds = read.len() / (32 * 1024);
        let used = drive.column("select count(*) as it from page_segments").await;
        assert_eq!(used, [Value::Integer(1)], "{} bytes are less than a chunk", read.len());
        let live = drive.column("select id as it from segments where state = 'live'").await.len();
        assert_eq!(live, folds, "{} bytes", read.len());
        let segments = drive.objects().await.len();
        assert!(segments <= folds * lines.len(), "{segments} segments for {} bytes", read.len());
        check(&drive).await;
    });
}

#[test]
fn what_no_database_can_count_is_refused() {
    run(async {
        let drive = Drive::new().await;
        let patch = async |name: &str, range: &str, body| {
            let mut request = drive.request("PATCH", &format!("files/{name}"), body);
            request.headers_mut().insert("content-range", range.parse().unwrap());
            drive.send(drive.plain(), request).await.status
        };
        for name in ["a", "b"] {
            assert_eq!(drive.put(name, b"x").await.status, 201);
        }
        assert_eq!(patch("a", "bytes 9007199254740000-9007199254740002/*", b"abc").await, 204);
        assert_eq!(patch("a", "bytes 0-2/*", b"abc").await, 507);
        assert_eq!(patch("b", "bytes 9007199254740000-9007199254740002/*", b"abc").await, 507);
        let append = drive.request("POST", "append/a", b"more");
        assert_eq!(drive.send(drive.plain(), append).await.status, 507);
        assert_eq!(drive.get("b").await.body, b"x");
        check(&drive).await;
    });
}

#[test]
fn a_file_of_many_pages_is_edited_a_few_pages_at_a_time() {
    run(async {
        let drive = Drive::new().await;
        let mut random = Random::new(9);
        let mut content = Vec::new();
        for n in 0..10 {
            let piece = noise(200 + n, 5_000 + usize::try_from(n).unwrap());
            assert_eq!(drive.put(&format!("p{n}"), piece.clone().leak()).await.status, 201);
            content.extend(piece);
        }
        let join = async |name: &str, sources: Vec<String>| {
            let sources: Vec<_> = sources.iter().map(|it| serde_json::json!({ "path": it })).collect();
            let body = serde_json::json!({ "sources": sources }).to_string().into_bytes().leak();
            drive.send(drive.plain(), drive.request("POST", &format!("concat/{name}"), body)).await.status
        };
        // 10 extents, then 400, then 2,000.
        assert_eq!(join("ten", (0..10).map(|n| format!("/p{n}")).collect()).await, 201);
        assert_eq!(join("many", vec!["/ten".to_owned(); 40]).await, 201);
        assert_eq!(join("f", vec!["/many".to_owned(); 5]).await, 201);
        content = content.repeat(200);
        let mut model = BTreeMap::from([("f", content)]);
        let row =
            "select json_array_length(b.pages) as it from nodes n join versions v on v.id = n.version_id
                     join blobs b on b.id = v.blob_id where n.name = 'f'";
        let pages = integer(&drive.column(row).await);
        assert!(pages >= 8, "{pages} pages");
        for turn in 0..60 {
            let size = model["f"].len();
            let step = match turn % 4 {
                0 => Step::Append(noise(turn, 20_000)),
                1 => Step::Patch(random.below(size), noise(turn, 1 + random.below(300))),
                2 => Step::Patch(random.below(size), noise(turn, 1 + random.below(400_000))),
                _ => Step::Patch(size + random.below(200_000), noise(turn, 10)),
            };
            let at = format!("turn {turn}: {}", short(&step));
            let after = apply(&model, "f", &step);
            let newest = integer(&drive.column("select max(id) as it from pages").await);
            let answer = drive.send(drive.plain(), request(&drive, "f", &step)).await;
            assert!(matches!(answer.status, 200 | 204), "{at}: {}", String::from_utf8_lossy(&answer.body));
            model.insert("f", after);
            let pages = format!("select count(*) as it from pages where id > {newest}").leak();
            let written = integer(&drive.column(pages).await);
            assert!(written <= 3, "{at}: {written} pages");
            reads(&drive, &mut random, &model, "f", &at, &answer).await;
        }
        check(&drive).await;
    });
}

fn integer(values: &[Value]) -> i64 {
    let [Value::Integer(number)] = values else { panic!("{values:?} isn't a number") };
    *number
}
