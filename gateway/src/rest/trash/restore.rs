//! POST: takes a node out of the trash.

use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::NodeId;
use ledge_core::nodes::{self, Expected, Operation, Target, Verb};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Platform, Upload};
use serde::Deserialize;

use crate::address::space;
use crate::rest::nodes::{Place, Report, conflict};
use crate::rest::query::Query;
use crate::rest::{body, json};
use crate::routes::Matched;

/// Where to; without a body to where it was.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Wanted {
    to: Option<Place>,
    conflict: Option<String>,
}

/// Restores the node, with all below.
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
    };
    let outcomes = nodes::batch(platform, &token, &space, &[operation]).await.map_err(Error::alone)?;
    json(StatusCode::OK, &outcomes.into_iter().map(Report::from).next())
}
