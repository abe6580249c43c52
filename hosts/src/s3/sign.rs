//! Signed requests.

use std::fmt;
use std::time::Duration;

use data_encoding::BASE64;
use http::request::Builder;
use http::{Method, Request, header};
use ledge_core::digest::Sha256;
use ledge_core::ports::{Direct, PRESIGNED_SECS, Presigned, Timestamp};
use rusty_s3::actions::{DeleteObjects, ObjectIdentifier};
use rusty_s3::{Bucket, Credentials, S3Action};
use url::Url;

use super::settings::S3Settings;

/// How long a request is valid: longer than it takes to send one, with a clock that is a few minutes off.
const VALID: Duration = Duration::from_secs(15 * 60);

/// The same for what others are to send.
const PRESIGNED: Duration = Duration::from_secs(PRESIGNED_SECS.cast_unsigned());

/// The digest that what arrives must have.
const CHECKSUM: &str = "x-amz-checksum-sha256";

/// The most objects in a page, as the port says and S3 allows.
pub(super) const PAGE_OBJECTS: usize = 1000;

/// A bucket, and how to sign in. What it shows of itself is no secret.
pub(super) struct Place {
    bucket: Bucket,
    credentials: Credentials,
    shown: String,
}

/// A request whose body is elsewhere.
pub(super) type Signed = Builder;

impl Place {
    pub(super) fn of(settings: &S3Settings) -> Self {
        let (id, secret) = (settings.access_key_id.as_str(), settings.secret_access_key.reveal());
        Self {
            bucket: settings.located.clone(),
            credentials: match &settings.session_token {
                Some(token) => Credentials::new_with_token(id, secret, token.reveal()),
                None => Credentials::new(id, secret),
            },
            shown: format!("bucket {:?} at {}", settings.bucket, settings.endpoint),
        }
    }

    /// The region that requests are signed for.
    pub(super) fn region(&self) -> &str {
        self.bucket.region()
    }

    /// An object's bytes from `first` to `last`, both included; from the version with this entity tag only, if given.
    pub(super) fn get(&self, now: Timestamp, key: &str, range: (u64, u64), etag: Option<&str>) -> Signed {
        let action = self.bucket.get_object(Some(&self.credentials), key);
        let request = begin(Method::GET, &action, now)
            .header(header::RANGE, format!("bytes={}-{}", range.0, range.1))
            // A store that compresses on the way would send other bytes than those that were asked for.
            .header(header::ACCEPT_ENCODING, "identity");
        match etag {
            Some(etag) => request.header(header::IF_MATCH, etag),
            None => request,
        }
    }

    pub(super) fn head(&self, now: Timestamp, key: &str) -> Signed {
        begin(Method::HEAD, &self.bucket.head_object(Some(&self.credentials), key), now)
    }

    /// The store keeps the object only if what arrives has this digest.
    pub(super) fn put(&self, now: Timestamp, key: &str, sha256: Sha256) -> Signed {
        let checksum = BASE64.encode(&sha256.0);
        let mut action = self.bucket.put_object(Some(&self.credentials), key);
        action.headers_mut().insert(CHECKSUM, checksum.clone());
        begin(Method::PUT, &action, now)
            .header(CHECKSUM, checksum)
            .header(header::CONTENT_TYPE, "application/octet-stream")
    }

    /// A request for somebody else. All that it must have is signed, so that it can do nothing else.
    pub(super) fn presign(&self, now: Timestamp, key: &str, direct: &Direct<'_>) -> Presigned {
        match *direct {
            Direct::Get { media_type, disposition } => {
                let mut action = self.bucket.get_object(Some(&self.credentials), key);
                action.query_mut().insert("response-content-type", media_type.to_owned());
                action.query_mut().insert("response-content-disposition", disposition.to_owned());
                Presigned { url: sign(&action, PRESIGNED, now).into(), headers: Vec::new() }
            }
            Direct::Put { size_bytes, sha256 } => {
                let headers = vec![
                    ("content-length", size_bytes.to_string()),
                    ("if-none-match", "*".to_owned()),
                    (CHECKSUM, BASE64.encode(&sha256.0)),
                ];
                let mut action = self.bucket.put_object(Some(&self.credentials), key);
                for (name, value) in &headers {
                    action.headers_mut().insert(*name, value.clone());
                }
                Presigned { url: sign(&action, PRESIGNED, now).into(), headers }
            }
        }
    }

