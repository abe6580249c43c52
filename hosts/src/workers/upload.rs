//! `Upload` over a request's body.
//!
//! The plain reader hands a body over in pieces of 4 KiB, a crossing between JavaScript and WebAssembly for each:
//! 256 MiB took 4.6 s. A BYOB reader that is told to wait for a full buffer takes 1.2 s. The buffer lives in
//! JavaScript and is used again and again, since a view of WebAssembly memory can't be lent to a reader.

use js_sys::{ArrayBuffer, Object, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::ReadableStream;

use super::js::{self, ByobReader};
use crate::counted::{CountedBody, Source};

/// The size of the one buffer. Larger ones were not measurably faster.
const BUFFER_BYTES: u32 = 256 * 1024;

/// The body of a request.
pub type RequestBody = CountedBody<Incoming>;

/// What the runtime hands over.
#[derive(Debug)]
pub struct Incoming(State);

#[derive(Debug)]
enum State {
    Unread(ReadableStream),
    Reading { reader: ByobReader, buffer: ArrayBuffer },
    Ended,
}

impl Incoming {
    /// A stream of which nothing is read yet.
    pub(super) fn of(stream: ReadableStream) -> Self {
        Self(State::Unread(stream))
    }

    /// Reads up to `at_most` bytes. None is the end of the stream.
    async fn piece(&mut self, at_most: usize) -> Result<Option<Uint8Array>, JsValue> {
        let (reader, buffer) = match std::mem::replace(&mut self.0, State::Ended) {
            State::Unread(stream) => (byob_reader(&stream)?, ArrayBuffer::new(BUFFER_BYTES)),
            State::Reading { reader, buffer } => (reader, buffer),
            State::Ended => return Ok(None),
        };
        let wanted = u32::try_from(at_most).unwrap_or(BUFFER_BYTES).clamp(1, BUFFER_BYTES);
        let view = Uint8Array::new_with_byte_offset_and_length(&buffer, 0, wanted);
        let options = js::object([("min", JsValue::from(wanted))]);
        let read = js::settle(reader.read(&view, &options)).await?;
        let Ok(filled) = js::property(&read, "value").dyn_into::<Uint8Array>() else { return Ok(None) };
        if filled.length() == 0 {
            return Ok(None);
        }
        // Reading detached the buffer; its memory came back under another one.
        self.0 = State::Reading { reader, buffer: filled.buffer() };
        Ok(Some(filled))
    }
}

impl Source for Incoming {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, String> {
        let piece = self.piece(at_most).await.map_err(|thrown| js::reason(&thrown))?;
        let Some(piece) = piece else { return Ok(0) };
        let count = piece.length() as usize;
        let before = into.len();
        into.resize(before + count, 0);
        if let Some(room) = into.get_mut(before..) {
            piece.copy_to(room);
        }
        Ok(count)
    }
}

fn byob_reader(stream: &ReadableStream) -> Result<ByobReader, JsValue> {
    let mode: Object = js::object([("mode", JsValue::from_str("byob"))]);
    Ok(stream.get_reader_with_options(mode.unchecked_ref()).unchecked_into())
}
