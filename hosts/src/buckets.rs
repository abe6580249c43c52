//! Several buckets: the default one, and those that `LEDGE_BUCKETS` names.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use ledge_core::digest::Sha256;
use ledge_core::doctor::DEFAULT;
use ledge_core::ports::{Bucket, BucketError, Buckets, Direct, ListPage, Presigned};
use ledge_core::settings::SettingError;
use serde_json::{Map, Value};

use crate::s3::S3Settings;

/// The variable that names buckets, as one JSON object; a secret, since keys are in it.
const VARIABLE: &str = "LEDGE_BUCKETS";

/// The longest name.
const MAX_NAME_BYTES: usize = 32;

/// The default bucket, and others beside it. Clones share them.
#[derive(Debug, Clone)]
pub struct Configured<B> {
    default: B,
    named: Rc<BTreeMap<String, B>>,
}

impl<B> Configured<B> {
    /// These buckets.
    pub fn new(default: B, named: BTreeMap<String, B>) -> Self {
        Self { default, named: Rc::new(named) }
    }

    /// The bucket of that name; the default one, where there is none.
    ///
    /// # Errors
    /// [`BucketError::NotConfigured`].
    pub fn of(&self, name: Option<&str>) -> Result<&B, BucketError> {
        let Some(name) = name else { return Ok(&self.default) };
        self.named.get(name).ok_or_else(|| BucketError::NotConfigured(name.to_owned()))
    }
}

impl<B: Bucket> Bucket for Configured<B> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.default.get(key, range).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.default.get_unchanged(key, etag, range).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        self.default.etag(key).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        self.default.put(key, bytes, sha256).await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.default.delete(keys).await
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.default.list(prefix, cursor).await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        self.default.presign(key, direct)
    }
}

impl<B: Bucket + Clone> Buckets for Configured<B> {
    type Named = B;

    fn named(&self, name: &str) -> Option<B> {
        self.named.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.named.keys().cloned().collect()
    }
}

/// What the configuration says of buckets.
#[derive(Debug, Clone, Default)]
pub struct BucketSettings {
    /// The default one, where it is an S3 bucket: `LEDGE_S3_…`.
    pub default: Option<S3Settings>,
    /// The others: `LEDGE_BUCKETS`.
    pub named: BTreeMap<String, Entry>,
}

/// One of the named buckets.
#[derive(Debug, Clone)]
pub enum Entry {
    /// `{"endpoint": …, "bucket": …}`: an S3 bucket.
    S3(Box<S3Settings>),
    /// `{"folder": "/path"}`: a folder of this machine, on the native host.
    Folder(String),
    /// `{"binding": "PHOTOS"}`: R2 by its binding, on Workers.
    Binding(String),
}

impl BucketSettings {
    /// Reads the variables.
    ///
    /// # Errors
    /// The first variable that can't be used; of `LEDGE_BUCKETS`, the entry. Never a secret.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let named = variable(VARIABLE).filter(|text| !text.trim().is_empty());
        let default = S3Settings::read(variable)?;
        Ok(Self { default, named: named.map(|text| parse(&text)).transpose()?.unwrap_or_default() })
    }

    /// Opens the named ones, each by a host's means.
    ///
    /// # Errors
    /// The first that can't be used: `open` says why.
    pub fn open<B>(
        &self,
        open: impl Fn(&Entry) -> Result<B, String>,
    ) -> Result<BTreeMap<String, B>, SettingError> {
        let opened = self.named.iter().map(|(name, entry)| {
            let bucket = open(entry).map_err(|reason| wrong(format!("{name}: {reason}")))?;
            Ok((name.clone(), bucket))
        });
        opened.collect()
    }
}

fn parse(text: &str) -> Result<BTreeMap<String, Entry>, SettingError> {
    // What serde says names a place in the text, and nothing of it.
    let entries: Map<String, Value> = serde_json::from_str(text).map_err(|error| {
        wrong(format!("it is no JSON object of objects: line {}, column {}", error.line(), error.column()))
    })?;
    entries
        .into_iter()
        .map(|(name, value)| {
            if !is_name(&name) {
                let expected = "a name is 1 to 32 of a-z, 0-9 and -, and not \"default\"";
                return Err(wrong(format!("{name:?}: {expected}")));
            }
            let entry = entry(&value).map_err(|reason| wrong(format!("{name}: {reason}")))?;
            Ok((name, entry))
        })
        .collect()
}

