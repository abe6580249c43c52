//! What an operator may set: variables, by the same names on every host.

use std::borrow::Cow;

/// The settings. The defaults suit a drive that nobody has configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `LEDGE_GRACE_SECS`: how long bytes that nothing needs are kept. Also how far back the database can be restored
    /// without missing any.
    pub grace_secs: i64,
    /// `LEDGE_UPLOAD_TTL_SECS`: how long an upload in parts may rest before it counts as abandoned.
    pub upload_ttl_secs: i64,
    /// `LEDGE_BACKUPS_KEPT`: how many dumps of the metadata are kept.
    pub backups_kept: u32,
    /// `LEDGE_JOB_LEASE_SECS`: how long a worker may be silent before another one takes its job over. A step takes a few
    /// seconds; a worker that is overtaken does no harm, but works in vain.
    pub lease_secs: i64,
    /// `LEDGE_DIRECT_DOWNLOADS`: whether clients are sent to the bucket for content that is one whole object there.
    pub direct_downloads: bool,
    /// `LEDGE_DIRECT_UPLOADS`: whether clients may put segments into the bucket themselves.
    pub direct_uploads: bool,
    /// `LEDGE_UPLOAD_MEMORY_MIB`, in bytes: how much the buffers of all uploads in one instance may take together. Who comes
    /// when it is taken is told to come back, before the body is read.
    pub upload_memory_bytes: usize,
    /// `LEDGE_THUMBNAILS`: whether thumbnails are made as soon as a picture is saved, `on-upload`, or when somebody asks for
    /// one, `on-demand`.
    pub thumbnails_on_upload: bool,
    /// `LEDGE_CORS_ORIGINS`: whose pages may use the API from a browser.
    pub cors_origins: Origins,
}

/// Origins of web pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origins {
    /// Every one.
    Any,
    /// These, as browsers write them: `https://app.example.org`.
    Listed(Vec<String>),
}

/// A variable whose value can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {name} is not usable: {reason}")]
pub struct SettingError {
    /// The variable.
    pub name: Cow<'static, str>,
    /// What is wrong, and what is expected. Never a secret's value.
    pub reason: String,
}

/// The bounds of `LEDGE_UPLOAD_MEMORY_MIB`: one buffer, and what WebAssembly can't have in full.
const LEAST_MIB: u32 = 8;
const MOST_MIB: u32 = 2048;

impl Default for Settings {
    fn default() -> Self {
        Self {
            grace_secs: 7 * 24 * 60 * 60,
            upload_ttl_secs: 24 * 60 * 60,
            backups_kept: 7,
            lease_secs: 120,
            direct_downloads: false,
            direct_uploads: false,
            upload_memory_bytes: 64 << 20,
            thumbnails_on_upload: false,
            cors_origins: Origins::Listed(Vec::new()),
        }
    }
}

impl Settings {
    /// Reads the variables; what is missing or empty has its default.
    ///
    /// # Errors
    /// The first one that can't be used.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        Self::default().or(variable)
    }

    /// Reads the variables of a host with other defaults.
    ///
    /// # Errors
    /// As [`Settings::read`].
    pub fn or(self, variable: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let given = |name| variable(name).filter(|value| !value.trim().is_empty());
        let mut settings = self;
        if let Some(value) = given("LEDGE_GRACE_SECS") {
            settings.grace_secs = number("LEDGE_GRACE_SECS", &value)?.into();
        }
        if let Some(value) = given("LEDGE_UPLOAD_TTL_SECS") {
            settings.upload_ttl_secs = number("LEDGE_UPLOAD_TTL_SECS", &value)?.into();
        }
        if let Some(value) = given("LEDGE_BACKUPS_KEPT") {
            settings.backups_kept = number("LEDGE_BACKUPS_KEPT", &value)?;
        }
        if let Some(value) = given("LEDGE_JOB_LEASE_SECS") {
            settings.lease_secs = number("LEDGE_JOB_LEASE_SECS", &value)?.into();
        }
        for (name, setting) in [
            ("LEDGE_DIRECT_DOWNLOADS", &mut settings.direct_downloads),
            ("LEDGE_DIRECT_UPLOADS", &mut settings.direct_uploads),
        ] {
            if let Some(value) = given(name) {
                *setting = switch(name, &value)?;
            }
        }
        if let Some(value) = given("LEDGE_UPLOAD_MEMORY_MIB") {
            settings.upload_memory_bytes = mebibytes("LEDGE_UPLOAD_MEMORY_MIB", &value)?;
        }
        if let Some(value) = given("LEDGE_THUMBNAILS") {
            settings.thumbnails_on_upload = thumbnails(&value)?;
        }
        if let Some(value) = given("LEDGE_CORS_ORIGINS") {
            settings.cors_origins = Origins::parse(&value)?;
        }
        Ok(settings)
    }
}

