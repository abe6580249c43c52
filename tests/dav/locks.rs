//! LOCK and UNLOCK, and what a lock keeps out.

use ledge_tests::{Dav, Drive, Element, Reply, Wire};

const SHARED: &str =
    "<lockinfo xmlns='DAV:'><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>";

/// The first lock of an answer to LOCK.
#[track_caller]
fn active(reply: &Reply) -> Element {
    let prop = reply.xml();
    assert!(prop.is("DAV:", "prop"), "{}", reply.text());
    prop.find("lockdiscovery/activelock").unwrap_or_else(|| panic!("{}", reply.text())).clone()
}

/// Asserts a 423 that names where the lock begins.
#[track_caller]
fn assert_locked(dav: &Dav, reply: &Reply, root: &str) {
    reply.expect_precondition(423, "lock-token-submitted");
    let body = reply.xml();
    let named: Vec<_> =
        body.find("lock-token-submitted").unwrap().all("href").map(|href| href.text.clone()).collect();
    assert_eq!(named, [dav.target(root)]);
}

fn with(token: &str) -> String {
    format!("(<{token}>)")
}

/// The id by which REST knows a lock: its token's digits, in groups.
fn id(token: &str) -> String {
    let digits = token.rsplit(':').next().unwrap().replace('-', "");
    [0..8, 8..12, 12..16, 16..20, 20..32].map(|group| &digits[group]).join("-")
}

/// How many seconds a lock has, as it says.
fn seconds(lock: &Element) -> u64 {
    lock.text_of("timeout").strip_prefix("Second-").unwrap().parse().unwrap()
}

#[test]
fn w087_a_lock_on_a_free_name_makes_an_empty_file() {
    let dav = Dav::new();
    let reply = dav.lock("new.txt").send();
    assert_eq!(reply.status, 201, "{}", reply.text());
    let token = reply.lock_token();
    assert_eq!(dav.names(""), ["new.txt"]);
    assert_eq!(dav.get("new.txt").header("content-length"), "0");
    let saved = dav.request("PUT", "new.txt").header("if", with(&token)).body("x").send();
    assert_eq!(saved.status, 204);
    assert_eq!(dav.unlock("new.txt", &token).status, 204);
    assert_eq!(dav.lock("no/folder/x").send().status, 409);
}

#[test]
fn w090_w102_what_is_there_is_locked_and_the_answer_tells_all_of_it() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let reply = dav.lock("f").send();
    assert_eq!(reply.status, 200, "{}", reply.text());
    let (token, lock) = (reply.lock_token(), active(&reply));
    assert!(lock.find("lockscope/exclusive").is_some() && lock.find("locktype/write").is_some());
    assert_eq!(lock.text_of("locktoken/href"), token);
    assert_eq!(lock.text_of("lockroot/href"), dav.target("f"));
    assert_eq!(lock.text_of("owner"), "somebody");
    assert!((1..=600).contains(&seconds(&lock)));
    assert!(token.contains(':'), "an absolute URI: {token}");
}

#[test]
fn w091_who_has_no_token_is_kept_out_of_a_locked_file() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let token = dav.locked("f");
    assert_locked(&dav, &dav.put("f", "stolen"), "f");
    assert_locked(&dav, &dav.delete("f"), "f");
    assert_locked(&dav, &dav.transfer("MOVE", "f", "g").send(), "f");
    assert_locked(&dav, &dav.proppatch("f", "<set><prop><a xmlns='urn:x'>1</a></prop></set>"), "f");
    assert_eq!(dav.put("other", "x").status, 201);
    assert_locked(&dav, &dav.transfer("COPY", "other", "f").send(), "f");
    dav.rest.put("f", "stolen").expect_problem(423, "locked");
    assert_eq!(dav.get("f").body, b"x", "reading is free");
    let saved = dav.request("PUT", "f").header("if", with(&token)).body("mine").send();
    assert_eq!(saved.status, 204);
    let wrong = with("urn:uuid:00000000-0000-0000-0000-000000000000");
    assert!([412, 423].contains(&dav.request("PUT", "f").header("if", wrong).body("y").send().status));
    assert_eq!(dav.unlock("f", &token).status, 204);
    assert_eq!(dav.put("f", "free").status, 204);
}

