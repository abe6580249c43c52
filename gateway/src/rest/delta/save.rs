//! PUT of a file by its list of chunks.

use http::{HeaderName, HeaderValue};
use ledge_core::delta::{self, Room};
use ledge_core::error::{Error, Result};
use ledge_core::files::Saved;
use ledge_core::ports::{Platform, Upload};
use ledge_core::tree::Address;

use super::SentManifest;
use crate::headers::{conditions, content_length, parse_rfc3339};
use crate::rest::body;
use crate::rest::files::media_type;
use crate::rest::query::Query;
use crate::routes::Matched;

/// The longest list, each chunk in 78 characters, with room to spare.
const MAX_MANIFEST_BYTES: usize = 3_000_000;

/// Makes a version of chunks that the space has; returns it, and its media type.
pub(in crate::rest) async fn save<P: Platform, U: Upload>(
    platform: &P,
    address: &Address,
    matched: &Matched<'_>,
    upload: U,
) -> Result<(Saved, String)> {
    Query::read(&matched.parts.uri, &[])?;
    let headers = &matched.parts.headers;
    for unverifiable in ["repr-digest", "content-md5"] {
        if headers.contains_key(HeaderName::from_static(unverifiable)) {
            return Err(Error::invalid(
                "Repr-Digest",
                "a list of chunks is verified by their hashes: the whole isn't read",
            ));
        }
    }
    let _room = Room::take(platform.settings(), content_length(headers)?)?;
    let sent: SentManifest = body::parse(&body::bytes_up_to(upload, MAX_MANIFEST_BYTES).await?)?;
    let name = address.path.last().map(|name| name.as_str()).unwrap_or_default();
    let manifest = delta::Manifest {
        address: address.clone(),
        conditions: conditions(headers),
        media_type: type_of(&sent, name)?,
        modified_at: sent
            .modified_at
            .as_deref()
            .map(|text| {
                let expected = "expected an RFC 3339 time between 1970 and 9999";
                parse_rfc3339(text).ok_or_else(|| Error::invalid("modified_at", expected))
            })
            .transpose()?,
        chunks: sent.chunks(),
    };
    drop(sent);
    let saved = delta::commit(platform, &manifest).await?;
    Ok((saved, manifest.media_type))
}

fn type_of(sent: &SentManifest, name: &str) -> Result<String> {
    let malformed = || Error::invalid("media_type", "expected a media type of at most 255 bytes");
    let given = sent.media_type.as_deref().map(HeaderValue::from_str).transpose().map_err(|_| malformed())?;
    media_type(given.as_ref(), name).map_err(|_| malformed())
}
