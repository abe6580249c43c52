//! Errors as WebDAV: the only place that maps one to the other. Bodies are RFC 4918's `error` elements, with the
//! condition that was violated where a standard names it, and a sentence for people.

use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::error::{Conflict, Error};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Host;

use super::prefix::Prefix;
use super::xml::escape;
use super::{Content, in_xml, locks, options};
use crate::problem;

/// Why a request failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A use case says so.
    Core(Error),
    /// WebDAV itself does.
    Dav {
        /// The status.
        status: StatusCode,
        /// An element of the namespace `DAV:` that names the condition.
        condition: Option<&'static str>,
        /// What is wrong.
        detail: String,
    },
}

impl Failure {
    /// A failure that no standard has a name for.
    pub(super) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Dav { status, condition: None, detail: detail.into() }
    }

    /// A violated condition.
    pub(super) fn of(status: StatusCode, condition: &'static str, detail: impl Into<String>) -> Self {
        Self::Dav { status, condition: Some(condition), detail: detail.into() }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

/// The answer to a request that failed.
pub(crate) fn response(host: &impl Host, parts: &Parts, failure: &Failure) -> Response<Content> {
    let (status, condition, detail) = match failure {
        Failure::Dav { status, condition, detail } => (*status, *condition, detail.clone()),
        Failure::Core(error) => {
            let (status, condition) = status_and_condition(error);
            (status, condition, problem::detail(host, error))
        }
    };
    let hrefs: String = match failure {
        Failure::Core(Error::Locked { roots } | Error::LockConflict { roots }) => {
            let prefix = Prefix::of(parts.uri.path());
            roots.iter().map(|root| format!("<D:href>{}</D:href>", locks::root(&prefix, root))).collect()
        }
        _ => String::new(),
    };
    let condition = condition.map(|name| format!("<D:{name}>{hrefs}</D:{name}>")).unwrap_or_default();
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\" xmlns:L=\"urn:ledge:dav\">{condition}\
         <L:detail>{}</L:detail></D:error>",
        escape(&detail)
    );
    let mut response = in_xml(status, Content::Plan(ReadPlan::inline(body)));
    let headers = response.headers_mut();
    if let Failure::Core(error) = failure {
        problem::describe(headers, error);
    }
    if status == StatusCode::METHOD_NOT_ALLOWED {
        options::allow(headers);
    }
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"Ledge\", charset=\"UTF-8\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn status_and_condition(error: &Error) -> (StatusCode, Option<&'static str>) {
    let status = match error {
        Error::Invalid { .. } => StatusCode::BAD_REQUEST,
        Error::Unauthenticated => StatusCode::UNAUTHORIZED,
        Error::NotFound => StatusCode::NOT_FOUND,
        Error::Forbidden { .. } | Error::TokenForbids { .. } => StatusCode::FORBIDDEN,
        Error::Locked { .. } => return (StatusCode::LOCKED, Some("lock-token-submitted")),
        Error::LockConflict { .. } => return (StatusCode::LOCKED, Some("no-conflicting-lock")),
        Error::Conflict(Conflict::NotLocked) => {
            return (StatusCode::CONFLICT, Some("lock-token-matches-request-uri"));
        }
        Error::Conflict(conflict) => match conflict {
            Conflict::IsAFolder | Conflict::IsAFile => StatusCode::METHOD_NOT_ALLOWED,
            Conflict::NameTaken => StatusCode::PRECONDITION_FAILED,
            Conflict::IntoItself | Conflict::IsRoot | Conflict::TooDeep => StatusCode::FORBIDDEN,
            _ => StatusCode::CONFLICT,
        },
        Error::TooManyNodes { .. } => StatusCode::FORBIDDEN,
        Error::Operation { source, .. } => return status_and_condition(source),
        Error::QuotaExceeded => return (StatusCode::INSUFFICIENT_STORAGE, Some("quota-not-exceeded")),
        error => problem::status(error),
    };
    (status, None)
}
