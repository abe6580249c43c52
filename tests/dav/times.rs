//! `X-OC-Mtime` and `OC-Checksum`, as sync clients send them.

use ledge_tests::Dav;

#[test]
fn w085_x_oc_mtime_sets_the_time_and_is_acknowledged() {
    let dav = Dav::new();
    for (sent, seen) in [
        ("1500000000", "Fri, 14 Jul 2017 02:40:00 GMT"),
        ("1500000000.75", "Fri, 14 Jul 2017 02:40:00 GMT"),
        ("0", "Thu, 01 Jan 1970 00:00:00 GMT"),
        // From before 1970 on, the earliest time that there is.
        ("-5", "Thu, 01 Jan 1970 00:00:00 GMT"),
        ("-5.5", "Thu, 01 Jan 1970 00:00:00 GMT"),
    ] {
        let saved = dav.request("PUT", "f").header("x-oc-mtime", sent).body(sent).send();
        assert!([201, 204].contains(&saved.status), "{sent}: {}", saved.text());
        assert_eq!(saved.header("x-oc-mtime"), "accepted", "{sent}");
        assert_eq!(dav.get("f").header("last-modified"), seen, "{sent}");
        assert_eq!(dav.propfind("f", "0").only().text("getlastmodified"), seen, "{sent}");
    }
    let wrong = dav.request("PUT", "f").header("x-oc-mtime", "yesterday").body("x").send();
    assert_eq!(wrong.status, 400);
    assert_eq!(dav.get("f").body, b"-5.5", "nothing was saved");
}

#[test]
fn a_checksum_that_was_sent_is_verified_and_shown() {
    let dav = Dav::new();
    let sha1 = "SHA1:a9993e364706816aba3e25717850c26c9cd0d89d";
    let saved = dav.request("PUT", "f").header("oc-checksum", sha1).body("abc").send();
    assert_eq!(saved.status, 201, "{}", saved.text());
    let read = dav.properties("f", "0", "<checksums xmlns='http://owncloud.org/ns'/>");
    assert!(read.only().custom("http://owncloud.org/ns", "checksums").text.contains(sha1), "{read:?}");
    let wrong = dav.request("PUT", "f").header("oc-checksum", sha1).body("other").send();
    assert_eq!(wrong.status, 400);
    assert_eq!(dav.get("f").body, b"abc");
}
