//! POST of a token: makes one, and shows its secret this once.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::Once;
use ledge_core::ids::{NodeId, SpaceId};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use ledge_core::token::Protocol;
use ledge_core::tokens::{self, Create, Protocols};
use serde::Serialize;
use utoipa::ToSchema;

use super::Token;
use crate::credentials;
use crate::headers::parse_rfc3339;
use crate::openapi::parameters::IdempotencyKey;
use crate::openapi::words::{self, Rights, Time};
use crate::rest::json;
use crate::rest::members::Members;
use crate::rest::once::note_secret;
use crate::rest::query::Query;
use crate::routes::Matched;

/// A new token, with its secret.
#[derive(Serialize, ToSchema)]
#[schema(as = NewToken)]
struct Created<'a> {
    token: &'a str,
    #[serde(flatten)]
    entry: Token,
}

/// What a new token is to be.
#[derive(ToSchema)]
#[schema(as = TokenRequest)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only described: the members are read by their names")]
struct Wanted {
    #[schema(min_length = 1, max_length = 255)]
    name: String,
    #[schema(value_type = Option<Time>)]
    expires_at: (),
    space_id: Option<String>,
    folder_id: Option<String>,
    #[schema(value_type = Option<Rights>)]
    rights: (),
    #[schema(value_type = Option<Vec<words::Protocol>>)]
    protocols: (),
}

const MEMBERS: [&str; 6] = ["name", "expires_at", "space_id", "folder_id", "rights", "protocols"];

/// Makes a token: 201 with the secret.
#[utoipa::path(
    post, path = "/api/v1/tokens",
    params(IdempotencyKey),
    request_body = Wanted,
    responses(
        (status = 201, description = "The new token, with its secret.", body = Created),
        (status = 409, description = "`contended`, or `secret_shown_once` where the same request was answered before."),
    ),
)]
pub(crate) async fn post<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let asking = credentials::token(&matched.parts.headers)?;
    Query::read(&matched.parts.uri, &[])?;
    let request = request(&Members::read(upload, &MEMBERS).await?)?;
    let tell = |_: &tokens::Created| {
        note_secret(once);
        Ok(())
    };
    let created = tokens::create(once, &asking, &request, &tell).await?;
    json(StatusCode::CREATED, &Created { token: created.secret.reveal(), entry: Token::from(created.token) })
}

fn request(body: &Members) -> Result<Create> {
    let expires_at = body.text("expires_at")?.map(|text| {
        let expected = "expected an RFC 3339 time between 1970 and 9999";
        parse_rfc3339(text).ok_or_else(|| Error::invalid("expires_at", expected))
    });
    let writes = body.text("rights")?.map(|text| match text {
        "read" => Ok(false),
        "write" => Ok(true),
        _ => Err(Error::invalid("rights", "expected read or write")),
    });
    // A malformed id is one that doesn't exist.
    let space = body.text("space_id")?.map(|text| SpaceId::parse(text).ok_or(Error::NotFound));
    let folder = body.text("folder_id")?.map(|text| NodeId::parse(text).ok_or(Error::NotFound));
    Ok(Create {
        name: body.text("name")?.ok_or_else(|| Error::invalid("name", "expected a name"))?.to_owned(),
        expires_at: expires_at.transpose()?,
        space: space.transpose()?,
        folder: folder.transpose()?,
        writes: writes.transpose()?,
        protocols: body.texts("protocols")?.map(|names| protocols(&names)).transpose()?,
    })
}

fn protocols(names: &[&str]) -> Result<Protocols> {
    match names {
        ["rest"] => Ok(Protocols::Only(Protocol::Rest)),
        ["webdav"] => Ok(Protocols::Only(Protocol::WebDav)),
        ["rest", "webdav"] | ["webdav", "rest"] => Ok(Protocols::All),
        _ => Err(Error::invalid("protocols", "expected a list of rest, webdav or both")),
    }
}
