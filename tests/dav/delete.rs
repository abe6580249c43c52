//! DELETE.

use ledge_tests::{Dav, Wire};

#[test]
fn w046_the_root_cannot_be_deleted() {
    let dav = Dav::new();
    assert_eq!(dav.put("f", "x").status, 201);
    for root in ["/dav/", "/dav"] {
        assert_eq!(Wire::new("DELETE", root).signed().send().status, 403, "{root}");
    }
    assert_eq!(dav.get("f").body, b"x");
}

#[test]
fn w047_a_folder_goes_as_a_whole_and_never_in_part() {
    let dav = Dav::new();
    assert_eq!(dav.mkcol("d").status, 201);
    assert_eq!(dav.put("d/f", "x").status, 201);
    for depth in ["0", "1"] {
        assert_eq!(dav.request("DELETE", "d/").header("depth", depth).send().status, 400, "{depth}");
    }
    assert_eq!(dav.get("d/f").status, 200);
    assert_eq!(dav.request("DELETE", "d/").header("depth", "infinity").send().status, 204);
    assert_eq!(dav.get("d/f").status, 404);
}

#[test]
fn w048_what_is_not_there_is_404() {
    let dav = Dav::new();
    assert_eq!(dav.delete("missing").status, 404);
    assert_eq!(dav.delete("missing/deeper").status, 404);
    assert_eq!(dav.put("f", "x").status, 201);
    assert_eq!(dav.delete("f").status, 204);
    assert_eq!(dav.delete("f").status, 404);
}
