//! The port.

use std::ops::Range;

use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Listed, Presigned, Timestamp};
use rusty_s3::actions::{DeleteObjectsResponse, ErrorObject, ListObjectsV2};

use super::S3;
use super::client::Client;
use super::read::check_key;
use super::retry::Trouble;
use super::sign::PAGE_OBJECTS;

/// A page of listed keys: some 300 bytes each beside the key, which may be encoded threefold.
const LIST_BYTES: usize = PAGE_OBJECTS * (3 * 1024 + 1024);

/// An answer to a delete names only what wasn't deleted.
const DELETED_BYTES: usize = PAGE_OBJECTS * (1024 + 1024);

impl<C: Client> Bucket for S3<C> {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.read(key, range, None).await
    }

    async fn get_unchanged(&self, key: &str, etag: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.read(key, range, Some(etag)).await
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        check_key(key)?;
        self.persist(async || self.etag_of(key).await).await
    }

    async fn put(&self, key: &str, bytes: &[u8], sha256: Sha256) -> Result<(), BucketError> {
        check_key(key)?;
        self.persist(async || {
            let request = self.place.put(self.client.now(), key, sha256);
            let answer = self.judge(self.send(request, bytes).await?, Some(key)).await?;
            self.client.discard(answer.into_body()).await;
            Ok(())
        })
        .await
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        for some in keys.chunks(PAGE_OBJECTS) {
            self.persist(async || match some {
                [key] => self.delete_one(key).await,
                _ => self.delete_some(some).await,
            })
            .await?;
        }
        Ok(())
    }

    /// The cursor is the last page's last key: nothing that a store could forget.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        self.persist(async || {
            let request = self.place.list(self.client.now(), prefix, cursor);
            let answer = self.judge(self.send(request, &[]).await?, None).await?;
            let text = self.collect(answer.into_body(), LIST_BYTES).await?;
            page(&text, prefix, cursor).map_err(|reason| Trouble::Passing(format!("a list {reason}")))
        })
        .await
    }

    fn presign(&self, key: &str, direct: &Direct<'_>) -> Option<Presigned> {
        check_key(key).ok()?;
        Some(self.place.presign(self.client.now(), key, direct))
    }
}

impl<C: Client> S3<C> {
    async fn read(&self, key: &str, range: Range<u64>, etag: Option<&str>) -> Result<Vec<u8>, BucketError> {
        check_key(key)?;
        let out_of_range = || BucketError::OutOfRange(key.to_owned());
        let wanted = usize::try_from(range.end.saturating_sub(range.start)).map_err(|_| out_of_range())?;
        if wanted == 0 {
            let size = self.persist(async || self.size_of(key).await).await?;
            return if range.end <= size { Ok(Vec::new()) } else { Err(out_of_range()) };
        }
        self.persist(async || {
            let arriving = self.ask(key, &range, etag).await?;
            let bytes = self.collect(arriving.body, wanted).await?;
            let is_whole = bytes.len() == wanted;
            is_whole.then_some(bytes).ok_or_else(|| Trouble::Passing(format!("{key} broke off")))
        })
        .await
    }

    async fn delete_one(&self, key: &str) -> Result<(), Trouble> {
        let request = self.place.delete_one(self.client.now(), key);
        match self.judge(self.send(request, &[]).await?, Some(key)).await {
            Ok(answer) => self.client.discard(answer.into_body()).await,
            // Some stores say so.
            Err(Trouble::Final(BucketError::NotFound(_))) => {}
            Err(trouble) => return Err(trouble),
        }
        Ok(())
    }

    async fn delete_some(&self, keys: &[String]) -> Result<(), Trouble> {
        let (request, body) = self.place.delete(self.client.now(), keys);
        let answer = self.judge(self.send(request, body.as_bytes()).await?, None).await?;
        let text = self.collect(answer.into_body(), DELETED_BYTES).await?;
        let unreadable = || Trouble::Passing("the answer to a delete can't be read".to_owned());
        let errors = not_deleted(&text).ok_or_else(unreadable)?;
        match errors.into_iter().find(|error| error.code != "NoSuchKey") {
            None => Ok(()),
            Some(error) => Err(Trouble::Passing(format!("{} was not deleted: {}", error.key, error.code))),
        }
    }
}

