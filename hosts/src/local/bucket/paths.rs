//! Keys to paths and back.
//!
//! `ledge/seg/ab/7` lies in `ledge/seg/ab/7%o`. The mark `%o` tells objects from folders, since a bucket may hold
//! both `a` and `a/b`, and a file system may not. Bytes that some file systems refuse in names are written
//! as `%XX`; a segment too long for a name goes on in folders marked `%+`. Neither mark can be mistaken for such a byte.
//! Keys that differ only in case need a file system that tells them apart; Ledge's own keys are lower-case.

use std::path::{Path, PathBuf};

use data_encoding::HEXUPPER;

/// The longest key, as the port says.
const MAX_KEY_BYTES: usize = 1024;

/// File systems allow 255 bytes in a name: some room for the mark.
const MAX_NAME_BYTES: usize = 240;

const OBJECT_MARK: &str = "%o";
const GOES_ON_MARK: &str = "%+";

/// Where the object with this key lies, or None where the port's contract has no such key.
pub(super) fn object(root: &Path, key: &str) -> Option<PathBuf> {
    if key.len() > MAX_KEY_BYTES {
        return None;
    }
    let (folders, last) = key.rsplit_once('/').map_or((None, key), |(folders, last)| (Some(folders), last));
    let mut path = match folders {
        Some(folders) => folder(root, folders)?,
        None => root.to_owned(),
    };
    let name = push_all_but_the_end(&mut path, last)?;
    path.push(name + OBJECT_MARK);
    Some(path)
}

/// Where the objects lie whose keys begin with `folders` and a slash, or None where there can be none.
pub(super) fn folder(root: &Path, folders: &str) -> Option<PathBuf> {
    folders.split('/').try_fold(root.to_owned(), |mut path, segment| {
        let name = push_all_but_the_end(&mut path, segment)?;
        path.push(name);
        Some(path)
    })
}

/// What a name in a folder stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Name<'a> {
    /// An object; this is the end of its key's last segment.
    Object(&'a str),
    /// A folder; this is the end of its segment.
    Folder(&'a str),
    /// A folder in which the segment goes on.
    GoesOn(&'a str),
}

impl<'a> Name<'a> {
    pub(super) fn parse(name: &'a str) -> Self {
        if let Some(name) = name.strip_suffix(OBJECT_MARK) {
            Self::Object(name)
        } else if let Some(name) = name.strip_suffix(GOES_ON_MARK) {
            Self::GoesOn(name)
        } else {
            Self::Folder(name)
        }
    }
}

/// The segment that a name, or several put together, spells; None for what no key led to.
pub(super) fn decode(name: &str) -> Option<String> {
    let mut pieces = name.split('%');
    let mut segment = pieces.next()?.to_owned();
    for piece in pieces {
        let (digits, plain) = piece.split_at_checked(2)?;
        let [byte] = HEXUPPER.decode(digits.as_bytes()).ok()?[..] else { return None };
        segment.push(char::from(byte));
        segment.push_str(plain);
    }
    (encode(&segment)? == name).then_some(segment)
}

fn push_all_but_the_end(path: &mut PathBuf, segment: &str) -> Option<String> {
    let mut name = encode(segment)?;
    while name.len() > MAX_NAME_BYTES {
        let rest = name.split_off(MAX_NAME_BYTES);
        path.push(name + GOES_ON_MARK);
        name = rest;
    }
    Some(name)
}

fn encode(segment: &str) -> Option<String> {
    if matches!(segment, "" | "." | "..") || !segment.is_ascii() {
        return None;
    }
    let mut name = String::with_capacity(segment.len());
    for character in segment.chars() {
        match character {
            '%' | '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' | ' ' => escape(&mut name, character),
            _ if character.is_ascii_control() => escape(&mut name, character),
            _ => name.push(character),
        }
    }
    Some(name)
}

fn escape(name: &mut String, character: char) {
    name.push('%');
    name.push_str(&HEXUPPER.encode(&[u8::try_from(character).unwrap_or_default()]));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(key: &str) -> Option<String> {
        object(Path::new(""), key).map(|path| path.to_str().unwrap().to_owned())
    }

    #[test]
    fn keys_become_paths_that_file_systems_take() {
        for (key, expected) in [
            ("ledge/seg/ab/7", "ledge/seg/ab/7%o"),
            ("a", "a%o"),
            ("a/b", "a/b%o"),
            (".hidden/...", ".hidden/...%o"),
            ("a b%o", "a%20b%25o%o"),
            ("\0/C:\\x", "%00/C%3A%5Cx%o"),
        ] {
            assert_eq!(path(key).as_deref(), Some(expected), "{key}");
        }
        assert!(path(&"k".repeat(1024)).unwrap().split('/').all(|name| name.len() <= 255));
        assert!(path(&"\n".repeat(1024)).unwrap().len() < 4096 - 512);
    }

    #[test]
    fn keys_outside_the_contract_have_no_path() {
        for key in [
            "",
            "/",
            "/a",
            "a/",
            "a//b",
            ".",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            "a/..",
            "é",
            &"k".repeat(1025),
        ] {
            assert_eq!(path(key), None, "{key}");
        }
    }

    #[test]
    fn names_decode_to_what_was_encoded_and_to_nothing_else() {
        for segment in ["a", "a b", "%", "%o", "%2F", "\x7f\x01", "a%+"] {
            assert_eq!(decode(&encode(segment).unwrap()).as_deref(), Some(segment));
        }
        for stranger in ["", ".", "..", "%", "%2", "%2f", "%41", "%zz", "a b", "%é", "é"] {
            assert_eq!(decode(stranger), None, "{stranger}");
        }
        assert_eq!(Name::parse("7%o"), Name::Object("7"));
        assert_eq!(Name::parse("seg"), Name::Folder("seg"));
        assert_eq!(Name::parse("kkk%+"), Name::GoesOn("kkk"));
    }
}