#[test]
fn w092_a_folder_with_a_locked_file_in_it_stays_whole() {
    let dav = Dav::new();
    for folder in ["d", "d/e"] {
        assert_eq!(dav.mkcol(folder).status, 201);
    }
    assert_eq!(dav.put("d/e/f", "x").status, 201);
    assert_eq!(dav.put("d/g", "x").status, 201);
    let token = dav.locked("d/e/f");
    let replies = [dav.delete("d/"), dav.transfer("MOVE", "d/", "z/").send(), dav.delete("d/e")];
    for reply in replies {
        if reply.status == 207 {
            assert_eq!(reply.multistatus().of("/d/e/f").status, Some(423));
        } else {
            assert_locked(&dav, &reply, "d/e/f");
        }
    }
    assert_eq!((dav.get("d/e/f").status, dav.get("d/g").status), (200, 200));
    let tagged = format!("<{}> (<{token}>)", dav.url("d/e/f"));
    let deleted = dav.request("DELETE", "d/").header("if", tagged).send();
    assert_eq!(deleted.status, 204, "{}", deleted.text());
}

// Nothing of a lock lives in the process that answered LOCK: any other reads it from the database.
#[test]
fn w093_a_lock_is_seen_by_every_request_and_costs_no_more_than_its_rows() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let token = dav.locked("f");
    assert_eq!(dav.put("f", "y").status, 423);
    let listed = Reply::to(Drive::signed(
        "GET",
        &Drive::absolute(&format!("/api/v1/spaces/{}/locks", Drive::space())),
    ));
    assert!(listed.text().contains(&id(&token)), "{}", listed.text());
    assert_eq!(dav.unlock("f", &token).status, 204);
    assert_eq!(dav.put("f", "y").status, 204);
}

#[test]
fn w095_deleting_what_is_locked_ends_the_lock() {
    let dav = Dav::new();
    let token = dav.locked("f");
    assert_eq!(dav.request("PUT", "f").header("if", with(&token)).body("").send().status, 204);
    assert_eq!(dav.request("DELETE", "f").header("if", with(&token)).send().status, 204);
    assert_eq!(dav.put("f", "x").status, 201);
    let again = dav.locked("f");
    assert_eq!(
        dav.request("MOVE", "f").header("destination", dav.url("g")).header("if", with(&again)).send().status,
        201
    );
    assert_eq!(dav.put("g", "y").status, 204, "a lock doesn't move along");
}

#[test]
fn w096_a_folder_cannot_be_locked_deeply_over_somebodys_lock() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    let token = dav.locked("d/f");
    let reply = dav.lock("d/").header("depth", "infinity").send();
    if reply.status == 207 {
        let parts = reply.multistatus();
        assert_eq!(parts.of("/d/f").status, Some(423));
        assert_eq!(parts.of("/d/").status, Some(424));
    } else {
        reply.expect_precondition(423, "no-conflicting-lock");
        assert!(reply.text().contains(&dav.target("d/f")), "{}", reply.text());
    }
    assert_eq!(dav.put("d/new", "x").status, 201, "nothing was locked");
    assert_eq!(dav.unlock("d/f", &token).status, 204);
    assert_eq!(dav.lock("d/").header("depth", "infinity").send().status, 200);
}

