//! The caller's token, from the `Authorization` header.

use http::{HeaderMap, header};
use ledge_core::error::{Error, Result};
use ledge_core::token::Token;

/// Reads a bearer token. Its form and checksum are tested here, before the database is asked.
pub(crate) fn token(headers: &HeaderMap) -> Result<Token> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, secret) = value.and_then(|value| value.split_once(' ')).ok_or(Error::Unauthenticated)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Error::Unauthenticated);
    }
    Token::parse(secret.trim()).ok_or(Error::Unauthenticated)
}
