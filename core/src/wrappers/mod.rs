//! Implementations of the ports around another implementation: one counts, one fails on purpose, one is either of two.

mod counting;
mod either;
mod faulty;

pub use counting::{Counting, CountingBucket, Counts};
pub use either::Either;
pub use faulty::{Fault, Faults, Faulty, FaultyBucket, When};

use crate::ports::{Platform, Ports};

/// A platform whose calls are counted.
pub type Counted<'a, P> = Ports<
    Counting<'a, <P as Platform>::Db>,
    CountingBucket<'a, &'a <P as Platform>::Bucket>,
    &'a <P as Platform>::Queue,
    Counting<'a, <P as Platform>::Host>,
>;

/// A platform that fails on purpose.
pub type Failing<'a, P> = Ports<
    Faulty<'a, <P as Platform>::Db>,
    FaultyBucket<'a, &'a <P as Platform>::Bucket>,
    &'a <P as Platform>::Queue,
    &'a <P as Platform>::Host,
>;

/// The whole platform with every call counted.
pub fn count<'a, P: Platform>(inner: &'a P, counts: &'a Counts) -> Counted<'a, P> {
    Ports {
        db: Counting::new(inner.db(), counts),
        bucket: CountingBucket::new(inner.bucket(), counts),
        queue: inner.queue(),
        host: Counting::new(inner.host(), counts),
        settings: inner.settings().clone(),
    }
}

/// The whole platform, with its database and its bucket failing where `faults` says so.
pub fn fail<'a, P: Platform>(inner: &'a P, faults: &'a Faults) -> Failing<'a, P> {
    Ports {
        db: Faulty::new(inner.db(), faults),
        bucket: FaultyBucket::new(inner.bucket(), faults),
        queue: inner.queue(),
        host: inner.host(),
        settings: inner.settings().clone(),
    }
}
