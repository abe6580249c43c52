//! Every statement that requests and jobs run finds its rows by an index.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::cell::RefCell;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ledge_core::backup::{self, Limits};
use ledge_core::error::Error;
use ledge_core::ids::JobId;
use ledge_core::jobs::Work;
use ledge_core::nodes::{self, Became, Expected, OnConflict, Operation, Target, To, Verb};
use ledge_core::path::Path;
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_core::trash::{self, Purged};
use ledge_engine_tests::dumps::dump;
use ledge_engine_tests::worker::run_all;
use ledge_engine_tests::{Drive, noise, record, run};
use ledge_hosts::local::Body;

/// What a plan may scan: values of a bound JSON array, the rows that the statement itself has made, and the one
/// row that a guard selects from nothing.
const SCANS_OF_FEW: &[&str] = &[
    "SCAN above",
    "SCAN o",
    "SCAN over",
    "SCAN st",
    "SCAN climb",
    "SCAN c",
    "SCAN h",
    "SCAN cover",
    "SCAN blocking",
    "SCAN found",
    "SCAN f",
    "SCAN top",
    "SCAN a",
    "SCAN json_each VIRTUAL TABLE",
    "SCAN e VIRTUAL TABLE",
    "SCAN r VIRTUAL TABLE",
    "SCAN x VIRTUAL TABLE",
    "SCAN CONSTANT ROW",
    "SCAN w",
    "SCAN u",
    "SCAN at",
    "SCAN named",
    "SCAN (subquery",
    "SCAN up",
    "SCAN walk",
    "SCAN c VIRTUAL TABLE",
    "SCAN p VIRTUAL TABLE",
    "SCAN t",
    "SCAN tree",
    "SCAN d",
    "SCAN down",
    "SCAN p",
    "SCAN probe",
    "SCAN l",
    "SCAN loose_blobs",
    "SCAN folder",
    "SCAN newest",
    "SCAN excess",
    "SCAN sizes",
    "SCAN z",
    "SCAN edge",
    "SCAN near",
    "SCAN ext",
    "SCAN base",
    "SCAN page",
    "SCAN doomed",
];

const PROPERTIES: &[u8] = b"<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:a'>b</a>\
    <lastmodified>1500000000</lastmodified></prop></set></propertyupdate>";

const JOIN: &[u8] =
    br#"{"sources": [{"path": "/photos/large"}, {"path": "/photos/small"}, {"path": "/photos/log"}]}"#;

/// Copies with a name that is free, one that gets a number, and one that a move has left.
const BATCH: &str = r#"{"operations": [
    {"op": "copy", "path": "/photos", "to": {"name": "copies"}},
    {"op": "copy", "path": "/photos", "to": {"name": "photos"}, "conflict": "rename"},
    {"op": "move", "path": "/photos/small", "to": {"parent": "/", "name": "photos 2"}},
    {"op": "copy", "path": "/photos/large", "to": {"parent": "/photos", "name": "small"}}
]}"#;

