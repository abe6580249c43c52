//! A proxy between a server under test and its bucket, which does harm when it is told to.
//!
//! It hands requests on byte by byte, so their signatures stay right, one for each connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It isn't handed on; this status is the answer.
    Status(u16),
    /// The same, and the answer is a proxy's page that repeats the request's URL.
    Page(u16),
    /// It is handed on, and its answer isn't.
    LostAnswer,
    /// Nothing comes until the client gives up.
    Silence,
    /// Half of the answer's body comes, then the connection is lost.
    Cut,
    /// Half of the answer's body comes, and its length says that this is all.
    ShorterLength,
    /// The answer's length says ten more bytes than there are.
    LongerLength,
    /// Half of the range comes, as if it had been asked for.
    ShorterRange,
    /// The length isn't said, and half of the body comes in chunks that end as they should.
    HalfInChunks,
}

#[derive(Debug, Default)]
struct Plan {
    fault: Option<(&'static str, Fault)>,
    times: usize,
    done: usize,
}

/// A running proxy; it ends with the program.
#[derive(Debug, Clone)]
pub struct Proxy {
    url: String,
    plan: Arc<Mutex<Plan>>,
}

impl Proxy {
    /// Starts one before the store at this URL, `http://127.0.0.1:1`.
    pub fn before(store: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let store = store.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let proxy = Self { url, plan: Arc::default() };
        let plan = proxy.plan.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (store, plan) = (store.clone(), plan.clone());
                // What goes wrong here goes wrong between two others, who notice.
                std::thread::spawn(move || drop(serve(client, &store, &plan)));
            }
        });
        proxy
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The next `times` requests of this method meet this fault.
    pub fn harm(&self, method: &'static str, fault: Fault, times: usize) {
        *self.plan.lock().expect("a lock") = Plan { fault: Some((method, fault)), times, done: 0 };
    }

    /// No further request meets a fault. How many did.
    pub fn heal(&self) -> usize {
        std::mem::take(&mut *self.plan.lock().expect("a lock")).done
    }
}

fn take(plan: &Mutex<Plan>, method: &str) -> Option<Fault> {
    let mut plan = plan.lock().expect("a lock");
    let (harmed, fault) = plan.fault?;
    if harmed != method || plan.done == plan.times {
        return None;
    }
    plan.done += 1;
    Some(fault)
}

/// A message's head, without the line that ends it.
fn head(from: &mut impl BufRead) -> std::io::Result<String> {
    let mut head = String::new();
    while from.read_line(&mut head)? > 0 && !head.ends_with("\r\n\r\n") {}
    Ok(head.trim_end().to_owned())
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .find_map(|(found, value)| found.eq_ignore_ascii_case(name).then_some(value.trim()))
}

/// The head without some of its fields.
fn without(head: &str, names: &[&str]) -> String {
    let stays = |line: &&str| {
        line.split_once(':')
            .is_none_or(|(found, _)| !names.iter().any(|name| found.eq_ignore_ascii_case(name)))
    };
    head.lines().filter(stays).collect::<Vec<_>>().join("\r\n")
}

fn serve(mut client: TcpStream, store: &str, plan: &Mutex<Plan>) -> std::io::Result<()> {
    let mut from_client = BufReader::new(client.try_clone()?);
    let request = head(&mut from_client)?;
    let method = request.split(' ').next().unwrap_or_default().to_owned();
    let length: usize = field(&request, "content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    from_client.read_exact(&mut body)?;

    let fault = take(plan, &method);
    match fault {
        Some(Fault::Status(status)) => {
            let answer = format!("HTTP/1.1 {status} Harm\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            return client.write_all(answer.as_bytes());
        }
        Some(Fault::Page(status)) => {
            let page =
                format!("<html><Code>Harm</Code>{}</html>", request.lines().next().unwrap_or_default());
            let head =
                format!("HTTP/1.1 {status} Harm\r\nContent-Length: {}\r\nConnection: close", page.len());
            return client.write_all(format!("{head}\r\n\r\n{page}").as_bytes());
        }
        Some(Fault::Silence) => return client.read(&mut [0]).map(drop),
        _ => {}
    }

    let mut upstream = TcpStream::connect(store)?;
    let handed_on = format!("{}\r\nConnection: close\r\n\r\n", without(&request, &["connection"]));
    upstream.write_all(handed_on.as_bytes())?;
    upstream.write_all(&body)?;
    let mut from_store = BufReader::new(upstream);
    let answer = head(&mut from_store)?;
    let mut content = Vec::new();
    from_store.read_to_end(&mut content)?;
    let (half, whole) = (content.len() / 2, content.len());

    let mut answer = format!("{}\r\nConnection: close", without(&answer, &["connection"]));
    match fault {
        Some(Fault::LostAnswer) => return client.shutdown(Shutdown::Both),
        Some(Fault::Cut) => content.truncate(half),
        Some(Fault::ShorterLength | Fault::ShorterRange) => {
            content.truncate(half);
            let range = field(&answer, "content-range").map(str::to_owned);
            answer = format!("{}\r\nContent-Length: {half}", without(&answer, &["content-length"]));
            if let (Some(range), Some(Fault::ShorterRange)) = (range, fault) {
                let (range, size) = range.split_once('/').unwrap_or_default();
                let first: usize =
                    range.trim_start_matches("bytes ").split('-').next().unwrap_or("0").parse().unwrap_or(0);
                let last = first + half.max(1) - 1;
                let shorter = format!("Content-Range: bytes {first}-{last}/{size}");
                answer = format!("{}\r\n{shorter}", without(&answer, &["content-range"]));
            }
        }
        Some(Fault::LongerLength) => {
            answer = format!("{}\r\nContent-Length: {}", without(&answer, &["content-length"]), whole + 10);
        }
        Some(Fault::HalfInChunks) => {
            content.truncate(half);
            answer = format!("{}\r\nTransfer-Encoding: chunked", without(&answer, &["content-length"]));
            let chunk = [format!("{half:x}\r\n").as_bytes(), &content, b"\r\n0\r\n\r\n"].concat();
            content = chunk;
        }
        _ => {}
    }
    client.write_all(format!("{answer}\r\n\r\n").as_bytes())?;
    client.write_all(&content)?;
    client.shutdown(Shutdown::Write)
}
