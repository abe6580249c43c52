//! docs/CASES.md: each case is a test, or stands there with the reason why not; never both, never neither.

// Test helpers may panic; clippy.toml's leave for that covers only the test functions themselves.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the cases were collected, where that lies beside the checkout.
const COLLECTED: &str = "../shared/cases/webdav_cases.tsv";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Whether it is an id: `W001`, `G27`.
fn is_id(word: &str) -> bool {
    let number = word.strip_prefix(['W', 'G']).unwrap_or_default();
    (2..=3).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| is_id(word)).map(str::to_owned).collect()
}

/// The ids of a section's table: of the column with this number.
fn column(section: &str, number: usize) -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/CASES.md")).unwrap();
    let (_, rest) = text.split_once(&format!("\n## {section}\n")).unwrap();
    let rows = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').nth(number).unwrap().to_owned());
    ids(&cells.collect::<Vec<_>>().join("\n"))
}

/// The ids that names of tests begin with.
fn tested() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root().join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                // What isn't a test, but a function that tests share, has no such name.
                for name in text.lines().filter_map(|line| line.strip_prefix("fn ")) {
                    let words = name.split(['_', '(']).map(str::to_ascii_uppercase);
                    found.extend(words.take_while(|word| is_id(word)));
                }
            }
        }
    }
    found
}

fn show(ids: impl Iterator<Item = String>) -> String {
    ids.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_case_is_a_test_or_has_a_reason_why_not() {
    let (listed, untested, tested) = (column("The ids", 2), column("Without a test", 1), tested());
    assert!(listed.len() > 150, "{}", listed.len());
    let neither = listed.iter().filter(|id| !tested.contains(*id) && !untested.contains(*id));
    assert_eq!(show(neither.cloned()), "", "no test and no reason");
    assert_eq!(show(tested.intersection(&untested).cloned()), "", "a test, and a reason why there is none");
    assert_eq!(show(untested.difference(&listed).cloned()), "", "a reason for what isn't listed");
    assert_eq!(show(column("Where there was a choice", 1).difference(&listed).cloned()), "", "not listed");
}

#[test]
fn every_case_that_was_collected_is_listed() {
    // Without the collection, docs/CASES.md is the list.
    let Ok(collected) = fs::read_to_string(root().join(COLLECTED)) else { return };
    let collected: BTreeSet<String> =
        collected.lines().skip(1).filter_map(|row| row.split('\t').next()).map(str::to_owned).collect();
    assert_eq!(show(collected.difference(&column("The ids", 2)).cloned()), "", "collected, but not listed");
}
