//! PROPPATCH, and what PROPFIND shows of it.

use ledge_tests::{Dav, Wire};

const WIN32: &str = "urn:schemas-microsoft-com:";

#[test]
fn a_dead_property_keeps_its_namespaces_and_its_language() {
    let drive = Dav::new();
    assert_eq!(drive.put("f", "x").status, 201);
    let etag = drive.get("f").header("etag").to_owned();
    let body = "<D:propertyupdate xmlns:D='DAV:' xmlns:P='urn:p' xmlns:Q='urn:q' xml:lang='de'><D:set><D:prop>\
                <P:x>a<Q:y Q:z='1'/>&amp;</P:x><plain>b</plain></D:prop></D:set></D:propertyupdate>";
    let reply = drive.request("PROPPATCH", "f").xml(body).send();
    assert_eq!(reply.cost(), (2, 0));
    let done = reply.multistatus();
    assert_eq!(done.only().status_of("urn:p", "x"), Some(200));
    assert_eq!(done.only().status_of("", "plain"), Some(200));

    let found = drive.properties("f", "0", "<x xmlns='urn:p'/><plain xmlns=''/><none xmlns='urn:p'/>");
    let property = found.only().custom("urn:p", "x");
    assert_eq!((property.text.as_str(), property.lang.as_deref()), ("a&", Some("de")));
    assert!(property.children.iter().any(|child| child.is("urn:q", "y")));
    assert_eq!(found.only().custom("", "plain").text, "b");
    assert_eq!(found.only().status_of("urn:p", "none"), Some(404));
    let all = drive.request("PROPFIND", "f").header("depth", "0").send().multistatus();
    assert_eq!(all.only().custom("urn:p", "x").text, "a&");
    assert_eq!(drive.get("f").header("etag"), etag, "a property is not content");

    let removed =
        drive.proppatch("f", "<remove><prop><x xmlns='urn:p'/><y xmlns='urn:never'/></prop></remove>");
    assert_eq!(removed.multistatus().only().status_of("urn:never", "y"), Some(200));
    let found = drive.properties("f", "0", "<x xmlns='urn:p'/><plain xmlns=''/>");
    assert_eq!(found.only().status_of("urn:p", "x"), Some(404));
    assert_eq!(found.only().status_of("", "plain"), Some(200));
}

#[test]
fn the_instructions_are_followed_in_their_order_all_or_none() {
    let drive = Dav::new();
    assert_eq!(drive.mkcol("a").status, 201);
    let set = |value: &str| format!("<set><prop><x xmlns='urn:x'>{value}</x></prop></set>");
    let remove = "<remove><prop><x xmlns='urn:x'/></prop></remove>";
    assert_eq!(drive.proppatch("a", &format!("{}{remove}{}", set("1"), set("2"))).status, 207);
    let value = || drive.properties("a", "0", "<x xmlns='urn:x'/>").only().custom("urn:x", "x").text.clone();
    assert_eq!(value(), "2");

    let refused = drive.proppatch("a", &format!("{}<set><prop><getetag>e</getetag></prop></set>", set("3")));
    let refused = refused.multistatus();
    assert_eq!(refused.only().status_of("DAV:", "getetag"), Some(403));
    assert_eq!(refused.only().status_of("urn:x", "x"), Some(424));
    assert!(refused.only().element.find("propstat/error/cannot-modify-protected-property").is_some());
    assert_eq!(value(), "2");
    let malformed = drive
        .proppatch("a", &format!("{}<set><prop><getlastmodified>x</getlastmodified></prop></set>", set("4")));
    assert_eq!(malformed.multistatus().only().status_of("DAV:", "getlastmodified"), Some(409));
    assert_eq!(value(), "2");
    assert_eq!(drive.proppatch("none", &set("1")).status, 404);
    for body in ["", "<a/>", "<propertyupdate xmlns='DAV:'/>", "<propertyupdate xmlns='DAV:'><set>"] {
        assert_eq!(drive.request("PROPPATCH", "a").xml(body).send().status, 400, "{body}");
    }
}

#[test]
fn too_much_is_refused_whole() {
    let drive = Dav::new();
    assert_eq!(drive.put("f", "x").status, 201);
    let many: String = (0..101).map(|n| format!("<p{n} xmlns='urn:x'/>")).collect();
    let large = format!("<large xmlns='urn:x'>{}</large>", "x".repeat(40_000));
    for properties in [many, large] {
        assert_eq!(drive.proppatch("f", &format!("<set><prop>{properties}</prop></set>")).status, 507);
    }
    let names = drive.request("PROPFIND", "f").xml("<propfind xmlns='DAV:'><propname/></propfind>");
    let names = names.header("depth", "0").send().multistatus();
    assert_eq!(names.only().status_of("DAV:", "getetag"), Some(200));
    assert!(names.only().properties.iter().all(|(_, property)| property.namespace != "urn:x"));
}

