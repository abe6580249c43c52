//! The `If` header (RFC 4918 section 10.4): lists of conditions, on the resource of the request or on tagged ones.
//!
//! Here it is read; what it says is decided where the request's other conditions are ([`ledge_core::locks`]).

use http::StatusCode;
use http::request::Parts;
use ledge_core::locks::{self, Condition, List, Resource, State, Submitted};
use ledge_core::tree::Address;

use super::Failure;
use super::destination::locate;
use crate::headers::text;

/// The most conditions, and so the most lists, in a header. Clients send one or two; a batch for a tree of locked files
/// names them all.
const MAX_CONDITIONS: usize = 256;

/// A list as it stands in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed<'a> {
    tag: Option<&'a str>,
    conditions: Vec<(bool, Stated<'a>)>,
}

/// A state as it stands in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stated<'a> {
    Token(&'a str),
    Etag { weak: bool, opaque: &'a str },
}

/// Reads the header of a request about the address. What is tagged and isn't below our mount has no state.
///
/// # Errors
/// 400 where it is malformed.
pub(super) fn submitted(parts: &Parts, address: &Address) -> Result<Submitted, Failure> {
    let Some(text) = text(&parts.headers, &http::header::HeaderName::from_static("if")) else {
        return Ok(Submitted::default());
    };
    let refuse = |reason: &str| Failure::new(StatusCode::BAD_REQUEST, format!("If: {reason}"));
    let listed = read(&text).map_err(refuse)?;
    let resource = |path| Resource { base: address.base.clone(), path };
    let mut submitted = Submitted::default();
    for list in listed {
        let path = match list.tag {
            None => Some(address.path.clone()),
            Some(tag) => locate(tag, parts).ok(),
        };
        let conditions = list.conditions.into_iter().map(|(not, stated)| {
            let state = match stated {
                Stated::Token(token) => locks::of_token(token.trim()).map_or(State::Never, State::Lock),
                // Strong comparison: what is weak equals nothing.
                Stated::Etag { weak: true, .. } => State::Never,
                Stated::Etag { weak: false, opaque } => State::Etag(opaque.to_owned()),
            };
            if let State::Lock(id) = &state {
                submitted.tokens.push(id.clone());
            }
            Condition { not, state }
        });
        let conditions = conditions.collect();
        submitted.lists.push(List { resource: path.map(resource), conditions });
    }
    Ok(submitted)
}

/// Reads lists, all of them tagged or none.
fn read(text: &str) -> Result<Vec<Listed<'_>>, &'static str> {
    let mut rest = text.trim();
    let (mut lists, mut tag, mut count) = (Vec::new(), None, 0);
    let is_tagged = rest.starts_with('<');
    let mut tag_has_list = true;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('<') {
            if !is_tagged || !tag_has_list {
                return Err("a resource stands where a list is expected");
            }
            let (uri, after) = inside.split_once('>').ok_or("a < is not closed")?;
            (tag, tag_has_list) = (Some(uri), false);
            rest = after.trim_start();
        } else if let Some(inside) = rest.strip_prefix('(') {
            let (conditions, after) = conditions(inside)?;
            count += conditions.len();
            if count > MAX_CONDITIONS {
                return Err("it has too many conditions");
            }
            lists.push(Listed { tag, conditions });
            tag_has_list = true;
            rest = after.trim_start();
        } else {
            return Err("expected lists in parentheses");
        }
    }
    if lists.is_empty() || !tag_has_list {
        return Err("expected a list in parentheses");
    }
    Ok(lists)
}

/// What conditions were read, and what follows them.
type Conditions<'a> = (Vec<(bool, Stated<'a>)>, &'a str);

/// Reads the conditions of a list, and its end.
fn conditions(text: &str) -> Result<Conditions<'_>, &'static str> {
    let mut rest = text.trim_start();
    let mut conditions = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix(')') {
            return if conditions.is_empty() { Err("a list is empty") } else { Ok((conditions, after)) };
        }
        if conditions.len() > MAX_CONDITIONS {
            return Err("it has too many conditions");
        }
        let word = rest.split_at_checked(3).filter(|(word, _)| word.eq_ignore_ascii_case("not"));
        let not = word.is_some();
        if let Some((_, after)) = word {
            rest = after.trim_start();
        }
        let (stated, after) = if let Some(inside) = rest.strip_prefix('<') {
            let (token, after) = inside.split_once('>').ok_or("a < is not closed")?;
            (Stated::Token(token), after)
        } else if let Some(inside) = rest.strip_prefix('[') {
            etag(inside)?
        } else {
            return Err("expected <token> or [entity tag] in a list");
        };
        conditions.push((not, stated));
        rest = after.trim_start();
    }
}