/// What an answer to a delete says wasn't deleted; None where it isn't a whole one.
fn not_deleted(text: &[u8]) -> Option<Vec<ErrorObject>> {
    let text = std::str::from_utf8(text).ok()?.trim_end();
    // The parser takes the end of the text for the end of all that is open.
    let is_whole = text.ends_with("</DeleteResult>") || (text.ends_with("/>") && !text.contains("<Error"));
    if is_whole { DeleteObjectsResponse::parse(text).ok().map(|answer| answer.errors) } else { None }
}

/// Reads a page, and believes no page that isn't one.
fn page(text: &[u8], prefix: &str, after: Option<&str>) -> Result<ListPage, &'static str> {
    let text = std::str::from_utf8(text).map_err(|_| "is not text")?;
    // The parser takes the end of the text for the end of all that is open, and half a list for a whole one.
    if !text.trim_end().ends_with("</ListBucketResult>") || !text.contains("<IsTruncated>") {
        return Err("is incomplete");
    }
    let listed = ListObjectsV2::parse_response(text).map_err(|_| "is incomplete, or no list")?;
    let mut objects: Vec<Listed> = Vec::with_capacity(listed.contents.len());
    for content in listed.contents {
        let last = objects.last().map(|object| object.key.as_str()).or(after);
        if last.is_some_and(|last| last >= content.key.as_str()) {
            return Err("is not in the order of its keys");
        }
        if !content.key.starts_with(prefix) {
            return Err("has another prefix");
        }
        let size_bytes = content.size.ok_or("has no sizes")?;
        let stored_at = content.last_modified.as_deref().and_then(time).ok_or("has no times")?;
        objects.push(Listed { key: content.key, size_bytes, etag: content.etag, stored_at });
    }
    let next = match listed.next_continuation_token {
        Some(_) => Some(objects.last().ok_or("goes on after nothing")?.key.clone()),
        None => None,
    };
    Ok(ListPage { objects, next })
}

/// A time as RFC 3339 has it.
fn time(text: &str) -> Option<Timestamp> {
    let time: rusty_s3_jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(keys: &[&str], end: &str) -> String {
        let contents: String =
            keys.iter().map(|key| format!("<Contents><Key>{key}</Key><LastModified>2026-11-30T12:00:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>7</Size></Contents>")).collect();
        format!(
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <EncodingType>url</EncodingType>{contents}{end}</ListBucketResult>"
        )
    }

    #[test]
    fn a_list_is_read_and_goes_on_after_its_last_key() {
        let more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>";
        let read = page(list(&["p/a+b", "p/a%2Bb"], more).as_bytes(), "p/", None).unwrap();
        let keys: Vec<_> = read.objects.iter().map(|object| object.key.as_str()).collect();
        assert_eq!((keys, read.next.as_deref()), (vec!["p/a b", "p/a+b"], Some("p/a+b")));
        let first = &read.objects[0];
        assert_eq!((first.size_bytes, first.etag.as_deref()), (7, Some("\"e\"")));
        assert_eq!(first.stored_at, Timestamp(1_796_040_000_000));
        let last = page(list(&["p/c"], "<IsTruncated>false</IsTruncated>").as_bytes(), "p/", Some("p/b"));
        assert_eq!(last.unwrap().next, None);
    }

    #[test]
    fn half_an_answer_to_a_delete_is_none() {
        let failed = "<Error><Key>k</Key><VersionId/><Code>AccessDenied</Code><Message/></Error>";
        let whole = format!(
            "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{failed}</DeleteResult>"
        );
        assert_eq!(not_deleted(whole.as_bytes()).unwrap().len(), 1);
        for cut in 0..whole.len() {
            assert!(not_deleted(&whole.as_bytes()[..cut]).is_none(), "{cut}");
        }
        for nothing in [
            "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>",
            "<DeleteResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"></DeleteResult>\n",
        ] {
            assert!(not_deleted(nothing.as_bytes()).unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_no_whole_list_is_not_believed() {
        let end = "<IsTruncated>false</IsTruncated>";
        let whole = list(&["p/a", "p/b"], end);
        for cut in 0..whole.len() {
            assert!(page(&whole.as_bytes()[..cut], "p/", None).is_err(), "{cut}");
        }
        for (keys, end) in [
            (["p/b", "p/a"], end),
            (["p/a", "p/a"], end),
            (["p/a", "q/a"], end),
            (["p/a", "p/b"], "<IsTruncated>true</IsTruncated>"),
        ] {
            assert!(page(list(&keys, end).as_bytes(), "p/", None).is_err(), "{keys:?}");
        }
        // A store that doesn't know start-after would begin again for ever.
        assert!(page(whole.as_bytes(), "p/", Some("p/a")).is_err());
    }
}
