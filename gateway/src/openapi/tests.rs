//! The document, the handlers, the route table and the manual agree.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use std::collections::BTreeSet;

use serde_json::Value;

use super::{DOCUMENT, generate};
use crate::problem::CODES;
use crate::routes;

const REFRESH: &str =
    "gateway/openapi.json is not what the handlers say: run `cargo xtask openapi`, and look at the diff";

#[test]
fn the_kept_document_is_what_the_handlers_say() {
    let generated = generate();
    let kept = String::from_utf8_lossy(DOCUMENT);
    let differing = generated.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert!(generated.as_bytes() == DOCUMENT, "{REFRESH}; first difference: {differing:?}");
}

#[test]
fn the_document_has_every_method_of_every_route_and_no_other() {
    let document: Value = serde_json::from_str(&generate()).unwrap();
    let documented: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            methods.map(|method| (path.clone(), method.to_uppercase()))
        })
        .collect();
    // WebDAV has a specification of its own.
    let routed: BTreeSet<(String, String)> = routes::all()
        .filter(|(_, path)| path.starts_with("/api/v1/"))
        .map(|(method, path)| (path.to_owned(), method.to_owned()))
        .collect();
    let missing: Vec<_> = routed.difference(&documented).collect();
    assert!(
        missing.is_empty(),
        "annotate these with #[utoipa::path], and list them in their mod.rs: {missing:?}"
    );
    let unknown: Vec<_> = documented.difference(&routed).collect();
    assert!(unknown.is_empty(), "gateway/src/routes.rs has no such routes: {unknown:?}");
}

#[test]
fn operations_are_told_apart_by_their_ids() {
    let document: Value = serde_json::from_str(&generate()).unwrap();
    let items = document["paths"].as_object().unwrap().values();
    let ids: Vec<&Value> =
        items.flat_map(|item| item.as_object().unwrap().values()).map(|it| &it["operationId"]).collect();
    let unique: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
}

#[test]
fn every_reference_leads_somewhere() {
    fn references(value: &Value, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                into.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| references(value, into));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, into)),
            _ => {}
        }
    }
    let document: Value = serde_json::from_str(&generate()).unwrap();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.contains("#/components/schemas/Problem"), "{found:?}");
    found.retain(|reference| document.pointer(reference.trim_start_matches('#')).is_none());
    assert!(found.is_empty(), "list these in components(schemas(…)) in openapi/mod.rs: {found:?}");
}

#[test]
fn every_code_of_a_problem_is_explained_in_the_manual() {
    let manual = include_str!("../../../docs/API.md");
    let explained: BTreeSet<&str> = manual
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| ")?.split(" | ");
            cells.next()?.parse::<u16>().ok().filter(|status| *status >= 400)?;
            cells.next()?.strip_prefix('`')?.strip_suffix('`')
        })
        .collect();
    assert_eq!(
        explained,
        CODES.iter().copied().collect(),
        "docs/API.md, \"Errors\", and CODES in problem.rs"
    );
}
