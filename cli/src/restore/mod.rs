//! `ledge restore`: a database that is lost, out of a dump in the bucket.
//!
//! All of the dump is read and checked first. The database is then built beside its place, brought up to date, examined,
//! and moved into its place at the end, so that whatever fails changes nothing.

mod sql;

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use ledge_core::backup::{Index, META};
use ledge_core::bootstrap::is_fresh;
use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, Host, Ports};
use ledge_core::restore;
use ledge_core::settings::Settings;
use ledge_hosts::buckets::BucketSettings;
use ledge_hosts::local::{InProcess, Local, LocalBuckets, Sqlite, open_buckets};
use ledge_hosts::s3::S3Settings;

use crate::doctor;

/// Bring a lost database back, out of a dump in the bucket.
///
/// With --data the drive on this machine: reads DIR/objects, or the S3 bucket that is set, and writes DIR/ledge.db. With --sql one
/// elsewhere: reads the S3 bucket that is set, or with --objects a dump that was downloaded, and writes its database as SQL.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder that holds the drive. It must have no database, or one that nobody has used.
    #[arg(long, value_name = "DIR", required_unless_present = "sql")]
    data: Option<PathBuf>,

    /// Which dump; else the complete one that shows the latest moment.
    #[arg(long, value_name = "ID")]
    backup: Option<String>,

    /// A folder with the dump's objects, each a file of its key's name: FOLDER/ledge/meta/ID/index.json.
    #[arg(long, value_name = "FOLDER", requires = "sql", conflicts_with = "data")]
    objects: Option<PathBuf>,

    /// The SQL file to write, for `wrangler d1 execute --file` into a database that has all migrations and no account.
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    sql: Option<PathBuf>,
}

/// Restores. An error where nothing was changed, or where the examination afterwards found faults.
pub(crate) fn run(options: &Options) -> Result<()> {
    let work = async {
        match (&options.data, &options.objects, &options.sql) {
            (Some(data), ..) => in_place(data, options.backup.as_deref()).await,
            (None, objects, Some(sql)) => as_sql(objects.as_deref(), options.backup.as_deref(), sql).await,
            _ => anyhow::bail!("say which drive: --data DIR, or --sql FILE"),
        }
    };
    ledge_hosts::local::run(work).context("the system refuses what a restore needs")?
}

async fn in_place(data: &Path, backup: Option<&str>) -> Result<()> {
    let place = data.join("ledge.db");
    must_be_unused(&place).await?;
    let bucket = open_buckets(data, &BucketSettings::read(|name| std::env::var(name).ok())?)?;
    let (index, db, scratch) = build(&bucket, backup, &data.join("restoring")).await?;
    restore::register(&db, &bucket).await?;
    let host = Local::new(bucket.clone());
    let ports = Ports { db, bucket, queue: InProcess::new(), host, settings: Rc::new(Settings::default()) };
    let report = doctor::examine(&ports, false).await?;
    drop(ports);
    Sqlite::make_one_file(&scratch)?;
    for end in ["", "-wal", "-shm"] {
        remove(&data.join(format!("ledge.db{end}")))?;
    }
    fs::rename(&scratch, &place).with_context(|| format!("can't move {} into place", scratch.display()))?;
    remove_folder(&data.join("restoring"))?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "restored {} from the dump {}, which shows {}",
        place.display(),
        index.backup,
        when(&index)
    )?;
    doctor::tell(&mut out, &report)?;
    ensure!(report.faults == 0, "the database is in its place, but not all fits together: see above");
    Ok(())
}

async fn must_be_unused(place: &Path) -> Result<()> {
    if !place.exists() {
        return Ok(());
    }
    let advice =
        || format!("{} is there: move it away if the drive is to be set back to a dump", place.display());
    let db = Sqlite::open(place).with_context(advice)?;
    ensure!(is_fresh(&db).await.with_context(advice)?, "{}", advice());
    Ok(())
}

