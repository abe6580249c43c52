//! Objects in a map: what is put arrives whole, so nothing is hashed again on arrival.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError, Direct, ListPage, Listed, Presigned, Timestamp};

/// Few, so that listings have to go on.
const PAGE: usize = 3;

/// Clones share the objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Objects(Rc<RefCell<BTreeMap<String, Rc<Vec<u8>>>>>);

impl Objects {
    pub(crate) fn keys(&self) -> Vec<String> {
        self.0.borrow().keys().cloned().collect()
    }

    pub(crate) fn find(&self, key: &str) -> Option<Rc<Vec<u8>>> {
        self.0.borrow().get(key).cloned()
    }

    pub(crate) fn holds(&self, key: &str) -> bool {
        self.0.borrow().contains_key(key)
    }

    /// Stores an object. The same key never gets two contents.
    pub(crate) fn store(&self, key: &str, bytes: Vec<u8>) {
        let before = self.0.borrow_mut().insert(key.to_owned(), Rc::new(bytes.clone()));
        assert!(before.is_none_or(|before| *before == bytes), "{key} was stored with other bytes");
    }

    pub(crate) fn remove(&self, keys: &[String]) {
        let mut objects = self.0.borrow_mut();
        for key in keys {
            objects.remove(key);
        }
    }

    pub(crate) fn range(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        let object = self.find(key).ok_or_else(|| BucketError::NotFound(key.to_owned()))?;
        let at = |place: u64| usize::try_from(place).unwrap();
        let part = object.get(at(range.start)..at(range.end));
        part.map(<[u8]>::to_vec).ok_or_else(|| BucketError::OutOfRange(key.to_owned()))
    }
}

impl Bucket for Objects {
    async fn get(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.range(key, range)
    }

    async fn get_unchanged(&self, key: &str, _: &str, range: Range<u64>) -> Result<Vec<u8>, BucketError> {
        self.range(key, range)
    }

    async fn etag(&self, key: &str) -> Result<String, BucketError> {
        Err(BucketError::NotFound(key.to_owned()))
    }

    async fn put(&self, key: &str, bytes: &[u8], _: Sha256) -> Result<(), BucketError> {
        self.store(key, bytes.to_vec());
        Ok(())
    }

    async fn delete(&self, keys: &[String]) -> Result<(), BucketError> {
        self.remove(keys);
        Ok(())
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<ListPage, BucketError> {
        let objects = self.0.borrow();
        let mut found = objects
            .range(cursor.unwrap_or(prefix).to_owned()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| cursor.is_none_or(|cursor| key.as_str() > cursor));
        let listed = |(key, bytes): (&String, &Rc<Vec<u8>>)| Listed {
            key: key.clone(),
            size_bytes: bytes.len() as u64,
            etag: None,
            stored_at: Timestamp(0),
        };
        let page: Vec<Listed> = found.by_ref().take(PAGE).map(listed).collect();
        let next = found.next().and_then(|_| page.last()).map(|last| last.key.clone());
        Ok(ListPage { objects: page, next })
    }

    fn presign(&self, _: &str, _: &Direct<'_>) -> Option<Presigned> {
        None
    }
}
