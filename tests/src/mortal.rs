//! A server of the test's own, which it may kill and start again on the same state.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::Method;
use reqwest::blocking::{Client, RequestBuilder};
use serde_json::Value;

use crate::{Drive, Reply};

/// How to start one, in JSON:
/// `{"program": …, "arguments": […, "{state}", …], "folder": …, "variables": {…}, "template": … or null,
/// "buckets": … or null}`. `{state}` is the server's folder and `{name}` its name, by which it has a bucket.
const HOW: &str = "LEDGE_TEST_START";

/// The file, beside its state, of what a server says.
const SAID: &str = "said.log";

/// How to bring back a lost database, in JSON:
/// `{"database": …, "bucket": …, "program": …, "arguments": […, "{state}", "{backup}", …], "variables": {…}}`.
/// The first two are below the state: where the database is, and where the segments are, or the tables that list them.
const RESTORE: &str = "LEDGE_TEST_RESTORE";

/// The times that [`Mortal::pass_days`] moves back.
const AGING: [(&str, &str); 6] = [
    ("ingests", "expires_at"),
    ("uploads", "expires_at"),
    ("segments", "state_at"),
    ("chunks", "seen_at"),
    ("orphans", "seen_at"),
    ("schedules", "due_at"),
];

fn starting() -> Value {
    let how = std::env::var(HOW).unwrap_or_else(|_| panic!("{HOW} is not set: run cargo xtask test"));
    serde_json::from_str(&how).expect("JSON")
}

fn restoring() -> Value {
    let how = std::env::var(RESTORE).unwrap_or_else(|_| panic!("{RESTORE} is not set: run cargo xtask test"));
    serde_json::from_str(&how).expect("JSON")
}

static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let client = Client::builder().pool_max_idle_per_host(0).timeout(Duration::from_secs(300));
    client.build().expect("a client")
});

/// A server over an empty drive. It is killed, and its state goes, when this is dropped.
#[derive(Debug)]
pub struct Mortal {
    how: Value,
    state: PathBuf,
    child: Option<Child>,
    url: String,
    token: String,
    space: String,
}

impl Mortal {
    /// Starts one.
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// A variable that servers are started with.
    pub fn variable(name: &str) -> String {
        starting()["variables"][name].as_str().unwrap_or_else(|| panic!("{name} is not set")).to_owned()
    }

