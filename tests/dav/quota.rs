//! RFC 4331.

use ledge_tests::{Dav, Wire};

#[test]
fn w070_folders_tell_what_is_used_and_omit_what_is_not_limited() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", vec![b'x'; 5000]).status, 201);
    let body = "<propfind xmlns='DAV:'><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>";
    for target in ["/dav/".to_owned(), dav.target("")] {
        let reply = Wire::new("PROPFIND", &target).signed().header("depth", "0").xml(body).send();
        let listed = reply.multistatus();
        let used: u64 = listed.only().text("quota-used-bytes").parse().unwrap();
        assert!(used >= 5000, "{used}");
        // The space under test has no quota: a number would be made up.
        assert_eq!(listed.only().status_of("DAV:", "quota-available-bytes"), Some(404));
    }
    let file = dav.properties("f", "0", "<quota-used-bytes/>");
    assert_eq!(file.only().status_of("DAV:", "quota-used-bytes"), Some(404), "a file has none");
    let all = dav.request("PROPFIND", "").header("depth", "0").send().multistatus();
    assert_eq!(all.only().status_of("DAV:", "quota-used-bytes"), None, "not in allprop");
}
