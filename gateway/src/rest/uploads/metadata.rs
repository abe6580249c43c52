//! `Upload-Metadata`: pairs of a key and a value in base64. These keys mean something here, others are only kept:
//!
//! - `path`: where to, names with slashes in between, not encoded otherwise; `filename` where there is none.
//! - `space`: the space's id. Without it the path begins where `/dav/` does for the same token.
//! - `filetype`: the media type. Without it it is guessed from the name.
//! - `modified_at`: RFC 3339.

use std::collections::HashMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_core::error::{Error, Result};
use ledge_core::ids::SpaceId;
use ledge_core::path::Path;
use ledge_core::ports::Timestamp;
use ledge_core::uploads::MAX_METADATA_BYTES;

use crate::headers::parse_rfc3339;

/// So many pairs at most.
const MAX_PAIRS: usize = 32;

/// What was understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub(super) path: Option<Path>,
    pub(super) space: Option<SpaceId>,
    pub(super) media_type: Option<String>,
    pub(super) modified_at: Option<Timestamp>,
}

/// Reads the header's text.
///
/// # Errors
/// [`Error::Invalid`] where it is malformed, too long, or a value that means something can't be read.
pub(super) fn read(text: &str) -> Result<Metadata> {
    let pairs = pairs(text)?;
    let known = |key: &str| -> Result<Option<&str>> {
        let Some(bytes) = pairs.get(key) else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| invalid(format!("{key} is not UTF-8")))
    };
    let path = match known("path")? {
        Some(path) => Some(Path::parse(path.strip_prefix('/').unwrap_or(path).split('/'))?),
        None => known("filename")?.map(|name| Path::parse([name])).transpose()?,
    };
    // A malformed id is one that doesn't exist.
    let space = known("space")?.map(|id| SpaceId::parse(id).ok_or(Error::NotFound)).transpose()?;
    let modified_at = known("modified_at")?.map(|text| {
        let expected = "modified_at: expected an RFC 3339 time between 1970 and 9999";
        parse_rfc3339(text).ok_or_else(|| invalid(expected))
    });
    // What browsers don't know has no type.
    let media_type = known("filetype")?.filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Metadata { path, space, media_type, modified_at: modified_at.transpose()? })
}

fn pairs(text: &str) -> Result<HashMap<&str, Vec<u8>>> {
    if text.len() > MAX_METADATA_BYTES {
        return Err(invalid(format!("it has more than {MAX_METADATA_BYTES} bytes")));
    }
    let mut pairs = HashMap::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(invalid("a key is not visible ASCII"));
        }
        let value = STANDARD.decode(value.trim()).map_err(|_| invalid("a value is not base64"))?;
        if pairs.insert(key, value).is_some() {
            return Err(invalid("a key stands there twice"));
        }
        if pairs.len() > MAX_PAIRS {
            return Err(invalid(format!("it has more than {MAX_PAIRS} pairs")));
        }
    }
    Ok(pairs)
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::invalid("Upload-Metadata", reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(key: &str, value: impl AsRef<[u8]>) -> String {
        format!("{key} {}", STANDARD.encode(value))
    }

    #[test]
    fn what_means_something_is_read_and_the_rest_kept() {
        let text =
            [pair("path", "/a b/ü#1.txt"), pair("filetype", "text/plain"), "is_confidential".to_owned()];
        let metadata = read(&text.join(",")).unwrap();
        let names: Vec<String> =
            metadata.path.unwrap().names().iter().map(|name| name.as_str().to_owned()).collect();
        assert_eq!(names, ["a b", "ü#1.txt"]);
        assert_eq!(metadata.media_type.as_deref(), Some("text/plain"));
        assert_eq!(read(&pair("filename", "x")).unwrap().path, Some(Path::parse(["x"]).unwrap()));
        assert_eq!(read("").unwrap().path, None);
    }

    #[test]
    fn what_is_malformed_or_too_much_is_refused() {
        let many: Vec<String> = (0..40).map(|n| format!("key{n}")).collect();
        for text in [
            "path !!!".to_owned(),
            "path YQ== YQ==".to_owned(),
            "ключ YQ==".to_owned(),
            format!("{0},{0}", pair("path", "a")),
            pair("path", [0xff]),
            pair("path", "a//b"),
            pair("path", ""),
            pair("path", ".."),
            pair("path", "a\0"),
            pair("filename", "a/b"),
            pair("modified_at", "yesterday"),
            many.join(","),
            pair("path", "a/".repeat(200)),
            pair("x", vec![b'x'; 9000]),
        ] {
            assert!(matches!(read(&text), Err(Error::Invalid { .. })), "{text}");
        }
        assert_eq!(read(&pair("space", "none")), Err(Error::NotFound));
    }
}
