//! The caller's token, from the `Authorization` header.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, header};
use ledge_core::error::{Error, Result};
use ledge_core::token::Token;

/// Reads a bearer token. Its form and checksum are tested here, before the database is asked.
pub(crate) fn token(headers: &HeaderMap) -> Result<Token> {
    match credentials(headers) {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("bearer") => {
            Token::parse(secret).ok_or(Error::Unauthenticated)
        }
        _ => Err(Error::Unauthenticated),
    }
}

/// Reads a bearer token, or one that is the password of some user: the name doesn't count (RFC 7617, and clients ask for
/// one).
pub(crate) fn basic_or_bearer(headers: &HeaderMap) -> Result<Token> {
    match credentials(headers) {
        Some((scheme, secret)) if scheme.eq_ignore_ascii_case("basic") => {
            password(secret).and_then(|password| Token::parse(&password)).ok_or(Error::Unauthenticated)
        }
        _ => token(headers),
    }
}

fn credentials(headers: &HeaderMap) -> Option<(&str, &str)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    Some((scheme, secret.trim()))
}

/// What stands after the first colon: a password may hold more of them.
fn password(credentials: &str) -> Option<String> {
    let bytes = STANDARD.decode(credentials).ok()?;
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    String::from_utf8(bytes.get(colon + 1..)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ldg_aaaqeayeaudaocajbifqydiob4ibceqtwhzlsyy";

    fn revealed(authorization: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, authorization.parse().unwrap());
        basic_or_bearer(&headers).ok().map(|token| token.reveal().to_owned())
    }

    #[test]
    fn a_token_is_a_bearers_or_anybodys_password() {
        let basic = |text: &[u8]| format!("Basic {}", STANDARD.encode(text));
        for user in ["", "me", "Zoë", "a b", "\u{1f600}"] {
            let text = format!("{user}:{TOKEN}");
            assert_eq!(revealed(&basic(text.as_bytes())).as_deref(), Some(TOKEN), "{user}");
        }
        // Latin-1, as old clients send it.
        assert_eq!(revealed(&basic(&[b"Zo\xeb:", TOKEN.as_bytes()].concat())).as_deref(), Some(TOKEN));
        assert_eq!(revealed(&format!("bearer {TOKEN}")).as_deref(), Some(TOKEN));
        for wrong in [
            basic(TOKEN.as_bytes()),
            basic(format!("a:b:{TOKEN}").as_bytes()),
            basic(format!("{TOKEN}:").as_bytes()),
            "Basic !".to_owned(),
            "Basic".to_owned(),
            format!("Digest {TOKEN}"),
        ] {
            assert_eq!(revealed(&wrong), None, "{wrong}");
        }
    }
}
