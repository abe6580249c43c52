//! What requests say in XML. Elements that a standard may add are ignored (RFC 4918 section 17).

use http::StatusCode;
use roxmltree::Node;

use super::super::Failure;
use super::super::props::Wanted;
use super::{DAV, Name, parse};

/// How many properties a request may name.
const MAX_PROPERTIES: usize = 1000;

/// A PROPFIND's body; one that is empty asks for all.
pub(in crate::dav) fn propfind(bytes: &[u8]) -> Result<Wanted, Failure> {
    if bytes.trim_ascii().is_empty() {
        return Ok(Wanted::All(Vec::new()));
    }
    let document = parse(bytes)?;
    let root = document.root_element();
    let refuse = |reason: &str| Failure::new(StatusCode::BAD_REQUEST, format!("the XML body: {reason}"));
    if !root.has_tag_name((DAV, "propfind")) {
        return Err(refuse("expected a DAV:propfind element"));
    }
    let child = |name: &str| root.children().find(|node| node.has_tag_name((DAV, name)));
    let wanted = match (child("prop"), child("allprop"), child("propname")) {
        (Some(prop), None, None) => Wanted::These(names(prop)),
        (None, Some(_), None) => Wanted::All(child("include").map(names).unwrap_or_default()),
        (None, None, Some(_)) => Wanted::Names,
        _ => return Err(refuse("expected one of DAV:prop, DAV:allprop and DAV:propname")),
    };
    match &wanted {
        Wanted::These(names) | Wanted::All(names) if names.len() > MAX_PROPERTIES => {
            Err(refuse("it names too many properties"))
        }
        _ => Ok(wanted),
    }
}

/// The names of the elements in an element, each once.
fn names(prop: Node<'_, '_>) -> Vec<Name> {
    let mut seen = std::collections::HashSet::new();
    prop.children().filter(Node::is_element).map(name).filter(|name| seen.insert(name.clone())).collect()
}

/// An element's name.
pub(super) fn name(node: Node<'_, '_>) -> Name {
    let tag = node.tag_name();
    Name { namespace: tag.namespace().unwrap_or_default().to_owned(), local: tag.name().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_every_form_are_understood() {
        let named =
            |namespace: &str, local: &str| Name { namespace: namespace.to_owned(), local: local.to_owned() };
        for (body, wanted) in [
            ("", Wanted::All(Vec::new())),
            (" \r\n", Wanted::All(Vec::new())),
            ("<propfind xmlns='DAV:'><allprop/></propfind>", Wanted::All(Vec::new())),
            ("<x:propfind xmlns:x='DAV:'><x:propname/></x:propfind>", Wanted::Names),
            (
                "<D:propfind xmlns:D='DAV:'><y/><D:allprop/><D:include><D:a/></D:include></D:propfind>",
                Wanted::All(vec![named(DAV, "a")]),
            ),
            (
                "<D:propfind xmlns:D='DAV:'><D:prop><D:a/><b xmlns='urn:b'/><c/><D:a/></D:prop></D:propfind>",
                Wanted::These(vec![named(DAV, "a"), named("urn:b", "b"), named("", "c")]),
            ),
        ] {
            assert_eq!(propfind(body.as_bytes()).unwrap(), wanted, "{body}");
        }
        for body in [
            "<propfind><allprop/></propfind>",
            "<propfind xmlns='DAV:'/>",
            "<propfind xmlns='DAV:'><allprop/><propname/></propfind>",
            "<propfind xmlns=\"DAV:\"><prop>",
            "<D:propfind xmlns:D='DAV:'><D:prop><bar:foo xmlns:bar=''/></D:prop></D:propfind>",
        ] {
            assert!(propfind(body.as_bytes()).is_err(), "{body}");
        }
    }
}
