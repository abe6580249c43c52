//! PUT: a part.

use http::{HeaderName, StatusCode, header};
use ledge_core::error::Error;
use ledge_core::ports::{Platform, Upload};
use ledge_core::uploads::{self, PutPart};

use super::Request;
use crate::dav::{Answer, empty};
use crate::headers::{expected_digests, oc_checksum, quoted, set, text};

/// 201 where there was none of that name, 204 where there was; both with its entity tag.
pub(super) async fn put<P: Platform, U: Upload>(
    platform: &P,
    request: &Request<'_>,
    (folder, name): (&str, &str),
    upload: U,
) -> Answer {
    let headers = &request.parts.headers;
    let length = text(headers, &header::CONTENT_LENGTH)
        .map(|text| text.parse().map_err(|_| Error::invalid("Content-Length", "expected a number of bytes")))
        .transpose()?;
    let mut expected = expected_digests(headers)?;
    expected.extend(oc_checksum(headers)?);
    let part = PutPart {
        token: request.token.clone(),
        folder: folder.to_owned(),
        name: name.to_owned(),
        length,
        expected,
    };
    let stored = uploads::put_part(platform, &part, upload).await?;
    let mut response = empty(if stored.created { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
    let headers = response.headers_mut();
    set(headers, header::ETAG, quoted(&stored.etag));
    set(headers, HeaderName::from_static("oc-etag"), quoted(&stored.etag));
    Ok(response)
}
