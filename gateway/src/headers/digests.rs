//! `Repr-Digest`, `Content-Digest`, `Want-Repr-Digest` (RFC 9530) and `Content-MD5`.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName};
use ledge_core::error::{Error, Result};
use ledge_core::ingest::{Algorithm, Expected};

use super::text;

const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const WANT_REPR_DIGEST: HeaderName = HeaderName::from_static("want-repr-digest");
const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");
const OC_CHECKSUM: HeaderName = HeaderName::from_static("oc-checksum");

/// The digests that the body must have. Where it is a part of a file, both headers mean the part. Algorithms that we don't verify are ignored, as RFC 9530 allows.
///
/// # Errors
/// [`Error::Invalid`] where a digest can't be read or has the wrong length.
pub(crate) fn expected_digests(headers: &HeaderMap) -> Result<Vec<Expected>> {
    let mut expected = Vec::new();
    let lists = [("Repr-Digest", REPR_DIGEST), ("Content-Digest", CONTENT_DIGEST)]
        .map(|(field, name)| (field, text(headers, &name).unwrap_or_default()));
    let members = lists.iter().flat_map(|(field, list)| list.split(',').map(move |member| (*field, member)));
    for (field, member) in members.filter(|(_, member)| !member.trim().is_empty()) {
        let malformed = || Error::invalid(field, "expected algorithm=:base64:");
        let (name, value) = member.trim().split_once('=').ok_or_else(malformed)?;
        let Some(algorithm) = Algorithm::by_name(name).filter(|algorithm| *algorithm != Algorithm::Md5)
        else {
            continue;
        };
        let encoded =
            value.strip_prefix(':').and_then(|value| value.strip_suffix(':')).ok_or_else(malformed)?;
        expected.push(digest(algorithm, encoded, field)?);
    }
    if let Some(encoded) = text(headers, &CONTENT_MD5) {
        expected.push(digest(Algorithm::Md5, encoded.trim(), "Content-MD5")?);
    }
    Ok(expected)
}

/// The digest of ownCloud's and Nextcloud's clients, `SHA1:<hex>`; algorithms that we don't verify are ignored.
///
/// # Errors
/// [`Error::Invalid`] where it can't be read.
pub(crate) fn oc_checksum(headers: &HeaderMap) -> Result<Option<Expected>> {
    let Some(text) = text(headers, &OC_CHECKSUM) else { return Ok(None) };
    let malformed = || Error::invalid("OC-Checksum", "expected ALGORITHM:hexadecimal");
    let (name, hex) = text.trim().split_once(':').ok_or_else(malformed)?;
    let algorithm = match name.to_ascii_uppercase().as_str() {
        "SHA1" => Algorithm::Sha1,
        "MD5" => Algorithm::Md5,
        "SHA256" => Algorithm::Sha256,
        "ADLER32" => Algorithm::Adler32,
        _ => return Ok(None),
    };
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let value: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
    let value = value.filter(|value| value.len() == algorithm.length()).ok_or_else(malformed)?;
    Ok(Some(Expected { algorithm, value, field: "OC-Checksum" }))
}

fn digest(algorithm: Algorithm, encoded: &str, field: &'static str) -> Result<Expected> {
    let length = algorithm.length();
    let value = STANDARD.decode(encoded).ok().filter(|value| value.len() == length);
    let value = value.ok_or_else(|| Error::invalid(field, format!("expected {length} bytes in base64")))?;
    Ok(Expected { algorithm, value, field })
}

/// The names of the digests that the reader would like, best first.
pub(crate) fn wanted_digests(headers: &HeaderMap) -> Vec<String> {
    let list = text(headers, &WANT_REPR_DIGEST).unwrap_or_default();
    let mut wanted: Vec<(u32, String)> = list
        .split(',')
        .filter_map(|member| {
            let (name, weight) = member.trim().split_once('=')?;
            Some((weight.trim().parse().ok()?, name.to_owned()))
        })
        .filter(|(weight, _)| (1..=10).contains(weight))
        .collect();
    wanted.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
    wanted.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn digests_are_read_and_bad_ones_named() {
        let good = headers(&[
            ("repr-digest", "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:, unixsum=:AAA=:"),
            ("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
        ]);
        let names: Vec<&str> = expected_digests(&good).unwrap().iter().map(|d| d.algorithm.name()).collect();
        assert_eq!(names, ["sha-256", "md5"]);
        for (name, value, field) in [
            ("repr-digest", "sha-256", "Repr-Digest"),
            ("repr-digest", "sha-256=abc", "Repr-Digest"),
            ("repr-digest", "sha-256=:AAAA:", "Repr-Digest"),
            ("content-md5", "x", "Content-MD5"),
        ] {
            match expected_digests(&headers(&[(name, value)])) {
                Err(Error::Invalid { field: named, .. }) => assert_eq!(named, field),
                other => panic!("{value}: {other:?}"),
            }
        }
    }

    #[test]
    fn wishes_come_best_first() {
        let wishes = headers(&[("want-repr-digest", "sha-512=3, sha-256=10, unixsum=0")]);
        assert_eq!(wanted_digests(&wishes), ["sha-256", "sha-512"]);
        assert!(wanted_digests(&HeaderMap::new()).is_empty());
    }
}
