//! POST: takes a node out of the trash.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::NodeId;
use ledge_core::nodes::{self, Expected, Operation, Target, Verb};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::openapi::words::Conflict;
use crate::rest::nodes::{Place, Report, conflict};
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// Where to; without a body to where it was.
#[derive(Deserialize, Default, ToSchema)]
#[schema(as = RestoreRequest)]
#[serde(deny_unknown_fields)]
struct Wanted {
    to: Option<Place>,
    #[schema(value_type = Option<Conflict>)]
    conflict: Option<String>,
}

/// Restores the node, with all below.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/trash/{id}/restore",
    request_body(content = Option<Wanted>, description = "Where to; without a body to where it was."),
    responses(
        (status = 200, description = "Where it is now.", body = Report),
        (status = 409, description = "`parent_gone`, `name_taken` or another code of the reference."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn restore<P: Platform, U: Upload>(
    platform: &P,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let wanted: Wanted = body::read_or_default(upload).await?;
    let operation = Operation {
        verb: Verb::Restore,
        node: Target::Id(NodeId::parse(matched.path).ok_or(Error::NotFound)?),
        to: wanted.to.unwrap_or_default().read()?,
        conflict: conflict(wanted.conflict.as_deref())?,
        expected: Expected::Any,
        alone: false,
    };
    let outcomes = nodes::batch(platform, &token, &space, &[operation]).await.map_err(Error::alone)?;
    json(StatusCode::OK, &outcomes.into_iter().map(Report::from).next())
}
