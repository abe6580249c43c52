//! What a store's refusals mean, and what to do about them.
//!
//! Of what a store writes only the error code is shown: the rest repeats the signed request, or is a proxy's.

use http::{HeaderMap, Response, StatusCode};
use ledge_core::ports::BucketError;

use super::S3;
use super::client::Client;
use super::retry::Trouble;
use super::sign::Place;

/// Errors are far shorter.
const ERROR_BYTES: usize = 64 * 1024;

/// The longest that a code or a region may be, to be shown.
const WORD_BYTES: usize = 64;

impl<C: Client> S3<C> {
    /// An answer of success; else what the answer means for an operation on `key`, if it is on one.
    pub(super) async fn judge(
        &self,
        answer: Response<C::Body>,
        key: Option<&str>,
    ) -> Result<Response<C::Body>, Trouble> {
        if answer.status().is_success() {
            return Ok(answer);
        }
        let (parts, body) = answer.into_parts();
        // What can't be read leaves the status, which says enough.
        let text = self.collect(body, ERROR_BYTES).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        Err(Refusal { status: parts.status, headers: &parts.headers, text: &text, key }.trouble(&self.place))
    }
}

/// An answer that isn't one of success.
struct Refusal<'a> {
    status: StatusCode,
    headers: &'a HeaderMap,
    /// An XML document, or whatever stands between here and the store has to say; empty for HEAD.
    text: &'a str,
    key: Option<&'a str>,
}

impl Refusal<'_> {
    fn trouble(&self, place: &Place) -> Trouble {
        let code = self.code();
        if let Some(error) = self.about_the_object(code) {
            return Trouble::Final(error);
        }
        if self.passes(code) {
            return Trouble::Passing(self.said(code));
        }
        let advice = match self.advice(code, place) {
            Some(advice) => format!("; {advice}"),
            None => String::new(),
        };
        Trouble::Final(BucketError::Unavailable(format!("{place} {}{advice}", self.said(code))))
    }

    fn about_the_object(&self, code: &str) -> Option<BucketError> {
        let key = self.key?.to_owned();
        match (self.status, code) {
            // HEAD has no code. A 404 of anything that isn't S3 must not pass for a missing object.
            (StatusCode::NOT_FOUND, "NoSuchKey") => Some(BucketError::NotFound(key)),
            (StatusCode::NOT_FOUND, "") if self.text.is_empty() => Some(BucketError::NotFound(key)),
            (StatusCode::PRECONDITION_FAILED, _) => Some(BucketError::Changed(key)),
            (StatusCode::RANGE_NOT_SATISFIABLE, _) => Some(BucketError::OutOfRange(key)),
            (
                _,
                "BadDigest" | "InvalidDigest" | "XAmzContentChecksumMismatch" | "XAmzContentSHA256Mismatch",
            ) => Some(BucketError::Damaged(key)),
            _ => None,
        }
    }

    fn passes(&self, code: &str) -> bool {
        matches!(self.status.as_u16(), 408 | 429 | 500 | 502..=599)
            || matches!(code, "RequestTimeout" | "SlowDown" | "OperationAborted" | "InternalError")
    }

    fn advice(&self, code: &str, place: &Place) -> Option<String> {
        let advice = match code {
            "NoSuchBucket" => "there is no such bucket: see LEDGE_S3_BUCKET and LEDGE_S3_ENDPOINT",
            "InvalidAccessKeyId" => "it doesn't know LEDGE_S3_ACCESS_KEY_ID",
            "SignatureDoesNotMatch" => "LEDGE_S3_SECRET_ACCESS_KEY is not the one of LEDGE_S3_ACCESS_KEY_ID",
            "ExpiredToken" | "InvalidToken" | "TokenRefreshRequired" => {
                "LEDGE_S3_SESSION_TOKEN has expired, or belongs to another key"
            }
            "RequestTimeTooSkewed" | "RequestExpired" => CLOCK,
            // This is how a request is refused whose time is not now.
            "AccessDenied" if self.is_about_time() => CLOCK,
            "AccessDenied" => {
                "the key needs the rights to get, put, delete and list; without the last one, missing objects are refused like this, too"
            }
            "AuthorizationHeaderMalformed"
            | "AuthorizationQueryParametersError"
            | "PermanentRedirect"
            | "TemporaryRedirect"
            | "IllegalLocationConstraintException"
            | "InvalidRegionName" => return Some(self.region_advice(place)),
            _ if self.status.is_redirection() => return Some(self.region_advice(place)),
            _ if self.status == StatusCode::FORBIDDEN => {
                "the key and its rights, and this machine's clock, are what it may mean"
            }
            _ if self.status == StatusCode::NOT_FOUND => "see LEDGE_S3_ENDPOINT: it may be no S3 store",
            _ => return None,
        };
        Some(advice.to_owned())
    }

    fn region_advice(&self, place: &Place) -> String {
        let header = self.headers.get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let named = header.map_or_else(|| element(self.text, "Region"), word);
        let region = if named.is_empty() { "another one".to_owned() } else { format!("{named:?}") };
        format!(
            "LEDGE_S3_REGION is {:?}, the bucket's is {region}: see LEDGE_S3_REGION and LEDGE_S3_ENDPOINT",
            place.region()
        )
    }

    fn is_about_time(&self) -> bool {
        ["expired", "not valid yet", "not yet valid"].iter().any(|words| self.text.contains(words))
    }

    /// The store's error code, or nothing.
    fn code(&self) -> &str {
        element(self.text, "Code")
    }

    fn said(&self, code: &str) -> String {
        let status = self.status.as_u16();
        if code.is_empty() { format!("answers {status}") } else { format!("answers {status} {code}") }
    }
}

