//! Trying again: with pauses that grow and differ, a few times, and not for long.

use std::future::Future;
use std::pin::pin;

use futures::future::{Either, select};
use http::{Request, Response};
use ledge_core::ports::BucketError;

use super::S3;
use super::client::{Broken, Client};
use super::sign::Signed;

/// How often an operation is tried at most.
const ATTEMPTS: u32 = 5;

/// After so long, no further attempt begins: whoever waits for an answer has better things to do.
const PATIENCE_MILLIS: i64 = 30_000;

/// The first pause, which doubles each time. Stores that ask for a pause ask for about this.
const FIRST_PAUSE_MILLIS: u64 = 100;

/// How long an answer, or the rest of one, may take; not counting the time that bytes take on the way.
const WAIT_MILLIS: u64 = 15_000;

/// The slowest connection that is waited for.
const SLOWEST_BYTES_PER_MILLI: u64 = 64;

/// Why an attempt failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The next attempt would fail, too.
    Final(BucketError),
    /// It may pass.
    Passing(String),
}

impl<C: Client> S3<C> {
    /// Tries until it is done, or trying again makes no sense.
    pub(super) async fn persist<T>(
        &self,
        attempt: impl AsyncFn() -> Result<T, Trouble>,
    ) -> Result<T, BucketError> {
        let begun = self.client.now();
        for made in 1.. {
            let reason = match attempt().await {
                Ok(done) => return Ok(done),
                Err(Trouble::Final(error)) => return Err(error),
                Err(Trouble::Passing(reason)) => reason,
            };
            if made == ATTEMPTS || self.client.now().0 - begun.0 > PATIENCE_MILLIS {
                let times = if made == 1 { "once".to_owned() } else { format!("{made} times") };
                return Err(BucketError::Unavailable(format!("{}, tried {times}: {reason}", self.place)));
            }
            self.client.sleep(pause_millis(made, self.client.jitter())).await;
        }
        // The loop doesn't end.
        Err(BucketError::Unavailable(self.place.to_string()))
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(&self, request: Signed, body: &[u8]) -> Result<Response<C::Body>, Trouble> {
        // Building fails where a URL is too long, whose text is a secret.
        let request: Request<&[u8]> = request.body(body).map_err(|_| {
            Trouble::Final(BucketError::Unavailable(
                "the request can't be built: its key is too long".to_owned(),
            ))
        })?;
        self.within(body.len(), self.client.send(request)).await
    }

    /// Reads the rest of an answer.
    pub(super) async fn collect(&self, body: C::Body, limit_bytes: usize) -> Result<Vec<u8>, Trouble> {
        self.within(limit_bytes, self.client.collect(body, limit_bytes)).await
    }

    async fn within<T>(
        &self,
        bytes: usize,
        work: impl Future<Output = Result<T, Broken>>,
    ) -> Result<T, Trouble> {
        let millis = WAIT_MILLIS + bytes as u64 / SLOWEST_BYTES_PER_MILLI;
        match select(pin!(work), pin!(self.client.sleep(millis))).await {
            Either::Left((done, _)) => done.map_err(|Broken(reason)| Trouble::Passing(reason)),
            Either::Right(_) => Err(Trouble::Passing(format!("nothing came for {} s", millis / 1000))),
        }
    }
}

/// The pause after so many attempts: between half of the full one and all of it.
fn pause_millis(attempts: u32, jitter: u32) -> u64 {
    let full = FIRST_PAUSE_MILLIS << attempts.saturating_sub(1).min(16);
    full / 2 + u64::from(jitter) % (full / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_differ() {
        for (attempts, least, most) in [(1, 50, 100), (2, 100, 200), (3, 200, 400), (4, 400, 800)] {
            assert_eq!(pause_millis(attempts, 0), least);
            let longest = (0..2000).map(|jitter| pause_millis(attempts, jitter)).max();
            assert_eq!(longest, Some(most));
        }
    }
}