/// Reads an entity tag and the bracket behind it. One without quotes counts too: some clients drop them.
fn etag(text: &str) -> Result<(Stated<'_>, &str), &'static str> {
    let text = text.trim_start();
    let (weak, tag) = match text.strip_prefix("W/") {
        Some(tag) => (true, tag),
        None => (false, text),
    };
    let (opaque, after) = match tag.strip_prefix('"') {
        Some(inside) => {
            let (opaque, after) = inside.split_once('"').ok_or("an entity tag is not closed")?;
            (opaque, after.trim_start().strip_prefix(']').ok_or("a [ is not closed")?)
        }
        None => {
            tag.split_once(']').map(|(opaque, after)| (opaque.trim(), after)).ok_or("a [ is not closed")?
        }
    };
    Ok((Stated::Etag { weak, opaque }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> (bool, Stated<'_>) {
        (false, Stated::Token(text))
    }

    fn etag(opaque: &str) -> (bool, Stated<'_>) {
        (false, Stated::Etag { weak: false, opaque })
    }

    #[test]
    fn headers_of_every_form_are_read() {
        let list =
            |tag, conditions: &[(bool, Stated<'static>)]| Listed { tag, conditions: conditions.to_vec() };
        let not = |(_, stated)| (true, stated);
        for (text, lists) in [
            ("(<a:b>)", vec![list(None, &[token("a:b")])]),
            (" ( <a:b>[\"e\"] ) ", vec![list(None, &[token("a:b"), etag("e")])]),
            (
                "(<a:b> [\"I am an ETag\"]) ([\"I am (another)] ETag\"])",
                vec![
                    list(None, &[token("a:b"), etag("I am an ETag")]),
                    list(None, &[etag("I am (another)] ETag")]),
                ],
            ),
            ("(Not <a:b> <c:d>)", vec![list(None, &[not(token("a:b")), token("c:d")])]),
            (
                "(not<a:b>)(NOT [\"e\"])",
                vec![list(None, &[not(token("a:b"))]), list(None, &[not(etag("e"))])],
            ),
            (
                "(<a:b>) (Not <DAV:no-lock>)",
                vec![list(None, &[token("a:b")]), list(None, &[not(token("DAV:no-lock"))])],
            ),
            ("([W/\"e\"])", vec![list(None, &[(false, Stated::Etag { weak: true, opaque: "e" })])]),
            ("([e])", vec![list(None, &[etag("e")])]),
            (
                "</a> (<a:b>) (<c:d>) <http://h/b> ([\"e\"])",
                vec![
                    list(Some("/a"), &[token("a:b")]),
                    list(Some("/a"), &[token("c:d")]),
                    list(Some("http://h/b"), &[etag("e")]),
                ],
            ),
        ] {
            assert_eq!(read(text), Ok(lists), "{text}");
        }
        for text in [
            "",
            " ",
            "nonsense",
            "(",
            ")",
            "()",
            "( )",
            "(<a:b>",
            "(<a:b",
            "(Not)",
            "(Not Not <a:b>)",
            "([\"e\"]",
            "([\"e)",
            "([\"e\")",
            "(x)",
            "</a>",
            "</a> </b> (<a:b>)",
            "(<a:b>) </a>",
            "(<a:b>) </a> (<a:b>)",
            "</a> (<a:b>) </b>",
            "(<a:b>),(<c:d>)",
            "(Nö <a:b>)",
            "</a",
            "(<a:b>) x",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&format!("({})", "<a:b>".repeat(MAX_CONDITIONS))).is_ok());
        assert!(read(&format!("({})", "<a:b>".repeat(MAX_CONDITIONS + 1))).is_err());
        assert!(read(&"(<a:b>)".repeat(MAX_CONDITIONS + 1)).is_err());
    }

    /// Every text that is made from the grammar's pieces is read or refused, and what is read is what stands there.
    #[test]
    fn no_text_does_harm() {
        let pieces = [
            "(", ")", "<", ">", "[", "]", "\"", "W/", "Not ", "no", " ", "a:b", "é", "\u{0}", "</x> ",
            "(<t>)",
        ];
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        let mut understood = 0;
        for _ in 0..200_000 {
            let length = random(12);
            let text: String = (0..length).map(|_| pieces[random(pieces.len())]).collect();
            if let Ok(lists) = read(&text) {
                understood += 1;
                assert!(lists.iter().all(|list| !list.conditions.is_empty()), "{text}");
                assert!(
                    lists.iter().all(|list| list.tag.is_some())
                        || lists.iter().all(|list| list.tag.is_none())
                );
                let opened = text.matches('(').count();
                assert!(lists.len() <= opened, "{text}");
            }
        }
        assert!(understood > 1000, "{understood}");
    }
}