    pub(super) fn delete_one(&self, now: Timestamp, key: &str) -> Signed {
        begin(Method::DELETE, &self.bucket.delete_object(Some(&self.credentials), key), now)
    }

    /// At most [`PAGE_OBJECTS`] keys; with the body to send.
    pub(super) fn delete(&self, now: Timestamp, keys: &[String]) -> (Signed, String) {
        let objects: Vec<_> = keys.iter().cloned().map(ObjectIdentifier::new).collect();
        let mut action = DeleteObjects::new(&self.bucket, Some(&self.credentials), objects.iter());
        action.set_quiet(true);
        let request = begin(Method::POST, &action, now);
        let (body, md5) = action.body_with_md5();
        (request.header("content-md5", md5).header(header::CONTENT_TYPE, "application/xml"), body)
    }

    pub(super) fn list(&self, now: Timestamp, prefix: &str, after: Option<&str>) -> Signed {
        let mut action = self.bucket.list_objects_v2(Some(&self.credentials));
        action.with_max_keys(PAGE_OBJECTS);
        action.with_prefix(prefix);
        if let Some(after) = after {
            action.with_start_after(after);
        }
        begin(Method::GET, &action, now)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

fn begin<'a>(method: Method, action: &impl S3Action<'a>, now: Timestamp) -> Builder {
    Request::builder().method(method).uri(sign(action, VALID, now).as_str())
}

fn sign<'a>(action: &impl S3Action<'a>, valid: Duration, now: Timestamp) -> Url {
    let now = rusty_s3_jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    action.sign_with_time(valid, &now)
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::read;
    use super::*;

    #[test]
    fn urls_are_of_the_style_that_was_chosen() {
        for (style, begins) in [
            ("path", "https://store.example/drive/a/b%20c?"),
            ("virtual", "https://drive.store.example/a/b%20c?"),
        ] {
            let settings = read(&[("LEDGE_S3_STYLE", style)]).unwrap().unwrap();
            let request = Place::of(&settings).head(Timestamp(0), "a/b c").body(()).unwrap();
            assert!(request.uri().to_string().starts_with(begins), "{style}");
        }
    }

    #[test]
    fn session_token_and_checksum_are_signed() {
        let settings = read(&[("LEDGE_S3_SESSION_TOKEN", "the-token")]).unwrap().unwrap();
        let request = Place::of(&settings).put(Timestamp(0), "a", Sha256::of(b"")).body(()).unwrap();
        let query = request.uri().query().unwrap();
        assert!(query.contains("X-Amz-Security-Token=the-token"));
        assert!(query.contains("X-Amz-SignedHeaders=host%3Bx-amz-checksum-sha256"));
        assert_eq!(
            request.headers()["x-amz-checksum-sha256"],
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        );
    }

    #[test]
    fn all_that_a_direct_request_must_have_is_signed() {
        let place = Place::of(&read(&[]).unwrap().unwrap());
        let put = Direct::Put { size_bytes: 7, sha256: Sha256::of(b"") };
        let put = place.presign(Timestamp(0), "a", &put);
        let signed = "X-Amz-SignedHeaders=content-length%3Bhost%3Bif-none-match%3Bx-amz-checksum-sha256";
        assert!(put.url.contains(signed), "{}", put.url);
        assert_eq!(put.headers[..2], [("content-length", "7".to_owned()), ("if-none-match", "*".to_owned())]);
        let get = Direct::Get { media_type: "text/html", disposition: "attachment; filename=\"a b\"" };
        let get = place.presign(Timestamp(0), "a", &get);
        for part in [
            "response-content-type=text%2Fhtml",
            "response-content-disposition=attachment%3B%20filename%3D%22a%20b%22",
            "X-Amz-Expires=900",
        ] {
            assert!(get.url.contains(part), "{}", get.url);
        }
        assert!(!format!("{get:?}").contains("http"));
    }

    #[test]
    fn a_place_shows_no_secret() {
        let settings = read(&[("LEDGE_S3_SESSION_TOKEN", "the-token")]).unwrap().unwrap();
        let place = Place::of(&settings);
        assert_eq!(format!("{place:?}"), "bucket \"drive\" at https://store.example/");
    }
}
