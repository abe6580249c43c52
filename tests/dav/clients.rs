//! What well-known clients send, replayed request by request.

use ledge_tests::{Dav, Reply, noise};

/// Asserts the status of a step.
#[track_caller]
fn ok(reply: Reply, status: u16) -> Reply {
    assert_eq!(reply.status, status, "{}", reply.text());
    reply
}

fn with(token: &str) -> String {
    format!("(<{token}>)")
}

/// A lock as Windows and Office ask for it.
fn windows_lock(dav: &Dav, path: &str) -> Reply {
    let body = "<?xml version=\"1.0\" encoding=\"utf-8\" ?><D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:exclusive/>\
        </D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>DESK\\ada</D:href></D:owner></D:lockinfo>";
    let request = dav.request("LOCK", path).header("user-agent", "Microsoft-WebDAV-MiniRedir/10.0.22631");
    request.header("translate", "f").header("timeout", "Second-3600").xml(body).send()
}

fn windows_times(dav: &Dav, path: &str, token: &str) -> Reply {
    let body = "<?xml version=\"1.0\" encoding=\"utf-8\" ?><D:propertyupdate xmlns:D=\"DAV:\" \
        xmlns:Z=\"urn:schemas-microsoft-com:\"><D:set><D:prop>\
        <Z:Win32CreationTime>Sat, 03 Feb 2001 04:05:06 GMT</Z:Win32CreationTime>\
        <Z:Win32LastAccessTime>Sat, 03 Feb 2001 04:05:06 GMT</Z:Win32LastAccessTime>\
        <Z:Win32LastModifiedTime>Sat, 03 Feb 2001 04:05:06 GMT</Z:Win32LastModifiedTime>\
        <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>";
    dav.request("PROPPATCH", path).header("if", with(token)).xml(body).send()
}

/// Finder saves each file twice, with its attributes beside it, and never says how long a body is.
#[test]
fn finder_makes_an_empty_file_locks_it_and_sends_the_rest_in_chunks() {
    let dav = Dav::new();
    ok(dav.request("OPTIONS", "").send(), 200);
    ok(dav.request("PROPFIND", "").header("depth", "0").send(), 207);
    for (name, content) in [("photo.jpg", noise(1, 30_000)), ("._photo.jpg", noise(2, 4096))] {
        ok(dav.request("PROPFIND", name).header("depth", "0").send(), 404);
        ok(dav.put(name, ""), 201);
        let token = ok(dav.lock(name).send(), 200).lock_token();
        let request = dav.request("PUT", name).header("if", with(&token));
        let request = request.header("x-expected-entity-length", content.len().to_string());
        ok(request.body(content.clone()).chunked().send(), 204);
        ok(dav.request("PROPFIND", name).header("depth", "0").send(), 207);
        ok(dav.unlock(name, &token), 204);
        assert!(dav.get(name).body == content);
    }
    ok(dav.transfer("MOVE", "photo.jpg", "a%20photo.jpg").send(), 201);
    ok(dav.delete("._photo.jpg"), 204);
    assert_eq!(dav.names(""), ["a photo.jpg"]);
}

#[test]
fn w141_explorer_copies_a_file_in_six_steps() {
    let dav = Dav::new();
    ok(dav.request("OPTIONS", "").send(), 200);
    ok(dav.request("PROPFIND", "new.txt").header("depth", "0").send(), 404);
    ok(dav.put("new.txt", ""), 201);
    let token = ok(windows_lock(&dav, "new.txt"), 200).lock_token();
    ok(dav.request("PUT", "new.txt").header("if", with(&token)).body("content").send(), 204);
    let patched = ok(windows_times(&dav, "new.txt", &token), 207).multistatus();
    assert!(patched.only().properties.iter().all(|(status, _)| *status == 200), "{patched:?}");
    ok(dav.unlock("new.txt", &token), 204);
    let read = ok(dav.get("new.txt"), 200);
    assert_eq!(
        (read.body.as_slice(), read.header("last-modified")),
        (&b"content"[..], "Sat, 03 Feb 2001 04:05:06 GMT")
    );
}

