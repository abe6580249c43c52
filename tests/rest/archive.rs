//! Folders as ZIP files.

mod entries;
mod kept;
mod unpack;

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};

use ledge_tests::{Drive, Reply, noise};
use zip::ZipArchive;

fn archive(drive: &Drive, path: &str) -> Reply {
    Reply::to(request(drive, "GET", path))
}

fn request(drive: &Drive, method: &str, path: &str) -> reqwest::blocking::RequestBuilder {
    Drive::in_space(method, &drive.below("archive", path))
}

/// The names of a ZIP file's entries, and the content of each.
fn unpacked(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(zip)).unwrap();
    let entries = 0..zip.len();
    let read = |at| {
        let mut entry = zip.by_index(at).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (entry.name().unwrap().into_owned(), content)
    };
    entries.map(read).collect()
}

/// A part of a file that is replaced, or comes behind its end.
fn patch(drive: &Drive, path: &str, range: &str, content: &'static str) {
    let request = drive.request("PATCH", path).header("content-range", range);
    assert!(Reply::to(request.body(content)).status < 300);
}

#[test]
fn a_folder_is_a_zip_file_of_all_that_is_in_it() {
    let drive = Drive::new();
    for folder in ["t", "t/empty", "t/%E4%BD%A0%E5%A5%BD", "t/%E4%BD%A0%E5%A5%BD/deep"] {
        assert_eq!(drive.make_folder(folder).status, 201);
    }
    let large = noise(1, 9 << 20);
    drive.put("t/large", large.clone());
    drive.put("t/%E4%BD%A0%E5%A5%BD/deep/caf%C3%A9", "small");
    drive.put("t/nothing", "");
    // Names that would lead elsewhere, or meet another one.
    drive.put("t/a%5Cb.txt", "first");
    drive.put("t/a_b.txt", "second");
    drive.put("t/C:c", "third");
    drive.put("t/nul.txt", "fourth");
    // In the bucket and in the database, and nowhere at all.
    let grown = noise(2, 20_000);
    drive.put("t/grown", grown.clone());
    assert_eq!(drive.append("t/grown", " and more").status, 200);
    drive.put("t/holes", "begin");
    patch(&drive, "t/holes", "bytes 100000-100002/*", "end");

    let reply = archive(&drive, "t");
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/zip");
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"t.zip\"");
    assert_eq!(reply.header("content-length"), reply.body.len().to_string());
    assert_eq!(reply.cost().0, 2);
    let holes = [b"begin".as_slice(), &[0; 99_995], b"end"].concat();
    let expected: Vec<(&str, Vec<u8>)> = vec![
        ("t/", Vec::new()),
        ("t/C_c", b"third".to_vec()),
        ("t/a_b (2).txt", b"first".to_vec()),
        ("t/a_b.txt", b"second".to_vec()),
        ("t/empty/", Vec::new()),
        ("t/grown", [grown.as_slice(), b" and more"].concat()),
        ("t/holes", holes),
        ("t/large", large),
        ("t/nothing", Vec::new()),
        ("t/_nul.txt", b"fourth".to_vec()),
        ("t/你好/", Vec::new()),
        ("t/你好/deep/", Vec::new()),
        ("t/你好/deep/café", b"small".to_vec()),
    ];
    let unpacked = unpacked(&reply.body);
    let names: Vec<&str> = unpacked.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for ((name, content), (_, wanted)) in unpacked.iter().zip(&expected) {
        assert!(content == wanted, "{name}");
    }
    let head = Reply::to(request(&drive, "HEAD", "t"));
    for header in ["content-length", "etag", "content-type", "content-disposition"] {
        assert_eq!(head.header(header), reply.header(header));
    }
    assert_eq!(head.cost(), (1, 0));
}

#[test]
fn what_a_list_names_is_one_zip_file() {
    let drive = Drive::new();
    for folder in ["t", "t/sub", "u"] {
        drive.make_folder(folder);
    }
    drive.put("t/sub/deep", "deep");
    drive.put("t/same", noise(7, 20_000));
    drive.put("u/same", "other");
    let list = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| drive.path(path)).collect();
        let body = serde_json::json!({ "paths": paths, "name": "a few" });
        Reply::to(Drive::in_space("POST", "archive").body(body.to_string()))
    };
    let reply = list(&["t/sub", "t/same", "u/same"]);
    assert_eq!((reply.status, reply.cost().0), (200, 3));
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"a few.zip\"");
    let names_and_sizes: Vec<(String, usize)> =
        unpacked(&reply.body).into_iter().map(|(name, content)| (name, content.len())).collect();
    let expected = [("same", 20_000), ("same (2)", 5), ("sub/", 0), ("sub/deep", 4)];
    assert_eq!(names_and_sizes, expected.map(|(name, size)| (name.to_owned(), size)));
    assert_eq!(unpacked(&list(&["u/same"]).body), [("same".to_owned(), b"other".to_vec())]);
    list(&["t/sub", "missing"]).expect_problem(404, "not_found");
    list(&[]).expect_problem(400, "invalid");
    list(&["x"; 101]).expect_problem(400, "invalid");
    let relative = Reply::to(Drive::in_space("POST", "archive").body("{\"paths\": [\"t\"]}"));
    relative.expect_problem(400, "invalid");
    assert_eq!(relative.json()["field"], "paths");
}

