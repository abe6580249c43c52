//! PROPPATCH, and the properties that it sets.

use ledge_tests::{Dav, ResponseOf};

fn set(dav: &Dav, path: &str, properties: &str) -> ResponseOf {
    let reply = dav.proppatch(path, &format!("<set><prop>{properties}</prop></set>"));
    reply.multistatus().only().clone()
}

#[test]
fn w066_w083_a_dead_property_is_kept_and_every_prefix_is_declared() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let done = set(&dav, "f", "<s:lastmodified xmlns:s='SAR:'>1</s:lastmodified><a xmlns='urn:x:a'>1</a>");
    assert_eq!(done.status_of("SAR:", "lastmodified"), Some(200));
    let read =
        dav.properties("f", "0", "<s:lastmodified xmlns:s='SAR:'/><a xmlns='urn:x:a'/><b xmlns='urn:x:a'/>");
    assert_eq!(read.only().custom("SAR:", "lastmodified").text, "1");
    assert_eq!(read.only().custom("urn:x:a", "a").text, "1");
    assert_eq!(read.only().status_of("urn:x:a", "b"), Some(404));

    let removed =
        dav.proppatch("f", "<remove><prop><a xmlns='urn:x:a'/><never xmlns='urn:x:a'/></prop></remove>");
    let removed = removed.multistatus();
    assert_eq!(
        removed.only().status_of("urn:x:a", "never"),
        Some(200),
        "removing what isn't there is no error"
    );
    let read = dav.properties("f", "0", "<a xmlns='urn:x:a'/>");
    assert_eq!(read.only().status_of("urn:x:a", "a"), Some(404));
}

#[test]
fn w077_w192_windows_times_are_taken_and_set_the_modification_time() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let etag = dav.get("f").header("etag").to_owned();
    let windows = "<Win32CreationTime xmlns='urn:schemas-microsoft-com:'>Sat, 03 Feb 2001 04:05:06 GMT</Win32CreationTime>\
        <Win32LastAccessTime xmlns='urn:schemas-microsoft-com:'>Sun, 04 Feb 2001 04:05:06 GMT</Win32LastAccessTime>\
        <Win32LastModifiedTime xmlns='urn:schemas-microsoft-com:'>Mon, 05 Feb 2001 04:05:06 GMT</Win32LastModifiedTime>\
        <Win32FileAttributes xmlns='urn:schemas-microsoft-com:'>00000020</Win32FileAttributes>";
    let done = set(&dav, "f", windows);
    assert!(
        done.properties.len() == 4 && done.properties.iter().all(|(status, _)| *status == 200),
        "{done:?}"
    );
    let listed = dav.properties("f", "0", &format!("<getlastmodified/>{}", windows_names()));
    assert_eq!(listed.only().text("getlastmodified"), "Mon, 05 Feb 2001 04:05:06 GMT");
    assert_eq!(dav.get("f").header("last-modified"), "Mon, 05 Feb 2001 04:05:06 GMT");
    for (name, value) in [
        ("Win32CreationTime", "Sat, 03 Feb 2001 04:05:06 GMT"),
        ("Win32LastAccessTime", "Sun, 04 Feb 2001 04:05:06 GMT"),
        ("Win32LastModifiedTime", "Mon, 05 Feb 2001 04:05:06 GMT"),
        ("Win32FileAttributes", "00000020"),
    ] {
        assert_eq!(listed.only().custom("urn:schemas-microsoft-com:", name).text, value);
    }
    assert_eq!(dav.get("f").header("etag"), etag, "a time is no content");
}

fn windows_names() -> String {
    ["CreationTime", "LastAccessTime", "LastModifiedTime", "FileAttributes"]
        .map(|name| format!("<Win32{name} xmlns='urn:schemas-microsoft-com:'/>"))
        .concat()
}

#[test]
fn w078_a_property_that_only_looks_like_ours_is_answered_in_a_207() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let done = set(&dav, "f", "<lastmodified>Mon, 05 Feb 2001 04:05:06 GMT</lastmodified>");
    let status = done.status_of("DAV:", "lastmodified");
    assert!([Some(200), Some(403)].contains(&status), "{status:?}");
}

