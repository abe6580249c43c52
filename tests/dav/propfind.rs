//! PROPFIND.

use std::collections::BTreeSet;

use ledge_tests::{Dav, Reply, Wire};

fn ask(dav: &Dav, path: &str, depth: &str, body: &str) -> Reply {
    dav.request("PROPFIND", path).header("depth", depth).xml(body).send()
}

#[test]
fn w050_propfind_of_a_missing_path_is_a_plain_404() {
    let dav = Dav::new();
    for path in ["does-not-exist", "does-not-exist/", "does/not/exist"] {
        for depth in ["0", "1"] {
            let reply = dav.request("PROPFIND", path).header("depth", depth).send();
            assert_eq!(reply.status, 404, "{path}");
            assert!(!reply.text().contains("multistatus"), "{}", reply.text());
        }
    }
}

#[test]
fn w051_w052_w053_depth_infinity_is_refused_with_its_precondition_and_depth_1_works() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    for depth in ["infinity", "Infinity"] {
        let reply = dav.request("PROPFIND", "").header("depth", depth).send();
        reply.expect_precondition(403, "propfind-finite-depth");
    }
    assert_eq!(dav.names(""), ["d/"]);
}

#[test]
fn w055_an_unknown_depth_is_400() {
    let dav = Dav::new();
    for depth in ["2", "-1", "", "one", "1,noroot"] {
        assert_eq!(dav.request("PROPFIND", "").header("depth", depth).send().status, 400, "{depth:?}");
    }
}

#[test]
fn w056_without_a_depth_it_is_1() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let reply = dav.request("PROPFIND", "").send();
    assert_eq!(reply.multistatus().responses.len(), 2);
}

#[test]
fn w057_what_clients_need_is_always_there_and_comes_first() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("f", "x").status, 201);
    // As rclone asks.
    let body = "<?xml version=\"1.0\" encoding=\"utf-8\" ?>
        <d:propfind xmlns:d=\"DAV:\" xmlns:oc=\"http://owncloud.org/ns\" xmlns:nc=\"http://nextcloud.org/ns\">
        <d:prop><d:displayname /><d:getlastmodified /><d:getcontentlength /><d:resourcetype /><d:getcontenttype />
        <oc:checksums /><oc:permissions /></d:prop></d:propfind>";
    for response in ask(&dav, "", "1", body).multistatus().responses {
        for name in ["displayname", "getlastmodified", "resourcetype"] {
            assert_eq!(response.status_of("DAV:", name), Some(200), "{name} of {}", response.href);
        }
        let first = response.element.text_of("propstat/status");
        assert_eq!(first, "HTTP/1.1 200 OK", "{}", response.href);
        assert!(response.href.starts_with("/dav/"), "{}", response.href);
    }
}

#[test]
fn w058_an_unknown_property_has_a_404_propstat_of_its_own() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "12345").status, 201);
    let listed = dav.properties("f", "0", "<getcontentlength/><x xmlns=\"urn:nope\"/><y xmlns=\"\"/>");
    let found = listed.only();
    assert_eq!(found.text("getcontentlength"), "5");
    assert_eq!(found.status_of("urn:nope", "x"), Some(404));
    assert_eq!(found.status_of("", "y"), Some(404), "a name without a namespace is a name too");
}

#[test]
fn w060_prefixes_do_not_matter_and_namespaces_do() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "12345").status, 201);
    for body in [
        "<propfind xmlns='DAV:'><prop><getcontentlength/></prop></propfind>",
        "<x:propfind xmlns:x='DAV:'><x:prop><x:getcontentlength/></x:prop></x:propfind>",
        "<D:propfind xmlns:D='DAV:' xmlns='urn:other'><D:prop><getcontentlength xmlns='DAV:'/></D:prop></D:propfind>",
        "\u{feff}<?xml version='1.0'?><!-- c --><a:propfind xmlns:a='DAV:'><a:prop><b:getcontentlength xmlns:b='DAV:'/></a:prop></a:propfind>",
    ] {
        assert_eq!(ask(&dav, "f", "0", body).multistatus().only().text("getcontentlength"), "5", "{body}");
    }
    let other = "<propfind xmlns='DAV:'><prop><x:getcontentlength xmlns:x='urn:other'/></prop></propfind>";
    let reply = ask(&dav, "f", "0", other).multistatus();
    assert_eq!(reply.only().status_of("urn:other", "getcontentlength"), Some(404));
    let not_ours = "<propfind xmlns='urn:other'><prop><getcontentlength/></prop></propfind>";
    assert_eq!(ask(&dav, "f", "0", not_ours).status, 400);
}

