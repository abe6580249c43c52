//! PATCH as SabreDAV has it: `X-Update-Range` says where the body goes. A file that isn't there is 404, as there; beyond the
//! end, what is between reads as zeros.

use http::{HeaderName, StatusCode, header};
use ledge_core::error::{Conflict, Error};
use ledge_core::files::{self, Edited, Place};
use ledge_core::ports::{Platform, Upload};

use super::{Answer, Failure, Request, empty};
use crate::headers::{
    Part, conditions, content_length, expected_digests, http_date, quoted, set, text, update_range,
};

const UPDATE_RANGE: HeaderName = HeaderName::from_static("x-update-range");
const MEDIA_TYPE: &str = "application/x-sabredav-partialupdate";

/// 204, with the new entity tag.
pub(crate) async fn patch<P: Platform, U: Upload>(platform: &P, request: Request<'_>, upload: U) -> Answer {
    let headers = &request.parts.headers;
    if request.names_collection {
        return Err(Error::Conflict(Conflict::IsAFolder).into());
    }
    let media_type = text(headers, &header::CONTENT_TYPE).unwrap_or_default();
    if !media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(MEDIA_TYPE) {
        let detail = format!("Content-Type: expected {MEDIA_TYPE}");
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail));
    }
    let part = text(headers, &UPDATE_RANGE).and_then(|text| update_range(&text)).ok_or_else(|| {
        let detail = "X-Update-Range: expected bytes=first-last, bytes=first-, bytes=-count or append";
        Failure::new(StatusCode::BAD_REQUEST, detail)
    })?;
    let length = content_length(headers)?;
    if part.length.zip(length).is_some_and(|(part, body)| part != body) {
        let detail = "X-Update-Range: it has another length than the body";
        return Err(Failure::new(StatusCode::RANGE_NOT_SATISFIABLE, detail));
    }
    let part = Part { length: part.length.or(length), ..part };
    if part.length.is_none() && part.place != Place::End {
        return Err(Failure::new(StatusCode::LENGTH_REQUIRED, "Content-Length is needed"));
    }
    let edited = write(platform, &request, part, None, upload).await?;
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&edited.saved.etag));
    set(headers, header::LAST_MODIFIED, http_date(edited.saved.modified_at));
    Ok(response)
}

/// Writes a part of a file; one that isn't there is made with the media type `create`, if there is one.
pub(super) async fn write<P: Platform, U: Upload>(
    platform: &P,
    request: &Request<'_>,
    part: Part,
    create: Option<String>,
    upload: U,
) -> Result<Edited, Failure> {
    let headers = &request.parts.headers;
    let edit = files::Edit {
        address: request.address.clone(),
        conditions: conditions(headers),
        place: part.place,
        length: part.length,
        size_bytes: part.size_bytes,
        create,
        modified_at: None,
        expected: expected_digests(headers)?,
    };
    Ok(files::edit(platform, &edit, upload, &|_| Ok(())).await?)
}
