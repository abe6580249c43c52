//! DELETE of a file: into the trash.

use http::Response;
use ledge_core::error::Result;
use ledge_core::nodes::{self, Expected};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;

use crate::address::address;
use crate::headers::conditions;
use crate::rest::no_content;
use crate::rest::query::Query;
use crate::routes::Matched;

/// Puts the file into the trash, if it is as the conditions say.
pub(crate) async fn delete<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let address = address(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let expected = Expected::File(conditions(&matched.parts.headers));
    nodes::delete(platform, &address, expected).await?;
    Ok(no_content())
}
