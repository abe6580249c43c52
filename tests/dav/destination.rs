//! The Destination field of COPY and MOVE, in all the ways that clients write it.

use ledge_tests::{Dav, Drive};

fn host() -> String {
    Drive::absolute("").trim_start_matches("http://").to_owned()
}

#[test]
fn w023_w033_another_scheme_of_the_same_host_is_no_other_server() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    // A proxy that ends TLS passes on what the client sees.
    for (n, destination) in [
        format!("https://{}{}", host(), dav.target("b0")),
        format!("http://{}{}", host(), dav.target("b1")),
        format!("HTTPS://{}{}", host().to_uppercase(), dav.target("b2")),
    ]
    .into_iter()
    .enumerate()
    {
        let reply = dav.request("COPY", "a").header("destination", &destination).send();
        assert_eq!(reply.status, 201, "{destination}");
        assert_eq!(dav.get(&format!("b{n}")).body, b"x");
    }
}

#[test]
fn w025_a_path_alone_will_do_and_a_relative_one_will_not() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    let to_path = dav.request("COPY", "a").header("destination", dav.target("b")).send();
    assert_eq!(to_path.status, 201);
    for destination in ["b", "./b", "", "mailto:b"] {
        let reply = dav.request("COPY", "a").header("destination", destination).send();
        assert_eq!(reply.status, 400, "{destination:?}");
    }
    assert_eq!(dav.request("COPY", "a").send().status, 400, "without a destination");
}

#[test]
fn w026_raw_utf_8_in_a_destination_is_understood() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    let moved = dav.request("MOVE", "a").header("destination", dav.target("ü b.txt")).send();
    assert_eq!(moved.status, 201);
    assert_eq!(dav.get("%C3%BC%20b.txt").body, b"x");
    assert_eq!(dav.names(""), ["ü b.txt"]);
}

#[test]
fn w027_the_mount_is_taken_off_exactly_once_and_what_is_not_below_it_is_another_server() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    assert_eq!(dav.mkcol("dav").status, 201);
    assert_eq!(dav.transfer("COPY", "a", "dav/dav").send().status, 201);
    assert_eq!(dav.names("dav"), ["dav"]);
    for elsewhere in ["/davenport/b", "/api/v1/jobs", "/"] {
        let reply = dav.request("MOVE", "a").header("destination", Drive::absolute(elsewhere)).send();
        assert!([403, 409, 502].contains(&reply.status), "{elsewhere}: {}", reply.status);
    }
    assert_eq!(dav.get("a").body, b"x");
}

#[test]
fn w028_another_host_is_another_server() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    for method in ["COPY", "MOVE"] {
        for host in ["http://other.example", "https://other.example:8443"] {
            let to = format!("{host}{}", dav.target("b"));
            assert_eq!(
                dav.request(method, "a").header("destination", to).send().status,
                502,
                "{method} {host}"
            );
        }
    }
    assert_eq!(dav.names(""), ["a"]);
}

#[test]
fn w190_every_name_that_a_request_came_by_is_ours() {
    let dav = Dav::new();
    assert_eq!(dav.put("a", "x").status, 201);
    let to = |n: u32| format!("https://alias.example{}", dav.target(&format!("b{n}")));
    // A proxy passes on what the client called the server.
    let forwarded =
        dav.request("COPY", "a").header("destination", to(1)).header("x-forwarded-host", "alias.example");
    assert_eq!(forwarded.send().status, 201);
    let named = dav.request("COPY", "a").header("destination", to(2)).header("host", "alias.example");
    assert_eq!(named.send().status, 201);
}
