//! A request as bytes on a TCP connection: no library normalises its target, orders its headers or corrects its framing.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::drive::Reply;
use crate::server::server;

/// Longer than any answer takes: a server that hangs fails the test that it hangs in.
const PATIENCE: Duration = Duration::from_secs(240);

/// How the body's end is told.
#[derive(Debug, Clone, Copy)]
enum Framing {
    /// By its length, where there is a body.
    Length,
    /// Chunk by chunk, as Finder sends it.
    Chunked,
    /// By a length that isn't the body's: the connection breaks off.
    Claimed(usize),
}

/// A request under construction.
#[derive(Debug, Clone)]
#[must_use]
pub struct Wire {
    method: String,
    target: Vec<u8>,
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
    framing: Framing,
}

impl Wire {
    /// A request without credentials for a target that goes out as it is.
    pub fn new(method: &str, target: impl AsRef<[u8]>) -> Self {
        let target = target.as_ref().to_vec();
        Self {
            method: method.to_owned(),
            target,
            headers: Vec::new(),
            body: Vec::new(),
            framing: Framing::Length,
        }
    }

    /// A header of any bytes; the same one again is sent twice.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// HTTP Basic: the token is the password, the user's name doesn't matter.
    pub fn signed(self) -> Self {
        self.basic("anybody", &server().token)
    }

    /// A bearer token, as the REST API takes it.
    pub fn bearer(self) -> Self {
        self.header("authorization", format!("Bearer {}", server().token))
    }

    /// HTTP Basic with this name and password.
    pub fn basic(self, user: &str, password: &str) -> Self {
        let pair = STANDARD.encode(format!("{user}:{password}"));
        self.header("authorization", format!("Basic {pair}"))
    }

    /// The body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// An XML body.
    pub fn xml(self, body: impl Into<Vec<u8>>) -> Self {
        self.header("content-type", "application/xml; charset=utf-8").body(body)
    }

    /// Sends the body in chunks, without its length.
    pub fn chunked(mut self) -> Self {
        self.framing = Framing::Chunked;
        self
    }

    /// Promises a longer body than is sent, and breaks off.
    pub fn claiming(mut self, length: usize) -> Self {
        self.framing = Framing::Claimed(length);
        self
    }

    /// Sends it, and reads the answer to its end.
    pub fn send(self) -> Reply {
        let stream = self.write();
        self.read(stream).unwrap_or_else(|| panic!("{} {:?} got no answer", self.method, self.line()))
    }

    /// Sends it, ends the sending side, and reads an answer if there is one: for requests that break off.
    pub fn send_and_break_off(self) -> Option<Reply> {
        let stream = self.write();
        // The server may have closed it already.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        self.read(stream)
    }

    fn line(&self) -> String {
        String::from_utf8_lossy(&self.target).into_owned()
    }

    fn write(&self) -> TcpStream {
        let address = server().url.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let mut head = Vec::new();
        head.extend([self.method.as_bytes(), b" ", &self.target, b" HTTP/1.1\r\n"].concat());
        let named = |name: &str| self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        if !named("host") {
            head.extend(format!("host: {address}\r\n").bytes());
        }
        head.extend(b"connection: close\r\n");
        for (name, value) in &self.headers {
            head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        let mut body = self.body.clone();
        match self.framing {
            Framing::Claimed(length) => head.extend(format!("content-length: {length}\r\n").bytes()),
            Framing::Chunked => {
                head.extend(b"transfer-encoding: chunked\r\n");
                body = in_chunks(&body);
            }
            Framing::Length if named("content-length") => {}
            Framing::Length if body.is_empty() && self.method != "PUT" => {}
            Framing::Length => head.extend(format!("content-length: {}\r\n", body.len()).bytes()),
        }
        head.extend(b"\r\n");
        head.extend(&body);
        // An answer may come, and the connection go, before all is sent.
        let _ = stream.write_all(&head);
        stream
    }

    fn read(&self, mut stream: TcpStream) -> Option<Reply> {
        // workerd leaves the connection open for seconds after its last byte: the answer itself says where it ends.
        let (mut answer, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
        while !is_whole(&self.method, &answer) {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => answer.extend_from_slice(&piece[..count]),
                Err(error) => {
                    let timed_out = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                    assert!(!timed_out, "{} {} hangs", self.method, self.line());
                    break;
                }
            }
        }
        parse(&self.method, &answer)
    }
}

/// Two chunks, so that a boundary lies in the middle.
fn in_chunks(body: &[u8]) -> Vec<u8> {
    let (first, second) = body.split_at(body.len() / 2);
    let mut chunked = Vec::new();
    for part in [first, second].into_iter().filter(|part| !part.is_empty()) {
        chunked.extend(format!("{:x}\r\n", part.len()).bytes());
        chunked.extend(part);
        chunked.extend(b"\r\n");
    }
    chunked.extend(b"0\r\n\r\n");
    chunked
}

/// Whether the response has come to its end, by its own word.
fn is_whole(method: &str, answer: &[u8]) -> bool {
    let Some((head, body)) = split(answer, b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
    if status < 200 {
        return is_whole(method, body);
    }
    if method == "HEAD" || status == 204 || status == 304 {
        return true;
    }
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
        || head.contains("\r\ntransfer-encoding: chunked") && body.ends_with(b"0\r\n\r\n")
}

/// Reads the last response of a connection; informational ones come before it.
fn parse(method: &str, answer: &[u8]) -> Option<Reply> {
    let (head, rest) = split(answer, b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let status: u16 = lines.next()?.split(' ').nth(1)?.parse().expect("a status");
    if status < 200 {
        return parse(method, rest);
    }
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').expect("a header");
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a header's name");
        headers.append(name, HeaderValue::from_bytes(value.trim().as_bytes()).expect("a header's value"));
    }
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
    let body = if is("transfer-encoding", "chunked") { dechunked(rest) } else { rest.to_vec() };
    let has_body = method != "HEAD" && status != 204 && status != 304;
    assert!(has_body || body.is_empty(), "{method} was answered {status} with a body");
    if let (true, Some(length)) = (has_body, headers.get("content-length")) {
        assert_eq!(length.to_str().ok(), Some(body.len().to_string().as_str()), "{method}: the body is cut");
    }
    Some(Reply { status, headers, body })
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let (size, after) = split(rest, b"\r\n").expect("a chunk: the body is cut");
        let size = String::from_utf8_lossy(size);
        let size =
            usize::from_str_radix(size.split(';').next().unwrap_or_default().trim(), 16).expect("a size");
        if size == 0 {
            return body;
        }
        body.extend(after.get(..size).expect("a whole chunk"));
        rest = after.get(size + 2..).expect("a chunk's end");
    }
}

fn split<'a>(bytes: &'a [u8], at: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let place = bytes.windows(at.len()).position(|window| window == at)?;
    Some((&bytes[..place], &bytes[place + at.len()..]))
}
