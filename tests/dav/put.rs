//! PUT.

use std::thread;

use ledge_tests::{Dav, noise};

#[test]
fn w115_w116_a_body_that_breaks_off_changes_nothing() {
    let dav = Dav::new();
    let etag = dav.put("f", "old content").header("etag").to_owned();
    for body in [b"abc".to_vec(), noise(115, 200_000)] {
        let claimed = body.len() * 3;
        let reply = dav.request("PUT", "f").body(body.clone()).claiming(claimed).send_and_break_off();
        assert!(reply.is_none_or(|reply| reply.status >= 400));
        let reply = dav.request("PUT", "new").body(body).claiming(claimed).send_and_break_off();
        assert!(reply.is_none_or(|reply| reply.status >= 400));
    }
    let read = dav.get("f");
    assert_eq!((read.body.as_slice(), read.header("etag")), (&b"old content"[..], etag.as_str()));
    assert_eq!(dav.rest.versions("f").len(), 1);
    assert_eq!(dav.get("new").status, 404);
}

#[test]
fn w117_w140_a_chunked_body_is_stored_and_its_expected_length_is_held_to() {
    let dav = Dav::new();
    for (n, size) in [0, 1, 4096, 4097, 100_000].into_iter().enumerate() {
        let name = format!("f{n}");
        let content = noise(117, size);
        let saved = dav
            .request("PUT", &name)
            .header("x-expected-entity-length", size.to_string())
            .body(content.clone())
            .chunked()
            .send();
        assert_eq!(saved.status, 201, "{size}");
        assert!(dav.get(&name).body == content, "{size}");
    }
    let short = dav.request("PUT", "f1").header("x-expected-entity-length", "11").body("ten bytes.");
    assert_eq!(short.chunked().send().status, 400);
    assert_eq!(dav.get("f1").body.len(), 1, "the old one is kept");
}

#[test]
fn w118_an_empty_file_and_then_the_real_one_are_one_version() {
    let dav = Dav::new();
    let empty = dav.put("f", "");
    assert_eq!((empty.status, empty.header("etag").is_empty()), (201, false));
    assert_eq!(dav.get("f").header("content-length"), "0");
    let token = dav.locked("f");
    let saved = dav.request("PUT", "f").header("if", format!("(<{token}>)")).body("real").send();
    assert_eq!(saved.status, 204);
    assert_eq!(dav.unlock("f", &token).status, 204);
    assert_eq!(dav.get("f").body, b"real");
    assert_eq!(dav.rest.versions("f").len(), 1);
    assert_eq!(dav.put("f", "").status, 204);
    assert_eq!(dav.rest.versions("f").len(), 2, "what was in it stays when it is emptied");
    assert_eq!(dav.put("f", "again").status, 204);
    assert_eq!(dav.rest.versions("f").len(), 2);
}

#[test]
fn w120_what_is_refused_is_refused_before_the_body_is_asked_for() {
    let dav = Dav::new();
    let url = dav.target("f");
    let anonymous = ledge_tests::Wire::new("PUT", &url).header("expect", "100-continue").claiming(1_000_000);
    assert_eq!(anonymous.send().status, 401);
    assert_eq!(dav.put("f", "x").status, 201);
    let held = dav.request("PUT", "f").header("if-none-match", "*").header("expect", "100-continue");
    assert_eq!(held.claiming(1_000_000).send().status, 412);
    assert_eq!(dav.get("f").body, b"x");
}

#[test]
fn w131_w132_a_put_says_whether_it_made_the_file_and_gives_the_tag_for_the_next() {
    let dav = Dav::new();
    let first = dav.put("f", "one");
    assert_eq!(first.status, 201);
    let second = dav.request("PUT", "f").header("if-match", first.header("etag")).body("two").send();
    assert_eq!(second.status, 204, "{}", second.text());
    for reply in [&first, &second] {
        assert!(reply.header("etag").starts_with('"') && !reply.header("last-modified").is_empty());
    }
    assert_ne!(first.header("etag"), second.header("etag"));
    assert_eq!(dav.get("f").header("etag"), second.header("etag"));
}

#[test]
fn w133_no_folder_is_made_up() {
    let dav = Dav::new();
    assert_eq!(dav.put("no/such/dir/x", "x").status, 409);
    assert_eq!(dav.put("f", "x").status, 201);
    assert_eq!(dav.put("f/x", "x").status, 409);
    assert_eq!(dav.names(""), ["f"]);
}

#[test]
fn w137_without_a_content_type_it_is_guessed() {
    let dav = Dav::new();
    assert_eq!(dav.put("a.jpg", "x").status, 201);
    assert_eq!(dav.get("a.jpg").header("content-type"), "image/jpeg");
    assert_eq!(dav.propfind("a.jpg", "0").only().text("getcontenttype"), "image/jpeg");
    assert_eq!(dav.request("PUT", "b").header("content-type", "text/x-mine").body("x").send().status, 201);
    assert_eq!(dav.get("b").header("content-type"), "text/x-mine");
}

#[test]
fn w122_w123_of_fifty_who_saw_the_same_file_one_saves() {
    let dav = Dav::new();
    let etag = dav.put("f", "seen by all").header("etag").to_owned();
    let statuses: Vec<u16> = thread::scope(|scope| {
        let put = |n: u32| {
            let (dav, etag) = (&dav, &etag);
            scope.spawn(move || {
                dav.request("PUT", "f").header("if-match", etag).body(format!("{n}")).send().status
            })
        };
        let writers: Vec<_> = (0..50).map(put).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(204), count(412)), (1, 49), "{statuses:?}");
}

#[test]
fn a_folder_is_not_overwritten_by_a_file() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    for path in ["d", "d/"] {
        assert!([405, 409].contains(&dav.put(path, "x").status), "{path}");
    }
    assert_eq!(dav.names(""), ["d/"]);
}
