//! Names in a ZIP file. Whoever unpacks it may do so on Windows, where some of ours would lead elsewhere or nowhere.

use std::collections::HashSet;

/// Names that Windows gives to devices, whatever comes behind a dot.
const DEVICES: [&str; 22] = [
    "CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8", "COM9",
    "LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
];

/// The name under which an entry is packed: `\` and the colon of a drive's letter become `_`, and a device's name gets
/// one in front.
pub(super) fn mapped(name: &str) -> String {
    let mut mapped = name.replace('\\', "_");
    let mut start = mapped.bytes();
    if start.next().is_some_and(|first| first.is_ascii_alphabetic()) && start.next() == Some(b':') {
        mapped.replace_range(1..2, "_");
    }
    let stem = mapped.split('.').next().unwrap_or_default().trim_end();
    if DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem)) {
        mapped.insert(0, '_');
    }
    mapped
}

/// A name that none of a folder's entries has: with a number, if need be.
pub(super) fn free(name: String, taken: &HashSet<String>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let (stem, end) = match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name.as_str(), ""),
    };
    (2_u64..)
        .map(|number| format!("{stem} ({number}){end}"))
        .find(|name| !taken.contains(name))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_windows_would_misread_is_mapped_and_nothing_else() {
        for (name, packed) in [
            ("a.txt", "a.txt"),
            ("..\\..\\evil", ".._.._evil"),
            ("C:evil", "C_evil"),
            ("c:\\evil", "c__evil"),
            ("12:30", "12:30"),
            ("nul", "_nul"),
            ("Con.txt", "_Con.txt"),
            ("aux .tar.gz", "_aux .tar.gz"),
            ("console", "console"),
            ("lpt10", "lpt10"),
            ("né.CON", "né.CON"),
        ] {
            assert_eq!(mapped(name), packed);
        }
    }

    #[test]
    fn names_that_meet_are_numbered() {
        let taken = HashSet::from(["a_b.txt".to_owned(), "a_b (2).txt".to_owned(), ".x".to_owned()]);
        assert_eq!(free("a_b.txt".to_owned(), &taken), "a_b (3).txt");
        assert_eq!(free(".x".to_owned(), &taken), ".x (2)");
        assert_eq!(free("c".to_owned(), &taken), "c");
    }
}
