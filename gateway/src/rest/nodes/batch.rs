//! POST of a batch: up to 1,000 nodes are moved, copied, deleted, restored, or none.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::idempotency::Once;
use ledge_core::nodes::{self, Became};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Serialize;
use utoipa::ToSchema;

use super::Report;
use super::operations::{Batch, Wanted};
use crate::address::space;
use crate::openapi::parameters::IdempotencyKey;
use crate::rest::jobs::{Job, accepted};
use crate::rest::once::note;
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// What became of each, in the order of the operations.
#[derive(Serialize, ToSchema)]
struct Reports {
    results: Vec<Report>,
}

/// Does all operations, or none.
#[utoipa::path(
    post, path = "/api/v1/spaces/{space}/nodes/batch",
    params(IdempotencyKey),
    request_body = Batch,
    responses(
        (status = 200, description = "What each operation came to.", body = Reports),
        (status = 202, description = "The batch is one copy of more than 20,000 nodes: the job makes it.", body = Job),
        (status = 409, description = "A code of the reference; `operation` says which one failed, from 0."),
        (status = 412, description = "`precondition_failed`."),
        (status = 413, description = "`too_many_nodes`: more than one operation, and copies of more than 20,000 nodes."),
        (status = 423, description = "`locked`."),
        (status = 507, description = "`quota_exceeded`."),
    ),
)]
pub(crate) async fn batch<P: Platform, U: Upload>(
    once: &Once<'_, P>,
    matched: Matched<'_>,
    upload: U,
) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let Batch { operations } = body::read(upload).await?;
    let operations = operations
        .into_iter()
        .enumerate()
        .map(|(index, wanted): (usize, Wanted)| wanted.read().map_err(|error| error.of_operation(index)))
        .collect::<Result<Vec<_>>>()?;
    let answer = |became: &Became| match became {
        Became::Done(outcomes) => {
            let results = outcomes.iter().cloned().map(Report::from).collect();
            json(StatusCode::OK, &Reports { results })
        }
        Became::Later(job) => accepted(job.as_ref().clone()),
    };
    let tell = |became: &Became| answer(became).map(|answer| note(once, answer));
    answer(&nodes::batch_telling(once, &token, &space, &operations, &tell).await?)
}
