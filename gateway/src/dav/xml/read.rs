//! Reading: XML 1.0 with namespaces, without a DTD, within limits that are looked at before the parser is.

use http::StatusCode;
use roxmltree::{Document, ParsingOptions};

use super::super::Failure;

/// How deep elements may be nested.
const MAX_DEPTH: usize = 64;
/// How many elements, texts and comments there may be.
const MAX_NODES: u32 = 20_000;
/// How many namespace declarations: each element's are compared with those around it.
const MAX_NAMESPACES: usize = 1000;
/// How many attributes an element may have: each is compared with the others.
const MAX_ATTRIBUTES: usize = 256;

/// Parses a body. The document borrows the text.
///
/// # Errors
/// 400.
pub(in crate::dav) fn parse(bytes: &[u8]) -> Result<Document<'_>, Failure> {
    let refuse = |reason: String| Failure::new(StatusCode::BAD_REQUEST, format!("the XML body: {reason}"));
    let text = std::str::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    within_limits(text).map_err(|reason| refuse(reason.to_owned()))?;
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| refuse(error.to_string()))?;
    // Namespaces in XML 1.0, section 2.2: a prefix can't be undeclared.
    let undeclared = document.descendants().any(|node| {
        node.is_element() && node.namespaces().any(|it| it.name().is_some() && it.uri().is_empty())
    });
    if undeclared {
        return Err(refuse("a prefix is declared as no namespace".to_owned()));
    }
    Ok(document)
}

/// One pass that makes sure that parsing takes time and memory in proportion.
fn within_limits(text: &str) -> Result<(), &'static str> {
    if text.matches("xmlns").count() > MAX_NAMESPACES {
        return Err("it has too many namespaces");
    }
    let mut depth = 0_usize;
    for tag in text.split('<').skip(1) {
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !tag.starts_with(['!', '?']) {
            let inside = tag.split('>').next().unwrap_or(tag);
            if inside.matches('=').count() > MAX_ATTRIBUTES {
                return Err("an element has too many attributes");
            }
            // A `>` may stand in an attribute's value: then the depth is too large by one, and the limit is ample.
            if !inside.ends_with('/') {
                depth += 1;
            }
        }
        if depth > MAX_DEPTH {
            return Err("its elements are nested too deeply");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_bodies_are_refused() {
        let nested = "<a>".repeat(30_000);
        let closed = format!("{}{}", "<a>".repeat(30_000), "</a>".repeat(30_000));
        let attributes: String = (0..50_000).map(|n| format!(" a{n}=''")).collect();
        let namespaces: String = (0..20_000).map(|n| format!(" xmlns:n{n}='u{n}'")).collect();
        for body in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a:b/>",
            "<a xmlns:b=''/>",
            "<!DOCTYPE a><a/>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            "<a>&b;</a>",
            "<a b='1' b='2'/>",
            nested.as_str(),
            closed.as_str(),
            format!("<a{attributes}/>").as_str(),
            format!("<a{namespaces}/>").as_str(),
            format!("<a>{}</a>", "<b/>".repeat(30_000)).as_str(),
        ] {
            assert!(parse(body.as_bytes()).is_err(), "{}", body.get(..40).unwrap_or(body));
        }
        assert!(parse(b"<a>\xff</a>").is_err());
    }

    #[test]
    fn ordinary_bodies_are_not() {
        for body in [
            "<a/>",
            "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n<a xmlns='DAV:'><!-- < > --><b c='d=e'>&amp;</b></a>\n",
            "<a><![CDATA[<<<<======>>>]]></a>",
            "<a b='>'/>",
        ] {
            assert!(parse(body.as_bytes()).is_ok(), "{body}");
        }
        let nested = format!("{}{}", "<a>".repeat(60), "</a>".repeat(60));
        assert!(parse(nested.as_bytes()).is_ok());
    }
}
