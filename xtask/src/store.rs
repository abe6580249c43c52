//! The S3 stores of the tests: s3s-fs, and the S3 side of Miniflare's R2; over an empty folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use crate::process;
use crate::server::Server;
use crate::stamp::make_folder;

/// Who may sign in. No log may show the latter two; see [`leaks`].
const ACCESS_KEY_ID: &str = "LEDGETESTSKEYID";
const SECRET_ACCESS_KEY: &str = "the-secret-key-that-no-log-may-show";
const SESSION_TOKEN: &str = "the-session-token-that-no-log-may-show";

/// The bucket that is there from the beginning.
const BUCKET: &str = "drive";

/// Another one, which the configuration calls so.
pub(crate) const SECOND: &str = "second";

/// What others have stored in that one before a drive knew of it, for tests/rest/imports.rs: keys and contents.
pub(crate) const FOREIGN: [(&str, &str); 2] =
    [("import/a-b.txt", "imported a"), ("import/deep/er/b.txt", "imported b")];

/// Stores them in a folder as the bucket that keeps objects under their keys, with that behind each.
pub(crate) fn store_foreign(folder: &Path, mark: &str) -> Result<()> {
    for (key, content) in FOREIGN {
        let path = folder.join(format!("{key}{mark}"));
        make_folder(path.parent().context("a key is in a folder")?)?;
        std::fs::write(&path, content).with_context(|| format!("can't write {}", path.display()))?;
    }
    Ok(())
}

/// The store says where it listens in its log, and doesn't watch its standard input.
const SCRIPT: &str = r#"
log=$1; shift
# What an earlier store said there must not be taken for what this one says.
: > "$log"
"$@" >> "$log" 2>&1 &
store=$!
trap 'kill $store' EXIT
while :; do
    url=$(sed -n 's/.*server is running at \(http:[^ ]*\).*/\1/p' "$log")
    [ -n "$url" ] && break
    kill -0 $store || exit 1
    sleep 0.05
done
echo "{\"url\": \"$url\"}"
cat > /dev/null
"#;

/// A running store.
pub(crate) struct Store {
    server: Server,
    folder: PathBuf,
    /// `LEDGE_BUCKETS`: the second bucket.
    named: String,
}

impl Store {
    /// Starts an s3s-fs over a folder, which is made.
    pub(crate) fn start(program: &Path, folder: &Path, log: &Path) -> Result<Self> {
        make_folder(&folder.join(BUCKET))?;
        let folder = std::path::absolute(folder).context("can't tell the working directory")?;
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "store"]).arg(log).arg(program);
        command.args(["--host", "127.0.0.1", "--port", "0", "--access-key", ACCESS_KEY_ID]);
        command.args(["--secret-key", SECRET_ACCESS_KEY]).arg(&folder);
        command.env("RUST_LOG", "s3s_fs=info").env("NO_COLOR", "1");
        let log = log.with_extension("start.log");
        make_folder(&folder.join(SECOND))?;
        store_foreign(&folder.join(SECOND), "")?;
        Ok(Self::of(Server::start(command, Some(&log))?, folder))
    }

    /// Starts Miniflare's.
    pub(crate) fn miniflare(folder: &Path, log: &Path) -> Result<Self> {
        make_folder(folder)?;
        let folder = std::path::absolute(folder).context("can't tell the working directory")?;
        let mut command = process::npm_program("node")?;
        command.arg("xtask/js/s3.mjs").arg("--state").arg(&folder);
        command.args(["--bucket", BUCKET, "--key", ACCESS_KEY_ID, "--secret", SECRET_ACCESS_KEY]);
        Ok(Self::of(Server::start(command, Some(log))?, folder))
    }

    fn of(server: Server, folder: PathBuf) -> Self {
        let second = json!({
            "endpoint": server.url(), "bucket": SECOND, "access_key_id": ACCESS_KEY_ID,
            "secret_access_key": SECRET_ACCESS_KEY, "session_token": SESSION_TOKEN,
        });
        Self { server, folder, named: json!({ SECOND: second }).to_string() }
    }

    /// Where a folder makes a bucket, in s3s-fs.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The variables that name the first bucket.
    pub(crate) fn variables(&self) -> Vec<(&'static str, &str)> {
        vec![
            ("LEDGE_S3_ENDPOINT", self.server.url()),
            ("LEDGE_S3_BUCKET", BUCKET),
            ("LEDGE_S3_ACCESS_KEY_ID", ACCESS_KEY_ID),
            ("LEDGE_S3_SECRET_ACCESS_KEY", SECRET_ACCESS_KEY),
            ("LEDGE_S3_SESSION_TOKEN", SESSION_TOKEN),
            ("LEDGE_BUCKETS", &self.named),
        ]
    }
}

/// The first thing in a text that must not be there.
pub(crate) fn leaks(text: &str) -> Option<&'static str> {
    const SECRETS: [&str; 5] =
        [SECRET_ACCESS_KEY, SESSION_TOKEN, crate::spin::JOBS_SECRET, "X-Amz-Signature", "X-Amz-Credential"];
    SECRETS.into_iter().find(|secret| text.contains(secret))
}
