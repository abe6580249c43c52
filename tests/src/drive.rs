//! A folder of its own on the server under test, and requests to it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use reqwest::blocking::{Body, Client, RequestBuilder, Response};
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::server::server;

// A connection for each request: a server may close one on which it has answered an upload without reading it, and a
// request that is sent into the closing is lost.
static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let client = Client::builder().pool_max_idle_per_host(0).timeout(Duration::from_secs(300));
    client.build().expect("a client")
});

/// How long a test waits for something that must happen: far longer than it takes, since machines are slow at times.
const PATIENCE: Duration = Duration::from_secs(240);

/// A fresh folder: tests run side by side on one server and never meet.
#[derive(Debug, Clone)]
pub struct Drive {
    folder: String,
}

/// A response, read to its end.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: reqwest::header::HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

impl Drive {
    /// Makes the folder.
    pub fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let unique = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let moment = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_nanos();
        let drive = Self { folder: format!("test-{}-{}-{moment}", unique.0, unique.1) };
        assert_eq!(drive.make_folder("").status, 201);
        drive
    }

    /// Which host is under test.
    pub fn host() -> &'static str {
        &server().host
    }

    /// An absolute URL on the server.
    pub fn absolute(path: &str) -> String {
        format!("{}{path}", server().url)
    }

    /// The URL of a file in the folder; `path` is percent-encoded already.
    pub fn file_url(&self, path: &str) -> String {
        Self::absolute(&format!("/api/v1/spaces/{}/files/{}/{path}", server().space, self.folder))
    }

    /// A request without a token.
    pub fn anonymous(method: &str, url: &str) -> RequestBuilder {
        CLIENT.request(Method::from_bytes(method.as_bytes()).expect("a method"), url)
    }

    /// A request with the token.
    pub fn signed(method: &str, url: &str) -> RequestBuilder {
        Self::anonymous(method, url).bearer_auth(&server().token)
    }

    /// A request about a file in the folder.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        Self::signed(method, &self.file_url(path))
    }

    /// Saves a file.
    pub fn put(&self, path: &str, content: impl Into<Body>) -> Reply {
        Reply::to(self.request("PUT", path).body(content))
    }

    /// Appends to a file; the path may end with a query.
    pub fn append(&self, path: &str, content: impl Into<Body>) -> Reply {
        Reply::to(Self::in_space("POST", &self.below("append", path)).body(content))
    }

    /// What stands for a file in the folder below a resource of the space.
    pub fn below(&self, resource: &str, path: &str) -> String {
        format!("{resource}/{}/{path}", self.folder)
    }

    /// Reads a file.
    pub fn get(&self, path: &str) -> Reply {
        Reply::to(self.request("GET", path))
    }

    /// Reads a file with one more header.
    pub fn get_with(&self, path: &str, header: &str, value: &str) -> Reply {
        Reply::to(self.request("GET", path).header(header, value))
    }

    /// Makes a folder in the folder; the empty path is the folder itself.
    pub fn make_folder(&self, path: &str) -> Reply {
        let path = format!("{}/{path}", self.folder);
        let path = path.trim_end_matches('/');
        let url = Self::absolute(&format!("/api/v1/spaces/{}/folders/{path}", server().space));
        Reply::to(Self::signed("PUT", &url))
    }

    /// Lists a folder in the folder; `query` begins with `?`, or is empty.
    pub fn list(&self, path: &str, query: &str) -> Reply {
        let url = format!("/api/v1/spaces/{}/folders/{}/{path}{query}", server().space, self.folder);
        Reply::to(Self::signed("GET", &Self::absolute(&url)))
    }

    /// The space's id.
    pub fn space() -> &'static str {
        &server().space
    }

    /// A request about a folder in the folder; the empty path is the folder itself.
    pub fn folder_request(&self, method: &str, path: &str) -> RequestBuilder {
        Self::in_space(method, &format!("folders/{}/{path}", self.folder))
    }

    /// A request about the versions of a file in the folder; `query` begins with `?`, or is empty.
    pub fn version_request(&self, method: &str, path: &str, query: &str) -> RequestBuilder {
        Self::in_space(method, &format!("versions/{}/{path}{query}", self.folder))
    }

    /// A request about something of the space: `trash`, `nodes/batch`.
    pub fn in_space(method: &str, path: &str) -> RequestBuilder {
        Self::signed(method, &Self::absolute(&format!("/api/v1/spaces/{}/{path}", server().space)))
    }

    /// Puts a file into the trash.
    pub fn delete(&self, path: &str) -> Reply {
        Reply::to(self.request("DELETE", path))
    }

    /// Puts a folder in the folder into the trash; the empty path is the folder itself.
    pub fn delete_folder(&self, path: &str) -> Reply {
        Reply::to(Self::in_space("DELETE", &format!("folders/{}/{path}", self.folder)))
    }

    /// A path in the folder as batches take it: nothing is encoded.
    pub fn path(&self, path: &str) -> String {
        format!("/{}/{path}", self.folder)
    }

    /// Sends a batch: a JSON array of operations.
    pub fn batch(operations: &Value) -> Reply {
        let body = serde_json::json!({ "operations": operations }).to_string();
        Reply::to(Self::in_space("POST", "nodes/batch").body(body))
    }

    /// Copies a file into a folder in the folder, under a number for each name: at most 1,000 at once.
    pub fn copies(&self, file: &str, folder: &str, numbers: std::ops::Range<u32>) {
        let copy = |n| {
            let to = serde_json::json!({ "parent": self.path(folder), "name": format!("{n:05}") });
            serde_json::json!({ "op": "copy", "path": self.path(file), "to": to })
        };
        let reply = Self::batch(&numbers.map(copy).collect());
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
    }

    /// The versions of a file, newest first.
    pub fn versions(&self, path: &str) -> Vec<Value> {
        let url = self.file_url(path).replacen("/files/", "/versions/", 1);
        let reply = Reply::to(Self::signed("GET", &url));
        assert_eq!(reply.status, 200, "{path}");
        reply.json()["versions"].as_array().expect("a list").clone()
    }

    /// The names in a folder in the folder, in order.
    pub fn names(&self, path: &str) -> Vec<String> {
        let page = self.list(path, "?limit=1000");
        assert_eq!(page.status, 200, "{path}");
        let entries = page.json()["entries"].as_array().expect("a list").clone();
        entries.iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The caller's jobs.
    pub fn jobs() -> Vec<Value> {
        let reply = Reply::to(Self::signed("GET", &Self::absolute("/api/v1/jobs")));
        assert_eq!(reply.status, 200);
        reply.json()["jobs"].as_array().expect("a list").clone()
    }

    /// Waits for the end of the job that a 202 names.
    ///
    /// # Panics
    /// Where the answer is another one.
    #[track_caller]
    pub fn finished(accepted: &Reply) -> Value {
        assert_eq!(accepted.status, 202, "{}", String::from_utf8_lossy(&accepted.body));
        let url = Self::absolute(accepted.header("location"));
        Self::wait_for("a job is over", || {
            let job = Reply::to(Self::signed("GET", &url)).json();
            job["finished_at"].is_string().then_some(job)
        })
    }

    /// How much memory the server has held at most: of the WASM instance, which never shrinks, or of the native process.
    /// None where the system doesn't tell.
    pub fn peak_memory_bytes() -> Option<u64> {
        if !server().host.starts_with("local") {
            return Self::wasm_memory_bytes();
        }
        let pid = std::env::var("LEDGE_TEST_PID").expect("LEDGE_TEST_PID is the server's process");
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
    }

    /// How much memory the WASM instance holds, on hosts that have one. Where there may be several, the largest that has been.
    pub fn wasm_memory_bytes() -> Option<u64> {
        if server().host != "workerd" {
            return Self::counted("peak_memory_bytes");
        }
        let reply = Reply::to(Self::anonymous("GET", &Self::absolute("/debug/memory")));
        assert_eq!(reply.status, 200, "the test build has /debug/memory");
        reply.json()["wasm_memory_bytes"].as_u64()
    }

    /// What the test host for Spin has counted; None on other hosts, where nobody counts.
    pub fn counted(what: &str) -> Option<u64> {
        if server().host != "spin" {
            return None;
        }
        let reply = Reply::to(Self::anonymous("GET", &Self::absolute("/spin-host/counters")));
        // `spin` itself asks the gateway.
        (reply.status == 200).then(|| reply.json()[what].as_u64()).flatten()
    }

    /// Waits for a condition, not for a time.
    pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            if let Some(value) = condition() {
                return value;
            }
            assert!(begun.elapsed() < PATIENCE, "waited for {PATIENCE:?}: {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Default for Drive {
    fn default() -> Self {
        Self::new()
    }
}

impl Reply {
    /// Sends a request and reads the answer.
    pub fn to(request: RequestBuilder) -> Self {
        Self::of(request.send().expect("an answer"))
    }

    /// Reads an answer to its end.
    pub fn of(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().expect("a whole body").to_vec();
        Self { status: StatusCode::as_u16(&status), headers, body }
    }

    /// A header's text, or an empty one.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(&self.body)))
    }

    /// Asserts a problem body with this status and code.
    #[track_caller]
    pub fn expect_problem(&self, status: u16, code: &str) {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{body}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(
            (problem["code"].as_str(), problem["status"].as_u64()),
            (Some(code), Some(u64::from(status)))
        );
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{body}");
    }

    /// How many (SQL round trips, bucket operations) the answer took, from `Server-Timing`.
    pub fn cost(&self) -> (u64, u64) {
        (self.metric("sql"), self.metric("bucket"))
    }

    /// How many round trips to the database it took.
    pub fn round_trips(&self) -> u64 {
        self.metric("sql")
    }

    /// How many bytes the request put into the bucket.
    pub fn stored_bytes(&self) -> u64 {
        self.metric("stored")
    }

    fn metric(&self, name: &str) -> u64 {
        let timing = self.header("server-timing");
        let (_, rest) = timing.split_once(&format!("{name};desc=\"")).expect(timing);
        rest.split('"').next().and_then(|count| count.parse().ok()).expect(timing)
    }
}