#[test]
fn g28_a_download_that_was_cut_goes_on_and_begins_anew_where_the_folder_has_changed() {
    let drive = Drive::new();
    drive.make_folder("t");
    for n in 0..20_u64 {
        drive.put(&format!("t/{n}"), noise(n, 1 + 7000 * n as usize));
    }
    let whole = archive(&drive, "t");
    let etag = whole.header("etag").to_owned();
    let size = whole.body.len();
    let resume = |from: usize, etag: &str| {
        let request = request(&drive, "GET", "t").header("range", format!("bytes={from}-"));
        Reply::to(request.header("if-range", etag))
    };
    for from in [0, 1, 29, 30, 31, 35, 40_000, size / 2, size - 23, size - 22, size - 1] {
        let rest = resume(from, &etag);
        assert_eq!(rest.status, 206, "{from}");
        assert_eq!(rest.header("content-range"), format!("bytes {from}-{}/{size}", size - 1));
        assert!(rest.body == whole.body[from..], "{from}");
    }
    let none = Reply::to(request(&drive, "GET", "t").header("range", format!("bytes={size}-")));
    none.expect_problem(416, "range_not_satisfiable");
    assert_eq!(Reply::to(request(&drive, "GET", "t").header("if-none-match", &etag)).status, 304);
    assert_eq!(Reply::to(request(&drive, "GET", "t").header("if-match", "\"x\"")).status, 412);
    assert_eq!(resume(100, "\"x\"").status, 200);
    // The same file by another content of the same length.
    drive.put("t/5", noise(99, 35_001));
    let anew = resume(size / 2, &etag);
    assert_eq!((anew.status, anew.body.len()), (200, size));
    assert_ne!(anew.header("etag"), etag);
    assert_eq!(unpacked(&anew.body).len(), 21);
}

#[test]
fn a_file_above_4_gib_and_what_comes_behind_it_are_found() {
    let drive = Drive::new();
    drive.make_folder("t");
    drive.put("t/a", "holes are fine");
    let far = 5_000_000_000_u64;
    patch(&drive, "t/a", "bytes 5000000000-5000000002/*", "end");
    drive.put("t/b", "behind");
    let size: u64 = Reply::to(request(&drive, "HEAD", "t")).header("content-length").parse().unwrap();
    let path = std::env::temp_dir().join(format!("ledge-archive-{}-{size}", std::process::id()));
    let mut file = File::options().create_new(true).read(true).write(true).open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    file.set_len(size).unwrap();
    for (from, to) in [(0, 199), (size - 1000, size - 1)] {
        let part = Reply::to(request(&drive, "GET", "t").header("range", format!("bytes={from}-{to}")));
        assert_eq!(part.status, 206);
        file.seek(SeekFrom::Start(from)).unwrap();
        file.write_all(&part.body).unwrap();
    }
    let mut zip = ZipArchive::new(file).unwrap();
    assert_eq!(zip.by_name("t/a").unwrap().size(), far + 3);
    let mut behind = String::new();
    zip.by_name("t/b").unwrap().read_to_string(&mut behind).unwrap();
    assert_eq!(behind, "behind");
}

#[test]
fn what_is_no_folder_or_not_there_for_who_asks_is_no_archive() {
    let drive = Drive::new();
    drive.put("f", "x");
    archive(&drive, "f").expect_problem(409, "not_a_folder");
    archive(&drive, "missing").expect_problem(404, "not_found");
    let url = Drive::absolute(&format!("/api/v1/spaces/{}/{}", Drive::space(), drive.below("archive", "")));
    assert_eq!(Reply::to(Drive::anonymous("GET", &url)).status, 401);
    // A range that isn't one, or several of them: the whole.
    for range in ["bytes=0-0,5-5", "lines=1-2"] {
        let reply = Reply::to(request(&drive, "GET", "").header("range", range));
        assert_eq!(reply.status, 200);
        assert_eq!(unpacked(&reply.body).len(), 2);
    }
}