    /// Starts one with these variables instead of those of the same name.
    pub fn with(variables: &[(&str, &str)]) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let mut how = starting();
        for (name, value) in variables {
            how["variables"][name] = Value::from(*value);
        }
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let state = std::env::temp_dir().join(format!("ledge-mortal-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&state).expect("a folder");
        if let Some(buckets) = how["buckets"].as_str() {
            let name = state.file_name().expect("a name");
            std::fs::create_dir_all(Path::new(buckets).join(name)).expect("a folder");
        }
        if let Some(template) = how["template"].as_str() {
            copy(Path::new(template), &state);
        }
        let given = |name| std::env::var(name).unwrap_or_default();
        let (token, space) = (given("LEDGE_TEST_TOKEN"), given("LEDGE_TEST_SPACE"));
        let mut server = Self { how, state, child: None, url: String::new(), token, space };
        server.start();
        server
    }

    /// Starts it again, on the state that is there.
    pub fn start(&mut self) {
        let text = |value: &Value| self.filled_in(value);
        let mut command = Command::new(text(&self.how["program"]));
        command.args(self.how["arguments"].as_array().expect("a list").iter().map(text));
        command.current_dir(text(&self.how["folder"]));
        for (name, value) in self.how["variables"].as_object().expect("an object") {
            command.env(name, text(value));
        }
        // A group of its own: what it has started dies with it. Its standard input is closed when this program ends.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let said = std::fs::File::options().create(true).append(true).open(self.state.join(SAID));
        command.stderr(said.expect("a file"));
        let mut child = command.spawn().expect("the server's program");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let ready: Value =
            serde_json::from_str(&line).unwrap_or_else(|_| panic!("it did not start: {line:?}"));
        ready["url"].as_str().expect("a URL").clone_into(&mut self.url);
        if let (Some(token), Some(space)) = (ready["token"].as_str(), ready["space"].as_str()) {
            token.clone_into(&mut self.token);
            space.clone_into(&mut self.space);
        }
        self.child = Some(child);
    }

    /// Where it answers.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The folder of its bucket, whose files are the objects: of one over an S3 store that keeps them so.
    ///
    /// # Panics
    /// Where it has another one.
    pub fn bucket(&self) -> PathBuf {
        let buckets = self.how["buckets"].as_str().expect("a folder of buckets");
        Path::new(buckets).join(self.state.file_name().expect("a name"))
    }

    /// What it has said to its operator.
    pub fn said(&self) -> String {
        let said = std::fs::read(self.state.join(SAID)).unwrap_or_default();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Kills it, and all that it has started, between two instructions.
    pub fn kill(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let group = format!("-{}", child.id());
        let killed = Command::new("kill").args(["-KILL", "--", &group]).status();
        assert!(killed.is_ok_and(|status| status.success()), "there is a program kill");
        let _its_end = child.wait();
    }

    /// Loses the database, of a server that was killed.
    pub fn lose_database(&self) {
        assert!(self.child.is_none(), "a server holds it");
        let how = restoring();
        let name = how["database"].as_str().expect("a path");
        for end in ["", "-wal", "-shm"] {
            let path = self.state.join(format!("{name}{end}"));
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("it can go");
            } else if path.exists() {
                std::fs::remove_file(path).expect("it can go");
            }
        }
    }

    /// Lets days pass, for a server that was killed: what rests or expires is so much older when it starts again.
    ///
    /// # Panics
    /// Where a server holds the database, or it has changed so that this can't be.
    pub fn pass_days(&self, days: i64) {
        assert!(self.child.is_none(), "a server holds it");
        let database = self.state.join(restoring()["database"].as_str().expect("a path"));
        let mut aged = 0;
        for path in files(&database) {
            let Some(database) = table(&path, "ingests") else { continue };
            for (table, column) in AGING {
                let later = format!("update {table} set {column} = {column} - ?1 where {column} > 0");
                database.execute(&later, [days * 86_400_000]).expect("its columns are there");
            }
            aged += 1;
        }
        assert_eq!(aged, 1, "there is one database");
    }

    /// The segments in the bucket, of a server that was killed: how many, and their bytes.
    ///
    /// # Panics
    /// Where a server holds the bucket.
    pub fn segments(&self) -> (i64, i64) {
        assert!(self.child.is_none(), "a server holds it");
        let bucket = self.state.join(self.filled_in(&restoring()["bucket"]));
        let paths = files(&bucket);
        let listed = paths.iter().find_map(|path| table(path, "_mf_objects"));
        let Some(list) = listed else {
            let sizes = paths.iter().map(|path| path.metadata().expect("a file").len().cast_signed());
            return (paths.len().try_into().expect("a few"), sizes.sum());
        };
        let of = "select count(*), coalesce(sum(size), 0) from _mf_objects where key >= 'ledge/seg/' and key < 'ledge/seg0'";
        list.query_row(of, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("its columns are there")
    }

    /// Runs the host's command that brings a lost database back; what it said, where it failed.
    pub fn restore(&self, backup: &str) -> Result<(), String> {
        let how = restoring();
        let text = |value: &Value| self.filled_in(value).replace("{backup}", backup);
        let mut command = Command::new(text(&how["program"]));
        command.args(how["arguments"].as_array().expect("a list").iter().map(text));
        command.current_dir(self.how["folder"].as_str().expect("a path"));
        for (name, value) in how["variables"].as_object().expect("an object") {
            command.env(name, text(value));
        }
        let output = command.stdin(Stdio::null()).output().expect("the program");
        let said = [output.stdout, output.stderr].concat();
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&said).into_owned()) }
    }

    fn filled_in(&self, value: &Value) -> String {
        let name = self.state.file_name().expect("a name").to_string_lossy();
        let text = value.as_str().expect("a text").replace("{state}", &self.state.to_string_lossy());
        text.replace("{name}", &name)
    }

    /// A request about something of the server's: `/api/v1/jobs`.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        CLIENT.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    /// A request about something of the space's: `files/a`.
    pub fn in_space(&self, method: &str, path: &str) -> RequestBuilder {
        self.request(method, &format!("/api/v1/spaces/{}/{path}", self.space))
    }

    /// The caller's jobs; of one state if `query` says so.
    pub fn jobs(&self, query: &str) -> Vec<Value> {
        let reply = Reply::to(self.request("GET", &format!("/api/v1/jobs?limit=1000{query}")));
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        reply.json()["jobs"].as_array().expect("a list").clone()
    }

    /// Waits until no job is unfinished; the jobs.
    pub fn settled_jobs(&self) -> Vec<Value> {
        Drive::wait_for("every job is over", || {
            let jobs = self.jobs("");
            jobs.iter().all(|job| !job["finished_at"].is_null()).then_some(jobs)
        })
    }
}

impl Default for Mortal {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.kill();
        // Shown only where a test fails.
        eprint!("{}", self.said());
        // What can't be removed lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.state);
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

/// All files there, or below.
fn files(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    entries.flat_map(|entry| files(&entry.expect("an entry").path())).collect()
}

/// The database of SQLite's that has this table, if it is one.
fn table(path: &Path, name: &str) -> Option<rusqlite::Connection> {
    if !path.extension().is_some_and(|end| end == "sqlite" || end == "db") {
        return None;
    }
    let database = rusqlite::Connection::open(path).expect("a database");
    let has = database.query_row("select 1 from sqlite_schema where name = ?1", [name], |_| Ok(()));
    has.is_ok().then_some(database)
}
