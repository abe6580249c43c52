//! Errors as HTTP: the only place that maps one to the other. Bodies are RFC 9457 problems with a stable `code`.

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use ledge_core::error::{Conflict, Error, MAX_NAMED, Unavailable};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Host;
use serde::Serialize;

/// When to try again after a failure of the bucket or the database, or when memory is short.
const RETRY_AFTER_SECS: u32 = 2;

#[derive(Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    code: &'a str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    /// Which operation of a batch, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<usize>,
    /// The job that is to be waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<&'a str>,
    /// The chunks that are to be sent.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    missing: &'a [String],
}

/// The answer to a request that failed.
pub(crate) fn response(host: &impl Host, error: &Error) -> Response<ReadPlan> {
    let (error, operation) = match error {
        Error::Operation { index, source } => (source.as_ref(), Some(*index)),
        error => (error, None),
    };
    let (status, code) = status_and_code(error);
    let detail = detail(host, error);
    let field = match error {
        Error::Invalid { field, .. } => Some(*field),
        _ => None,
    };
    let missing: Vec<String> = match error {
        Error::ChunksMissing { hashes } => hashes.iter().take(MAX_NAMED).map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let job = match error {
        Error::NeedsHash { job } => Some(job.as_str()),
        _ => None,
    };
    let mut response = build(status, code, &detail, &Members { field, operation, job, missing: &missing });
    let headers = response.headers_mut();
    if let Error::Unauthenticated = error {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"ledge\""));
    }
    describe(headers, error);
    response
}

/// What the answer says in words. What is not the client's fault goes to the log, with its cause.
pub(crate) fn detail(host: &impl Host, error: &Error) -> String {
    match error {
        // The cause is for the log.
        Error::Internal(_) => {
            host.report(&error.to_string());
            "internal error: this is a fault of the server".to_owned()
        }
        Error::Unavailable(Unavailable::Database { cause } | Unavailable::Bucket { cause }) => {
            host.report(&format!("{error}: {cause}"));
            error.to_string()
        }
        error => error.to_string(),
    }
}

/// The headers that belong to an error in every protocol.
pub(crate) fn describe(headers: &mut HeaderMap, error: &Error) {
    match error {
        Error::RangeNotSatisfiable { size_bytes } => {
            if let Ok(range) = HeaderValue::try_from(format!("bytes */{size_bytes}")) {
                headers.insert(header::CONTENT_RANGE, range);
            }
        }
        Error::Busy | Error::Unavailable(_) => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECS));
        }
        _ => {}
    }
}

/// The status of an error.
pub(crate) fn status(error: &Error) -> StatusCode {
    status_and_code(error).0
}

/// Every code there is. docs/API.md explains each, and the OpenAPI document lists them.
pub(crate) const CODES: &[&str] = &[
    "invalid",
    "bad_target",
    "malformed_request",
    "unauthenticated",
    "forbidden",
    "not_found",
    "no_such_route",
    "method_not_allowed",
    "parent_missing",
    "not_a_folder",
    "is_a_folder",
    "is_a_file",
    "name_taken",
    "into_itself",
    "is_root",
    "too_deep",
    "current_version",
    "size_differs",
    "not_locked",
    "wrong_offset",
    "incomplete",
    "not_direct",
    "source_changed",
    "contended",
    "job_over",
    "job_under_way",
    "secret_shown_once",
    "idempotency_key_reused",
    "parent_gone",
    "chunks_missing",
    "needs_hash",
    "bad_archive",
    "entry_unsupported",
    "resync",
    "too_many_nodes",
    "too_many_entries",
    "body_too_large",
    "precondition_failed",
    "range_not_satisfiable",
    "locked",
    "lock_conflict",
    "too_many_locks",
    "too_many_uploads",
    "checksum_mismatch",
    "unsupported_media_type",
    "no_thumbnail",
    "quota_exceeded",
    "busy",
    "unavailable",
    "not_set_up",
    "internal",
];

