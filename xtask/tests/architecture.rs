//! Dependencies point one way, and core and gateway name no host: read from `cargo metadata` and from the sources.

// Test helpers may panic; clippy.toml's leave for that covers only the test functions themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

mod words;

/// Which crates of the workspace a crate may depend on, at run time. A crate that is missing here is a test's or
/// a tool's, may depend on any of these, and none of these may depend on it.
const MAY_DEPEND_ON: [(&str, &[&str]); 6] = [
    ("ledge-core", &[]),
    ("ledge-pictures", &[]),
    ("ledge-hosts", &["ledge-core"]),
    ("ledge-gateway", &["ledge-core"]),
    ("ledge-functions", &["ledge-core", "ledge-pictures"]),
    ("ledge", &["ledge-core", "ledge-gateway", "ledge-functions", "ledge-hosts"]),
];

/// Entry points: these crates may depend on their host, but only where they are compiled for it.
const ENTRY_POINTS: [&str; 2] = ["ledge-gateway", "ledge-functions"];

/// Crates that need a clock, a thread, a file, a socket or a certain host. Core must work without them.
const NOT_IN_CORE: [&str; 16] = [
    "async-std",
    "getrandom",
    "hyper",
    "js-sys",
    "mio",
    "reqwest",
    "rusqlite",
    "socket2",
    "spin-sdk",
    "tempfile",
    "time",
    "tokio",
    "wasi",
    "wasm-bindgen",
    "web-sys",
    "worker",
];

/// Words that name a host or belong to one.
const HOST_WORDS: [&str; 22] = [
    "cloudflare",
    "cloudflare_workers",
    "d1",
    "d1_database",
    "fermyon",
    "js_sys",
    "ledge_hosts",
    "libsql",
    "miniflare",
    "r2",
    "r2_bucket",
    "rusqlite",
    "spin_sdk",
    "tokio",
    "wasi",
    "wasip2",
    "wasm_bindgen",
    "web_sys",
    "worker_sys",
    "workerd",
    "wrangler",
    "hyper",
];

#[test]
fn workspace_crates_depend_in_one_direction_only() {
    let metadata = metadata();
    let names: BTreeSet<_> = packages(&metadata).map(|package| text(package, "name")).collect();
    let mut wrong = Vec::new();
    for package in packages(&metadata) {
        let name = text(package, "name");
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(known, _)| *known == name) else { continue };
        for dependency in list(package, "dependencies").filter(|it| names.contains(&text(it, "name"))) {
            let on = text(dependency, "name");
            let for_tests = text(dependency, "kind") == "dev" && name != "ledge-core";
            let entry_point = ENTRY_POINTS.contains(&name.as_str())
                && on == "ledge-hosts"
                && text(dependency, "target").contains("target_arch = \"wasm32\"");
            if !for_tests && !entry_point && !allowed.contains(&on.as_str()) {
                wrong.push(format!("{name} depends on {on}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (name, _) in MAY_DEPEND_ON {
        assert!(names.contains(name), "the workspace has no crate {name}");
    }
}

#[test]
fn core_needs_no_clock_thread_file_or_socket() {
    // Not from the metadata, which mixes the features that other crates ask of the same dependencies.
    let tree = cargo(&[
        "tree",
        "--package=ledge-core",
        "--edges=normal,no-proc-macro",
        "--target=wasm32-unknown-unknown",
        "--prefix=none",
        "--format={p}",
    ]);
    let names: BTreeSet<_> = tree.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains("serde_json"), "cargo tree says only {tree}");
    let found: Vec<_> = names.into_iter().filter(|name| NOT_IN_CORE.contains(name)).collect();
    assert!(found.is_empty(), "core brings in {found:?}");
}

#[test]
fn core_gateway_and_functions_name_no_host() {
    let mut wrong = Vec::new();
    for folder in ["core/src", "gateway/src", "functions/src"] {
        let files = rust_files(&root().join(folder));
        assert!(!files.is_empty(), "{folder} has no sources");
        // The entry point is the one place that names its host.
        for file in files.iter().filter(|file| !is_entry_point(file) || folder == "core/src") {
            let source = fs::read_to_string(file).unwrap();
            // Unit tests, at the end of a file, may quote what a host says.
            let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let code = words::without_comments(source);
            for (line, word) in words::of(&code).filter(|(_, word)| names_a_host(word)) {
                wrong.push(format!("{}:{line}: {word}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_entry_point(file: &Path) -> bool {
    file.ends_with("workers.rs") || file.ends_with("src/spin.rs")
}

/// `R2Bucket`, `web_sys` and `"workerd"`; not `r2` as a second range, nor a worker that claims a job.
fn names_a_host(word: &str) -> bool {
    let camel =
        |prefix: &str| word.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with(char::is_lowercase));
    let lower = word.to_lowercase();
    let second_range = word == "r2" || word == "d1";
    (HOST_WORDS.contains(&lower.as_str()) && !second_range) || camel("D1") || camel("R2")
}

#[test]
fn words_are_found_in_code_and_not_in_comments() {
    let source = "/// D1 and workerd\nlet a = \"// R2\"; // web_sys\n/* /* tokio */ wasi */ use web_sys::X; 'x'; b'\"'; r#\"spin_sdk \" \"#;";
    let code = words::without_comments(source);
    let found: Vec<_> = words::of(&code).filter(|(_, word)| names_a_host(word)).collect();
    assert_eq!(found, [(2, "R2"), (3, "web_sys"), (3, "spin_sdk")]);
}

fn metadata() -> Value {
    serde_json::from_str(&cargo(&["metadata", "--format-version=1", "--no-deps"])).unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).current_dir(root()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    list(metadata, "packages")
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default().iter()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}
