//! Who may ask, and how they say so.

use std::thread;

use ledge_tests::{Dav, Drive, Reply, Wire};
use serde_json::{Value, json};

/// Well-formed, with a right checksum, known to nobody.
const UNKNOWN: &str = "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy";

fn own_token() -> String {
    std::env::var("LEDGE_TEST_TOKEN").unwrap()
}

/// Makes a token with these limits.
fn token(limits: &Value) -> String {
    let mut body = json!({ "name": "test" });
    body.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    let reply = Reply::to(Drive::signed("POST", &Drive::absolute("/api/v1/tokens")).body(body.to_string()));
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply.json()["token"].as_str().unwrap().to_owned()
}

#[test]
fn w165_w175_who_is_not_signed_in_is_asked_to_by_one_challenge_before_anything_else() {
    let dav = Dav::new();
    for method in ["HEAD", "GET", "PROPFIND", "PUT", "MKCOL", "DELETE", "MOVE", "LOCK"] {
        for target in ["/dav/".to_owned(), dav.target("missing"), dav.target("%zz")] {
            let reply = Wire::new(method, &target).header("depth", "0").send();
            assert_eq!(reply.status, 401, "{method} {target}");
            let challenges: Vec<_> = reply.headers.get_all("www-authenticate").iter().collect();
            assert_eq!(challenges.len(), 1, "{challenges:?}");
            assert!(reply.header("www-authenticate").starts_with("Basic realm=\""), "{challenges:?}");
            assert_eq!(reply.header("server-timing"), "", "the database wasn't asked");
        }
    }
    assert_eq!(dav.get("missing").status, 404, "nothing was saved");
}

#[test]
fn w173_the_password_begins_after_the_first_colon() {
    let dav = Dav::new();
    let ask = |user: &str, password: &str| {
        Wire::new("PROPFIND", dav.target("")).basic(user, password).header("depth", "0").send().status
    };
    // Of these names, some are `+` and `/` in base64.
    for user in ["", "me", "me@example.org", "Zoë", "a b", "~~~???>>>", "\u{1f600}"] {
        assert_eq!(ask(user, &own_token()), 207, "{user}");
    }
    assert_eq!(ask("user:pa", &own_token()), 401, "not after the last one");
    assert_eq!(ask(&own_token(), ""), 401);
    let bearer = format!("Bearer {}", own_token());
    let reply =
        Wire::new("PROPFIND", dav.target("")).header("authorization", bearer).header("depth", "0").send();
    assert_eq!(reply.status, 207);
}

#[test]
fn w176_signing_in_is_a_part_of_the_one_round_trip() {
    let dav = Dav::new();
    for _ in 0..20 {
        assert_eq!(dav.request("PROPFIND", "").header("depth", "0").send().cost(), (1, 0));
    }
}

#[test]
fn w177_a_refusal_says_why() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let reading = token(&json!({ "rights": "read" }));
    let rest = token(&json!({ "protocols": ["rest"] }));
    let ask = |method: &str, token: &str| {
        Wire::new(method, dav.target("f")).basic("a", token).header("depth", "0").body("y").send()
    };
    assert_eq!(ask("GET", &reading).body, b"x");
    let (no_writing, no_webdav) = (ask("PUT", &reading), ask("GET", &rest));
    assert_eq!((no_writing.status, no_webdav.status), (403, 403));
    assert_ne!(no_writing.text(), no_webdav.text(), "each has its own reason");
    assert_eq!(dav.get("f").body, b"x");
}

#[test]
fn a_token_of_a_folder_sees_that_folder_as_its_root() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("in").status, 201);
    assert_eq!(dav.put("in/f", "mine").status, 201);
    assert_eq!(dav.put("out", "not mine").status, 201);
    let folder = dav.rest.make_folder("in").json()["id"].clone();
    let token = token(&json!({ "space_id": Drive::space(), "folder_id": folder }));
    let ask = |method: &str, target: &str| Wire::new(method, target).basic("a", &token);
    assert_eq!(ask("GET", "/dav/f").send().body, b"mine");
    let listed = ask("PROPFIND", "/dav/").header("depth", "1").send().multistatus();
    assert_eq!(listed.hrefs(), ["/dav/", "/dav/f"]);
    assert_eq!(ask("GET", &dav.target("out")).send().status, 404);
    assert_eq!(ask("DELETE", "/dav/").send().status, 403);
    assert_eq!(ask("MOVE", "/dav/f").header("destination", "/dav/g").send().status, 201);
    assert_eq!(dav.get("in/g").body, b"mine");
}

// There is nothing to throttle: a wrong password has a wrong checksum, or is looked up by its hash like a right one.
#[test]
fn g25_wrong_passwords_cost_no_hashing_and_hold_up_nobody() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    thread::scope(|scope| {
        for n in 0..4 {
            let dav = &dav;
            scope.spawn(move || {
                for m in 0..25 {
                    let password = if m % 2 == 0 { UNKNOWN.to_owned() } else { format!("secret{n}{m}") };
                    let reply = Wire::new("GET", dav.target("f")).basic("admin", &password).send();
                    assert_eq!(reply.status, 401);
                }
            });
        }
        // Spin makes another instance where none is free, which looks up once where the token leads.
        let most = if Drive::host() == "spin" { 2 } else { 1 };
        for _ in 0..25 {
            let reply = dav.get("f");
            assert_eq!((reply.status, reply.cost().1), (200, 0));
            assert!((1..=most).contains(&reply.cost().0), "{:?}", reply.cost());
        }
    });
}
