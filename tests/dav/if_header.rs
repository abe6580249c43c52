//! The `If` header.

use ledge_tests::Dav;

fn put_if(dav: &Dav, condition: &str) -> u16 {
    dav.request("PUT", "f").header("if", condition).body("x").send().status
}

#[test]
fn w107_no_lock_is_never_true_and_not_no_lock_always() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    assert_eq!(put_if(&dav, "(<DAV:no-lock>)"), 412);
    assert_eq!(put_if(&dav, "(Not <DAV:no-lock>)"), 204);
    assert_eq!(put_if(&dav, "(<DAV:no-lock>) (Not <DAV:no-lock>)"), 204, "one list is enough");
}

#[test]
fn w108_w110_entity_tags_in_if_are_held_to() {
    let dav = Dav::new();
    let etag = dav.put("f", "x").header("etag").to_owned();
    assert_eq!(put_if(&dav, "([\"stale-etag\"])"), 412);
    assert_eq!(put_if(&dav, &format!("([{etag}])")), 204);
    assert_eq!(put_if(&dav, &format!("(Not [{etag}])")), 412, "the same content has the same tag");
    assert_eq!(put_if(&dav, &format!("([\"stale\"]) ([{etag}])")), 204);
    let token = dav.locked("f");
    assert_eq!(put_if(&dav, &format!("(<{token}> [\"zzz\"])")), 412);
    assert_eq!(put_if(&dav, &format!("(<{token}> [{etag}])")), 204);
}

#[test]
fn reading_is_conditional_too() {
    let dav = Dav::new();
    let etag = dav.put("f", "x").header("etag").to_owned();
    for (condition, holds) in [(format!("([{etag}])"), true), ("([\"stale\"])".to_owned(), false)] {
        for (method, status) in [("GET", 200), ("HEAD", 200), ("PROPFIND", 207)] {
            let reply = dav.request(method, "f").header("depth", "0").header("if", &condition).send();
            assert_eq!(reply.status, if holds { status } else { 412 }, "{method} {condition}");
        }
    }
}

#[test]
fn tagged_lists_speak_of_the_resource_that_they_name() {
    let dav = Dav::new();
    let etag = dav.put("f", "x").header("etag").to_owned();
    let other = dav.put("g", "other").header("etag").to_owned();
    for url in [dav.url("g"), dav.target("g"), dav.url("%67")] {
        assert_eq!(put_if(&dav, &format!("<{url}> ([{other}])")), 204, "{url}");
        assert_eq!(put_if(&dav, &format!("<{url}> ([{etag}])")), 412, "{url}");
    }
    assert_eq!(put_if(&dav, &format!("<{}> ([{etag}]) <{}> ([{etag}])", dav.url("none"), dav.url("f"))), 204);
    assert_eq!(
        put_if(&dav, &format!("<{}> (Not [{etag}])", dav.url("none"))),
        204,
        "what isn't there has no tag"
    );
}

#[test]
fn a_token_counts_wherever_it_stands_but_its_condition_must_hold() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let token = dav.locked("f");
    assert_eq!(put_if(&dav, "(<DAV:no-lock>)"), 412);
    assert_eq!(put_if(&dav, "(Not <DAV:no-lock>)"), 423, "true, but no token");
    assert_eq!(put_if(&dav, &format!("(<{token}>)")), 204);
    assert_eq!(put_if(&dav, &format!("(Not <urn:x:other> <{token}>)")), 204);
    assert_eq!(dav.unlock("f", &token).status, 204);
    assert_eq!(put_if(&dav, &format!("(<{token}>)")), 412, "the lock is gone");
}

#[test]
fn what_cannot_be_read_is_400() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let long = format!("({})", "<urn:x:y>".repeat(5000));
    for condition in ["nonsense", "(", "()", "(<urn:x>", "(Not)", "([\"x\"]", "<http://a/b>", "(x)", &long] {
        let status = put_if(&dav, condition);
        assert!(
            status == 400 || (condition.len() > 8000 && (400..500).contains(&status)),
            "{status}: {condition:.20}"
        );
    }
}