/// Builds the database in a folder of its own, which is emptied first.
async fn build(
    bucket: &LocalBuckets,
    backup: Option<&str>,
    folder: &Path,
) -> Result<(Index, Sqlite, PathBuf)> {
    let index = restore::find(bucket, backup).await?;
    let parts = index.parts.len();
    eprintln!(
        "restore: the dump {} shows {}, with {} rows in {parts} parts",
        index.backup,
        when(&index),
        index.rows
    );
    restore::check(bucket, &index, |done| progress("parts checked", done as u64, parts as u64)).await?;
    remove_folder(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("can't make {}", folder.display()))?;
    let path = folder.join("ledge.db");
    let db = Sqlite::open_at(&path, index.schema_version)?;
    let now = Local::new(bucket.clone()).now();
    restore::load(&db, bucket, &index, now, |done| progress("rows", done, index.rows)).await?;
    eprintln!("restore: making what follows from the rows");
    restore::settle(&db, now).await?;
    drop(db);
    Ok((index, Sqlite::open(&path)?, path))
}

async fn as_sql(objects: Option<&Path>, backup: Option<&str>, sql: &Path) -> Result<()> {
    let scratch = sql.with_extension("restoring");
    remove_folder(&scratch)?;
    let bucket = match objects {
        Some(objects) => {
            let bucket = open_buckets(&scratch, &BucketSettings::default())?;
            take_in(&bucket, objects).await?;
            bucket
        }
        None => {
            // Dumps are in the default bucket.
            let default = S3Settings::read(|name| std::env::var(name).ok())?;
            ensure!(default.is_some(), "say where the dump is: --objects FOLDER, or LEDGE_S3_… for a bucket");
            open_buckets(&scratch, &BucketSettings { default, ..BucketSettings::default() })?
        }
    };
    let (index, db, _) = build(&bucket, backup, &scratch.join("database")).await?;
    restore::register(&db, &bucket).await?;
    let counts = sql::write(&db, sql).await?;
    drop(db);
    remove_folder(&scratch)?;
    let counts: serde_json::Map<_, _> =
        counts.into_iter().map(|(table, rows)| (table, serde_json::json!(rows))).collect();
    let line = serde_json::json!({ "backup": index.backup, "shows": when(&index), "rows": counts });
    writeln!(std::io::stdout(), "{line}").context("can't write to standard output")
}

/// Puts downloaded objects of dumps where a bucket has them.
async fn take_in(bucket: &LocalBuckets, objects: &Path) -> Result<()> {
    let meta = objects.join(META);
    let read = |path: &Path| -> Result<Vec<fs::DirEntry>> {
        let entries = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<_>>);
        entries.with_context(|| format!("can't read {}", path.display()))
    };
    for dump in read(&meta)? {
        for object in read(&dump.path())? {
            let (id, name) = (dump.file_name(), object.file_name());
            let key = format!("{META}{}/{}", id.to_string_lossy(), name.to_string_lossy());
            let bytes =
                fs::read(object.path()).with_context(|| format!("can't read {}", object.path().display()))?;
            bucket.put(&key, &bytes, Sha256::of(&bytes)).await?;
        }
    }
    Ok(())
}

/// The moment that a dump shows, for people.
fn when(index: &Index) -> String {
    jiff::Timestamp::from_millisecond(index.begun_at)
        .map_or_else(|_| format!("{} ms since 1970", index.begun_at), |time| format!("{time:.0}"))
}

/// One line that is written over where a person looks, and now and then a new one where a file does.
pub(crate) fn progress(what: &str, done: u64, of: u64) {
    if std::io::stderr().is_terminal() {
        eprint!("\rrestore: {done} of {of} {what}{}", if done == of { "\n" } else { "" });
    } else if done == of {
        eprintln!("restore: {done} of {of} {what}");
    }
}

fn remove(file: &Path) -> Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("can't remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
