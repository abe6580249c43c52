//! What answers a POST that edits a file or joins others to it.

use http::{Response, StatusCode, header};
use ledge_core::error::Result;
use ledge_core::files::Edited;
use ledge_core::idempotency::Once;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;

use super::json;
use super::once::note;
use crate::headers::{quoted, set};
use crate::routes::Matched;

/// The file: 201 with its place where it is new, 200 where it was there.
pub(super) fn answer(
    matched: &Matched<'_>,
    edited: &Edited,
    file: &impl Serialize,
) -> Result<Response<ReadPlan>> {
    let status = if edited.saved.created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = json(status, file)?;
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&edited.saved.etag));
    if edited.saved.created {
        set(headers, header::LOCATION, format!("/api/v1/spaces/{}/files/{}", matched.space, matched.path));
    }
    Ok(response)
}

/// Notes the answer before each attempt to commit, and takes it back where that came to nothing.
pub(super) fn telling<P: Platform>(
    once: &Once<'_, P>,
    answer: impl Fn(&Edited) -> Result<Response<ReadPlan>>,
) -> impl Fn(Option<&Edited>) -> Result<()> {
    move |edited| {
        match edited {
            Some(edited) => note(once, answer(edited)?),
            None => once.forget(),
        }
        Ok(())
    }
}
