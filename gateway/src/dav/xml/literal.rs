//! A property's element, written so that it means the same wherever it is put: with the namespaces and the language that
//! held where it stood (RFC 4918 section 4.3).

use roxmltree::Node;

use super::{XML, escape};

/// Writes the element. Comments and processing instructions are left out.
pub(super) fn literal(property: Node<'_, '_>) -> String {
    let mut text = String::new();
    let lang = property.ancestors().find_map(|node| node.attribute((XML, "lang")));
    write(&mut text, property, None, lang.filter(|_| !property.has_attribute((XML, "lang"))));
    text
}

/// Nesting is limited where documents are read, so this may call itself.
fn write(text: &mut String, node: Node<'_, '_>, parent: Option<Node<'_, '_>>, lang: Option<&str>) {
    let tag = qualified(node, node.tag_name().namespace(), node.tag_name().name(), true);
    text.extend(["<", &tag]);
    for declared in node.namespaces() {
        let (prefix, uri) = (declared.name(), declared.uri());
        let is_known = match parent {
            Some(parent) => parent.namespaces().any(|outer| outer.name() == prefix && outer.uri() == uri),
            // Around the outermost element nothing is declared, and what isn't used needn't be.
            None => uri.is_empty() || !is_used(node, prefix),
        };
        if is_known || prefix == Some("xml") {
            continue;
        }
        match prefix {
            Some(prefix) => text.extend([" xmlns:", prefix, "=\"", &escape(uri), "\""]),
            None => text.extend([" xmlns=\"", &escape(uri), "\""]),
        }
    }
    if let Some(lang) = lang {
        text.extend([" xml:lang=\"", &escape(lang), "\""]);
    }
    for attribute in node.attributes() {
        let name = qualified(node, attribute.namespace(), attribute.name(), false);
        text.extend([
            " ",
            &name,
            "=\"",
            &escape(attribute.value()).replace('\n', "&#10;").replace('\t', "&#9;"),
            "\"",
        ]);
    }
    if !node.has_children() {
        text.push_str("/>");
        return;
    }
    text.push('>');
    for child in node.children() {
        if child.is_element() {
            write(text, child, Some(node), None);
        } else if child.is_text() {
            text.push_str(&escape(child.text().unwrap_or_default()));
        }
    }
    text.extend(["</", &tag, ">"]);
}

/// A name with a prefix that means its namespace here.
fn qualified(node: Node<'_, '_>, namespace: Option<&str>, local: &str, is_element: bool) -> String {
    let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) else {
        return local.to_owned();
    };
    if namespace == XML {
        return format!("xml:{local}");
    }
    let mut prefixes = node.namespaces().filter(|it| it.uri() == namespace).map(|it| it.name());
    // Attributes don't take the default namespace.
    match prefixes
        .clone()
        .find(|prefix| is_element && prefix.is_none())
        .or_else(|| prefixes.find(Option::is_some))
    {
        Some(Some(prefix)) => format!("{prefix}:{local}"),
        _ => local.to_owned(),
    }
}

/// Whether a prefix is used in an element: by a name, or in a text that may be one.
fn is_used(property: Node<'_, '_>, prefix: Option<&str>) -> bool {
    let in_text = prefix.map(|prefix| format!("{prefix}:"));
    let in_text = in_text.as_deref();
    let holds = |text: &str| in_text.is_some_and(|prefix| text.contains(prefix));
    property.descendants().any(|node| {
        if !node.is_element() {
            return node.is_text() && node.text().is_some_and(holds);
        }
        let name = qualified(node, node.tag_name().namespace(), "", true);
        let used = match in_text {
            Some(prefix) => name == prefix,
            None => name.is_empty(),
        };
        used || node.attributes().any(|attribute| {
            holds(attribute.value()) || holds(&qualified(node, attribute.namespace(), "", false))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_property(body: &str) -> String {
        let document = super::super::parse(body.as_bytes()).unwrap();
        let found = document.descendants().find(|node| node.tag_name().name() == "x").unwrap();
        literal(found)
    }

    #[test]
    fn what_a_property_needs_goes_with_it() {
        for (body, expected) in [
            ("<a><x/></a>", "<x/>"),
            ("<a><x>1 &lt; 2</x></a>", "<x>1 &lt; 2</x>"),
            ("<D:a xmlns:D='DAV:' xmlns:P='urn:p'><P:x/></D:a>", "<P:x xmlns:P=\"urn:p\"/>"),
            (
                "<D:a xmlns:D='DAV:' xmlns:P='urn:p' xmlns:Q='urn:q'><P:x><Q:y z='1'/></P:x></D:a>",
                "<P:x xmlns:P=\"urn:p\" xmlns:Q=\"urn:q\"><Q:y z=\"1\"/></P:x>",
            ),
            (
                "<a xmlns='DAV:'><x xmlns='urn:x'><y xmlns=''/></x></a>",
                "<x xmlns=\"urn:x\"><y xmlns=\"\"/></x>",
            ),
            ("<a xmlns='DAV:'><x xmlns=''><y/></x></a>", "<x><y/></x>"),
            ("<a xml:lang='de'><b><x>ü</x></b></a>", "<x xml:lang=\"de\">ü</x>"),
            ("<a xml:lang='de'><x xml:lang='fr'/></a>", "<x xml:lang=\"fr\"/>"),
            ("<a xmlns:q='urn:q'><x>q:name</x></a>", "<x xmlns:q=\"urn:q\">q:name</x>"),
            ("<a xmlns:q='urn:q'><x q:b='&quot;&#10;'/></a>", "<x xmlns:q=\"urn:q\" q:b=\"&quot;&#10;\"/>"),
            ("<a><x> <!-- c --><![CDATA[<y>]]> </x></a>", "<x> &lt;y&gt; </x>"),
        ] {
            assert_eq!(of_property(body), expected, "{body}");
        }
    }
}
