//! The server under test.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// Where the server is and how to sign in.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) space: String,
    pub(crate) host: String,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| named_in_environment().unwrap_or_else(started_here));

/// The one server of this run.
pub(crate) fn server() -> &'static Server {
    &SERVER
}

fn named_in_environment() -> Option<Server> {
    let variable = |name: &str| std::env::var(name).ok();
    let url = variable("LEDGE_TEST_URL")?;
    let needed =
        |name: &str| variable(name).unwrap_or_else(|| panic!("LEDGE_TEST_URL is set, {name} is not"));
    Some(Server {
        url: url.trim_end_matches('/').to_owned(),
        token: needed("LEDGE_TEST_TOKEN"),
        space: needed("LEDGE_TEST_SPACE"),
        host: needed("LEDGE_TEST_HOST"),
    })
}

/// Starts the local host on a free port with an empty drive. It ends when this process does: its standard input is a
/// pipe of ours.
fn started_here() -> Server {
    let data = tempfile::tempdir().expect("a temporary folder");
    let binary = binary();
    let mut child = Command::new(&binary)
        .args(["serve", "--listen", "127.0.0.1:0", "--json", "--until-stdin-closes", "--data"])
        .arg(data.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{} can't be started ({error}): run cargo build -p ledge", binary.display())
        });
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("the server's first line");
    let ready: serde_json::Value = serde_json::from_str(&line).expect("the server's first line is JSON");
    keep(child, data);
    let field = |name: &str| ready[name].as_str().unwrap_or_else(|| panic!("no {name} in {line}")).to_owned();
    Server { url: field("url"), token: field("token"), space: field("space"), host: "local".to_owned() }
}

/// Statics are never dropped: the child sees its standard input close, the folder is left to the system.
fn keep(child: Child, data: tempfile::TempDir) {
    let _folder = data.keep();
    std::mem::forget(child);
}

/// target/debug/ledge, beside target/debug/deps/ where this test is.
fn binary() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("target/debug");
    folder.join(format!("ledge{}", std::env::consts::EXE_SUFFIX))
}