#[test]
fn w097_giving_back_a_lock_that_has_expired_is_no_error() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let short = |dav: &Dav| {
        let body = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>";
        let reply = dav.request("LOCK", "f").header("timeout", "Second-1").xml(body).send();
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.lock_token()
    };
    let token = short(&dav);
    Drive::wait_for("the lock to expire", || (dav.put("f", "y").status == 204).then_some(()));
    assert_eq!(dav.unlock("f", &token).status, 204);
    let others = dav.locked("f");
    assert_eq!(dav.unlock("f", &token).status, 409, "somebody else's lock is another matter");
    assert_eq!(dav.unlock("f", &others).status, 204);
}

#[test]
fn w098_w100_without_a_depth_a_lock_is_of_all_below() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.mkcol("d/e").status, 201);
    let reply = dav.lock("d").send();
    assert_eq!(reply.status, 200);
    let lock = active(&reply);
    assert_eq!(
        (lock.text_of("depth"), lock.text_of("lockroot/href")),
        ("infinity", dav.target("d/").as_str())
    );
    assert_locked(&dav, &dav.put("d/e/f", "x"), "d/");
    assert_eq!(dav.unlock("d", &reply.lock_token()).status, 204);

    let reply = dav.lock("d").header("depth", "0").send();
    assert_eq!(active(&reply).text_of("depth"), "0");
    assert_locked(&dav, &dav.put("d/new", "x"), "d/");
    assert_eq!(dav.put("d/e/f", "x").status, 201, "its members' members are free");
    assert_eq!(dav.lock("d/e").header("depth", "1").send().status, 400);
}

#[test]
fn w101_shared_locks_stand_together_and_exclusive_ones_alone() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let shared = || dav.request("LOCK", "f").xml(SHARED).send();
    let (first, second) = (shared(), shared());
    assert_eq!((first.status, second.status), (200, 200), "{}", second.text());
    assert_ne!(first.lock_token(), second.lock_token());
    let exclusive = dav.lock("f").send();
    exclusive.expect_precondition(423, "no-conflicting-lock");
    assert_eq!(dav.put("f", "y").status, 423);
    let saved = dav.request("PUT", "f").header("if", with(&second.lock_token())).body("y").send();
    assert_eq!(saved.status, 204, "one of the tokens will do");
    assert_eq!(dav.unlock("f", &first.lock_token()).status, 204);
    assert_eq!(dav.put("f", "y").status, 423);
    assert_eq!(dav.unlock("f", &second.lock_token()).status, 204);
    let token = dav.locked("f");
    assert_eq!(shared().status, 423);
    assert_eq!(dav.unlock("f", &token).status, 204);
}

#[test]
fn w103_lockdiscovery_shows_owner_timeout_and_token_and_supportedlock_both_kinds() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    assert!(
        dav.properties("d/f", "0", "<lockdiscovery/>").only().property("lockdiscovery").children.is_empty()
    );
    let body = "<lockinfo xmlns='DAV:'><lockscope><exclusive/></lockscope><locktype><write/></locktype>\
        <owner>A &amp; B <x:mail xmlns:x='urn:x'>a@b.example</x:mail></owner></lockinfo>";
    let reply = dav.request("LOCK", "d/").header("timeout", "Second-300").xml(body).send();
    let token = reply.lock_token();
    for (path, depth) in [("d/", "0"), ("d/f", "0"), ("d/", "1")] {
        for response in dav.properties(path, depth, "<lockdiscovery/><supportedlock/>").responses {
            let lock = response.property("lockdiscovery").find("activelock").cloned();
            let lock = lock.unwrap_or_else(|| panic!("{path}: {:?}", response.element));
            assert_eq!(lock.text_of("locktoken/href"), token, "{path}");
            assert_eq!(lock.text_of("lockroot/href"), dav.target("d/"));
            assert_eq!(lock.text_of("owner"), "A & B a@b.example");
            assert!(lock.find("owner").unwrap().children[0].is("urn:x", "mail"));
            assert!(seconds(&lock) <= 300);
            assert_eq!(response.property("supportedlock").all("lockentry").count(), 2);
        }
    }
}

