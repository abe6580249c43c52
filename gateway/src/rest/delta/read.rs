//! GET of a file as its list of chunks.

use http::{Response, StatusCode, header};
use ledge_core::conditions::{Current, Verdict};
use ledge_core::delta;
use ledge_core::error::{Error, Result};
use ledge_core::files::Which;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::tree::Address;

use super::Manifest;
use super::manifest::MANIFEST_TYPE;
use crate::headers::{conditions, quoted, rfc3339, set};
use crate::rest::json;
use crate::routes::Matched;

/// Answers with the list, or with what the conditions, which are about the file, make of it. The answer has no entity tag of
/// its own: the same version may be listed otherwise tomorrow, when the index has forgotten a chunk.
pub(in crate::rest) async fn read<P: Platform>(
    platform: &P,
    address: &Address,
    matched: &Matched<'_>,
    (which, from): (&Which, u64),
) -> Result<Response<ReadPlan>> {
    let list = delta::list(platform, address, which, from).await?;
    let blob = &list.version.blob;
    let current = Current { etag: Some(&blob.etag), modified_at: list.version.modified_at };
    match conditions(&matched.parts.headers).evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => {
            let mut response = Response::new(ReadPlan::default());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            return Ok(response);
        }
        Verdict::Proceed => {}
    }
    let chunks = list.chunks.iter().map(|it| (it.hash.map(|hash| hash.to_string()), it.length));
    let manifest = Manifest {
        version_id: list.version.id.as_str(),
        etag: quoted(&blob.etag),
        size_bytes: blob.size_bytes,
        media_type: &blob.media_type,
        modified_at: rfc3339(list.version.modified_at),
        from,
        next: list.next,
        chunks: chunks.collect(),
    };
    let mut response = json(StatusCode::OK, &manifest)?;
    set(response.headers_mut(), header::CONTENT_TYPE, MANIFEST_TYPE);
    Ok(response)
}
