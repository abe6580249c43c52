//! GET of one's tokens.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::ids::TokenId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::tokens;
use serde::Serialize;
use utoipa::ToSchema;

use super::Token;
use crate::credentials;
use crate::openapi::parameters;
use crate::rest::query::Query;
use crate::rest::{cursor, json};

/// A page of tokens.
#[derive(Serialize, ToSchema)]
struct Tokens {
    tokens: Vec<Token>,
    #[schema(required)]
    next: Option<String>,
}

/// A page of the account's tokens, newest first.
#[utoipa::path(
    get, path = "/api/v1/tokens",
    params(parameters::Page),
    responses((status = 200, description = "A page of tokens.", body = Tokens)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let asking = credentials::token(&parts.headers)?;
    let query = Query::read(&parts.uri, &["cursor", "limit"])?;
    let (after, limit) = cursor::page(&query, TokenId::parse)?;
    let page = tokens::list(platform, &asking, after, limit).await?;
    let last = page.tokens.last().filter(|_| page.more);
    let next = last.map(|last| cursor::after(last.created_at, last.id.as_str()));
    let tokens = page.tokens.into_iter().map(Token::from).collect();
    json(StatusCode::OK, &Tokens { tokens, next })
}
