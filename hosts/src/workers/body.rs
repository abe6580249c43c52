//! From a read plan to a response body whose content never enters WebAssembly memory.
//!
//! One object is its own native stream. Several slices are piped, natively and in order, into a
//! `FixedLengthStream`, so that the response has a Content-Length and a body that stays short can't pass for a
//! whole one. (A plain `TransformStream` is JavaScript, and 25 times as slow.)

use std::collections::VecDeque;
use std::vec;

use futures::{Stream, StreamExt};
use js_sys::{BigInt, Uint8Array};
use ledge_core::error::Error;
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::BucketError;
use wasm_bindgen::JsValue;
use web_sys::{ReadableStream, StreamPipeOptions, TransformStream, WritableStream};
use worker_sys::FixedLengthStream;

use super::host::Background;
use super::objects::{Asked, ask};
use super::{Objects, js};
use crate::buckets::Configured;

/// How many objects are asked for while an earlier one is sent. Six connections may wait for their headers at a
/// time; two are left for the rest of the request.
const ASKED_AHEAD: usize = 4;

/// Holes are sent in pieces of so many bytes, all of them the same memory.
const ZEROS_AT_ONCE: u32 = 64 * 1024;

/// A response body.
#[derive(Debug)]
pub struct Body(pub(super) Content);

impl Body {
    /// A body that is in memory already.
    pub fn inline(bytes: Vec<u8>) -> Self {
        Self(Content::Bytes(bytes))
    }
}

#[derive(Debug)]
pub(super) enum Content {
    /// Bytes that are known already; possibly none.
    Bytes(Vec<u8>),
    /// A native stream.
    Stream(Unread),
}

/// A stream that nobody has been given yet. Who drops it tells its source to stop; else a source that waits
/// for a reader would hold its connections, and the request, until the runtime loses patience.
#[derive(Debug)]
pub(super) struct Unread {
    stream: ReadableStream,
    is_handed_over: bool,
}

impl Unread {
    pub(super) fn hand_over(mut self) -> ReadableStream {
        self.is_handed_over = true;
        self.stream.clone()
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        if !self.is_handed_over {
            js::forget(self.stream.cancel());
        }
    }
}

/// Makes a body. The first object has begun to arrive before this returns.
pub(super) async fn open(
    buckets: &Configured<Objects>,
    background: &Background,
    plan: ReadPlan,
) -> Result<Body, BucketError> {
    let length = plan.len();
    let mut line = Line::new(buckets.clone(), plan.into_slices());
    line.await_first_object().await?;
    let content = match line.take_only() {
        Some(Piece::Bytes(bytes)) => Content::Bytes(bytes),
        Some(Piece::Stream(stream)) => Content::Stream(Unread { stream, is_handed_over: false }),
        _ if length == 0 => Content::Bytes(Vec::new()),
        _ => {
            let pipe = FixedLengthStream::new_big_int(BigInt::from(length)).map_err(|e| unavailable(&e))?;
            background.run(send(line, pipe.writable()));
            Content::Stream(Unread { stream: pipe.readable(), is_handed_over: false })
        }
    };
    Ok(Body(content))
}

/// Makes a body of pieces that are made while it is sent; the stream's own queue holds one at a time.
pub(super) fn stream(
    background: &Background,
    pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static,
) -> Body {
    let pipe = match TransformStream::new() {
        Ok(pipe) => pipe,
        Err(thrown) => {
            // No input causes it. An empty body would look whole only to a reader that ignores its form.
            worker::console_error!("no stream for a response body: {}", js::reason(&thrown));
            return Body::inline(Vec::new());
        }
    };
    background.run(send_pieces(Box::pin(pieces), pipe.writable()));
    Body(Content::Stream(Unread { stream: pipe.readable(), is_handed_over: false }))
}

async fn send_pieces(mut pieces: impl Stream<Item = Result<Vec<u8>, Error>> + Unpin, into: WritableStream) {
    while let Some(piece) = pieces.next().await {
        let written = match piece {
            Ok(bytes) => write(&into, &Uint8Array::from(bytes.as_slice()), 1).await,
            Err(error) => Err(js_sys::Error::new(&error.to_string()).into()),
        };
        if let Err(thrown) = written {
            worker::console_warn!("a response body broke off: {}", js::reason(&thrown));
            // It can fail only because the stream is broken already, which is what's wanted.
            let _ = js::settle(Ok(into.abort_with_reason(&thrown))).await;
            return;
        }
    }
    let _ = js::settle(Ok(into.close())).await;
}

/// Sends everything in order. Where that fails, the client sees a broken body.
async fn send(mut line: Line, into: WritableStream) {
    if let Err(thrown) = send_all(&mut line, &into).await {
        worker::console_warn!("a response body broke off: {}", js::reason(&thrown));
        // Either can fail only because its stream is broken already, which is what's wanted.
        let _ = js::settle(Ok(into.abort_with_reason(&thrown))).await;
        line.discard().await;
    }
}