#[test]
fn w081_all_is_set_or_nothing_and_what_is_protected_says_so() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    for protected in ["getetag", "getcontentlength", "resourcetype", "lockdiscovery", "quota-used-bytes"] {
        let instructions = format!(
            "<set><prop><a xmlns='urn:x'>1</a></prop></set><set><prop><{protected}>y</{protected}></prop></set>\
             <set><prop><b xmlns='urn:x'>2</b></prop></set>"
        );
        let done = dav.proppatch("f", &instructions).multistatus();
        let done = done.only();
        assert_eq!(done.status_of("DAV:", protected), Some(403), "{protected}");
        assert_eq!(done.status_of("urn:x", "a"), Some(424));
        assert_eq!(done.status_of("urn:x", "b"), Some(424));
        let said = &done.element;
        let why =
            said.all("propstat").find_map(|propstat| propstat.find("error/cannot-modify-protected-property"));
        assert!(why.is_some(), "{said:?}");
    }
    let read = dav.properties("f", "0", "<a xmlns='urn:x'/><b xmlns='urn:x'/>");
    assert_eq!(
        (read.only().status_of("urn:x", "a"), read.only().status_of("urn:x", "b")),
        (Some(404), Some(404))
    );
}

#[test]
fn w082_markup_namespaces_and_language_come_back_as_they_were() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let body = "<?xml version='1.0'?><D:propertyupdate xmlns:D='DAV:' xmlns:P='urn:p' xmlns:Q='urn:q' xml:lang='fr'>\
        <D:set><D:prop><P:x a='1' Q:b='&quot;2&quot;'>un <Q:y>deux &amp; &lt;trois&gt;</Q:y><z/> quatre</P:x>\
        <P:en xml:lang='en'>one</P:en><P:empty/></D:prop></D:set></D:propertyupdate>";
    let reply = dav.request("PROPPATCH", "f").xml(body).send();
    assert_eq!(reply.multistatus().only().status_of("urn:p", "x"), Some(200));
    let names = "<x xmlns='urn:p'/><en xmlns='urn:p'/><empty xmlns='urn:p'/>";
    let listed = dav.properties("f", "0", names);
    let x = listed.only().custom("urn:p", "x");
    assert_eq!(x.text, "un deux & <trois> quatre");
    assert_eq!(x.lang.as_deref(), Some("fr"), "inherited where it was sent");
    let children: Vec<_> =
        x.children.iter().map(|child| (child.namespace.as_str(), child.name.as_str())).collect();
    assert_eq!(children, [("urn:q", "y"), ("", "z")]);
    assert_eq!(listed.only().custom("urn:p", "en").lang.as_deref(), Some("en"));
    assert_eq!(listed.only().custom("urn:p", "empty").text, "");
    // The same for the whole folder: one odd property must not spoil the listing.
    let body = format!("<propfind xmlns='DAV:'><prop>{names}</prop></propfind>");
    let listed = dav.request("PROPFIND", "").header("depth", "1").xml(body).send().multistatus();
    assert_eq!(listed.of("/f").custom("urn:p", "x").children.len(), 2);
}

#[test]
fn w086_getlastmodified_can_be_set() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    assert_eq!(dav.mkcol("d").status, 201);
    for path in ["f", "d"] {
        let done = set(&dav, path, "<getlastmodified>Mon, 05 Feb 2001 04:05:06 GMT</getlastmodified>");
        assert_eq!(done.status_of("DAV:", "getlastmodified"), Some(200), "{path}");
        let read = dav.properties(path, "0", "<getlastmodified/>");
        assert_eq!(read.only().text("getlastmodified"), "Mon, 05 Feb 2001 04:05:06 GMT", "{path}");
    }
    let wrong = set(&dav, "f", "<getlastmodified>yesterday</getlastmodified>");
    assert!([Some(403), Some(409)].contains(&wrong.status_of("DAV:", "getlastmodified")));
}

#[test]
fn w193_the_root_has_properties_too() {
    let body = "<propertyupdate xmlns='DAV:'><set><prop><mine xmlns='urn:root'>1</mine></prop></set></propertyupdate>";
    let reply = ledge_tests::Wire::new("PROPPATCH", "/dav/").signed().xml(body).send();
    assert_eq!(reply.multistatus().only().status_of("urn:root", "mine"), Some(200));
    let body = "<propfind xmlns='DAV:'><prop><mine xmlns='urn:root'/></prop></propfind>";
    let reply = ledge_tests::Wire::new("PROPFIND", "/dav/").signed().header("depth", "0").xml(body).send();
    assert_eq!(reply.multistatus().only().custom("urn:root", "mine").text, "1");
}

#[test]
fn properties_move_and_are_copied_with_what_they_belong_to() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    set(&dav, "f", "<mine xmlns='urn:x'>1</mine>");
    assert_eq!(dav.transfer("COPY", "f", "g").send().status, 201);
    assert_eq!(dav.transfer("MOVE", "f", "h").send().status, 201);
    assert_eq!(dav.put("g", "new content").status, 204);
    for path in ["g", "h"] {
        assert_eq!(
            dav.properties(path, "0", "<mine xmlns='urn:x'/>").only().custom("urn:x", "mine").text,
            "1"
        );
    }
    assert_eq!(dav.proppatch("missing", "<set><prop><mine xmlns='urn:x'>1</mine></prop></set>").status, 404);
}
