//! What lies behind the Workers on this machine: the local D1 and R2, migrated and with a first administrator.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;
use crate::stamp::{Stamp, fingerprint, make_folder};

/// Applies the migrations that are not applied yet.
pub(crate) fn migrate(state: &Path) -> Result<()> {
    let made_from = fingerprint(&migrations()?)?;
    let stamp = Stamp::at(state.join("migrations.stamp"));
    if stamp.is(&made_from) {
        return Ok(());
    }
    eprintln!("migrations: into {} (seconds)", state.display());
    let mut wrangler = process::npm_program("wrangler")?;
    // Without CI it asks before it begins, and nobody is there to answer.
    wrangler
        .env("CI", "true")
        .args(["d1", "migrations", "apply", "ledge", "--local", "--persist-to"])
        .arg(state);
    process::quiet(
        &mut wrangler,
        &format!("correct the migration that is named above; remove {} to begin anew", state.display()),
    )?;
    stamp.set(&made_from)
}

/// The migrations, in order.
pub(crate) fn migrations() -> Result<Vec<PathBuf>> {
    let folder = fs::read_dir("migrations").context("can't read the folder migrations")?;
    let mut files = Vec::new();
    for file in folder {
        files.push(file.context("can't read the folder migrations")?.path());
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    Ok(files)
}

/// The first administrator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Administrator {
    /// The token, of which the database holds only the hash.
    pub(crate) token: String,
    /// The personal space's id.
    pub(crate) space: String,
}

impl Administrator {
    /// Reads what `ledge bootstrap` prints.
    pub(crate) fn parse(line: &str) -> Result<Self> {
        Self::read(&serde_json::from_str(line.trim()).context("`ledge bootstrap` printed no JSON")?)
    }

    /// Reads it out of JSON that `ledge` printed.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let field = |name: &str| {
            let text = value.get(name).and_then(Value::as_str).map(str::to_owned);
            text.with_context(|| format!("`ledge` printed no {name}"))
        };
        Ok(Self { token: field("token")?, space: field("space")? })
    }
}

impl std::fmt::Display for Administrator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        serde_json::json!({ "token": self.token, "space": self.space }).fmt(f)
    }
}

/// Makes the first administrator in a migrated database. `ledge` runs the command line.
pub(crate) fn bootstrap(state: &Path, mut ledge: Command) -> Result<Administrator> {
    make_folder(state)?;
    let sql = state.join("bootstrap.sql");
    eprintln!("administrator: making the first one (two minutes where the command line is not compiled yet)");
    ledge.args(["bootstrap", "--sql"]).arg(&sql);
    let said = process::quiet(&mut ledge, "the messages above say why; then run the command again")?;
    let administrator = Administrator::parse(&said)?;
    let mut wrangler = process::npm_program("wrangler")?;
    wrangler
        .args(["d1", "execute", "ledge", "--local", "--yes", "--persist-to"])
        .arg(state)
        .arg("--file")
        .arg(&sql);
    let advice = format!("if it has an administrator already, remove {} to begin anew", state.display());
    process::quiet(&mut wrangler, &advice)?;
    fs::remove_file(&sql).with_context(|| format!("can't remove {}", sql.display()))?;
    Ok(administrator)
}
