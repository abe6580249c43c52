//! `/status.php`: whether there is a server, to anybody.

use http::{HeaderValue, Response, header};
use ledge_core::plan::ReadPlan;
use serde_json::json;

use super::VERSION;

/// Answers with the status.
pub(crate) fn status() -> Response<ReadPlan> {
    let (major, minor, micro) = VERSION;
    let text = json!({
        "installed": true,
        "maintenance": false,
        "needsDbUpgrade": false,
        "version": format!("{major}.{minor}.{micro}.0"),
        "versionstring": format!("{major}.{minor}.{micro}"),
        "edition": "",
        "productname": "Ledge",
        "extendedSupport": false,
    });
    let mut response = Response::new(ReadPlan::inline(text.to_string()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
