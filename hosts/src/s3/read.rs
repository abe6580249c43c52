//! Ranged reads: exactly the bytes that were asked for, or an error.

use std::ops::Range;

use http::{HeaderMap, Response, StatusCode, header};
use ledge_core::ports::BucketError;

use super::S3;
use super::client::Client;
use super::retry::Trouble;

/// A range whose answer has begun to arrive.
#[derive(Debug)]
pub struct Arriving<B> {
    /// Its bytes: the answer has announced that they are all of the range and nothing else.
    pub body: B,
    /// The object's entity tag, as sent; see [`S3::open`].
    pub etag: Option<String>,
}

impl<C: Client> S3<C> {
    /// Asks for a range, which must not be empty, and waits until it begins to arrive. With an entity tag: of that very
    /// object, for who reads what others may change, or goes on with a range that broke off.
    ///
    /// # Errors
    /// [`BucketError::NotFound`]; [`BucketError::OutOfRange`] where the object ends before the range does;
    /// [`BucketError::Changed`] where it hasn't the entity tag, or isn't there any more.
    pub async fn open(
        &self,
        key: &str,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<Arriving<C::Body>, BucketError> {
        check_key(key)?;
        self.persist(async || self.ask(key, &range, etag).await).await
    }

    pub(super) async fn ask(
        &self,
        key: &str,
        range: &Range<u64>,
        etag: Option<&str>,
    ) -> Result<Arriving<C::Body>, Trouble> {
        let request =
            self.place.get(self.client.now(), key, (range.start, range.end.saturating_sub(1)), etag);
        let changed = || Trouble::Final(BucketError::Changed(key.to_owned()));
        let answer = match self.judge(self.send(request, &[]).await?, Some(key)).await {
            Err(Trouble::Final(BucketError::NotFound(_))) if etag.is_some() => return Err(changed()),
            judged => judged?,
        };
        match is_exactly(&answer, key, range) {
            Ok(()) => {
                let given = answer.headers().get(header::ETAG).and_then(|value| value.to_str().ok());
                let given = given.map(str::to_owned);
                // Not every store knows If-Match.
                if etag.zip(given.as_deref()).is_some_and(|(wanted, given)| bare(wanted) != bare(given)) {
                    self.client.discard(answer.into_body()).await;
                    return Err(changed());
                }
                Ok(Arriving { body: answer.into_body(), etag: given })
            }
            Err(trouble) => {
                self.client.discard(answer.into_body()).await;
                Err(trouble)
            }
        }
    }

    pub(super) async fn etag_of(&self, key: &str) -> Result<String, Trouble> {
        let request = self.place.head(self.client.now(), key);
        let answer = self.judge(self.send(request, &[]).await?, Some(key)).await?;
        let etag = answer.headers().get(header::ETAG).and_then(|value| value.to_str().ok());
        etag.map(str::to_owned).ok_or_else(|| Trouble::Passing("answers without an entity tag".to_owned()))
    }

    pub(super) async fn size_of(&self, key: &str) -> Result<u64, Trouble> {
        let request = self.place.head(self.client.now(), key);
        let answer = self.judge(self.send(request, &[]).await?, Some(key)).await?;
        length(answer.headers()).ok_or_else(|| Trouble::Passing("answers without a size".to_owned()))
    }
}

/// An entity tag without its quotes, which some stores leave out.
fn bare(etag: &str) -> &str {
    etag.trim_matches('"')
}

/// The port's rule. A URL would turn other keys into something else: `a/../b` into `b`.
pub(super) fn check_key(key: &str) -> Result<(), BucketError> {
    let is_usual =
        !key.is_empty() && key.len() <= 1024 && key.split('/').all(|name| !matches!(name, "" | "." | ".."));
    if is_usual { Ok(()) } else { Err(BucketError::Unavailable(format!("{key:?} can't be an object's key"))) }
}

/// Whether an answer of success announces exactly this range.
fn is_exactly<B>(answer: &Response<B>, key: &str, range: &Range<u64>) -> Result<(), Trouble> {
    let wanted = range.end - range.start;
    let announced = length(answer.headers());
    let shown =
        |what: &str| Trouble::Passing(format!("bytes {range:?} of {key} were asked for, {what} came"));
    match answer.status() {
        StatusCode::PARTIAL_CONTENT => {}
        // What ignores ranges may have sent the right bytes all the same.
        StatusCode::OK if range.start == 0 && announced == Some(wanted) => return Ok(()),
        status => return Err(shown(&format!("{status} with {announced:?} bytes"))),
    }
    let Some(given) = content_range(answer.headers()) else { return Err(shown("an unknown range")) };
    if given.first != range.start || given.last >= range.end {
        return Err(shown("another range"));
    }
    if given.last + 1 < range.end {
        // A range is cut at the object's end instead of being refused.
        let at_the_end = given.size == Some(given.last + 1);
        return Err(if at_the_end {
            Trouble::Final(BucketError::OutOfRange(key.to_owned()))
        } else {
            shown("less")
        });
    }
    if announced == Some(wanted) { Ok(()) } else { Err(shown(&format!("a length of {announced:?}"))) }
}

/// `Content-Range`, both ends included.
struct ContentRange {
    first: u64,
    last: u64,
    size: Option<u64>,
}

fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let text = headers.get(header::CONTENT_RANGE)?.to_str().ok()?.trim();
    let (range, size) = text.strip_prefix("bytes")?.trim_start().split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some(ContentRange { first: first.parse().ok()?, last: last.parse().ok()?, size: size.parse().ok() })
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(status: u16, content_range: &str, length: &str) -> Result<(), Trouble> {
        let answer = Response::builder().status(status);
        let answer =
            if content_range.is_empty() { answer } else { answer.header("content-range", content_range) };
        let answer = if length.is_empty() { answer } else { answer.header("content-length", length) };
        is_exactly(&answer.body(()).unwrap(), "k", &(10..20))
    }

