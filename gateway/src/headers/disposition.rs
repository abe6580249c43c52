//! `Content-Disposition`: RFC 6266.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// RFC 8187's attr-char: what may stand unescaped in `filename*`.
const NOT_ATTR_CHAR: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'!')
    .remove(b'#')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b'-')
    .remove(b'.')
    .remove(b'^')
    .remove(b'_')
    .remove(b'`')
    .remove(b'|')
    .remove(b'~');

/// The header for a file: shown where the browser can, saved where `download` is asked for. An ASCII form of the name stands
/// beside the full one for old clients.
pub(crate) fn content_disposition(name: &str, download: bool) -> String {
    let kind = if download { "attachment" } else { "inline" };
    let plain: String = name
        .chars()
        .map(|c| if (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '\\' | '%') { c } else { '_' })
        .collect();
    if plain == name {
        return format!("{kind}; filename=\"{name}\"");
    }
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(name, NOT_ATTR_CHAR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_and_never_end_the_header() {
        for (name, header) in [
            ("a b.txt", "inline; filename=\"a b.txt\""),
            ("a\"b.txt", "inline; filename=\"a_b.txt\"; filename*=UTF-8''a%22b.txt"),
            ("naïve €.txt", "inline; filename=\"na_ve _.txt\"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt"),
            ("100%41", "inline; filename=\"100_41\"; filename*=UTF-8''100%2541"),
        ] {
            assert_eq!(content_disposition(name, false), header);
        }
        assert_eq!(content_disposition("a", true), "attachment; filename=\"a\"");
        assert!(!content_disposition("a\r\nb", false).contains('\n'));
    }
}