async fn send_all(line: &mut Line, into: &WritableStream) -> Result<(), JsValue> {
    while let Some(piece) = line.next() {
        match piece {
            Piece::Bytes(bytes) => write(into, &Uint8Array::from(bytes.as_slice()), 1).await?,
            Piece::Zeros(count) => write_zeros(into, count).await?,
            Piece::Stream(stream) => pipe(&stream, into).await?,
            Piece::Asked(asked) => {
                let arrived = asked.arrived().await.map_err(|e| js_sys::Error::new(&e.to_string()))?;
                pipe(&arrived, into).await?;
            }
        }
    }
    js::settle(Ok(into.close())).await.map(drop)
}

async fn pipe(from: &ReadableStream, into: &WritableStream) -> Result<(), JsValue> {
    let options = StreamPipeOptions::new();
    options.set_prevent_close(true);
    js::settle(Ok(from.pipe_to_with_options(into, &options))).await.map(drop)
}

async fn write(into: &WritableStream, bytes: &Uint8Array, times: u64) -> Result<(), JsValue> {
    let writer = into.get_writer()?;
    for _ in 0..times {
        js::settle(Ok(writer.write_with_chunk(bytes))).await?;
    }
    writer.release_lock();
    Ok(())
}

async fn write_zeros(into: &WritableStream, count: u64) -> Result<(), JsValue> {
    let zeros = Uint8Array::new_with_length(ZEROS_AT_ONCE);
    write(into, &zeros, count / u64::from(ZEROS_AT_ONCE)).await?;
    match u32::try_from(count % u64::from(ZEROS_AT_ONCE)) {
        Ok(rest) if rest > 0 => write(into, &zeros.subarray(0, rest), 1).await,
        _ => Ok(()),
    }
}

/// A slice, as far as it has come.
enum Piece {
    Bytes(Vec<u8>),
    Zeros(u64),
    Asked(Asked),
    Stream(ReadableStream),
}

/// Slices in order, the first objects among them already asked for.
struct Line {
    buckets: Configured<Objects>,
    later: vec::IntoIter<Slice>,
    ahead: VecDeque<Piece>,
}

impl Line {
    fn new(buckets: Configured<Objects>, slices: Vec<Slice>) -> Self {
        let mut line = Self { buckets, later: slices.into_iter(), ahead: VecDeque::new() };
        line.ask_ahead();
        line
    }

    fn ask_ahead(&mut self) {
        while self.ahead.iter().filter(|piece| matches!(piece, Piece::Asked(_))).count() < ASKED_AHEAD {
            let Some(slice) = self.later.next() else { return };
            self.ahead.push_back(match slice {
                Slice::Inline(bytes) => Piece::Bytes(bytes),
                Slice::Zeros(count) => Piece::Zeros(count),
                Slice::Object { place, range } => Piece::Asked(ask(&self.buckets, &place, range)),
            });
        }
    }

    async fn await_first_object(&mut self) -> Result<(), BucketError> {
        let Some(at) = self.ahead.iter().position(|piece| matches!(piece, Piece::Asked(_))) else {
            return Ok(());
        };
        let Some(Piece::Asked(asked)) = self.ahead.remove(at) else { return Ok(()) };
        match asked.arrived().await {
            Ok(stream) => {
                self.ahead.insert(at, Piece::Stream(stream));
                Ok(())
            }
            Err(error) => {
                self.discard().await;
                Err(error)
            }
        }
    }

    /// The only piece, where there is just one and it needs no pipe.
    fn take_only(&mut self) -> Option<Piece> {
        let is_ready = matches!(self.ahead.front(), Some(Piece::Bytes(_) | Piece::Stream(_)));
        if is_ready && self.ahead.len() == 1 && self.later.len() == 0 { self.ahead.pop_front() } else { None }
    }

    fn next(&mut self) -> Option<Piece> {
        let piece = self.ahead.pop_front();
        self.ask_ahead();
        piece
    }

    /// Lets go of what was asked for and isn't wanted any more.
    async fn discard(&mut self) {
        self.later = Vec::new().into_iter();
        while let Some(piece) = self.ahead.pop_front() {
            match piece {
                Piece::Asked(asked) => asked.discarded().await,
                Piece::Stream(stream) => {
                    let _ = js::settle(Ok(stream.cancel())).await;
                }
                Piece::Bytes(_) | Piece::Zeros(_) => {}
            }
        }
    }
}

fn unavailable(thrown: &JsValue) -> BucketError {
    BucketError::Unavailable(js::reason(thrown))
}
