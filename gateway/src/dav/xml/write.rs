//! Writing.

use std::borrow::Cow;

use super::{Name, XML};

/// The prefixes that every multistatus declares.
const PREFIXES: [(&str, &str); 3] =
    [("D", "DAV:"), ("oc", "http://owncloud.org/ns"), ("Z", "urn:schemas-microsoft-com:")];

/// Text, safe in an element or a quoted attribute. Characters that XML can't hold become U+FFFD.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    let is_special = |c: char| {
        matches!(c, '&' | '<' | '>' | '"' | '\'' | '\u{fffe}' | '\u{ffff}')
            || (c < ' ' && !matches!(c, '\n' | '\t'))
    };
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\r' => escaped.push_str("&#13;"),
            c if is_special(c) => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// An element of a property's name around what is XML already; in a multistatus.
pub(in crate::dav) fn element(name: &Name, inner: &str) -> String {
    let known = PREFIXES.iter().find(|(_, namespace)| *namespace == name.namespace);
    let (tag, declaration) = match known {
        Some((prefix, _)) => (format!("{prefix}:{}", name.local), String::new()),
        // No other prefix may mean it, and this one is always declared.
        None if name.namespace == XML => (format!("xml:{}", name.local), String::new()),
        None if name.namespace.is_empty() => (name.local.clone(), String::new()),
        None => (format!("x:{}", name.local), format!(" xmlns:x=\"{}\"", escape(&name.namespace))),
    };
    if inner.is_empty() {
        format!("<{tag}{declaration}/>")
    } else {
        format!("<{tag}{declaration}>{inner}</{tag}>")
    }
}

/// A 207's body, written response by response.
#[derive(Debug)]
pub(in crate::dav) struct Multistatus {
    text: String,
}

impl Multistatus {
    /// Begins it.
    pub(in crate::dav) fn begin() -> Self {
        let mut text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus".to_owned();
        for (prefix, namespace) in PREFIXES {
            text.extend([" xmlns:", prefix, "=\"", namespace, "\""]);
        }
        text.push_str(">\n");
        Self { text }
    }

    /// Goes on where an earlier part was taken.
    pub(in crate::dav) fn go_on() -> Self {
        Self { text: String::new() }
    }

    /// A response with its properties, by status (which ends its own element, and says more after it); a status without properties is left out. `href` is safe as it is.
    pub(in crate::dav) fn response(&mut self, href: &str, propstats: &[(&str, String)]) {
        self.text.extend(["<D:response><D:href>", href, "</D:href>"]);
        let mut any = false;
        for (status, props) in propstats.iter().filter(|(_, props)| !props.is_empty()) {
            any = true;
            self.propstat(status, props);
        }
        if !any {
            // RFC 4918 wants one propstat at least.
            self.propstat("200 OK</D:status>", "");
        }
        self.text.push_str("</D:response>\n");
    }

    fn propstat(&mut self, status: &str, props: &str) {
        self.text.extend(["<D:propstat><D:prop>", props, "</D:prop><D:status>HTTP/1.1 ", status]);
        self.text.push_str("</D:propstat>");
    }

    /// Ends it.
    pub(in crate::dav) fn end(mut self) -> Vec<u8> {
        self.text.push_str("</D:multistatus>\n");
        self.text.into_bytes()
    }

    /// What was written so far; the rest comes later.
    pub(in crate::dav) fn part(self) -> Vec<u8> {
        self.text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_declared() {
        for (namespace, expected) in [
            ("DAV:", "<D:a/>"),
            ("", "<a/>"),
            ("urn:\"a\"", "<x:a xmlns:x=\"urn:&quot;a&quot;\"/>"),
            (XML, "<xml:a/>"),
        ] {
            let name = Name { namespace: namespace.to_owned(), local: "a".to_owned() };
            assert_eq!(element(&name, ""), expected);
        }
    }

    #[test]
    fn text_survives() {
        assert_eq!(escape("a"), "a");
        assert_eq!(escape("a&b<c>\"'\u{1}\r"), "a&amp;b&lt;c&gt;&quot;&apos;\u{fffd}&#13;");
    }
}
