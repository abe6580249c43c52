//! COPY, and what it shares with MOVE.

use http::{HeaderMap, HeaderName, StatusCode, header};
use ledge_core::error::Error;
use ledge_core::nodes::{self, Became, Expected, OnConflict, Operation, Target, To, Verb};
use ledge_core::path::Path;
use ledge_core::ports::Platform;
use ledge_core::tree::Address;

use super::depth::{Depth, depth};
use super::destination::destination;
use super::{Answer, Failure, Request, empty};
use crate::headers::{conditions, set, text};
use crate::rest::jobs;

const OVERWRITE: HeaderName = HeaderName::from_static("overwrite");

/// Copies a file, a folder with all below, or with `Depth: 0` a folder alone. Contents are shared, not copied.
pub(crate) async fn copy<P: Platform>(platform: &P, request: Request<'_>) -> Answer {
    let alone = match depth(&request.parts.headers)? {
        Some(Depth::Zero) => true,
        Some(Depth::Infinity) | None => false,
        Some(Depth::One) => {
            return Err(Failure::new(StatusCode::BAD_REQUEST, "Depth: expected 0 or infinity"));
        }
    };
    transfer(platform, request, Verb::Copy, alone).await
}

/// 201 where nothing was there, 204 where something was replaced. 202 (RFC 9110 section 15.3.3) where a job copies what is too
/// large for one commit: nothing is to be seen at the destination before it is complete, and `Location` is the job's.
pub(super) async fn transfer<P: Platform>(
    platform: &P,
    request: Request<'_>,
    verb: Verb,
    alone: bool,
) -> Answer {
    let headers = &request.parts.headers;
    let to = destination(request.parts)?;
    let overwrite = overwrite(headers)?;
    let from = &request.address;
    let forbidden = |detail: &str| Failure::new(StatusCode::FORBIDDEN, detail);
    let Some((name, above)) = to.names().split_last().filter(|_| from.path.depth() > 0) else {
        return Err(forbidden("the root can't be moved, copied or replaced"));
    };
    if to.names() == from.path.names() {
        return Err(forbidden("the destination is the source itself"));
    }
    let parent = Path::parse(above.iter().map(|name| name.as_str()))?;
    let parent = Target::from(&Address { path: parent, ..from.clone() });
    let operation = Operation {
        verb,
        node: from.into(),
        to: To { parent: Some(parent), name: Some(name.clone()) },
        conflict: if overwrite { OnConflict::Save } else { OnConflict::Fail },
        expected: Expected::Matching(conditions(headers)),
        alone,
    };
    match nodes::batch(platform, &from.token, &from.space, &[operation]).await.map_err(Error::alone)? {
        Became::Done(outcomes) => {
            let replaced = outcomes.iter().any(|outcome| outcome.replaced.is_some());
            Ok(empty(if replaced { StatusCode::NO_CONTENT } else { StatusCode::CREATED }))
        }
        Became::Later(job) => {
            let mut response = empty(StatusCode::ACCEPTED);
            set(response.headers_mut(), header::LOCATION, jobs::location(&job.id));
            Ok(response)
        }
    }
}

/// Whether what stands at the destination may be replaced.
pub(super) fn overwrite(headers: &HeaderMap) -> Result<bool, Failure> {
    match text(headers, &OVERWRITE).as_deref().map(str::trim) {
        None | Some("T" | "t") => Ok(true),
        Some("F" | "f") => Ok(false),
        Some(_) => Err(Failure::new(StatusCode::BAD_REQUEST, "Overwrite: expected T or F")),
    }
}
