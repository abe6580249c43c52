//! `Host` on Workers: the runtime's clock, WebCrypto, `waitUntil` and native streams.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::Stream;
use js_sys::Uint8Array;
use ledge_core::digest::Sha256;
use ledge_core::error::Error;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{BucketError, Host, Timestamp};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;

use super::{Body, Objects, body, js};
use crate::buckets::Configured;

/// What the Workers runtime provides, for one request.
#[derive(Debug)]
pub struct WorkerHost {
    bucket: Configured<Objects>,
    background: Background,
}

impl WorkerHost {
    pub(super) fn new(bucket: Configured<Objects>, background: Background) -> Self {
        Self { bucket, background }
    }
}

impl Host for WorkerHost {
    type Body = Body;

    /// Workers' clock stands still between two awaited answers from outside.
    #[expect(clippy::cast_possible_truncation, reason = "whole milliseconds, far below 2^53")]
    fn now(&self) -> Timestamp {
        Timestamp(js_sys::Date::now() as i64)
    }

    fn random(&self, into: &mut [u8]) {
        for piece in into.chunks_mut(js::RANDOM_BYTES_AT_ONCE) {
            // The length fits: it is at most RANDOM_BYTES_AT_ONCE.
            let random = Uint8Array::new_with_length(piece.len() as u32);
            js::fill_with_random(&random);
            random.copy_to(piece);
        }
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        let digest = js::settle(js::digest("SHA-256", &Uint8Array::from(bytes))).await;
        let digest = digest.ok().and_then(|buffer| Uint8Array::new(&buffer).to_vec().try_into().ok());
        digest.map_or_else(|| Sha256::of(bytes), Sha256)
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.background.run(task);
    }

    async fn sleep(&self, millis: u64) {
        worker::Delay::from(Duration::from_millis(millis)).await;
    }

    fn report(&self, failure: &str) {
        worker::console_error!("{failure}");
    }

    /// A request may make 10,000 subrequests, of which round trips to D1 are some.
    fn most_reads(&self) -> usize {
        9000
    }

    fn inline(&self, bytes: Vec<u8>) -> Body {
        Body::inline(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Body {
        body::stream(&self.background, pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<Body, BucketError> {
        body::open(&self.bucket, &self.background, plan).await
    }
}

/// Work that keeps an invocation alive after its answer.
#[derive(Debug)]
pub(super) enum Background {
    /// Of a request, or of a queue's messages.
    Request(worker_sys::Context),
    /// Of a cron trigger.
    Cron(worker::ScheduleContext),
}

impl From<&worker::Context> for Background {
    fn from(context: &worker::Context) -> Self {
        let context: &JsValue = context.as_ref().as_ref();
        Self::Request(context.clone().unchecked_into())
    }
}

impl From<worker::ScheduleContext> for Background {
    fn from(context: worker::ScheduleContext) -> Self {
        Self::Cron(context)
    }
}

impl Background {
    /// Starts a task. It ends with the request's grace (30 s after the client has the response or is gone).
    pub(super) fn run(&self, task: impl Future<Output = ()> + 'static) {
        let context = match self {
            Self::Request(context) => context,
            Self::Cron(context) => return context.wait_until(task),
        };
        let promise = future_to_promise(AssertUnwindSafe(async move {
            task.await;
            Ok(JsValue::UNDEFINED)
        }));
        if let Err(thrown) = context.wait_until(&promise) {
            worker::console_warn!("a task may be cut off: {}", js::reason(&thrown));
        }
    }
}
