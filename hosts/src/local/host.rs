//! `Host`: the system's clock and randomness, SHA-256, tasks, response bodies.

use std::future::Future;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::Stream;
use ledge_core::digest::Sha256;
use ledge_core::error::Error;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{BucketError, Host, Timestamp};

use super::{Body, LocalBuckets};

/// Up to here hashing takes less time than handing it to another thread.
const HASH_INLINE_BYTES: usize = 32 * 1024;

/// The machine that the process runs on. Clones are equal.
#[derive(Debug, Clone)]
pub struct Local {
    objects: LocalBuckets,
}

impl Local {
    /// A host whose bodies are read from these objects.
    pub fn new(objects: LocalBuckets) -> Self {
        Self { objects }
    }
}

impl Host for Local {
    type Body = Body;

    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    #[expect(clippy::panic, reason = "without randomness no secret is safe, and no input causes it")]
    fn random(&self, into: &mut [u8]) {
        if let Err(error) = getrandom::fill(into) {
            panic!("the system gives no random bytes: {error}");
        }
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        if bytes.len() <= HASH_INLINE_BYTES {
            return Sha256::of(bytes);
        }
        // The copy costs a tenth of the hash, and the thread is free to receive the next bytes meanwhile.
        let copy = bytes.to_vec();
        match tokio::task::spawn_blocking(move || Sha256::of(&copy)).await {
            Ok(hash) => hash,
            // The runtime is ending; whoever still waits gets the right answer all the same.
            Err(_) => Sha256::of(bytes),
        }
    }

    async fn compute<T: Send + 'static>(&self, calculation: impl FnOnce() -> T + Send + 'static) -> T {
        match tokio::task::spawn_blocking(calculation).await {
            Ok(value) => value,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is ending, and whoever waits with it.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Needs to be called inside [`super::run`].
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        tokio::task::spawn_local(task);
    }

    async fn sleep(&self, millis: u64) {
        // A millisecond more: the clock that `now` reads counts whole ones.
        tokio::time::sleep(Duration::from_millis(millis.saturating_add(1))).await;
    }

    fn report(&self, failure: &str) {
        eprintln!("ledge: {failure}");
    }

    fn most_reads(&self) -> usize {
        usize::MAX
    }

    fn inline(&self, bytes: Vec<u8>) -> Body {
        Body::whole(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Body {
        Body::stream(pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<Body, BucketError> {
        Body::open(&self.objects, plan).await
    }
}