fn is_name(name: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&name.len())
        && name != DEFAULT
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn entry(value: &Value) -> Result<Entry, String> {
    const S3: [&str; 7] =
        ["endpoint", "region", "bucket", "style", "access_key_id", "secret_access_key", "session_token"];
    let Value::Object(members) = value else { return Err("it is no object".to_owned()) };
    let mut texts = BTreeMap::new();
    for (member, value) in members {
        let Value::String(text) = value else { return Err(format!("{member:?} is no text")) };
        texts.insert(member.as_str(), text.as_str());
    }
    for (member, entry) in [("folder", Entry::Folder as fn(String) -> Entry), ("binding", Entry::Binding)] {
        if let Some(text) = texts.get(member) {
            let is_alone = texts.len() == 1 && !text.is_empty();
            return is_alone
                .then(|| entry((*text).to_owned()))
                .ok_or_else(|| format!("{member:?} stands alone, and names something"));
        }
    }
    if let Some(unknown) = texts.keys().find(|member| !S3.contains(member)) {
        return Err(format!("unknown member {unknown:?}"));
    }
    let read = S3Settings::read(|name| {
        let member = name.strip_prefix("LEDGE_S3_")?.to_lowercase();
        texts.get(member.as_str()).map(|text| (*text).to_owned())
    });
    match read {
        Ok(Some(settings)) => Ok(Entry::S3(Box::new(settings))),
        Ok(None) => Err("it says nothing: expected endpoint, bucket and keys".to_owned()),
        Err(SettingError { name, reason }) => Err(format!("{name}: {reason}").replace("LEDGE_S3_", "")),
    }
}

fn wrong(reason: String) -> SettingError {
    SettingError { name: VARIABLE.into(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BucketSettings, SettingError> {
        BucketSettings::read(|name| (name == VARIABLE).then(|| text.to_owned()))
    }

    #[test]
    fn buckets_are_read_by_their_kinds() {
        let read = read(
            r#"{"photos": {"endpoint": "https://store.example", "bucket": "p", "access_key_id": "A", "secret_access_key": "hunter2"},
                "disk": {"folder": "/srv/b"}, "r-2": {"binding": "PHOTOS"}}"#,
        )
        .unwrap();
        let kinds: Vec<(&str, &Entry)> =
            read.named.iter().map(|(name, entry)| (name.as_str(), entry)).collect();
        assert!(matches!(
            kinds.as_slice(),
            [("disk", Entry::Folder(_)), ("photos", Entry::S3(_)), ("r-2", Entry::Binding(_))]
        ));
        assert!(!format!("{read:?}").contains("hunter2"));
        assert!(super::BucketSettings::read(|_| None).unwrap().named.is_empty());
        assert!(self::read(" ").unwrap().named.is_empty());
    }

    #[test]
    fn what_is_wrong_names_the_entry_and_no_secret() {
        for (text, named) in [
            ("hunter2", "JSON"),
            ("[]", "JSON"),
            (r#"{"Photos": {"folder": "/a"}}"#, "\"Photos\""),
            (r#"{"default": {"folder": "/a"}}"#, "\"default\""),
            (r#"{"": {"folder": "/a"}}"#, "\"\""),
            (r#"{"a": "hunter2"}"#, "a: it is no object"),
            (r#"{"a": {}}"#, "a: "),
            (r#"{"a": {"folder": ""}}"#, "a: "),
            (r#"{"a": {"folder": "/a", "bucket": "b"}}"#, "a: "),
            (r#"{"a": {"endpoint": 1}}"#, "a: "),
            (r#"{"a": {"secret": "hunter2"}}"#, "\"secret\""),
            (r#"{"a": {"endpoint": "https://u:hunter2@x.example", "bucket": "b"}}"#, "a: ENDPOINT"),
            (
                r#"{"a": {"endpoint": "https://x.example", "bucket": "b", "secret_access_key": "hunter2"}}"#,
                "a: ACCESS_KEY_ID",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.name, VARIABLE);
            let shown = error.to_string();
            assert!(shown.contains(named) && !shown.contains("hunter2"), "{text}: {shown}");
        }
    }
}
