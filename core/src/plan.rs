//! Read plans: how core answers a read without touching content.

use std::ops::Range;

/// What a response body consists of, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadPlan {
    slices: Vec<Slice>,
}

/// Where an object is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The bucket's name in the configuration; None: the default one.
    pub bucket: Option<String>,
    /// The object's key.
    pub key: String,
    /// Its entity tag in the bucket, where it is somebody else's object, which must be read as it was listed; None: the drive's
    /// own, which never changes.
    pub etag: Option<String>,
}

impl<K: Into<String>> From<K> for Place {
    /// In the default bucket.
    fn from(key: K) -> Self {
        Self { bucket: None, key: key.into(), etag: None }
    }
}

/// One piece of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slice {
    /// These bytes.
    Inline(Vec<u8>),
    /// So many zeros: a hole.
    Zeros(u64),
    /// A range of an object.
    Object {
        /// The object.
        place: Place,
        /// The bytes wanted; never empty.
        range: Range<u64>,
    },
}

impl Slice {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Inline(bytes) => bytes.len() as u64,
            Self::Zeros(count) => *count,
            Self::Object { range, .. } => range.end.saturating_sub(range.start),
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReadPlan {
    /// A body that is known already: JSON, an error, a small file.
    pub fn inline(bytes: impl Into<Vec<u8>>) -> Self {
        let mut plan = Self::default();
        plan.push(Slice::Inline(bytes.into()));
        plan
    }

    /// Adds a slice; empty ones vanish, and one that continues the object before it is merged into it, so that
    /// each slice costs one request.
    pub fn push(&mut self, slice: Slice) {
        if slice.is_empty() {
            return;
        }
        match (self.slices.last_mut(), slice) {
            (Some(Slice::Object { place, range }), Slice::Object { place: next_place, range: next })
                if *place == next_place && range.end == next.start =>
            {
                range.end = next.end;
            }
            (Some(Slice::Zeros(count)), Slice::Zeros(more)) => *count += more,
            (Some(Slice::Inline(bytes)), Slice::Inline(more)) => bytes.extend_from_slice(&more),
            (_, slice) => self.slices.push(slice),
        }
    }

    /// The slices, none of them empty.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// The slices, to be consumed by a host.
    pub fn into_slices(self) -> Vec<Slice> {
        self.slices
    }

    /// The bytes of a plan that is all in memory; the plan itself where it is not.
    pub fn into_inline(mut self) -> Result<Vec<u8>, Self> {
        match self.slices.as_mut_slice() {
            [] => Ok(Vec::new()),
            [Slice::Inline(bytes)] => Ok(std::mem::take(bytes)),
            _ => Err(self),
        }
    }

    /// The number of bytes in the body.
    pub fn len(&self) -> u64 {
        self.slices.iter().map(Slice::len).sum()
    }

    /// Whether the body is empty.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// How many bucket operations reading it takes.
    pub fn bucket_reads(&self) -> usize {
        self.slices.iter().filter(|slice| matches!(slice, Slice::Object { .. })).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(key: &str, range: Range<u64>) -> Slice {
        Slice::Object { place: key.into(), range }
    }

    #[test]
    fn adjacent_ranges_of_one_object_are_one_request() {
        let mut plan = ReadPlan::default();
        for slice in [object("a", 0..5), object("a", 5..9), object("b", 9..10), object("b", 0..0)] {
            plan.push(slice);
        }
        assert_eq!(plan.slices(), [object("a", 0..9), object("b", 9..10)]);
        assert_eq!((plan.len(), plan.bucket_reads()), (10, 2));
    }

    #[test]
    fn the_same_key_in_two_buckets_is_two_objects() {
        let mut plan = ReadPlan::default();
        plan.push(object("a", 0..5));
        plan.push(Slice::Object {
            place: Place { bucket: Some("second".to_owned()), ..Place::from("a") },
            range: 5..9,
        });
        assert_eq!(plan.bucket_reads(), 2);
    }

    #[test]
    fn ranges_that_only_touch_in_number_are_not_merged() {
        let mut plan = ReadPlan::default();
        plan.push(object("a", 0..5));
        plan.push(object("b", 5..6));
        plan.push(object("a", 6..7));
        assert_eq!(plan.slices().len(), 3);
    }
}
