//! A file as its list of chunks: `application/vnd.ledge.manifest+json`.

use http::{HeaderMap, HeaderValue, header};
use ledge_core::delta::Chunk;
use ledge_core::digest::Sha256;
use ledge_core::error::Result;
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ArrayBuilder, ArrayItems, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::headers::text;
use crate::openapi::words::Time;

pub(super) const MANIFEST_TYPE: &str = "application/vnd.ledge.manifest+json";

/// The list that a version is made of.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::rest) struct SentManifest {
    /// The content, in order: SHA-256 in lower-case hex, and length.
    #[schema(value_type = Vec<Pair>, max_items = 32768)]
    pub(super) chunks: Vec<(Hash, u32)>,
    /// Guessed from the name where it isn't given.
    pub(super) media_type: Option<String>,
    /// Now where it isn't given.
    #[schema(value_type = Option<Time>)]
    pub(super) modified_at: Option<String>,
}

impl SentManifest {
    /// As core understands it.
    pub(super) fn chunks(&self) -> Vec<Chunk> {
        self.chunks.iter().map(|(Hash(hash), length)| Chunk { hash: *hash, length: *length }).collect()
    }
}

/// A hash as it is read: no text is kept for each of thousands.
pub(super) struct Hash(Sha256);

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Hex;
        impl serde::de::Visitor<'_> for Hex {
            type Value = Hash;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a SHA-256 in lower-case hex")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Hash, E> {
                text.parse().map(Hash).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Hex)
    }
}

/// What a version is made of.
#[derive(Serialize, ToSchema)]
pub(in crate::rest) struct Manifest<'a> {
    pub(super) version_id: &'a str,
    /// The file's, for `If-Match`.
    pub(super) etag: String,
    pub(super) size_bytes: u64,
    pub(super) media_type: &'a str,
    #[schema(value_type = Time)]
    pub(super) modified_at: String,
    /// Where in the content the list begins.
    pub(super) from: u64,
    /// Where the rest of the list begins; null at its end.
    pub(super) next: Option<u64>,
    /// Hash, or null where the index has none, and length.
    #[schema(value_type = Vec<Pair>)]
    pub(super) chunks: Vec<(Option<String>, u64)>,
}

/// `[hash, length]`.
struct Pair;

impl PartialSchema for Pair {
    fn schema() -> RefOr<Schema> {
        let hash = ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::SchemaType::from_iter([Type::String, Type::Null]))
            .pattern(Some("^[0-9a-f]{64}$"));
        let length = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1));
        ArrayBuilder::new()
            .items(ArrayItems::False)
            .prefix_items([Schema::from(hash.build()), Schema::from(length.build())])
            .min_items(Some(2))
            .into()
    }
}

impl ToSchema for Pair {}

/// Whether a media type is this one, whatever its parameters.
pub(super) fn is_type(given: &HeaderValue, expected: &str) -> bool {
    let given = given.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    given.trim().eq_ignore_ascii_case(expected)
}

/// Whether the body is a manifest and not the content.
pub(in crate::rest) fn is_sent(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_some_and(|given| is_type(given, MANIFEST_TYPE))
}

/// Whether the reader wants the manifest and not the content: it must be named, since a wildcard means the file.
pub(in crate::rest) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = text(headers, &header::ACCEPT).unwrap_or_default();
    accepted.split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(MANIFEST_TYPE));
        let refuses = |parameter: &str| {
            let weight = parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.trim_matches(['0', '.']).is_empty())
        };
        is_named && !parts.any(refuses)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_manifest_is_wanted_by_name_only() {
        for (accept, wanted) in [
            ("application/vnd.ledge.manifest+json", true),
            ("text/html, Application/vnd.Ledge.Manifest+JSON;q=0.5", true),
            ("application/vnd.ledge.manifest+json; q=0", false),
            ("application/vnd.ledge.manifest+json;q=0.000", false),
            ("application/vnd.ledge.manifest+json;q=0.001", true),
            ("*/*", false),
            ("application/*", false),
            ("application/json", false),
            ("", false),
        ] {
            assert_eq!(is_wanted(&headers(header::ACCEPT, accept)), wanted, "{accept}");
        }
        assert!(is_sent(&headers(
            header::CONTENT_TYPE,
            "application/vnd.ledge.manifest+json; charset=utf-8"
        )));
        assert!(!is_sent(&headers(header::CONTENT_TYPE, "application/vnd.ledge.manifest")));
    }
}
