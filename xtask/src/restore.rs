//! `cargo xtask restore` and `cargo xtask doctor`: `ledge restore` and `ledge doctor`, and around the former what wrangler
//! does for a drive on Workers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::arguments::Arguments;
use crate::stamp::{make_folder, remove_folder};
use crate::{local, process};

/// Where downloads and the SQL file lie.
const SCRATCH: &str = ".ledge/restore";

/// What `cargo xtask restore` was asked for.
pub(crate) enum Options {
    /// A drive in a folder of this machine.
    Local {
        /// The folder.
        data: PathBuf,
        /// Which dump; None for the newest.
        backup: Option<String>,
    },
    /// A drive on Workers.
    Workers(Workers),
}

/// A drive on Workers, and what is to be restored.
pub(crate) struct Workers {
    /// Where its state lies on this machine; None for the account that wrangler is signed in to.
    pub(crate) state: Option<PathBuf>,
    /// Which dump.
    pub(crate) backup: String,
    /// The dump's objects, where they were downloaded already: files of their keys' names.
    pub(crate) objects: Option<PathBuf>,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self> {
        let backup = arguments.value("--backup")?;
        let data = arguments.value("--data")?.map(PathBuf::from);
        let state = arguments.value("--persist-to")?.map(PathBuf::from);
        let objects = arguments.value("--objects")?.map(PathBuf::from);
        let (workers, remote) = (arguments.flag("--d1"), arguments.flag("--remote"));
        arguments.end()?;
        if let Some(data) = data {
            ensure!(!workers && !remote, "--data is for a drive on this machine, --d1 for one on Workers");
            return Ok(Self::Local { data, backup });
        }
        ensure!(workers, "say which drive: --data DIR, or --d1 with --persist-to DIR or --remote");
        ensure!(state.is_some() != remote, "say where D1 and R2 are: --persist-to DIR or --remote");
        let backup =
            backup.context("say which dump: --backup ID; its objects are ledge/meta/ID/… in the bucket")?;
        Ok(Self::Workers(Workers { state, backup, objects }))
    }
}

/// `cargo xtask restore`.
pub(crate) fn run(options: Options) -> Result<()> {
    match options {
        Options::Local { data, backup } => {
            let mut ledge = local::ledge();
            ledge.arg("restore").arg("--data").arg(data);
            if let Some(backup) = backup {
                ledge.arg("--backup").arg(backup);
            }
            process::show(&mut ledge, "the messages above say why")
        }
        Options::Workers(workers) => {
            // Where a test starts this program, it says which command line it has compiled.
            let ledge = std::env::var_os("LEDGE_PROGRAM").map_or_else(local::ledge, Command::new);
            on_workers(&workers, ledge)
        }
    }
}

/// `cargo xtask doctor`: the arguments are those of `ledge doctor`.
pub(crate) fn doctor(mut arguments: Arguments) -> Result<()> {
    let mut ledge = local::ledge();
    ledge.arg("doctor").arg("--data");
    ledge.arg(arguments.value("--data")?.context(
        "say which drive: --data DIR; on Workers, POST /api/v1/admin/doctor has a job examine it",
    )?);
    for flag in ["--verify", "--content", "--json"] {
        if arguments.flag(flag) {
            ledge.arg(flag);
        }
    }
    arguments.end()?;
    process::show(&mut ledge, "the report above says what is wrong")
}

