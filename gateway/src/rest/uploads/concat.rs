//! `Upload-Concat`: `partial`, or `final;` and the URLs of the parts.

use ledge_core::error::{Error, Result};
use ledge_core::ids::UploadId;

/// What an upload is to its others.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Concat {
    /// A part.
    Partial,
    /// What parts are joined to.
    Final(Vec<UploadId>),
}

/// Reads the header's text. Hosts don't count: behind a proxy, clients and server see different ones.
pub(super) fn read(text: &str) -> Result<Concat> {
    let malformed = || Error::invalid("Upload-Concat", "expected partial, or final; and URLs of uploads");
    let text = text.trim();
    if text == "partial" {
        return Ok(Concat::Partial);
    }
    let urls = text.strip_prefix("final;").ok_or_else(malformed)?;
    let part = |url: &str| {
        let (before, id) = url.rsplit_once('/')?;
        before.ends_with("/api/v1/uploads").then(|| UploadId::parse(id)).flatten()
    };
    let parts: Option<Vec<UploadId>> = urls.split_ascii_whitespace().map(part).collect();
    parts.filter(|parts| !parts.is_empty()).map(Concat::Final).ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_by_their_urls() {
        let id = "018f0000-0000-7000-8000-000000000000";
        assert_eq!(read("partial"), Ok(Concat::Partial));
        let Ok(Concat::Final(parts)) =
            read(&format!("final;/api/v1/uploads/{id} https://h:1/api/v1/uploads/{id}"))
        else {
            panic!("these are two parts")
        };
        assert_eq!(parts.len(), 2);
        for text in ["", "final", "final;", "final; ", "final;x", "final;/api/v1/uploads/x", "whole"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
