//! The OpenAPI document, against the server that serves it.

use std::collections::BTreeSet;

use ledge_tests::{Drive, Reply};
use serde_json::Value;

const METHODS: [&str; 7] = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"];

fn document() -> Value {
    let reply = Reply::to(Drive::anonymous("GET", &Drive::absolute("/api/v1/openapi.json")));
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    reply.json()
}

#[test]
fn the_document_is_openapi_3_1_and_served_to_everybody() {
    let document = document();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")));
    assert_eq!(document["components"]["securitySchemes"]["token"]["scheme"], "bearer");
}

#[test]
fn every_method_that_the_document_names_is_answered_and_no_other_is_allowed() {
    let document = document();
    for (path, item) in document["paths"].as_object().unwrap() {
        let documented: BTreeSet<String> =
            item.as_object().unwrap().keys().map(|it| it.to_uppercase()).collect();
        let space = "018f0000-0000-7000-8000-000000000000";
        let url =
            Drive::absolute(&path.replace("{space}", space).replace("{path}", "a/b").replace("{id}", space));
        for method in METHODS {
            let reply = Reply::to(Drive::anonymous(method, &url));
            let open = ["/api/v1/openapi.json", "/api/v1/chunking"].contains(&path.as_str());
            let expected = match documented.contains(method) {
                true if method == "OPTIONS" => 204,
                true if open => 200,
                true => 401,
                false => 405,
            };
            assert_eq!(reply.status, expected, "{method} {path}");
            if expected == 405 {
                let allowed: BTreeSet<String> =
                    reply.header("allow").split(", ").map(str::to_owned).collect();
                assert_eq!(allowed, documented, "{path}");
            }
        }
    }
}