#[test]
fn no_statement_scans_a_table() {
    run(async {
        let drive = Drive::new().await;
        let statements = RefCell::new(Vec::new());
        let platform = record(drive.plain(), &statements);
        let large: &'static [u8] = noise(1, 9 << 20).leak();
        for (method, path, body, status) in [
            ("GET", "changes", b"".as_slice(), 200),
            ("PUT", "folders/photos", b"", 201),
            ("PUT", "folders/deep/deeper?parents=true", b"", 201),
            ("PUT", "folders/photos", b"", 200),
            ("PUT", "files/photos/small", b"small", 201),
            ("PUT", "files/photos/small", b"small again", 204),
            ("PUT", "files/photos/placeholder", b"", 201),
            ("PUT", "files/photos/placeholder", b"real", 204),
            ("PUT", "files/photos/large", large, 201),
            ("PUT", "files/photos/large", large, 204),
            ("GET", "files/photos/small", b"", 200),
            ("GET", "files/photos/large", b"", 200),
            ("HEAD", "files/photos/large", b"", 200),
            ("POST", "append/photos/log?create=true", b"first", 201),
            ("POST", "append/photos/log", b"second", 200),
            ("POST", "append/photos/large", b"small", 200),
            ("POST", "append/photos/large", large.get(..100_000).unwrap_or_default(), 200),
            ("POST", "concat/photos/joined", JOIN, 201),
            ("GET", "files/none", b"", 404),
            ("GET", "folders/photos", b"", 200),
            ("GET", "search/photos?q=small&min_bytes=1", b"", 200),
            ("GET", "folders/photos?sort=size&order=desc", b"", 200),
            ("PROPFIND", "/dav/photos", b"", 207),
            ("PROPFIND", "/dav/photos", b"<propfind xmlns='DAV:'><prop><getetag/></prop></propfind>", 207),
            ("PROPPATCH", "/dav/photos/small", PROPERTIES, 207),
            ("GET", "folders/?sizes=true", b"", 200),
            ("GET", "folders/?sizes=true&sort=size&limit=1", b"", 200),
            ("GET", "archive/photos", b"", 200),
            ("POST", "archives", br#"{"paths": ["/photos"], "to": "/photos.zip"}"#, 201),
            ("GET", "entries/photos.zip", b"", 200),
            ("GET", "entries/photos.zip?entry=0", b"", 200),
            ("GET", "thumbnail/photos/small?size=128", b"", 202),
            ("GET", "thumbnail/photos/small?size=128", b"", 202),
            ("GET", "thumbnail/photos/small?size=128&at=9999-01-01T00:00:00Z", b"", 202),
            ("POST", "archives", br#"{"paths": ["/photos/small", "/photos/large"], "to": "/two.zip"}"#, 201),
            ("POST", "unpack", br#"{"path": "/two.zip", "into": "/unpacked"}"#, 202),
            ("GET", "nodes/by-path/photos/small", b"", 200),
        ] {
            let mut request = drive.request(method, path, body);
            if path.starts_with('/') {
                *request.uri_mut() = path.parse().unwrap();
            }
            assert_eq!(drive.send(&platform, request).await.status, status, "{path}");
        }
        let Some(Value::Text(unpack)) = drive
            .column("select id as it from jobs where json_extract(input, '$.kind') = 'unpack'")
            .await
            .pop()
        else {
            unreachable!("it was asked for")
        };
        ledge_functions::run(&platform, &JobId::parse(&unpack).unwrap()).await;
        assert_eq!(drive.get("unpacked/small").await.status, 200);
        thumbnails(&drive, &platform).await;
        delta(&drive, &platform).await;
        for token in tokens(&drive, &platform).await {
            versions_and_tokens(&drive, &platform, &token).await;
        }

        let mut ranged = drive.request("GET", "files/photos/large", b"");
        ranged.headers_mut().insert("range", "bytes=-5,100-8000000".parse().unwrap());
        assert_eq!(drive.send(&platform, ranged).await.status, 206);
        let mut part = drive.request("PATCH", "files/photos/large", b"part");
        part.headers_mut().insert("content-range", "bytes 1000-1003/*".parse().unwrap());
        assert_eq!(drive.send(&platform, part).await.status, 204);
        let mut refused = drive.request("PUT", "files/photos/large", noise(2, 9 << 20).leak());
        refused.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
        assert_eq!(drive.send(&platform, refused).await.status, 400);
        let Some(Value::Text(job)) = drive.column("select id as it from jobs").await.pop() else {
            unreachable!("the refused upload left a job")
        };
        ledge_functions::run(&platform, &JobId::parse(&job).unwrap()).await;
        for method in ["COPY", "MOVE"] {
            assert_eq!(
                drive.send(&platform, drive.request("PUT", "files/over", b"over")).await.status / 100,
                2
            );
            let mut over = drive.request(method, "", b"");
            *over.uri_mut() = "/dav/over".parse().unwrap();
            over.headers_mut().insert("destination", "/dav/photos/small".parse().unwrap());
            assert_eq!(drive.send(&platform, over).await.status, 204);
        }
        for (method, path, body, status) in [
            ("POST", "nodes/batch", BATCH.as_bytes(), 200),
            ("DELETE", "files/photos/large", b"", 204),
            ("DELETE", "folders/copies", b"", 204),
            ("GET", "trash", b"", 200),
        ] {
            let answer = drive.send(&platform, drive.request(method, path, body)).await;
            assert_eq!(answer.status, status, "{path}: {:?}", String::from_utf8_lossy(&answer.body));
        }
        let newest = "select id as it from nodes where trashed_at is not null order by trashed_at, n";
        for trashed in drive.column(newest).await {
            let Value::Text(id) = trashed else { unreachable!("ids are text") };
            let mut restore = drive.request("POST", &format!("trash/{id}/restore"), b"");
            restore.headers_mut().insert("idempotency-key", id.parse().unwrap());
            assert_eq!(drive.send(&platform, restore).await.status, 200);
        }
        assert_eq!(drive.send(&platform, drive.request("DELETE", "folders/copies", b"")).await.status, 204);
        let Some(Value::Text(id)) = drive.column(newest).await.pop() else { unreachable!("it was deleted") };
        for (path, status) in [(format!("trash/{id}"), 204), ("files/photos/large".to_owned(), 204)] {
            assert_eq!(drive.send(&platform, drive.request("DELETE", &path, b"")).await.status, status);
        }
        assert_eq!(drive.send(&platform, drive.request("DELETE", "trash", b"")).await.status, 204);
        locks(&drive, &platform).await;
        jobs(&drive, &platform).await;
        uploads(&drive, &platform).await;

        trees(&drive, &platform).await;
        for id in ["first", "second"] {
            dump(&platform, id, &Limits::default()).await;
        }
        backup::list(&platform, &drive.address("").token).await.unwrap();

        let mut statements = statements.into_inner();
        statements.sort_by(|a, b| a.sql.cmp(&b.sql));
        statements.dedup_by(|a, b| a.sql == b.sql);
        assert!(statements.len() > 15, "{} statements were run", statements.len());
        for statement in statements {
            check(&drive, &statement).await;
        }
    });
}

/// A pack, a question, a list that lacks a chunk, one that doesn't, and the lists of each kind of version.
async fn delta<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    use ledge_tests::delta::{cut, manifest, packs};
    const LIST: &str = "application/vnd.ledge.manifest+json";
    let content = noise(3, 1 << 20);
    let pieces = cut(&content);
    let mut incomplete = manifest(&pieces);
    let unknown = serde_json::json!(["0".repeat(64), 1]);
    incomplete["chunks"].as_array_mut().unwrap().push(unknown);
    let question = format!("{{\"hashes\":[\"{}\"]}}", pieces[0].hash);
    for (method, path, header, media_type, body, status) in [
        (
            "POST",
            "segments",
            "content-type",
            "application/vnd.ledge.pack",
            packs(&content, &pieces).remove(0),
            201,
        ),
        ("POST", "chunks/missing", "content-type", "application/json", question.into_bytes(), 200),
        ("PUT", "files/delta", "content-type", LIST, incomplete.to_string().into_bytes(), 409),
        ("PUT", "files/delta", "content-type", LIST, manifest(&pieces).to_string().into_bytes(), 201),
        ("GET", "files/delta", "accept", LIST, Vec::new(), 200),
        ("GET", "files/delta?at=9999-01-01T00:00:00Z", "accept", LIST, Vec::new(), 200),
    ] {
        let mut request = drive.request(method, path, body.leak());
        request.headers_mut().insert(header, media_type.parse().unwrap());
        assert_eq!(drive.send(platform, request).await.status, status, "{path}");
    }
    let version = drive.column("select version_id as it from nodes where name = 'delta'").await;
    let [Value::Text(version)] = version.as_slice() else { unreachable!("it was saved") };
    let mut older = drive.request("GET", &format!("files/delta?version={version}"), b"");
    older.headers_mut().insert("accept", LIST.parse().unwrap());
    assert_eq!(drive.send(platform, older).await.status, 200);
}

/// What a picture's job does, and what becomes of what is none.
async fn thumbnails<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    let picture: &'static [u8] = ledge_tests::pictures::file("turned-6.jpg").leak();
    for (method, path, body, status) in
        [("PUT", "files/photos/a.jpg", picture, 201), ("GET", "thumbnail/photos/a.jpg?size=128", b"", 202)]
    {
        assert_eq!(drive.send(platform, drive.request(method, path, body)).await.status, status, "{path}");
    }
    for job in drive.column("select id as it from jobs where input like '%\"thumbnails\"%'").await {
        let Value::Text(id) = job else { unreachable!("ids are text") };
        ledge_functions::run(platform, &JobId::parse(&id).unwrap()).await;
    }
    for (path, status) in [("thumbnail/photos/a.jpg?size=128", 200), ("thumbnail/photos/small?size=128", 422)]
    {
        assert_eq!(drive.send(platform, drive.request("GET", path, b"")).await.status, status, "{path}");
    }
}

/// Jobs that copy and remove trees, one of which is cancelled; and those that remove what has expired.
async fn trees<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    let address = drive.address("");
    let path = |name: &str| Path::parse([name]).unwrap();
    let copy = Operation {
        verb: Verb::Copy,
        node: Target::Path(path("photos")),
        to: To { parent: None, name: path("by job").last().cloned() },
        conflict: OnConflict::Fail,
        expected: Expected::Any,
        alone: false,
    };
    for ends in [true, false] {
        let begun = nodes::copy_by_job(platform, &address.token, &address.space, copy.clone()).await;
        let Ok(Became::Later(job)) = begun else { unreachable!("a job was asked for") };
        if ends {
            let cancel = Statement::new("update jobs set state = 'cancelled', finished_at = 1 where id = ?1");
            drive.ports.db.write(vec![cancel.bind(&job.id)]).await.unwrap();
        } else {
            ledge_functions::run(platform, &job.id).await;
        }
    }
    for (method, path, status) in [("GET", "folders/by%20job", 200), ("DELETE", "folders/by%20job", 204)] {
        assert_eq!(drive.send(platform, drive.request(method, path, b"")).await.status, status);
    }
    let purge = trash::purge_by_job(platform, &address.token, &address.space, &Purged::Everything).await;
    ledge_functions::run(platform, &purge.unwrap().unwrap().id).await;
    assert_eq!(drive.send(platform, drive.request("DELETE", "folders/photos", b"")).await.status, 204);
    for expires in [
        "update nodes set trashed_at = 1 where trashed_at is not null",
        "update versions set created_at = 1",
        "update spaces set versions_days = 1",
        "update jobs set state = 'dead', finished_at = 1 where finished_at is null",
    ] {
        drive.ports.db.write(vec![Statement::new(expires)]).await.unwrap();
    }
    run_all(drive, platform, &Work::ExpireTrash).await;
    run_all(drive, platform, &Work::ExpireVersions).await;
    assert_eq!(drive.column("select id as it from nodes where name = 'photos'").await, []);
}

