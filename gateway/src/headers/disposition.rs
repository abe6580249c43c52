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

/// The header for a file: shown where the browser can, saved where `download` is asked for, or where it could run scripts.
/// An ASCII form of the name stands beside the full one for old clients.
pub(crate) fn content_disposition(name: &str, media_type: &str, download: bool) -> String {
    let kind = if download || is_active(media_type) { "attachment" } else { "inline" };
    let plain: String = name
        .chars()
        .map(|c| if (c.is_ascii_graphic() || c == ' ') && !matches!(c, '"' | '\\' | '%') { c } else { '_' })
        .collect();
    if plain == name {
        return format!("{kind}; filename=\"{name}\"");
    }
    format!("{kind}; filename=\"{plain}\"; filename*=UTF-8''{}", utf8_percent_encode(name, NOT_ATTR_CHAR))
}

/// Whether browsers take such content for a page. It is sandboxed too; a browser that forgets one must forget both.
fn is_active(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence.ends_with("/html") || essence.ends_with("/xml") || essence.ends_with("+xml")
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
            assert_eq!(content_disposition(name, "text/plain", false), header);
        }
        assert_eq!(content_disposition("a", "text/plain", true), "attachment; filename=\"a\"");
        assert!(!content_disposition("a\r\nb", "text/plain", false).contains('\n'));
    }

    #[test]
    fn what_could_run_scripts_is_saved_and_not_shown() {
        for active in
            ["text/html", "Text/HTML; charset=utf-8", "image/svg+xml", "application/xhtml+xml", "text/xml"]
        {
            assert!(content_disposition("a", active, false).starts_with("attachment"), "{active}");
        }
        for passive in ["image/png", "text/plain", "application/pdf", "application/octet-stream", ""] {
            assert!(content_disposition("a", passive, false).starts_with("inline"), "{passive}");
        }
    }
}