const CLOCK: &str = "this machine's clock is wrong by minutes: set it";

/// The first element of this name, if it is one word.
fn element<'a>(xml: &'a str, name: &str) -> &'a str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let content = xml.split_once(&open).and_then(|(_, rest)| rest.split_once(&close));
    content.map_or("", |(content, _)| word(content))
}

/// The text if it is one word, as codes and regions are; else nothing.
fn word(text: &str) -> &str {
    let is_word = text.len() <= WORD_BYTES
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if is_word { text } else { "" }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::super::settings::tests::read;
    use super::*;

    fn answer(status: u16, code: &str, message: &str) -> Trouble {
        let text = format!(
            "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message>\
             <StringToSign>X-Amz-Signature=feed</StringToSign></Error>"
        );
        of(status, &text)
    }

    fn of(status: u16, text: &str) -> Trouble {
        let place = Place::of(&read(&[]).unwrap().unwrap());
        let status = StatusCode::from_u16(status).unwrap();
        Refusal { status, headers: &HeaderMap::new(), text, key: Some("the/key") }.trouble(&place)
    }

    fn final_text(trouble: Trouble) -> String {
        match trouble {
            Trouble::Final(BucketError::Unavailable(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_object_that_is_missing_short_or_damaged_is_told_apart() {
        let key = || "the/key".to_owned();
        for (trouble, error) in [
            (answer(404, "NoSuchKey", ""), BucketError::NotFound(key())),
            (of(404, ""), BucketError::NotFound(key())),
            (answer(416, "InvalidRange", ""), BucketError::OutOfRange(key())),
            (answer(400, "BadDigest", ""), BucketError::Damaged(key())),
            (answer(400, "XAmzContentChecksumMismatch", ""), BucketError::Damaged(key())),
        ] {
            assert_eq!(trouble, Trouble::Final(error));
        }
        // Another server's 404 is no answer about an object.
        assert!(final_text(of(404, "<html>no page</html>")).contains("LEDGE_S3_ENDPOINT"));
        assert!(final_text(answer(404, "NoSuchBucket", "")).contains("LEDGE_S3_BUCKET"));
    }

    #[test]
    fn each_refusal_says_what_to_fix() {
        for (trouble, advice) in [
            (answer(403, "InvalidAccessKeyId", ""), "LEDGE_S3_ACCESS_KEY_ID"),
            (answer(403, "SignatureDoesNotMatch", ""), "LEDGE_S3_SECRET_ACCESS_KEY"),
            (answer(400, "ExpiredToken", ""), "LEDGE_S3_SESSION_TOKEN"),
            (answer(403, "RequestTimeTooSkewed", ""), "clock"),
            (answer(403, "AccessDenied", "Request has expired"), "clock"),
            (answer(403, "AccessDenied", "Request is not valid yet"), "clock"),
            (answer(403, "AccessDenied", "Access Denied"), "rights"),
            (of(301, ""), "LEDGE_S3_REGION"),
            (of(403, ""), "rights"),
            (
                of(400, "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-1</Region></Error>"),
                "\"eu-west-1\"",
            ),
        ] {
            let text = final_text(trouble);
            assert!(text.contains(advice), "{text}");
            assert!(!text.contains("feed") && text.contains("bucket \"drive\" at"), "{text}");
        }
    }

    #[test]
    fn the_region_is_taken_from_the_header() {
        let place = Place::of(&read(&[]).unwrap().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert("x-amz-bucket-region", HeaderValue::from_static("eu-north-1"));
        let refusal =
            Refusal { status: StatusCode::MOVED_PERMANENTLY, headers: &headers, text: "", key: None };
        assert!(
            final_text(refusal.trouble(&place)).contains("\"us-east-1\", the bucket's is \"eu-north-1\"")
        );
    }

    #[test]
    fn what_may_pass_is_tried_again() {
        for trouble in [
            answer(500, "InternalError", ""),
            answer(503, "SlowDown", ""),
            of(429, ""),
            of(502, "<html>X-Amz-Signature=feed</html>"),
            answer(400, "RequestTimeout", ""),
        ] {
            assert!(matches!(&trouble, Trouble::Passing(text) if !text.contains("feed")), "{trouble:?}");
        }
        assert!(matches!(answer(501, "NotImplemented", ""), Trouble::Final(_)));
    }
}
