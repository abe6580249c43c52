//! Bodies that are meant to hurt.

use std::time::{Duration, Instant};

use ledge_tests::Dav;

/// Far longer than a refusal takes, far shorter than what would be an attack.
const AT_ONCE: Duration = Duration::from_secs(10);

const METHODS: [&str; 3] = ["PROPFIND", "PROPPATCH", "LOCK"];

#[test]
fn w182_a_doctype_is_400_whatever_is_in_it() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let bomb: String =
        (1..12).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    for body in [
        format!("<!DOCTYPE p [<!ENTITY e0 \"x\">{bomb}]><propfind xmlns='DAV:'><prop>&e11;</prop></propfind>"),
        "<!DOCTYPE p [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><propfind xmlns='DAV:'><prop>&f;</prop></propfind>".to_owned(),
        "<?xml version='1.0'?>\n<!DOCTYPE propfind><propfind xmlns='DAV:'><allprop/></propfind>".to_owned(),
        "<!doctype propfind><propfind xmlns='DAV:'><allprop/></propfind>".to_owned(),
    ] {
        for method in METHODS {
            let reply = dav.request(method, "f").header("depth", "0").xml(body.clone()).send();
            assert_eq!(reply.status, 400, "{method} {}", reply.text());
            assert!(!reply.text().contains("root:"), "{}", reply.text());
        }
    }
}

#[test]
fn w182_a_body_of_ten_megabytes_is_413() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let comment = format!("<propfind xmlns='DAV:'><!--{}--><allprop/></propfind>", "x".repeat(10 << 20));
    for method in METHODS {
        let begun = Instant::now();
        let reply = dav.request(method, "f").header("depth", "0").xml(comment.clone()).send();
        assert_eq!(reply.status, 413, "{method}");
        let reply = dav.request(method, "f").header("depth", "0").xml(comment.clone()).chunked().send();
        assert_eq!(reply.status, 413, "{method}, its length not told");
        assert!(begun.elapsed() < AT_ONCE, "{method}");
    }
}

#[test]
fn g01_thirty_thousand_levels_are_400_and_hurt_nobody() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    for (open, close) in [("<a>", "</a>"), ("<x:a xmlns:x='urn:x'>", "</x:a>")] {
        let deep = format!("{}{}", open.repeat(30_000), close.repeat(30_000));
        for (method, root, inner) in [
            ("PROPFIND", "propfind", "prop"),
            ("PROPPATCH", "propertyupdate", "set"),
            ("LOCK", "lockinfo", "owner"),
        ] {
            let body = format!("<{root} xmlns='DAV:'><{inner}>{deep}</{inner}></{root}>");
            let begun = Instant::now();
            let status = dav.request(method, "f").header("depth", "0").xml(body).send().status;
            assert!([400, 413].contains(&status), "{method}: {status}");
            assert!(begun.elapsed() < AT_ONCE, "{method}");
            assert_eq!(dav.get("f").body, b"x", "the server lives");
        }
    }
}

#[test]
fn many_properties_are_refused_and_a_hundred_are_not() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let ask = |count: usize| {
        let properties: String = (0..count).map(|n| format!("<p{n}/>")).collect();
        let body = format!("<propfind xmlns='DAV:'><prop>{properties}</prop></propfind>");
        dav.request("PROPFIND", "f").header("depth", "0").xml(body).send().status
    };
    assert_eq!(ask(100), 207);
    let status = ask(50_000);
    assert!([400, 413].contains(&status), "{status}");
}