#[test]
fn w061_propname_allprop_include_and_prop_are_told_apart() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "12345").status, 201);
    let set = "<set><prop><mine xmlns=\"urn:x\">dead</mine></prop></set>";
    assert_eq!(dav.proppatch("f", set).status, 207);

    let names = ask(&dav, "f", "0", "<propfind xmlns='DAV:'><propname/></propfind>").multistatus();
    let names = names.only();
    assert_eq!(names.custom("urn:x", "mine").text, "", "names only");
    assert_eq!(names.text("getcontentlength"), "");

    let all = ask(&dav, "f", "0", "<propfind xmlns='DAV:'><allprop/></propfind>").multistatus();
    let nothing = ask(&dav, "f", "0", "").multistatus();
    for all in [all.only(), nothing.only()] {
        assert_eq!(all.custom("urn:x", "mine").text, "dead");
        assert_eq!(all.text("getcontentlength"), "5");
        assert_eq!(all.status_of("DAV:", "quota-used-bytes"), None);
    }
    let found: BTreeSet<_> = all.only().properties.iter().map(|(_, it)| it.name.clone()).collect();
    let named: BTreeSet<_> = names.properties.iter().map(|(_, it)| it.name.clone()).collect();
    assert!(found.is_subset(&named), "{found:?} {named:?}");

    let include = "<propfind xmlns='DAV:'><allprop/><include><quota-used-bytes/></include></propfind>";
    let included = ask(&dav, "", "0", include).multistatus();
    assert_eq!(included.only().status_of("DAV:", "quota-used-bytes"), Some(200));
    assert!(included.only().status_of("DAV:", "resourcetype").is_some());

    let one = dav.properties("f", "0", "<mine xmlns=\"urn:x\"/>");
    assert_eq!(one.only().properties.len(), 1);
}

#[test]
fn w065_folders_have_a_last_modified() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    let before = dav.properties("d", "0", "<getlastmodified/>").only().text("getlastmodified").to_owned();
    assert!(before.ends_with(" GMT"), "{before}");
}

#[test]
fn w067_creationdate_is_rfc_3339_and_getlastmodified_an_http_date() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    let listed = dav.properties("f", "0", "<creationdate/><getlastmodified/>");
    let created = listed.only().text("creationdate");
    assert!(created.parse::<jiff::Timestamp>().is_ok() && created.ends_with('Z'), "{created}");
    let modified = listed.only().text("getlastmodified");
    assert_eq!(modified, dav.get("f").header("last-modified"));
    assert!(modified.len() == 29 && modified.ends_with(" GMT"), "{modified}");
}

#[test]
fn w068_the_etag_is_the_same_quoted_text_everywhere() {
    let dav = Dav::new();
    let put = dav.put("f", "x");
    let etag = put.header("etag");
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 2, "{etag}");
    assert_eq!(dav.propfind("f", "0").only().text("getetag"), etag);
    assert_eq!(dav.get("f").header("etag"), etag);
    assert_eq!(dav.request("HEAD", "f").send().header("etag"), etag);
    assert_eq!(dav.rest.get("f").header("etag"), etag);
}

#[test]
fn w072_malformed_xml_is_400() {
    let dav = Dav::new();
    for body in [
        "<propfind xmlns=\"DAV:\"><prop>",
        "<D:propfind xmlns:D=\"DAV:\"><D:prop xmlns:x=\"\"/></D:propfind>",
        "<D:propfind><D:prop/></D:propfind>",
        "<propfind xmlns=\"DAV:\"><prop></propfind></prop>",
        "<propfind xmlns=\"DAV:\"><prop a=\"1\" a=\"2\"/></propfind>",
        "<propfind xmlns=\"DAV:\"/><propfind xmlns=\"DAV:\"/>",
        "<propfind xmlns=\"DAV:\"><prop>&nope;</prop></propfind>",
        "nonsense",
        "{}",
        "<a xmlns=\"DAV:\"/>",
    ] {
        assert_eq!(ask(&dav, "", "0", body).status, 400, "{body}");
    }
}

#[test]
fn w073_w075_a_listing_costs_one_round_trip_and_no_bucket_operation() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    dav.rest.copies("d/f", "d", 0..680);
    let listed = dav.request("PROPFIND", "d").header("depth", "1").send();
    assert_eq!(listed.multistatus().responses.len(), 682);
    assert_eq!(listed.cost(), (1, 0));
    for path in ["", "d", "d/f"] {
        assert_eq!(dav.request("PROPFIND", path).header("depth", "0").send().cost(), (1, 0), "{path}");
    }
}

#[test]
fn w076_the_mount_answers_with_and_without_its_slash_and_what_is_above_it_is_404() {
    for root in ["/dav/", "/dav"] {
        let reply = Wire::new("PROPFIND", root).signed().header("depth", "0").send();
        assert_eq!(reply.multistatus().only().href, "/dav/", "{root}");
        let reply = Wire::new("OPTIONS", root).signed().send();
        assert_eq!(reply.status, 200);
        assert!(reply.header("dav").contains('1'), "{root}");
    }
    let above = Wire::new("PROPFIND", "/").signed().header("depth", "0").send();
    assert!([207, 404].contains(&above.status), "{}", above.status);
}

#[test]
fn g02_elements_that_are_not_known_are_ignored() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "12345").status, 201);
    for body in [
        "<propfind xmlns='DAV:'><x:new xmlns:x='urn:x'><x:more/></x:new><allprop/></propfind>",
        "<propfind xmlns='DAV:'><future/><prop><getcontentlength/></prop></propfind>",
        "<propfind xmlns='DAV:' x:a='1' xmlns:x='urn:x'><allprop/><x:after xmlns:x='urn:x'/></propfind>",
    ] {
        assert_eq!(ask(&dav, "f", "0", body).multistatus().only().text("getcontentlength"), "5", "{body}");
    }
}
