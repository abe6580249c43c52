//! Where the tree begins in URLs: below `/dav/`, or as Nextcloud's clients look for it.

use crate::address::decode;

/// What stands before the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prefix {
    /// As it is written in answers.
    text: String,
    /// Whose tree it is to be, where the URL says so.
    user: Option<String>,
}

/// Where Nextcloud has its users' files.
const FILES: &str = "/remote.php/dav/files/";
/// Where it has the parts of what they upload.
pub(super) const UPLOADS: &str = "/remote.php/dav/uploads/";

impl Prefix {
    /// `/dav`.
    pub(super) fn plain() -> Self {
        Self { text: "/dav".to_owned(), user: None }
    }

    /// Reads a URL's path; gives what is below, too. None where no tree is.
    pub(super) fn split(path: &str) -> Option<(Self, &str)> {
        if let Some(rest) = path.strip_prefix("/dav") {
            return (rest.is_empty() || rest.starts_with('/')).then(|| (Self::plain(), rest));
        }
        let rest = path.strip_prefix(FILES)?;
        let user = rest.split('/').next().unwrap_or_default();
        let below = rest.get(user.len()..).unwrap_or_default();
        let text = format!("{FILES}{user}");
        Some((Self { text, user: Some(decode(user).ok()?) }, below))
    }

    /// That of a request, whatever it is about.
    pub(super) fn of(path: &str) -> Self {
        Self::split(path).map_or_else(Self::plain, |(prefix, _)| prefix)
    }

    /// As it is written in answers.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whose tree it is to be.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// Whom a path below `/remote.php/dav/` names.
pub(super) fn user(path: &str) -> Option<String> {
    let rest = path.strip_prefix(FILES).or_else(|| path.strip_prefix(UPLOADS))?;
    decode(rest.split('/').next().unwrap_or_default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_are_found_where_clients_look_for_them() {
        for (path, text, user, below) in [
            ("/dav", "/dav", None, ""),
            ("/dav/a/b", "/dav", None, "/a/b"),
            ("/remote.php/dav/files/me", "/remote.php/dav/files/me", Some("me"), ""),
            ("/remote.php/dav/files/m%20e/a", "/remote.php/dav/files/m%20e", Some("m e"), "/a"),
        ] {
            let (prefix, rest) = Prefix::split(path).unwrap();
            assert_eq!((prefix.as_str(), prefix.user(), rest), (text, user, below), "{path}");
        }
        for path in ["/", "/davros", "/remote.php/dav/files", "/remote.php/dav/uploads/me/x", "/api/v1/x"] {
            assert_eq!(Prefix::split(path), None, "{path}");
        }
        assert_eq!(user("/remote.php/dav/uploads/me/x").as_deref(), Some("me"));
    }
}