#[test]
fn times_that_clients_set_are_the_modification_time() {
    let drive = Dav::new();
    assert_eq!((drive.put("f", "x").status, drive.mkcol("a").status), (201, 201));
    for path in ["f", "a"] {
        for (instruction, shown) in [
            (
                "<getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</getlastmodified>",
                "Sun, 06 Nov 1994 08:49:37 GMT",
            ),
            ("<lastmodified>1500000000</lastmodified>", "Fri, 14 Jul 2017 02:40:00 GMT"),
            (
                "<Win32LastModifiedTime xmlns='urn:schemas-microsoft-com:'>Tue, 01 Dec 2020 10:00:00 GMT</Win32LastModifiedTime>",
                "Tue, 01 Dec 2020 10:00:00 GMT",
            ),
        ] {
            let reply = drive.proppatch(path, &format!("<set><prop>{instruction}</prop></set>"));
            assert!(reply.multistatus().only().properties.iter().all(|(status, _)| *status == 200));
            let found = drive.properties(
                path,
                "0",
                "<getlastmodified/><Win32LastModifiedTime xmlns='urn:schemas-microsoft-com:'/>",
            );
            assert_eq!(found.only().text("getlastmodified"), shown);
            assert_eq!(found.only().custom(WIN32, "Win32LastModifiedTime").text, shown);
        }
    }
    assert_eq!(drive.get("f").header("last-modified"), "Tue, 01 Dec 2020 10:00:00 GMT");
    let others = "<Z:Win32CreationTime>Tue, 01 Dec 2020 10:00:00 GMT</Z:Win32CreationTime>\
                  <Z:Win32FileAttributes>00000020</Z:Win32FileAttributes>";
    let others = format!("<set xmlns:Z='{WIN32}'><prop>{others}</prop></set>");
    assert_eq!(drive.proppatch("f", &others).status, 207);
    let found = drive.properties("f", "0", "<Win32FileAttributes xmlns='urn:schemas-microsoft-com:'/>");
    assert_eq!(found.only().custom(WIN32, "Win32FileAttributes").text, "00000020");
}

#[test]
fn properties_go_where_their_node_goes() {
    let drive = Dav::new();
    assert_eq!((drive.mkcol("a").status, drive.put("a/f", "x").status), (201, 201));
    for path in ["a", "a/f"] {
        assert_eq!(drive.proppatch(path, "<set><prop><x xmlns='urn:x'>1</x></prop></set>").status, 207);
    }
    assert_eq!(drive.transfer("COPY", "a", "b").send().status, 201);
    assert_eq!(drive.transfer("MOVE", "a", "c").send().status, 201);
    assert_eq!(drive.transfer("COPY", "c", "d").header("depth", "0").send().status, 201);
    let value = |path: &str| {
        drive.properties(path, "0", "<x xmlns='urn:x'/>").only().custom("urn:x", "x").text.clone()
    };
    for path in ["b", "b/f", "c", "c/f", "d"] {
        assert_eq!(value(path), "1", "{path}");
    }
    assert_eq!(drive.proppatch("b/f", "<set><prop><x xmlns='urn:x'>2</x></prop></set>").status, 207);
    assert_eq!((value("b/f"), value("c/f")), ("2".to_owned(), "1".to_owned()));
    assert_eq!(drive.put("b/f", "other content").status, 204);
    assert_eq!(value("b/f"), "2");
}

#[test]
fn a_page_ends_where_its_properties_become_many() {
    let drive = Dav::new();
    let value = "x".repeat(30_000);
    for name in 0..80 {
        assert_eq!(drive.put(&format!("{name:02}"), "x").status, 201);
        let set = format!("<set><prop><x xmlns='urn:x'>{name}{value}</x></prop></set>");
        assert_eq!(drive.proppatch(&format!("{name:02}"), &set).status, 207);
    }
    let reply = drive.request("PROPFIND", "").header("depth", "1").send();
    assert_eq!(reply.header("content-length"), "", "it is more than a page");
    let listed = reply.multistatus();
    assert_eq!(listed.hrefs().len(), 81);
    for name in 0..80 {
        let found = listed.of(&format!("/{name:02}")).custom("urn:x", "x");
        assert!(found.text.starts_with(&name.to_string()) && found.text.len() > 30_000);
    }
}

#[test]
fn the_root_has_properties_too() {
    let root = || Wire::new("PROPFIND", "/dav/").signed().header("depth", "0");
    let asked = "<propfind xmlns='DAV:'><prop><quota-used-bytes/><quota-available-bytes/><resourcetype/></prop></propfind>";
    let found = root().xml(asked).send().multistatus();
    assert!(found.only().is_collection());
    assert!(found.only().text("quota-used-bytes").parse::<u64>().is_ok());
    // There is no limit.
    assert_eq!(found.only().status_of("DAV:", "quota-available-bytes"), Some(404));
    let usual = root().send().multistatus();
    assert_eq!(usual.only().status_of("DAV:", "quota-used-bytes"), None);
    let body = format!(
        "<propertyupdate xmlns='DAV:'><set><prop><Win32FileAttributes xmlns='{WIN32}'>0</Win32FileAttributes></prop></set></propertyupdate>"
    );
    assert_eq!(Wire::new("PROPPATCH", "/dav/").signed().xml(body).send().status, 207);
}
