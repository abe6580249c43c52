//! `Upload` over a request's body.

use std::pin::pin;

use futures::future::select;
use spin_sdk::wasip3::http::types::{self, ErrorCode};
use spin_sdk::wasip3::wit_bindgen::{FutureReader, StreamReader, StreamResult};
use spin_sdk::wasip3::{spawn, wit_future};

use super::client::{PIECE_BYTES, reason, sleep};
use crate::counted::{CountedBody, Source};

/// The body of a request.
pub type RequestBody = CountedBody<Incoming>;

/// How much of a body that nobody wanted is read on, and for how long, so that its sender gets to see the answer: where the
/// connection closes while it still sends, it sees a reset.
const DRAIN_BYTES: usize = 64 << 20;
const DRAIN_MILLIS: u64 = 30_000;

/// What the host hands over.
#[derive(Debug)]
pub struct Incoming {
    state: State,
    /// Whether its sender has begun to send, as far as one can tell before it is read.
    is_under_way: bool,
}

type End = FutureReader<Result<Option<types::Trailers>, ErrorCode>>;

#[derive(Debug)]
enum State {
    Unread(types::Request),
    Reading { stream: StreamReader<u8>, end: End },
    Ended,
}

impl Incoming {
    /// The body of a request, of which nothing is read yet. Who waits for "100 Continue" is not sending.
    pub(super) fn of(request: types::Request, is_under_way: bool) -> Self {
        Self { state: State::Unread(request), is_under_way }
    }
}

fn begin(request: types::Request) -> (StreamReader<u8>, End) {
    let (_result, reader) = wit_future::new(|| Ok(()));
    types::Request::consume_body(request, reader)
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let (stream, end) = match std::mem::replace(&mut self.state, State::Ended) {
            State::Unread(request) if self.is_under_way => begin(request),
            State::Reading { stream, end } => (stream, end),
            State::Unread(_) | State::Ended => return,
        };
        spawn(async move {
            let _ = select(pin!(drain(stream)), pin!(sleep(DRAIN_MILLIS))).await;
            drop(end);
        });
    }
}

async fn drain(mut stream: StreamReader<u8>) {
    let mut drained = 0_usize;
    let mut buffer = Vec::with_capacity(PIECE_BYTES);
    while drained <= DRAIN_BYTES {
        let (result, bytes) = stream.read(buffer).await;
        if bytes.is_empty() && matches!(result, StreamResult::Dropped) {
            return;
        }
        drained = drained.saturating_add(bytes.len());
        buffer = bytes;
        buffer.clear();
    }
}

impl Source for Incoming {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, String> {
        let (mut stream, end) = match std::mem::replace(&mut self.state, State::Ended) {
            State::Unread(request) => begin(request),
            State::Reading { stream, end } => (stream, end),
            State::Ended => return Ok(0),
        };
        loop {
            let buffer = Vec::with_capacity(at_most.clamp(1, PIECE_BYTES));
            let (result, bytes) = stream.read(buffer).await;
            match result {
                // The rest of the last piece, if there is any; then the next call finds the end.
                StreamResult::Dropped if bytes.is_empty() => {
                    return end.await.map(|_trailers| 0).map_err(|code| reason(&code));
                }
                _ if bytes.is_empty() => {}
                _ => {
                    self.state = State::Reading { stream, end };
                    into.extend_from_slice(&bytes);
                    return Ok(bytes.len());
                }
            }
        }
    }
}