#[test]
fn w111_w112_office_opens_locks_saves_and_closes_a_document() {
    let dav = Dav::new();
    ok(dav.put("report.docx", "first"), 201);
    for path in ["report.docx", ""] {
        let options = ok(
            dav.request("OPTIONS", path).header("user-agent", "Microsoft Office Protocol Discovery").send(),
            200,
        );
        assert_eq!(options.header("ms-author-via"), "DAV");
        assert!(options.header("dav").contains('2'));
    }
    ok(dav.request("HEAD", "report.docx").send(), 200);
    let token = ok(windows_lock(&dav, "report.docx"), 200).lock_token();
    let opened = ok(dav.get("report.docx"), 200);
    ok(dav.get_with("report.docx", "if-none-match", opened.header("etag")), 304);
    ok(
        dav.request("LOCK", "report.docx").header("if", with(&token)).header("timeout", "Second-3600").send(),
        200,
    );
    ok(dav.request("PUT", "report.docx").header("if", with(&token)).body("second").send(), 204);
    ok(dav.get_with("report.docx", "if-none-match", opened.header("etag")), 200);
    ok(dav.unlock("report.docx", &token), 204);
    assert_eq!(dav.rest.versions("report.docx").len(), 2);
}

#[test]
fn w113_word_on_a_mapped_drive_saves_through_its_owner_file_and_a_chain_of_moves() {
    let dav = Dav::new();
    ok(dav.put("test.docx", "old"), 201);
    // The owner file says who has the document open.
    ok(dav.request("PROPFIND", "~%24test.docx").header("depth", "0").send(), 404);
    ok(dav.put("~%24test.docx", ""), 201);
    let owner = ok(windows_lock(&dav, "~%24test.docx"), 200).lock_token();
    ok(dav.request("HEAD", "~%24test.docx").send(), 200);
    ok(dav.request("PUT", "~%24test.docx").header("if", with(&owner)).body("ada").send(), 204);
    ok(windows_times(&dav, "~%24test.docx", &owner), 207);
    ok(dav.unlock("~%24test.docx", &owner), 204);
    // The document is written aside, and takes the old one's place.
    ok(dav.put("~WRD0000.tmp", ""), 201);
    let aside = ok(windows_lock(&dav, "~WRD0000.tmp"), 200).lock_token();
    ok(dav.request("PUT", "~WRD0000.tmp").header("if", with(&aside)).body("new").send(), 204);
    ok(windows_times(&dav, "~WRD0000.tmp", &aside), 207);
    ok(dav.unlock("~WRD0000.tmp", &aside), 204);
    ok(dav.transfer("MOVE", "test.docx", "~WRL0001.tmp").header("overwrite", "F").send(), 201);
    ok(dav.transfer("MOVE", "~WRD0000.tmp", "test.docx").header("overwrite", "F").send(), 201);
    ok(dav.delete("~WRL0001.tmp"), 204);
    ok(dav.delete("~%24test.docx"), 204);
    assert_eq!(dav.names(""), ["test.docx"]);
    assert_eq!(dav.get("test.docx").body, b"new");
}

#[test]
fn w032_keepass_writes_aside_and_moves_over_so_that_the_old_database_becomes_a_version() {
    let dav = Dav::new();
    ok(dav.put("db.kdbx", "old"), 201);
    let seen = ok(dav.request("HEAD", "db.kdbx").send(), 200);
    ok(dav.put("db.kdbx.tmp", "new"), 201);
    assert_eq!(dav.request("HEAD", "db.kdbx").send().header("etag"), seen.header("etag"));
    ok(dav.transfer("MOVE", "db.kdbx.tmp", "db.kdbx").header("overwrite", "T").send(), 204);
    assert_eq!(dav.get("db.kdbx").body, b"new");
    assert_eq!(dav.rest.versions("db.kdbx").len(), 2);
}