/// Downloads the dump from R2, or leaves that to `ledge` where it is in S3; has `ledge` make SQL of it, loads that into the empty database, and counts what arrived.
fn on_workers(workers: &Workers, mut ledge: Command) -> Result<()> {
    let scratch = Path::new(SCRATCH).join(format!("{}-{}", workers.backup, std::process::id()));
    remove_folder(&scratch)?;
    make_folder(&scratch)?;
    let sql = scratch.join("restore.sql");
    ledge.arg("restore").arg("--backup").arg(&workers.backup).arg("--sql").arg(&sql);
    let is_in_s3 = std::env::var_os("LEDGE_S3_ENDPOINT").is_some_and(|endpoint| !endpoint.is_empty());
    match &workers.objects {
        Some(objects) => {
            ledge.arg("--objects").arg(objects);
        }
        // It reads the bucket itself.
        None if is_in_s3 => {}
        None => {
            ledge.arg("--objects").arg(download(workers, &scratch.join("objects"))?);
        }
    }
    let said = process::quiet(&mut ledge, "nothing was changed; the messages above say why")?;
    let said: Value = serde_json::from_str(said.trim()).context("`ledge restore` printed no JSON")?;

    eprintln!("restore: applying the migrations");
    let mut migrations = wrangler(workers, &["d1", "migrations", "apply", "ledge"])?;
    // Without CI it asks before it begins, and nobody is there to answer.
    process::quiet(migrations.env("CI", "true"), "the database could not be prepared, and has no rows yet")?;
    eprintln!("restore: loading the rows");
    let mut load = wrangler(workers, &["d1", "execute", "ledge", "--yes", "--file"])?;
    process::quiet(
        load.arg(&sql),
        "`target_changed` says that the database is in use: make a new one; else remove it, and begin anew",
    )?;
    count(workers, &said)?;
    remove_folder(&scratch)?;
    println!(
        "restored the database from the dump {}, which shows {}",
        workers.backup,
        said.get("shows").and_then(Value::as_str).unwrap_or("?")
    );
    println!("next: deploy or start, then POST /api/v1/admin/doctor examines it");
    Ok(())
}

fn wrangler(workers: &Workers, words: &[&str]) -> Result<Command> {
    let mut wrangler = process::npm_program("wrangler")?;
    let (last, first) = words.split_last().context("a command has words")?;
    wrangler.args(first);
    // `--file` takes what follows.
    let ends_with_option = last.starts_with("--");
    if !ends_with_option {
        wrangler.arg(last);
    }
    match &workers.state {
        Some(state) => wrangler.arg("--local").arg("--persist-to").arg(state),
        None => wrangler.arg("--remote"),
    };
    if ends_with_option {
        wrangler.arg(last);
    }
    Ok(wrangler)
}

/// wrangler can't list a bucket, so the index says what there is.
fn download(workers: &Workers, folder: &Path) -> Result<PathBuf> {
    let get = |key: &str| -> Result<PathBuf> {
        let file = folder.join(key);
        make_folder(file.parent().context("a key has folders")?)?;
        let object = format!("ledge/{key}");
        let mut get = wrangler(workers, &["r2", "object", "get", &object, "--file"])?;
        process::quiet(get.arg(&file), "is the dump's id right, and is it complete?")?;
        Ok(file)
    };
    let index = get(&format!("ledge/meta/{}/index.json", workers.backup))?;
    let text = fs::read_to_string(&index).with_context(|| format!("can't read {}", index.display()))?;
    let index: Value = serde_json::from_str(&text).context("the dump's index is no JSON")?;
    let parts = index.get("parts").and_then(Value::as_array).context("the dump's index has no parts")?;
    for (at, part) in parts.iter().enumerate() {
        eprintln!("restore: downloading part {} of {}", at + 1, parts.len());
        let key = part.get("key").and_then(Value::as_str).context("a part has no key")?;
        let is_plain =
            key.starts_with("ledge/meta/") && !key.split('/').any(|name| name == ".." || name.is_empty());
        ensure!(is_plain, "the index names a part {key}, which is none");
        get(key)?;
    }
    Ok(folder.to_owned())
}

/// Compares the number of rows of each table with what was written.
fn count(workers: &Workers, said: &Value) -> Result<()> {
    let wanted = said.get("rows").and_then(Value::as_object).context("`ledge restore` counted no rows")?;
    let columns: Vec<String> =
        wanted.keys().map(|table| format!("(select count(*) from {table}) as {table}")).collect();
    let mut execute = wrangler(workers, &["d1", "execute", "ledge", "--json", "--command"])?;
    let sql = format!("select {}", columns.join(", "));
    let found = process::quiet(execute.arg(sql), "the rows are loaded, and could not be counted")?;
    let found: Value = serde_json::from_str(&found).context("wrangler printed no JSON")?;
    let found = found.pointer("/0/results/0").context("wrangler told no rows")?;
    for (table, rows) in wanted {
        ensure!(
            found.get(table).and_then(Value::as_f64) == rows.as_f64(),
            "{table} has {} rows, and {rows} were written: remove the database, and begin anew",
            found.get(table).unwrap_or(&Value::Null)
        );
        eprintln!("restore: {rows} rows in {table}");
    }
    Ok(())
}
