//! Locks: what they cost, what a folder's token sees of them, and that every verb heeds `If`.

use ledge_tests::{Dav, Drive, Reply, Wire};
use serde_json::json;

fn with(token: &str) -> String {
    format!("(<{token}>)")
}

#[test]
fn options_names_the_class_of_locks() {
    let reply = Dav::new().request("OPTIONS", "").send();
    assert_eq!(reply.header("dav"), "1, 2, 3, sabredav-partialupdate");
    for verb in ["LOCK", "UNLOCK"] {
        assert!(reply.header("allow").split(", ").any(|allowed| allowed == verb), "{verb}");
    }
}

#[test]
fn locks_and_conditions_cost_no_round_trip_more() {
    let dav = Dav::new();
    assert_eq!((dav.mkcol("d").status, dav.put("d/f", "x").status), (201, 201));
    let locked = dav.lock("d/f").send();
    assert_eq!((locked.status, locked.cost()), (200, (2, 0)));
    let token = locked.lock_token();
    let made = dav.lock("d/new").send();
    assert_eq!((made.status, made.cost()), (201, (2, 0)));
    let refused = dav.lock("d/f").send();
    assert_eq!((refused.status, refused.cost()), (423, (3, 0)), "it looks which one is in the way");
    let saved = dav.request("PUT", "d/f").header("if", with(&token)).body("y").send();
    assert_eq!((saved.status, saved.cost()), (204, (2, 0)));
    let refused = dav.put("d/f", "z");
    assert_eq!((refused.status, refused.cost()), (423, (1, 0)));
    let refreshed = dav.request("LOCK", "d/f").header("if", with(&token)).send();
    assert_eq!((refreshed.status, refreshed.cost()), (200, (2, 0)));
    assert_eq!(refreshed.header("lock-token"), "", "only a new lock has one");
    let body = "<propfind xmlns='DAV:'><prop><lockdiscovery/></prop></propfind>";
    for depth in ["0", "1"] {
        let listed = dav.request("PROPFIND", "d").header("depth", depth).xml(body).send();
        assert_eq!((listed.status, listed.cost()), (207, (1, 0)));
    }
    let unlocked = dav.unlock("d/f", &token);
    assert_eq!((unlocked.status, unlocked.cost()), (204, (2, 0)));
    let list = Reply::to(Drive::in_space("GET", "locks"));
    assert_eq!((list.status, list.cost()), (200, (1, 0)));
}

#[test]
fn a_false_condition_stops_every_verb_that_changes_something() {
    let dav = Dav::new();
    assert_eq!((dav.mkcol("d").status, dav.put("f", "x").status), (201, 201));
    let token = dav.locked("f");
    // The token is submitted, and so it is the condition that fails.
    let wrong = format!("<{}> (<{token}> [\"wrong\"])", dav.url("f"));
    let lockinfo =
        "<lockinfo xmlns='DAV:'><lockscope><shared/></lockscope><locktype><write/></locktype></lockinfo>";
    let update =
        "<propertyupdate xmlns='DAV:'><set><prop><a xmlns='urn:x'>1</a></prop></set></propertyupdate>";
    for (request, done) in [
        (dav.request("PUT", "f").body("y"), 204),
        (dav.request("PUT", "new").body("y"), 201),
        (dav.request("MKCOL", "made"), 201),
        (dav.request("PROPPATCH", "f").xml(update), 207),
        (dav.transfer("COPY", "f", "copy"), 201),
        (dav.request("LOCK", "d").xml(lockinfo), 200),
        (dav.request("LOCK", "empty").xml(lockinfo), 201),
        (dav.request("LOCK", "f"), 200),
        (dav.request("UNLOCK", "f").header("lock-token", format!("<{token}>")), 204),
    ] {
        let before = dav.names("");
        let reply = request.clone().header("if", &wrong).send();
        assert_eq!(reply.status, 412, "{request:?}: {}", reply.text());
        assert_eq!(dav.names(""), before);
        let right = format!("<{}> (<{token}>)", dav.url("f"));
        assert_eq!(request.clone().header("if", &right).send().status, done, "{request:?}");
    }
    let token = dav.locked("f");
    for request in [dav.request("DELETE", "f"), dav.transfer("MOVE", "f", "moved")] {
        assert_eq!(request.clone().header("if", format!("(<{token}> [\"wrong\"])")).send().status, 412);
        assert_eq!(dav.get("f").status, 200);
    }
    assert_eq!(dav.transfer("MOVE", "f", "moved").header("if", with(&token)).send().status, 201);
}

#[test]
fn a_lock_is_given_back_at_any_place_that_it_covers() {
    let dav = Dav::new();
    assert_eq!((dav.mkcol("d").status, dav.put("d/f", "x").status), (201, 201));
    assert_eq!(dav.put("g", "x").status, 201);
    let token = dav.locked("d");
    dav.locked("g");
    dav.unlock("g", &token).expect_precondition(409, "lock-token-matches-request-uri");
    assert_eq!(dav.unlock("none", &token).status, 404);
    for header in ["", "x", "urn:x", "<", "<>", "<urn:x"] {
        let reply = dav.request("UNLOCK", "d").header("lock-token", header).send();
        let expected = if header == "<>" { 409 } else { 400 };
        assert_eq!(reply.status, expected, "{header}");
    }
    assert_eq!(dav.unlock("d/f", &token).status, 204);
    assert_eq!(dav.put("d/f", "y").status, 204);
}

#[test]
fn a_token_for_a_folder_sees_where_locks_begin_as_far_as_it_sees_the_tree() {
    let dav = Dav::new();
    assert_eq!((dav.mkcol("a").status, dav.mkcol("a/b").status), (201, 201));
    assert_eq!(dav.put("a/b/f", "x").status, 201);
    let listed = dav.rest.list("a", "").json();
    let limits =
        json!({"name": "for b", "space_id": Drive::space(), "folder_id": listed["entries"][0]["id"]});
    let created =
        Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(limits.to_string()));
    assert_eq!(created.status, 201);
    let secret = created.json()["token"].as_str().unwrap().to_owned();
    let request = |method: &str, target: &str| Wire::new(method, target).basic("", &secret);
    let roots = |reply: &Reply| -> Vec<String> {
        let error = reply.xml();
        error.find("lock-token-submitted").unwrap().all("href").map(|href| href.text.clone()).collect()
    };

    let token = dav.locked("a/b/f");
    let refused = request("PUT", "/dav/f").body("y").send();
    assert_eq!((refused.status, roots(&refused)), (423, vec!["/dav/f".to_owned()]));
    // The account is the same one: its token counts.
    for condition in [with(&token), format!("</dav/f> (<{token}>)")] {
        assert_eq!(request("PUT", "/dav/f").header("if", condition).body("y").send().status, 204);
    }
    assert_eq!(dav.unlock("a/b/f", &token).status, 204);

    let token = dav.locked("a");
    let refused = request("PUT", "/dav/f").body("y").send();
    assert_eq!(
        (refused.status, roots(&refused)),
        (423, vec!["/dav/".to_owned()]),
        "what is above has no name"
    );
    assert_eq!(request("PUT", "/dav/f").header("if", with(&token)).body("z").send().status, 204);
    assert_eq!(request("DELETE", "/dav/f").header("if", with(&token)).send().status, 204);
}