#[test]
fn w065_w048_joplin_compares_times_and_sends_tags_without_quotes() {
    let dav = Dav::new();
    ok(dav.mkcol(".resource/"), 201);
    ok(dav.mkcol(".resource/"), 405);
    let etag = ok(dav.put("0af3.md", "note"), 201).header("etag").trim_matches('"').to_owned();
    let listed = dav.properties("", "1", "<getlastmodified/><resourcetype/>");
    for response in &listed.responses {
        assert!(response.text("getlastmodified").ends_with(" GMT"), "folders too: {}", response.href);
    }
    let saved = ok(dav.request("PUT", "0af3.md").header("if-match", &etag).body("edited").send(), 204);
    ok(dav.request("PUT", "0af3.md").header("if-match", &etag).body("lost").send(), 412);
    let now = saved.header("etag").trim_matches('"').to_owned();
    ok(dav.get_with("0af3.md", "if-none-match", &now), 304);
    ok(dav.delete("0af3.md"), 204);
    ok(dav.delete("0af3.md"), 404);
}

#[test]
fn davfs2_locks_a_new_file_asks_for_its_head_and_saves_under_the_lock() {
    let dav = Dav::new();
    ok(dav.request("PROPFIND", "").header("depth", "1").send(), 207);
    let token = ok(dav.lock("log.txt").header("depth", "0").send(), 201).lock_token();
    for content in ["first", "first, second"] {
        let head = ok(dav.request("HEAD", "log.txt").send(), 200);
        let condition = format!("<{}> (<{token}> [{}])", dav.url("log.txt"), head.header("etag"));
        ok(dav.request("PUT", "log.txt").header("if", condition).body(content).send(), 204);
        let head = ok(dav.request("HEAD", "log.txt").send(), 200);
        assert_eq!(head.header("content-length"), content.len().to_string());
        assert!(!head.header("last-modified").is_empty());
    }
    ok(
        dav.request("LOCK", "log.txt").header("if", with(&token)).header("timeout", "Second-1800").send(),
        200,
    );
    ok(dav.unlock("log.txt", &token), 204);
}

#[test]
fn w045_gvfs_renames_a_new_folder_and_saves_through_a_hidden_file() {
    let dav = Dav::new();
    ok(dav.mkcol("Untitled%20Folder"), 201);
    ok(dav.transfer("MOVE", "Untitled%20Folder", "Notes").header("overwrite", "F").send(), 201);
    ok(dav.put("Notes/a.txt", "old"), 201);
    ok(dav.put("Notes/.goutputstream-1A2B3C", "new"), 201);
    ok(
        dav.transfer("MOVE", "Notes/.goutputstream-1A2B3C", "Notes/a.txt").header("overwrite", "T").send(),
        204,
    );
    assert_eq!(dav.names("Notes"), ["a.txt"]);
    assert_eq!(dav.get("Notes/a.txt").body, b"new");
}

#[test]
fn w147_infuse_and_vlc_seek_by_open_ended_ranges() {
    let dav = Dav::new();
    let film = noise(147, 3 << 20);
    ok(dav.put("film.mkv", film.clone()), 201);
    let head = ok(dav.request("HEAD", "film.mkv").send(), 200);
    assert_eq!((head.header("accept-ranges"), head.header("content-length")), ("bytes", "3145728"));
    for at in [0, 3_000_000, 1 << 20, 3 * (1 << 20) - 1] {
        let part = ok(dav.get_with("film.mkv", "range", &format!("bytes={at}-")), 206);
        assert_eq!(part.header("content-range"), format!("bytes {at}-3145727/3145728"));
        assert!(part.body == film[at..], "{at}");
    }
    let resumed =
        dav.request("GET", "film.mkv").header("range", "bytes=100-").header("if-range", head.header("etag"));
    assert_eq!(ok(resumed.send(), 206).body.len(), film.len() - 100);
    ok(dav.get_with("film.mkv", "range", "bytes=3145728-"), 416);
}
