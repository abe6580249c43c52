//! MKCOL.

use ledge_tests::Dav;

#[test]
fn w143_a_body_that_is_not_understood_is_415_and_an_empty_one_is_none() {
    let dav = Dav::new();
    for body in ["{}", "text", "<mkcol xmlns='DAV:'/>"] {
        let reply = dav.request("MKCOL", "a").header("content-type", "application/json").body(body).send();
        assert_eq!(reply.status, 415, "{body}");
    }
    for (name, body) in [("b", ""), ("c", "  \r\n\t ")] {
        let reply = dav.request("MKCOL", name).header("content-type", "text/xml").body(body).send();
        assert_eq!(reply.status, 201, "{body:?}");
    }
    let told =
        dav.request("MKCOL", "d").header("content-type", "text/plain").header("content-length", "0").send();
    assert_eq!(told.status, 201);
    assert_eq!(dav.names(""), ["b/", "c/", "d/"]);
}

#[test]
fn w145_the_last_slash_may_be_missing() {
    let dav = Dav::new();
    for name in ["a", "b/"] {
        assert_eq!(dav.mkcol(name).status, 201, "{name}");
    }
    let listed = dav.propfind("", "1");
    assert!(listed.hrefs().contains(&dav.target("a/").as_str()), "{:?}", listed.hrefs());
}

#[test]
fn w146_a_folder_needs_its_parent() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("a/b/c/").status, 409);
    assert_eq!(dav.put("f", "x").status, 201);
    assert_eq!(dav.mkcol("f/b").status, 409);
    assert_eq!(dav.names(""), ["f"]);
}

#[test]
fn what_is_there_is_405() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("a").status, 201);
    assert_eq!(dav.put("f", "x").status, 201);
    for path in ["a", "a/", "f", ""] {
        assert_eq!(dav.mkcol(path).status, 405, "{path:?}");
    }
}
