//! Targets with a raw `#`: the HTTP library reads `DELETE /a#b` as `DELETE /a` and doesn't tell, so the request's first
//! line is read along.
//!
//! Seen is a line at the beginning of what one read brings. That is every request of a client that waits for answers; one
//! that sends several at once may get its `#` past this.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::Uri;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Longer than any line that the HTTP library takes.
const LONGEST_LINE: usize = 128 * 1024;

/// What a connection's newest request begins with.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestLine(Rc<RefCell<Vec<u8>>>);

impl RequestLine {
    /// Takes note of what was read.
    fn read(&self, bytes: &[u8]) {
        let mut line = self.0.borrow_mut();
        if begins_a_request(bytes) {
            line.clear();
        } else if line.is_empty() || line.contains(&b'\n') || line.len() > LONGEST_LINE {
            return;
        }
        line.extend_from_slice(bytes.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default());
    }

    /// Whether this target, as the HTTP library read it, was sent with a fragment.
    pub(super) fn has_fragment(&self, target: &Uri) -> bool {
        let line = self.0.take();
        let sent = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        let mut parts = sent.splitn(2, |byte| *byte == b'#');
        let before = parts.next().unwrap_or_default();
        parts.next().is_some() && before == target.to_string().as_bytes()
    }
}

/// Whether it looks like a method and a target.
fn begins_a_request(bytes: &[u8]) -> bool {
    let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let rest = bytes.get(method..).unwrap_or_default();
    method > 0 && (rest.starts_with(b" /") || rest.starts_with(b" http"))
}

/// A connection whose requests' first lines are noted.
pub(super) struct Noted {
    stream: TcpStream,
    line: RequestLine,
}

impl Noted {
    /// Takes note in this line.
    pub(super) fn new(stream: TcpStream, line: RequestLine) -> Self {
        Self { stream, line }
    }
}

impl AsyncRead for Noted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, into);
        self.line.read(into.filled().get(before..).unwrap_or_default());
        polled
    }
}

impl AsyncWrite for Noted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_found_in_the_requests_own_line() {
        for (reads, target, has) in [
            (&["DELETE /a#b HTTP/1.1\r\nhost: x\r\n\r\n"][..], "/a", true),
            (&["DELETE /a?q#b HTTP/1.1\r\n"], "/a?q", true),
            (&["DELETE /a", "#b HTTP/1.1\r\nX: Y\r\n", "GET: x\r\n\r\n"], "/a", true),
            (&["DELETE /a HTTP/1.1\r\nx: #\r\n\r\n"], "/a", false),
            (&["DELETE /a%23b HTTP/1.1\r\n\r\n"], "/a%23b", false),
            // A body that looks like a request is not this one.
            (&["PUT /x HTTP/1.1\r\n\r\n", "GET /y#z HTTP/1.1\r\n"], "/x", false),
            (&["Not a request #"], "/a", false),
        ] {
            let line = RequestLine::default();
            reads.iter().for_each(|read| line.read(read.as_bytes()));
            assert_eq!(line.has_fragment(&target.parse().unwrap()), has, "{reads:?}");
            assert!(!line.has_fragment(&target.parse().unwrap()), "it is of one request");
        }
    }
}
