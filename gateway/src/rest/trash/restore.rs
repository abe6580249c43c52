//! POST: takes a node out of the trash.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::idempotency::Once;
use ledge_core::ids::NodeId;
use ledge_core::nodes::{self, Became, Expected, Operation, Target, Verb};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::openapi::parameters::IdempotencyKey;
use crate::openapi::words::Conflict;
use crate::rest::jobs::accepted;
use crate::rest::nodes::{Place, Report, conflict};
use crate::rest::once::note;
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
    params(IdempotencyKey),
    request_body(content = Option<Wanted>, description = "Where to; without a body to where it was."),
    responses(
        (status = 200, description = "Where it is now.", body = Report),
        (status = 409, description = "`parent_gone`, `name_taken` or another code of the reference."),
        (status = 423, description = "`locked`."),
    ),
)]
pub(crate) async fn restore<P: Platform, U: Upload>(
    once: &Once<'_, P>,
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
    let answer = |became: &Became| match became {
        Became::Done(outcomes) => json(StatusCode::OK, &outcomes.first().cloned().map(Report::from)),
        Became::Later(job) => accepted(job.as_ref().clone()),
    };
    let tell = |became: &Became| answer(became).map(|answer| note(once, answer));
    let outcomes = nodes::batch_telling(once, &token, &space, &[operation], &tell).await;
    answer(&outcomes.map_err(Error::alone)?)
}