    #[test]
    fn only_exactly_the_range_is_taken() {
        assert_eq!(judge(206, "bytes 10-19/100", "10"), Ok(()));
        assert_eq!(judge(206, "bytes 10-19/*", "10"), Ok(()));
        let short = Err(Trouble::Final(BucketError::OutOfRange("k".to_owned())));
        assert_eq!(judge(206, "bytes 10-14/15", "5"), short);
        for (status, range, length) in [
            (206, "bytes 10-14/100", "5"),
            (206, "bytes 10-19/100", "9"),
            (206, "bytes 10-19/100", ""),
            (206, "bytes 0-9/100", "10"),
            (206, "bytes 10-29/100", "20"),
            (206, "bytes 10-18446744073709551615/100", "10"),
            (206, "bytes */100", "10"),
            (206, "", "10"),
            (200, "", "10"),
            (204, "", ""),
        ] {
            let judged = judge(status, range, length);
            assert!(matches!(judged, Err(Trouble::Passing(_))), "{status} {range:?} {length:?}: {judged:?}");
        }
    }

    #[test]
    fn a_whole_object_may_come_without_a_range() {
        let whole = |length| Response::builder().header("content-length", length).body(()).unwrap();
        assert_eq!(is_exactly(&whole(20), "k", &(0..20)), Ok(()));
        assert!(is_exactly(&whole(21), "k", &(0..20)).is_err());
    }

    #[test]
    fn keys_that_a_url_would_change_are_refused() {
        for key in ["", "a//b", "/a", "a/", "a/../b", ".", "a/.", &"x".repeat(1025)] {
            assert!(check_key(key).is_err(), "{key:?}");
        }
        for key in ["a", "a/b", "..a", "a.", ".a/b"] {
            assert!(check_key(key).is_ok(), "{key:?}");
        }
    }
}