/// The drive's first token, and one that is limited to a folder.
async fn tokens<P>(drive: &Drive, platform: &P) -> [Option<String>; 2]
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    let texts =
        drive.column("select id as it from spaces union all select id from nodes where name = 'photos'");
    let texts = texts.await;
    let [Value::Text(space), Value::Text(folder)] = texts.as_slice() else { unreachable!() };
    let body = format!("{{\"name\":\"a\",\"space_id\":\"{space}\",\"folder_id\":\"{folder}\"}}");
    let mut create = drive.request("POST", "", body.leak().as_bytes());
    *create.uri_mut() = "/api/v1/tokens".parse().unwrap();
    create.headers_mut().insert("idempotency-key", "k".parse().unwrap());
    let answer = drive.send(platform, create).await;
    assert_eq!(answer.status, 201);
    let token: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    [None, token["token"].as_str().map(str::to_owned)]
}

async fn versions_and_tokens<P>(drive: &Drive, platform: &P, token: &Option<String>)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    let older = drive.column(
        "select v.id as it from versions v join nodes n on n.id = v.node_id and n.version_id <> v.id
           join blobs b on b.id = v.blob_id where b.pages is not null order by v.created_at desc limit 1",
    );
    let Some(Value::Text(id)) = older.await.pop() else { unreachable!("the large file has two versions") };
    let Some(Value::Text(space)) = drive.column("select id as it from spaces").await.pop() else {
        unreachable!("there is a space")
    };
    let (space, whole) = (format!("/api/v1/spaces/{space}"), if token.is_some() { 404 } else { 200 });
    let photos =
        drive.column("select id as it from nodes where name = 'photos' and trashed_at is null").await;
    let [Value::Text(folder), ..] = photos.as_slice() else { unreachable!("it was made") };
    let by_id = format!("versions/photos/large?version={id}");
    let restore = format!("{{\"restore\":\"{id}\"}}").leak().as_bytes();
    let requests: Vec<(&str, String, &'static [u8], u16)> = vec![
        ("PUT", "files/photos/small".to_owned(), b"small", 204),
        ("PUT", "folders/photos".to_owned(), b"", 200),
        ("GET", "folders/photos".to_owned(), b"", 200),
        ("GET", format!("nodes/{folder}"), b"", 200),
        ("GET", format!("changes?since={}&limit=2", since(drive).await), b"", 200),
        ("GET", "versions/photos/large?limit=1".to_owned(), b"", 200),
        ("GET", format!("files/photos/large?version={id}"), b"", 200),
        ("GET", "files/photos/large?at=9999-01-01T00:00:00Z".to_owned(), b"", 200),
        ("POST", "versions/photos/large".to_owned(), restore, 201),
        ("PATCH", by_id.clone(), b"{\"label\":\"x\"}", 200),
        ("DELETE", by_id, b"", 204),
        ("GET", "/api/v1/tokens".to_owned(), b"", 200),
        ("GET", "/api/v1/spaces".to_owned(), b"", 200),
        ("GET", space.clone(), b"", whole),
        ("PATCH", space, b"{\"trash_days\":30}", whole),
        ("DELETE", "/api/v1/tokens/018f0000-0000-7000-8000-000000000000".to_owned(), b"", 404),
    ];
    for (method, path, body, status) in requests {
        let mut request = drive.request(method, &path, body);
        if path.starts_with('/') {
            *request.uri_mut() = path.parse().unwrap();
        }
        if let Some(token) = token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        assert_eq!(drive.send(platform, request).await.status, status, "{method} {path}");
    }
}

