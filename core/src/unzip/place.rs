//! Where an entry may go: below the folder that takes the file in, and nowhere else, whatever its name says.

use super::records::Central;
use crate::path::{Name, Path};

/// What an entry becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Its path from the folder; empty for the folder itself.
    pub(super) path: Path,
    pub(super) is_folder: bool,
}

/// The type of a file in its mode on Unix.
const TYPE: u32 = 0o170_000;

/// Where an entry goes; the reason where it goes nowhere.
pub(super) fn of(central: &Central) -> Result<Place, String> {
    match central.unix_mode.map_or(0, |mode| mode & TYPE) {
        0 | 0o100_000 | 0o040_000 => {}
        0o120_000 => return Err("it is a symbolic link".to_owned()),
        _ => return Err("it is a device, or another thing that is no file".to_owned()),
    }
    // Windows' programs write `\` between names; in a name it would lead elsewhere there.
    let name = central.name.replace('\\', "/");
    if name.starts_with('/') {
        return Err("its path is absolute".to_owned());
    }
    let mut start = name.bytes();
    if start.next().is_some_and(|first| first.is_ascii_alphabetic()) && start.next() == Some(b':') {
        return Err("its path begins with a drive".to_owned());
    }
    let mut names = Vec::new();
    for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            return Err("its path leads out of the folder".to_owned());
        }
        names.push(part);
    }
    let path = Path::parse(names).map_err(|error| error.to_string())?;
    Ok(Place { path, is_folder: name.ends_with('/') })
}

/// The name with a number: what is tried where the name is taken. `1` is the name itself.
pub(super) fn numbered(name: &Name, number: usize) -> Option<Name> {
    if number == 1 {
        return Some(name.clone());
    }
    let name = name.as_str();
    let (stem, end) = match name.rfind('.') {
        Some(dot) if dot > 0 => name.split_at(dot),
        _ => (name, ""),
    };
    Name::parse(&format!("{stem} ({number}){end}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn central(name: &str, mode: u32) -> Central {
        Central {
            name: name.to_owned(),
            raw_name: Vec::new(),
            method: 0,
            is_encrypted: false,
            crc32: 0,
            packed_bytes: 0,
            size_bytes: 0,
            modified_secs: None,
            unix_mode: Some(mode),
            offset: 0,
        }
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        for (name, path) in [
            ("a", "a"),
            ("a/b/", "a/b"),
            ("./a//b", "a/b"),
            ("a\\b", "a/b"),
            ("./", ""),
            ("...", "..."),
            ("a b/ü", "a b/ü"),
        ] {
            let place = of(&central(name, 0)).unwrap();
            let names: Vec<&str> = place.path.names().iter().map(Name::as_str).collect();
            assert_eq!(names.join("/"), path, "{name}");
            assert_eq!(place.is_folder, name.ends_with('/'));
        }
        let long = "x".repeat(256);
        let deep = "d/".repeat(200);
        for name in [
            "../a",
            "a/../../b",
            "..",
            "..\\a",
            "/etc/passwd",
            "\\\\server\\x",
            "C:a",
            "c:\\a",
            "a\0b",
            "a\nb",
            &long,
            &deep,
        ] {
            assert!(of(&central(name, 0)).is_err(), "{name}");
        }
        assert!(of(&central("link", 0o120_777)).is_err());
        assert!(of(&central("fifo", 0o010_644)).is_err());
        assert!(of(&central("file", 0o100_644)).is_ok());
    }

    #[test]
    fn a_number_stands_before_the_ending() {
        let numbered = |name: &str, number| {
            numbered(&Name::parse(name).unwrap(), number).map(|it| it.as_str().to_owned())
        };
        assert_eq!(numbered("a.tar.gz", 2).as_deref(), Some("a.tar (2).gz"));
        assert_eq!(numbered(".x", 3).as_deref(), Some(".x (3)"));
        assert_eq!(numbered("a", 1).as_deref(), Some("a"));
        assert_eq!(numbered(&"x".repeat(255), 2), None);
    }
}