fn status_and_code(error: &Error) -> (StatusCode, &'static str) {
    match error {
        Error::Invalid { .. } => (StatusCode::BAD_REQUEST, "invalid"),
        Error::Unauthenticated => (StatusCode::UNAUTHORIZED, "unauthenticated"),
        Error::NotFound => (StatusCode::NOT_FOUND, "not_found"),
        Error::Forbidden { .. } | Error::AdministratorsOnly | Error::TokenForbids { .. } => {
            (StatusCode::FORBIDDEN, "forbidden")
        }
        Error::Conflict(conflict) => (
            StatusCode::CONFLICT,
            match conflict {
                Conflict::ParentMissing => "parent_missing",
                Conflict::NotAFolder => "not_a_folder",
                Conflict::IsAFolder => "is_a_folder",
                Conflict::IsAFile => "is_a_file",
                Conflict::NameTaken => "name_taken",
                Conflict::IntoItself => "into_itself",
                Conflict::IsRoot => "is_root",
                Conflict::TooDeep => "too_deep",
                Conflict::CurrentVersion => "current_version",
                Conflict::SizeDiffers => "size_differs",
                Conflict::NotLocked => "not_locked",
                Conflict::JobOver => "job_over",
                Conflict::JobUnderWay => "job_under_way",
                Conflict::WrongOffset => "wrong_offset",
                Conflict::Incomplete => "incomplete",
                Conflict::NotDirect => "not_direct",
                Conflict::SourceChanged => "source_changed",
                Conflict::Contended => "contended",
            },
        ),
        Error::ParentGone { .. } => (StatusCode::CONFLICT, "parent_gone"),
        Error::BadArchive { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "bad_archive"),
        Error::EntryUnsupported { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "entry_unsupported"),
        Error::NeedsHash { .. } => (StatusCode::CONFLICT, "needs_hash"),
        Error::ChunksMissing { .. } => (StatusCode::CONFLICT, "chunks_missing"),
        Error::ChangesGone => (StatusCode::GONE, "resync"),
        Error::NoThumbnail { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "no_thumbnail"),
        Error::BodyTooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
        Error::TooManyEntries { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too_many_entries"),
        Error::TooManyNodes { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "too_many_nodes"),
        Error::Locked { .. } => (StatusCode::LOCKED, "locked"),
        Error::LockConflict { .. } => (StatusCode::LOCKED, "lock_conflict"),
        Error::TooManyLocks => (StatusCode::INSUFFICIENT_STORAGE, "too_many_locks"),
        Error::Operation { source, .. } => status_and_code(source),
        Error::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "precondition_failed"),
        Error::RangeNotSatisfiable { .. } => (StatusCode::RANGE_NOT_SATISFIABLE, "range_not_satisfiable"),
        Error::TooManyUploads => (StatusCode::TOO_MANY_REQUESTS, "too_many_uploads"),
        Error::QuotaExceeded => (StatusCode::INSUFFICIENT_STORAGE, "quota_exceeded"),
        Error::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        Error::Unavailable(_) => (StatusCode::SERVICE_UNAVAILABLE, "unavailable"),
        Error::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, "internal"),
    }
}

/// The answer to a request that no route matches.
pub(crate) fn no_route() -> Response<ReadPlan> {
    plain(StatusCode::NOT_FOUND, "no_such_route", "no resource has such a URL")
}

/// A problem that comes from HTTP itself and not from a use case.
pub(crate) fn plain(status: StatusCode, code: &str, detail: &str) -> Response<ReadPlan> {
    build(status, code, detail, &Members::default())
}

/// What some problems have beside the usual members.
#[derive(Default)]
struct Members<'a> {
    field: Option<&'a str>,
    operation: Option<usize>,
    job: Option<&'a str>,
    missing: &'a [String],
}

fn build(status: StatusCode, code: &str, detail: &str, members: &Members<'_>) -> Response<ReadPlan> {
    debug_assert!(CODES.contains(&code), "CODES lacks {code:?}");
    let problem = Problem {
        r#type: format!("urn:ledge:problem:{code}"),
        title: status.canonical_reason().unwrap_or("Error"),
        status: status.as_u16(),
        code,
        detail,
        field: members.field,
        operation: members.operation,
        job: members.job,
        missing: members.missing,
    };
    let mut response = Response::new(ReadPlan::inline(serde_json::to_vec(&problem).unwrap_or_default()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    // Some problems are answered before there is a request that could be handled.
    protect(headers);
    response
}

/// What every response carries, so that no content runs as a page of this origin, and none is rewritten on the way.
pub(crate) fn protect(headers: &mut HeaderMap) {
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // A file must never run as a page of this origin, whichever way it is opened. Our own page has its own policy.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("sandbox"));
    // no-transform: a proxy that compresses would weaken the entity tag and drop the length.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("private, no-transform"));
}