/// Every kind of request about uploads in parts.
async fn uploads<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    let send = async |method: &str, url: &str, headers: &[(&'static str, String)], body: &'static [u8]| {
        let mut request = drive.request(method, "", body);
        *request.uri_mut() = url.parse().unwrap();
        request.headers_mut().insert("tus-resumable", "1.0.0".parse().unwrap());
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let answer = drive.send(platform, request).await;
        assert!(answer.status < 300, "{method} {url}: {:?}", String::from_utf8_lossy(&answer.body));
        answer.headers.get("location").map(|url| url.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let large: &'static [u8] = noise(7, 9 << 20).leak();
    let length = |length: usize| ("upload-length", length.to_string());
    let metadata = || ("upload-metadata", "path dXBsb2FkZWQ=".to_owned());
    let part = |offset: usize| {
        [
            ("upload-offset", offset.to_string()),
            ("content-type", "application/offset+octet-stream".to_owned()),
        ]
    };
    let url = send("POST", "/api/v1/uploads", &[length(large.len()), metadata()], b"").await;
    for (from, to) in [(0, 10), (10, 9_000_000), (9_000_000, large.len())] {
        send("HEAD", &url, &[], b"").await;
        send("PATCH", &url, &part(from), &large[from..to]).await;
    }
    let partial = ("upload-concat", "partial".to_owned());
    let url = send("POST", "/api/v1/uploads", &[length(300_000), partial], b"").await;
    send("PATCH", &url, &part(0), &large[..300_000]).await;
    send("POST", "/api/v1/uploads", &[("upload-concat", format!("final;{url}")), metadata()], b"").await;
    let url = send("POST", "/api/v1/uploads", &[length(1), metadata()], b"").await;
    send("DELETE", &url, &[], b"").await;
    let folder = "/remote.php/dav/uploads/admin/folder";
    send("MKCOL", folder, &[], b"").await;
    for part in ["1", "2", "2"] {
        send("PUT", &format!("{folder}/{part}"), &[], &large[..500_000]).await;
    }
    send("PROPFIND", folder, &[], b"").await;
    send("PROPFIND", "/remote.php/dav/uploads/admin/", &[], b"").await;
    send("DELETE", &format!("{folder}/2"), &[], b"").await;
    let to = ("destination", "/remote.php/dav/files/admin/joined".to_owned());
    send("MOVE", &format!("{folder}/.file"), &[to], b"").await;
    ledge_core::uploads::expire(platform, 10).await.unwrap();
}

/// Every kind of request about locks, and a change with a condition; what they refuse or remove is proved elsewhere.
async fn locks<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    use ledge_core::locks;
    let wanted = |path: &str, scope| locks::NewLock {
        address: drive.address(path),
        scope,
        depth: locks::Depth::Infinity,
        owner: None,
        timeout: None,
        media_type: "text/plain".to_owned(),
    };
    let taken = locks::lock(platform, &wanted("photos/locked", locks::Scope::Shared)).await.unwrap();
    let refused = locks::lock(platform, &wanted("photos", locks::Scope::Exclusive)).await;
    assert!(matches!(refused, Err(Error::LockConflict { .. })));
    let refused = drive.send(platform, drive.request("DELETE", "folders/photos", b"")).await;
    assert_eq!(refused.status, 423);
    let mut address = drive.address("photos/locked");
    let resource = Some(locks::Resource { base: None, path: address.path.clone() });
    let conditions = vec![locks::Condition { not: true, state: locks::State::Never }];
    address.token = address.token.submitting(locks::Submitted {
        tokens: vec![taken.lock.id.clone()],
        lists: vec![locks::List { resource, conditions }],
    });
    locks::refresh(platform, &address, None).await.unwrap();
    locks::unlock(platform, &address, Some(&taken.lock.id)).await.unwrap();
    nodes::delete(platform, &address, nodes::Expected::Any).await.unwrap();
    let taken = locks::lock(platform, &wanted("photos/locked", locks::Scope::Shared)).await.unwrap();
    assert_eq!(drive.send(platform, drive.request("GET", "locks", b"")).await.status, 200);
    let path = format!("locks/{}", taken.lock.id);
    assert_eq!(drive.send(platform, drive.request("DELETE", &path, b"")).await.status, 204);
    platform.db().read(vec![locks::discover(&address, platform.host().now(), true)]).await.unwrap();
}

/// Every kind of request about jobs, and what a worker and the tick do.
async fn jobs<P>(drive: &Drive, platform: &P)
where
    P: Platform,
    P::Host: Host<Body = Body>,
{
    use ledge_core::jobs;
    let work = jobs::Work::DiscardIngest { ingest: 1 << 40, key: "none".to_owned() };
    let id = jobs::start(platform, &work, jobs::By::System).await.unwrap().id;
    for (method, path, status) in [
        ("GET", "jobs".to_owned(), 200),
        ("GET", "jobs?state=done".to_owned(), 200),
        ("GET", "jobs?state=dead".to_owned(), 200),
        ("GET", format!("jobs/{id}"), 200),
        ("GET", "admin/jobs".to_owned(), 200),
        ("POST", format!("jobs/{id}/cancel"), 200),
        ("POST", format!("jobs/{id}/retry"), 200),
    ] {
        let mut request = drive.request(method, "", b"");
        *request.uri_mut() = format!("/api/v1/{path}").parse().unwrap();
        assert_eq!(drive.send(platform, request).await.status, status, "{path}");
    }
    let jobs::Claim::Job(job) = jobs::claim(platform, &id).await.unwrap() else { unreachable!("it waits") };
    assert!(job.heartbeat(platform, job.progress).await.unwrap());
    let checkpoint = job.checkpoint(&serde_json::json!(1), job.progress, platform.host().now()).unwrap();
    platform.db().write(vec![job.guard(), checkpoint]).await.unwrap();
    jobs::leave(platform, *job, Ok(jobs::Step::done()), true).await.unwrap();
    ledge_functions::tick(platform, None).await;
}

/// A cursor of the feed, before everything.
async fn since(drive: &Drive) -> String {
    let Some(Value::Integer(space)) = drive.column("select n as it from spaces").await.pop() else {
        unreachable!("there is a space")
    };
    URL_SAFE_NO_PAD.encode(format!("[\"changes\",{space},0,null]"))
}

async fn check(drive: &Drive, statement: &Statement) {
    let explain = Statement {
        sql: format!("explain query plan {}", statement.sql).into(),
        params: statement.params.clone(),
    };
    let rows = drive.ports.db.read(vec![explain]).await.unwrap().remove(0);
    for row in rows {
        let detail = row.text("detail").unwrap();
        // `M` says that the full-text index is asked with a MATCH.
        let is_match = detail.starts_with("SCAN m VIRTUAL TABLE INDEX") && detail.contains('M');
        let is_fine =
            !detail.starts_with("SCAN") || is_match || SCANS_OF_FEW.iter().any(|few| names(detail, few));
        assert!(is_fine, "{detail}\n in {}", statement.sql);
    }
}

/// Whether the step is exactly this one: `SCAN p` isn't `SCAN pages`.
fn names(detail: &str, step: &str) -> bool {
    detail.strip_prefix(step).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '-']))
}
