//! DELETE of a version.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::versions::{self, Delete};

use super::named;
use crate::address::address;
use crate::headers::conditions;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Deletes the version that the query names: 204.
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    let version = named(&Query::read(&matched.parts.uri, &["version"])?)?;
    let request = Delete { address, version, conditions: conditions(&matched.parts.headers) };
    versions::delete(platform, &request).await?;
    let mut response = Response::new(ReadPlan::default());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
