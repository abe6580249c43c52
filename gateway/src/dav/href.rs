//! URLs in answers: paths only, so that no proxy's idea of a host gets in.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::prefix::Prefix;

/// What stays as it is in a segment: RFC 3986's unreserved characters, and those of the others that no client and no XML
/// stumbles over.
pub(crate) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b':')
    .remove(b'=')
    .remove(b'@');

/// The URL of a node: a collection's ends with a slash. Nothing in it needs escaping in XML.
pub(super) fn href<'a>(
    prefix: &Prefix,
    names: impl IntoIterator<Item = &'a str>,
    is_collection: bool,
) -> String {
    let mut href = prefix.as_str().to_owned();
    for name in names {
        href.push('/');
        href.extend(utf8_percent_encode(name, ENCODED));
    }
    if is_collection {
        href.push('/');
    }
    href
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_encoded_one_by_one() {
        assert_eq!(href(&Prefix::plain(), [], true), "/dav/");
        assert_eq!(href(&Prefix::plain(), ["t #:?3.txt"], false), "/dav/t%20%23:%3F3.txt");
        assert_eq!(href(&Prefix::plain(), ["a&b<c", "100%25", "ü"], true), "/dav/a%26b%3Cc/100%2525/%C3%BC/");
    }
}
