//! What requests say in XML. Elements that a standard may add are ignored (RFC 4918 section 17).

use http::StatusCode;
use ledge_core::locks::Scope;
use ledge_core::properties::Dead;
use roxmltree::Node;

use super::super::Failure;
use super::super::props::Wanted;
use super::literal::literal;
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

/// One step of a PROPPATCH.
pub(in crate::dav) enum Instruction {
    /// Set a property.
    Set {
        /// What to keep.
        dead: Dead,
        /// The text in it.
        text: String,
    },
    /// Remove it.
    Remove(Name),
}

impl Instruction {
    /// Which property it is about.
    pub(in crate::dav) fn name(&self) -> Name {
        match self {
            Self::Set { dead, .. } => Name { namespace: dead.namespace.clone(), local: dead.name.clone() },
            Self::Remove(name) => name.clone(),
        }
    }
}

/// A PROPPATCH's body.
pub(in crate::dav) fn propertyupdate(bytes: &[u8]) -> Result<Vec<Instruction>, Failure> {
    let document = parse(bytes)?;
    let root = document.root_element();
    let refuse = |reason: &str| Failure::new(StatusCode::BAD_REQUEST, format!("the XML body: {reason}"));
    if !root.has_tag_name((DAV, "propertyupdate")) {
        return Err(refuse("expected a DAV:propertyupdate element"));
    }
    let mut instructions = Vec::new();
    for step in root.children() {
        let sets = step.has_tag_name((DAV, "set"));
        if !sets && !step.has_tag_name((DAV, "remove")) {
            continue;
        }
        let props = step.children().filter(|node| node.has_tag_name((DAV, "prop")));
        for property in props.flat_map(|prop| prop.children()).filter(Node::is_element) {
            let name = name(property);
            instructions.push(if sets {
                let text =
                    property.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect();
                let xml = literal(property);
                Instruction::Set { dead: Dead { namespace: name.namespace, name: name.local, xml }, text }
            } else {
                Instruction::Remove(name)
            });
        }
    }
    if instructions.is_empty() {
        return Err(refuse("it sets and removes nothing"));
    }
    if instructions.len() > MAX_PROPERTIES {
        return Err(refuse("it names too many properties"));
    }
    Ok(instructions)
}

/// A LOCK's body.
pub(in crate::dav) struct LockInfo {
    /// Whom the lock is to keep out.
    pub(in crate::dav) scope: Scope,
    /// The `owner` element, as XML that means the same anywhere.
    pub(in crate::dav) owner: Option<String>,
}

/// A LOCK's body; there are only write locks.
pub(in crate::dav) fn lockinfo(bytes: &[u8]) -> Result<LockInfo, Failure> {
    let document = parse(bytes)?;
    let root = document.root_element();
    let refuse = |reason: &str| Failure::new(StatusCode::BAD_REQUEST, format!("the XML body: {reason}"));
    if !root.has_tag_name((DAV, "lockinfo")) {
        return Err(refuse("expected a DAV:lockinfo element"));
    }
    let child = |name: &str| root.children().find(|node| node.has_tag_name((DAV, name)));
    let is = |parent: Option<Node<'_, '_>>, name: &str| {
        parent.is_some_and(|node| node.children().any(|child| child.has_tag_name((DAV, name))))
    };
    if !is(child("locktype"), "write") {
        return Err(refuse("expected a lock of the type DAV:write"));
    }
    let scope = match (is(child("lockscope"), "exclusive"), is(child("lockscope"), "shared")) {
        (true, false) => Scope::Exclusive,
        (false, true) => Scope::Shared,
        _ => return Err(refuse("expected the scope DAV:exclusive or DAV:shared")),
    };
    Ok(LockInfo { scope, owner: child("owner").map(literal) })
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
