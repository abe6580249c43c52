//! From a URL to an address. Names are percent-decoded one by one, exactly once: `%2F` never becomes a separator.

use ledge_core::error::{Error, Result};
use ledge_core::ids::SpaceId;
use ledge_core::path::Path;
use ledge_core::token::Token;
use ledge_core::tree::Address;
use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::credentials;
use crate::dav::ENCODED;
use crate::routes::Matched;

/// Whose request, and what it is about. Who it is comes first: a stranger learns nothing about paths.
pub(crate) fn address(matched: &Matched<'_>) -> Result<Address> {
    let (token, space) = space(matched)?;
    let names = if matched.path.is_empty() { Vec::new() } else { names(matched.path)? };
    Ok(Address { token, space, base: None, path: Path::parse(names)? })
}

/// Whose request, and about which space.
pub(crate) fn space(matched: &Matched<'_>) -> Result<(Token, SpaceId)> {
    let token = credentials::token(&matched.parts.headers)?;
    Ok((token, SpaceId::parse(matched.space).ok_or(Error::NotFound)?))
}

/// The same for a folder, whose URL may end with a slash.
pub(crate) fn folder_address(matched: Matched<'_>) -> Result<Address> {
    let path = matched.path.strip_suffix('/').unwrap_or(matched.path);
    address(&Matched { path, ..matched })
}

fn names(path: &str) -> Result<Vec<String>> {
    path.split('/').map(decode).collect()
}

/// A path as it stands in a URL, without a slash before it.
pub(crate) fn encoded(path: &Path) -> String {
    let names = path.names().iter().map(|name| utf8_percent_encode(name.as_str(), ENCODED).to_string());
    names.collect::<Vec<_>>().join("/")
}

/// Decodes one name; a `%` that begins no escape is an error and not a character.
pub(crate) fn decode(segment: &str) -> Result<String> {
    let mut rest = segment;
    while let Some((_, escape)) = rest.split_once('%') {
        if !escape.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            return Err(Error::invalid("path", "a % is not followed by two hexadecimal digits"));
        }
        rest = escape.get(2..).unwrap_or_default();
    }
    let name = percent_decode_str(segment).decode_utf8();
    name.map(Into::into).map_err(|_| Error::invalid("path", "a name is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_exactly_once() {
        for (segment, name) in [
            ("a", "a"),
            ("a%20b", "a b"),
            ("100%2525.txt", "100%25.txt"),
            ("50%25%20done.md", "50% done.md"),
            ("%5bdir%5D", "[dir]"),
            ("d%2Fb", "d/b"),
            ("a+b", "a+b"),
            ("%E4%BD%A0", "你"),
            ("ü", "ü"),
        ] {
            assert_eq!(decode(segment).as_deref(), Ok(name), "{segment}");
        }
        for segment in ["%", "%z", "%zz", "a%2", "%FF", "%é0", "%%25"] {
            assert!(decode(segment).is_err(), "{segment}");
        }
    }
}
