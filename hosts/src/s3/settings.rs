//! The variables that name a bucket: `LEDGE_S3_…`.

use std::fmt;

use ledge_core::settings::SettingError;
use rusty_s3::{Bucket, UrlStyle};
use url::Url;

/// What every variable's name begins with.
const PREFIX: &str = "LEDGE_S3";

/// The region where none is given: most stores that aren't AWS ignore it or expect this one.
const DEFAULT_REGION: &str = "us-east-1";

/// An S3 bucket, and how to sign in.
#[derive(Debug, Clone)]
pub struct S3Settings {
    /// `LEDGE_S3_ENDPOINT`: the store, `https://s3.eu-central-1.amazonaws.com`.
    pub endpoint: Url,
    /// `LEDGE_S3_REGION`.
    pub region: String,
    /// `LEDGE_S3_BUCKET`: the bucket's name.
    pub bucket: String,
    /// `LEDGE_S3_STYLE`: where the bucket's name stands in a URL.
    pub style: Style,
    /// `LEDGE_S3_ACCESS_KEY_ID`.
    pub access_key_id: String,
    /// `LEDGE_S3_SECRET_ACCESS_KEY`.
    pub secret_access_key: Secret,
    /// `LEDGE_S3_SESSION_TOKEN`, of credentials for a time.
    pub session_token: Option<Secret>,
    /// The two together, as they are used.
    pub(super) located: Bucket,
}

/// Where the bucket's name stands in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `path`: `https://store/bucket/key`.
    Path,
    /// `virtual`: `https://bucket.store/key`.
    Virtual,
}

/// A text that shows itself nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text, for signing only.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl S3Settings {
    /// Reads the variables; None where none of them is set.
    ///
    /// # Errors
    /// The first one that is missing or can't be used.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, SettingError> {
        Reader { variable }.read()
    }
}

struct Reader<V> {
    variable: V,
}

impl<V: Fn(&str) -> Option<String>> Reader<V> {
    fn read(&self) -> Result<Option<S3Settings>, SettingError> {
        const ALL: [&str; 7] =
            ["ENDPOINT", "REGION", "BUCKET", "STYLE", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"];
        let Some(first) = ALL.into_iter().find(|name| self.given(name).is_some()) else { return Ok(None) };
        let required = |name| {
            let reason = || format!("it is not set, though {PREFIX}_{first} is");
            self.given(name).ok_or_else(|| wrong(name, reason()))
        };
        let endpoint = endpoint(&required("ENDPOINT")?)?;
        let bucket = required("BUCKET")?;
        let style = match self.given("STYLE").as_deref() {
            None | Some("path") => Style::Path,
            Some("virtual") => Style::Virtual,
            Some(other) => return Err(wrong("STYLE", format!("{other:?} is neither path nor virtual"))),
        };
        let region = self.given("REGION").unwrap_or_else(|| DEFAULT_REGION.to_owned());
        let located = Bucket::new(endpoint.clone(), style.into(), bucket.clone(), region.clone());
        Ok(Some(S3Settings {
            located: located.map_err(|error| wrong("BUCKET", unusable(&bucket, style, error)))?,
            access_key_id: required("ACCESS_KEY_ID")?,
            secret_access_key: Secret(required("SECRET_ACCESS_KEY")?),
            session_token: self.given("SESSION_TOKEN").map(Secret),
            endpoint,
            region,
            bucket,
            style,
        }))
    }

    fn given(&self, name: &str) -> Option<String> {
        let value = (self.variable)(&format!("{PREFIX}_{name}"))?;
        Some(value.trim().to_owned()).filter(|value| !value.is_empty())
    }
}

/// Reads the endpoint. What is wrong is not repeated where it may hold a password.
fn endpoint(text: &str) -> Result<Url, SettingError> {
    let expected = "expected a URL like https://s3.eu-central-1.amazonaws.com";
    let url = Url::parse(text).map_err(|error| wrong("ENDPOINT", format!("{error}; {expected}")))?;
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong("ENDPOINT", format!("it is neither http:// nor https://; {expected}")));
    }
    if has_credentials || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("ENDPOINT", format!("it has more than host, port and path; {expected}")));
    }
    Ok(url)
}

fn unusable(bucket: &str, style: Style, error: rusty_s3::BucketError) -> String {
    match style {
        Style::Path => format!("{bucket:?} can't be a bucket's name: {error}"),
        Style::Virtual => format!(
            "{bucket:?} can't be part of the endpoint's host name: {error}; {PREFIX}_STYLE=path may help"
        ),
    }
}

fn wrong(name: &str, reason: String) -> SettingError {
    SettingError { name: format!("{PREFIX}_{name}").into(), reason }
}

impl From<Style> for UrlStyle {
    fn from(style: Style) -> Self {
        match style {
            Style::Path => Self::Path,
            Style::Virtual => Self::VirtualHost,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Settings that are complete, but for these changes.
    pub(in crate::s3) fn read(changes: &[(&str, &str)]) -> Result<Option<S3Settings>, SettingError> {
        let whole = [
            ("LEDGE_S3_ENDPOINT", "https://store.example"),
            ("LEDGE_S3_BUCKET", "drive"),
            ("LEDGE_S3_ACCESS_KEY_ID", "AKIDEXAMPLE"),
            ("LEDGE_S3_SECRET_ACCESS_KEY", "a-secret-key"),
        ];
        S3Settings::read(|asked| {
            let found = changes.iter().chain(&whole).find(|(name, _)| *name == asked);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_set_is_no_bucket_and_a_part_is_an_error() {
        assert!(S3Settings::read(|_| None).unwrap().is_none());
        let settings = read(&[]).unwrap().unwrap();
        assert_eq!((settings.region.as_str(), settings.style), ("us-east-1", Style::Path));
        for (name, value) in [
            ("LEDGE_S3_ENDPOINT", ""),
            ("LEDGE_S3_ENDPOINT", "store.example"),
            ("LEDGE_S3_ENDPOINT", "ftp://store.example"),
            ("LEDGE_S3_ENDPOINT", "https://user:hunter2@store.example"),
            ("LEDGE_S3_ENDPOINT", "https://store.example/?bucket=a"),
            ("LEDGE_S3_BUCKET", " "),
            ("LEDGE_S3_STYLE", "host"),
            ("LEDGE_S3_ACCESS_KEY_ID", ""),
            ("LEDGE_S3_SECRET_ACCESS_KEY", ""),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert_eq!(error.name, name, "{value:?}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_name_that_is_no_host_name_needs_path_style() {
        assert!(read(&[("LEDGE_S3_BUCKET", "Drive_1")]).unwrap().is_some());
        let error = read(&[("LEDGE_S3_BUCKET", "a/b"), ("LEDGE_S3_STYLE", "virtual")]).unwrap_err();
        assert_eq!(error.name, "LEDGE_S3_BUCKET");
        let on_an_address = [("LEDGE_S3_ENDPOINT", "http://127.0.0.1:9000"), ("LEDGE_S3_STYLE", "virtual")];
        assert!(read(&on_an_address).unwrap_err().to_string().contains("LEDGE_S3_STYLE=path"));
    }

    #[test]
    fn secrets_do_not_show_themselves() {
        let settings = read(&[("LEDGE_S3_SESSION_TOKEN", "a-session-token")]).unwrap().unwrap();
        let shown = format!("{settings:?}");
        assert!(!shown.contains("a-secret-key") && !shown.contains("a-session-token"), "{shown}");
    }
}
