//! Preconditions: RFC 9110 section 13, as pure functions.

use serde::{Deserialize, Serialize};

use crate::ports::Timestamp;

/// The conditions of a request. Written into the row of an upload in parts, which is held to them at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// `If-Match`.
    pub if_match: Option<Tags>,
    /// `If-None-Match`.
    pub if_none_match: Option<Tags>,
    /// `If-Modified-Since`, in seconds since 1970.
    pub if_modified_since_secs: Option<i64>,
    /// `If-Unmodified-Since`, in seconds since 1970.
    pub if_unmodified_since_secs: Option<i64>,
}

/// The entity tags of one header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tags {
    /// `*`: whatever is there.
    Any,
    /// These.
    List(Vec<Tag>),
}

/// One entity tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Whether it was sent as `W/"…"`.
    pub weak: bool,
    /// What stands between the quotes.
    pub opaque: String,
}

impl Tags {
    /// Reads a list of entity tags. Tags without quotes count too: some clients drop them.
    pub fn parse(header: &str) -> Self {
        if header.trim() == "*" {
            return Self::Any;
        }
        Self::List(header.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Tag::parse).collect())
    }

    fn contains(&self, matches: impl Fn(&Tag) -> bool) -> bool {
        match self {
            Self::Any => true,
            Self::List(tags) => tags.iter().any(matches),
        }
    }
}

impl Tag {
    /// Reads one entity tag.
    pub fn parse(text: &str) -> Self {
        let (weak, quoted) = match text.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Self { weak, opaque: quoted.trim_matches('"').to_owned() }
    }

    /// Whether it names the content. Ours are strong, and untouched but for what proxies that compress do to them
    /// on the way (`W/"x"`, `"x-gzip"`): those forms of the current tag count as equal, or their users could
    /// never save again.
    fn names(&self, etag: &str) -> bool {
        self.opaque == etag || self.opaque.strip_suffix("-gzip") == Some(etag)
    }
}

/// The state of the target.
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    /// The entity tag, without quotes; None for a folder.
    pub etag: Option<&'a str>,
    /// When it changed.
    pub modified_at: Timestamp,
}

/// What the conditions say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Proceed,
    /// 304: a reader has the current content already.
    NotModified,
    /// 412.
    Failed,
}

impl Conditions {
    /// Evaluates in the order of section 13.2.2. `current` is None where nothing is there; `reads` is true for GET
    /// and HEAD.
    pub fn evaluate(&self, current: Option<Current<'_>>, reads: bool) -> Verdict {
        let names = |tags: &Tags| {
            current.is_some_and(|now| tags.contains(|tag| now.etag.is_some_and(|etag| tag.names(etag))))
        };
        let changed_after = |secs: i64| current.is_some_and(|now| now.modified_at.0.div_euclid(1000) > secs);
        if let Some(tags) = &self.if_match {
            if !names(tags) {
                return Verdict::Failed;
            }
        } else if let Some(secs) = self.if_unmodified_since_secs
            && changed_after(secs)
        {
            return Verdict::Failed;
        }
        if let Some(tags) = &self.if_none_match {
            if names(tags) {
                return if reads { Verdict::NotModified } else { Verdict::Failed };
            }
        } else if reads
            && let Some(secs) = self.if_modified_since_secs
            && current.is_some()
            && !changed_after(secs)
        {
            return Verdict::NotModified;
        }
        Verdict::Proceed
    }
}

/// `If-Range`: whether the ranges may be served. Only a strong tag that is exactly ours will do, or a date that is exactly
/// the last modification and at least a second ago (section 13.1.5).
pub fn if_range(header: &IfRange, current: Current<'_>, now: Timestamp) -> bool {
    match header {
        IfRange::Tag(tag) => !tag.weak && current.etag == Some(tag.opaque.as_str()),
        IfRange::DateSecs(secs) => {
            current.modified_at.0.div_euclid(1000) == *secs && now.0 - current.modified_at.0 >= 1000
        }
    }
}

/// An `If-Range` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfRange {
    /// By entity tag.
    Tag(Tag),
    /// By date, in seconds since 1970.
    DateSecs(i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Current<'static> = Current { etag: Some("abc"), modified_at: Timestamp(5_999) };

    fn conditions(name: &str, value: &str) -> Conditions {
        let mut conditions = Conditions::default();
        match name {
            "if-match" => conditions.if_match = Some(Tags::parse(value)),
            "if-none-match" => conditions.if_none_match = Some(Tags::parse(value)),
            "if-modified-since" => conditions.if_modified_since_secs = value.parse().ok(),
            _ => conditions.if_unmodified_since_secs = value.parse().ok(),
        }
        conditions
    }

    #[test]
    fn each_condition_alone() {
        use Verdict::{Failed, NotModified, Proceed};
        for (name, value, read, write, missing) in [
            ("if-match", "\"abc\"", Proceed, Proceed, Failed),
            ("if-match", "\"x\", \"abc\"", Proceed, Proceed, Failed),
            ("if-match", "*", Proceed, Proceed, Failed),
            ("if-match", "\"x\"", Failed, Failed, Failed),
            ("if-match", "", Failed, Failed, Failed),
            ("if-match", "abc", Proceed, Proceed, Failed),
            ("if-match", "W/\"abc\"", Proceed, Proceed, Failed),
            ("if-match", "\"abc-gzip\"", Proceed, Proceed, Failed),
            ("if-none-match", "*", NotModified, Failed, Proceed),
            ("if-none-match", "\"abc\"", NotModified, Failed, Proceed),
            ("if-none-match", "\"zzz\", W/\"abc\"", NotModified, Failed, Proceed),
            ("if-none-match", "\"x\"", Proceed, Proceed, Proceed),
            ("if-modified-since", "5", NotModified, Proceed, Proceed),
            ("if-modified-since", "4", Proceed, Proceed, Proceed),
            ("if-unmodified-since", "5", Proceed, Proceed, Proceed),
            ("if-unmodified-since", "4", Failed, Failed, Proceed),
        ] {
            let conditions = conditions(name, value);
            assert_eq!(conditions.evaluate(Some(NOW), true), read, "{name}: {value}, read");
            assert_eq!(conditions.evaluate(Some(NOW), false), write, "{name}: {value}, write");
            assert_eq!(conditions.evaluate(None, false), missing, "{name}: {value}, missing");
        }
    }

    #[test]
    fn tags_take_precedence_over_dates() {
        let mut both = conditions("if-match", "\"abc\"");
        both.if_unmodified_since_secs = Some(0);
        assert_eq!(both.evaluate(Some(NOW), false), Verdict::Proceed);
        let mut both = conditions("if-none-match", "\"x\"");
        both.if_modified_since_secs = Some(5);
        assert_eq!(both.evaluate(Some(NOW), true), Verdict::Proceed);
    }

    #[test]
    fn if_range_wants_a_strong_match() {
        let later = Timestamp(10_000);
        for (header, serve) in [
            (IfRange::Tag(Tag::parse("\"abc\"")), true),
            (IfRange::Tag(Tag::parse("W/\"abc\"")), false),
            (IfRange::Tag(Tag::parse("\"stale\"")), false),
            (IfRange::DateSecs(5), true),
            (IfRange::DateSecs(6), false),
        ] {
            assert_eq!(if_range(&header, NOW, later), serve, "{header:?}");
        }
        assert!(
            !if_range(&IfRange::DateSecs(5), NOW, Timestamp(6_500)),
            "the same second can't be told apart"
        );
    }
}
