//! POST of a batch: up to 1,000 nodes are moved, copied, deleted, restored, or none.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::nodes;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Serialize;

use super::Report;
use super::operations::{Batch, Wanted};
use crate::address::space;
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// What became of each, in the order of the operations.
#[derive(Serialize)]
struct Reports {
    results: Vec<Report>,
}

/// Does all operations, or none.
pub(crate) async fn batch<P: Platform, U: Upload>(
    platform: &P,
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
    let outcomes = nodes::batch(platform, &token, &space, &operations).await?;
    json(StatusCode::OK, &Reports { results: outcomes.into_iter().map(Report::from).collect() })
}
