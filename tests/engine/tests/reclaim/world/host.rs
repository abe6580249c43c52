//! A machine whose clock the test moves and whose dice a seed throws.

use std::cell::{Cell, RefCell};
use std::time::{SystemTime, UNIX_EPOCH};

use futures::Stream;
use ledge_core::digest::Sha256;
use ledge_core::error::Error;
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::{BucketError, Host, Timestamp};
use ledge_engine_tests::Random;
use ledge_hosts::local::Body;

use super::Objects;

pub(crate) struct Machine {
    now: Cell<i64>,
    random: RefCell<Random>,
    objects: Objects,
}

impl Machine {
    pub(crate) fn new(random: Random, objects: Objects) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        Self { now: Cell::new(i64::try_from(now).unwrap()), random: RefCell::new(random), objects }
    }

    /// Moves the clock.
    pub(crate) fn pass(&self, secs: i64) {
        self.now.set(self.now.get() + secs * 1000);
    }

    /// What a plan reads.
    pub(crate) fn read(&self, plan: &ReadPlan) -> Result<Vec<u8>, BucketError> {
        let mut bytes = Vec::new();
        for slice in plan.slices() {
            match slice {
                Slice::Inline(inline) => bytes.extend_from_slice(inline),
                Slice::Zeros(count) => bytes.resize(bytes.len() + usize::try_from(*count).unwrap(), 0),
                Slice::Object { place, range } => {
                    bytes.extend(self.objects.range(&place.key, range.clone())?)
                }
            }
        }
        Ok(bytes)
    }
}

impl Host for Machine {
    type Body = Body;

    fn now(&self) -> Timestamp {
        Timestamp(self.now.get())
    }

    fn random(&self, into: &mut [u8]) {
        into.fill_with(|| u8::try_from(self.random.borrow_mut().below(256)).unwrap());
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        Sha256::of(bytes)
    }

    fn spawn(&self, _: impl Future<Output = ()> + 'static) {}

    async fn sleep(&self, _: u64) {}

    fn report(&self, failure: &str) {
        println!("reported: {failure}");
    }

    fn most_reads(&self) -> usize {
        usize::MAX
    }

    fn inline(&self, bytes: Vec<u8>) -> Body {
        Body::whole(bytes)
    }

    fn stream(&self, _: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Body {
        unreachable!("these tests ask for no listing that is streamed")
    }

    async fn open(&self, plan: ReadPlan) -> Result<Body, BucketError> {
        self.read(&plan).map(Body::whole)
    }
}