#[test]
fn w105_timeouts_of_every_form_are_taken_and_capped() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let body = SHARED.replace("shared", "exclusive");
    for timeouts in [
        &["Infinite", "Infinite"][..],
        &["Infinite, Second-4100000000"],
        &["Second-4100000000"],
        &["Second-99999999999999999999"],
        &["Extend, nonsense"],
        &[""],
        &[],
    ] {
        let mut request = dav.request("LOCK", "f").xml(body.clone());
        for timeout in timeouts {
            request = request.header("timeout", timeout);
        }
        let reply = request.send();
        assert_eq!(reply.status, 200, "{timeouts:?}: {}", reply.text());
        let granted = seconds(&active(&reply));
        assert!((60..=86_400).contains(&granted), "{timeouts:?}: {granted}");
        assert_eq!(dav.unlock("f", &reply.lock_token()).status, 204, "{timeouts:?}");
    }
}

#[test]
fn w106_an_owner_of_the_space_breaks_a_lock_that_was_left_behind() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let token = dav.locked("f");
    assert_eq!(dav.request("UNLOCK", "f").send().status, 400, "which lock?");
    let url = Drive::absolute(&format!("/api/v1/spaces/{}/locks/{}", Drive::space(), id(&token)));
    assert_eq!(Reply::to(Drive::signed("DELETE", &url)).status, 204);
    assert_eq!(dav.put("f", "y").status, 204);
    assert_eq!(dav.unlock("f", &token).status, 204);
}

#[test]
fn w080_a_locked_files_properties_are_set_with_its_token() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    let token = dav.locked("a");
    let body = "<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:x'>1</a></prop></set></propertyupdate>";
    assert_eq!(dav.request("PROPPATCH", "a").xml(body).send().status, 423);
    let reply = dav.request("PROPPATCH", "a").header("if", with(&token)).xml(body).send();
    assert_eq!(reply.multistatus().only().status_of("urn:x", "a"), Some(200));
}

#[test]
fn g03_the_token_of_a_deeply_locked_folder_opens_what_is_below() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/old", "x").status, 201);
    let token = dav.locked("d/");
    let tagged = format!("<{}> (<{token}>)", dav.url("d/"));
    for (path, status) in [("d/new", 201), ("d/old", 204)] {
        for how in [with(&token), tagged.clone()] {
            let reply = dav.request("PUT", path).header("if", &how).body("y").send();
            assert!(reply.status == status || reply.status == 204, "{path} {how}: {}", reply.text());
        }
    }
    assert_eq!(dav.request("MKCOL", "d/e").header("if", &tagged).send().status, 201);
    assert_eq!(dav.request("DELETE", "d/e").header("if", &tagged).send().status, 204);
}

#[test]
fn g06_copying_from_what_is_locked_needs_no_token() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    dav.locked("f");
    assert_eq!(dav.transfer("COPY", "f", "g").send().status, 201);
    assert_eq!(dav.put("g", "y").status, 204, "a lock isn't copied");
}

#[test]
fn a_lock_is_refreshed_by_its_token_without_a_body() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let token = dav.locked("f");
    let reply = dav.request("LOCK", "f").header("if", with(&token)).header("timeout", "Second-1200").send();
    assert_eq!(reply.status, 200, "{}", reply.text());
    let lock = active(&reply);
    assert_eq!(lock.text_of("locktoken/href"), token);
    assert!(seconds(&lock) > 600);
    let wrong = with("urn:uuid:00000000-0000-0000-0000-000000000000");
    assert_eq!(dav.request("LOCK", "f").header("if", wrong).send().status, 412);
    for body in ["<lockinfo xmlns='DAV:'/>", "nonsense", "<lockinfo xmlns='urn:other'/>"] {
        assert_eq!(dav.request("LOCK", "f").xml(body).send().status, 400, "{body}");
    }
    assert_eq!(Wire::new("LOCK", dav.target("f")).send().status, 401);
}
