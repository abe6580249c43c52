//! spin.toml against the documents: a variable that isn't declared there can't be set.

// Test helpers may panic; clippy.toml's leave for that covers only the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Variables of the Spin host alone, which docs/DEPLOY.md describes.
const OWN: [&str; 2] = ["ledge_jobs_secret", "ledge_jobs_url"];

/// The names in a table of spin.toml.
fn table(manifest: &str, name: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != format!("[{name}]")).skip(1);
    let names = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once(" = "));
    names.map(|(name, _)| name.to_owned()).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path)).unwrap()
}

#[test]
fn every_setting_can_be_set_on_spin_for_both_components() {
    let manifest = read("spin.toml");
    let declared = table(&manifest, "variables");
    let settings = read("docs/SETTINGS.md");
    let rows = settings.lines().filter_map(|line| line.strip_prefix("| `LEDGE_")?.split_once('`'));
    let documented: BTreeSet<String> =
        rows.map(|(name, _)| format!("ledge_{}", name.to_lowercase())).collect();
    assert!(documented.contains("ledge_grace_secs"), "docs/SETTINGS.md has no table of settings");
    let missing: Vec<_> = documented.difference(&declared).collect();
    assert!(missing.is_empty(), "spin.toml declares no {missing:?}");
    for component in ["gateway", "functions"] {
        let given = table(&manifest, &format!("component.{component}.variables"));
        let missing: Vec<_> = documented.difference(&given).collect();
        assert!(missing.is_empty(), "spin.toml gives {component} no {missing:?}");
        let unknown: Vec<_> = given.difference(&declared).collect();
        assert!(unknown.is_empty(), "spin.toml declares no {unknown:?}, which {component} is given");
    }
    let deploy = read("docs/DEPLOY.md");
    for own in OWN {
        let is_named = deploy.contains(own) || deploy.contains(&own.to_uppercase());
        assert!(declared.contains(own) && is_named, "{own} is not in spin.toml or docs/DEPLOY.md");
    }
}
