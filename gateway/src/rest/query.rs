//! Query parameters: a handler names those it knows, and an unknown one is an error and not a surprise.

use std::borrow::Cow;
use std::collections::HashMap;

use http::Uri;
use ledge_core::error::{Error, Result};
use ledge_core::folders::Only;

/// The query parameters of a URI.
pub(super) struct Query<'a>(HashMap<Cow<'a, str>, Cow<'a, str>>);

impl<'a> Query<'a> {
    /// Reads the parameters, all of which must be `known`, each at most once.
    pub(super) fn read(uri: &'a Uri, known: &[&'static str]) -> Result<Self> {
        let mut values = HashMap::new();
        for (name, value) in form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()) {
            let Some(field) = known.iter().find(|known| **known == name) else {
                return Err(Error::invalid("query", format!("unknown parameter {name:?}")));
            };
            if values.insert(name, value).is_some() {
                return Err(Error::invalid(field, "given more than once"));
            }
        }
        Ok(Self(values))
    }

    /// A parameter's value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(AsRef::as_ref)
    }

    /// A parameter that is `true` or `false`; false where it isn't given.
    pub(super) fn is_true(&self, name: &'static str) -> Result<bool> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Error::invalid(name, "expected true or false")),
        }
    }

    /// The parameter `limit`: 1 to `most`, `default` where it isn't given.
    pub(super) fn limit(&self, default: u32, most: u32) -> Result<u32> {
        let Some(text) = self.get("limit") else { return Ok(default) };
        let limit = text.parse().ok().filter(|limit| (1..=most).contains(limit));
        limit.ok_or_else(|| Error::invalid("limit", format!("expected 1 to {most}")))
    }

    /// The parameter `kind`: only `file` or only `folder`.
    pub(super) fn kind(&self) -> Result<Option<Only>> {
        match self.get("kind") {
            None => Ok(None),
            Some("folder") => Ok(Some(Only::Folders)),
            Some("file") => Ok(Some(Only::Files)),
            Some(_) => Err(Error::invalid("kind", "expected folder or file")),
        }
    }
}