impl Origins {
    /// Reads `*`, or origins with spaces or commas between them.
    fn parse(text: &str) -> Result<Self, SettingError> {
        let mut listed = Vec::new();
        for origin in text.split([',', ' ', '\n']).filter(|part| !part.is_empty()) {
            if origin == "*" {
                return Ok(Self::Any);
            }
            listed.push(serialised(origin).ok_or_else(|| SettingError {
                name: "LEDGE_CORS_ORIGINS".into(),
                reason: format!(
                    "{origin:?} is no origin; expected * or, with spaces between them, origins like https://app.example.org"
                ),
            })?);
        }
        Ok(Self::Listed(listed))
    }

    /// Whether pages of this origin, as a browser names it, may use the API.
    pub fn allow(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(listed) => listed.iter().any(|one| one == origin),
        }
    }
}

/// An origin in the form that browsers send: lower case, without the scheme's own port, without a path.
fn serialised(origin: &str) -> Option<String> {
    let lower = origin.to_ascii_lowercase();
    let (scheme, host) = lower.trim_end_matches('/').split_once("://")?;
    let standard_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        // Apps that wrap a page have schemes of their own: app://obsidian.md.
        _ => "",
    };
    let host = host.strip_suffix(standard_port).unwrap_or(host);
    let well_formed = !scheme.is_empty()
        && !host.is_empty()
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    well_formed.then(|| format!("{scheme}://{host}"))
}

fn switch(name: &'static str, value: &str) -> Result<bool, SettingError> {
    match value.trim() {
        "on" => Ok(true),
        "off" => Ok(false),
        other => Err(SettingError { name: name.into(), reason: format!("{other:?} is neither on nor off") }),
    }
}

fn number(name: &'static str, value: &str) -> Result<u32, SettingError> {
    let value = value.trim();
    value.parse().map_err(|_| SettingError {
        name: name.into(),
        reason: format!("{value:?} is no whole number from 0 to {}", u32::MAX),
    })
}

fn thumbnails(value: &str) -> Result<bool, SettingError> {
    match value.trim() {
        "on-upload" => Ok(true),
        "on-demand" => Ok(false),
        other => Err(SettingError {
            name: "LEDGE_THUMBNAILS".into(),
            reason: format!("{other:?} is neither on-demand nor on-upload"),
        }),
    }
}

/// No less than one upload needs.
fn mebibytes(name: &'static str, value: &str) -> Result<usize, SettingError> {
    let mebibytes = number(name, value)?;
    if !(LEAST_MIB..=MOST_MIB).contains(&mebibytes) {
        return Err(SettingError {
            name: name.into(),
            reason: format!("{mebibytes} is not between {LEAST_MIB} and {MOST_MIB}"),
        });
    }
    Ok((mebibytes as usize) << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &'static str, value: &str) -> Result<Settings, SettingError> {
        Settings::read(|asked| (asked == name).then(|| value.to_owned()))
    }

    #[test]
    fn what_is_not_set_has_its_default() {
        assert_eq!(Settings::read(|_| None), Ok(Settings::default()));
        assert_eq!(read("LEDGE_GRACE_SECS", " "), Ok(Settings::default()));
        assert_eq!(read("LEDGE_GRACE_SECS", "60").map(|settings| settings.grace_secs), Ok(60));
        assert_eq!(read("LEDGE_DIRECT_UPLOADS", "on").map(|settings| settings.direct_uploads), Ok(true));
        assert_eq!(read("LEDGE_DIRECT_UPLOADS", "off"), Ok(Settings::default()));
        assert!(read("LEDGE_DIRECT_DOWNLOADS", "yes").is_err());
        assert_eq!(
            read("LEDGE_BACKUPS_KEPT", "-1").map_err(|error| error.name),
            Err("LEDGE_BACKUPS_KEPT".into())
        );
        let memory =
            |value| read("LEDGE_UPLOAD_MEMORY_MIB", value).map(|settings| settings.upload_memory_bytes);
        assert_eq!(memory("24"), Ok(24 << 20));
        assert!(memory("7").is_err() && memory("2049").is_err());
        let of_host = Settings { upload_memory_bytes: 1, ..Settings::default() };
        assert_eq!(of_host.clone().or(|_| None), Ok(of_host), "a host's own default");
    }

    #[test]
    fn origins_are_compared_as_browsers_write_them() {
        let origins = |text| read("LEDGE_CORS_ORIGINS", text).map(|settings| settings.cors_origins);
        let listed =
            origins("https://App.example.org:443/, http://localhost:5173 app://obsidian.md").unwrap();
        for (origin, allowed) in [
            ("https://app.example.org", true),
            ("http://localhost:5173", true),
            ("app://obsidian.md", true),
            ("http://app.example.org", false),
            ("https://app.example.org.evil.example", false),
            ("https://app.example.org:8443", false),
            ("null", false),
        ] {
            assert_eq!(listed.allow(origin), allowed, "{origin}");
        }
        assert!(origins("*").unwrap().allow("null"));
        for wrong in ["app.example.org", "https://", "https://a/b", "https://*.example.org"] {
            assert!(origins(wrong).is_err(), "{wrong}");
        }
    }
}
