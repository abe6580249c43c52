//! Whether each bucket works: its listing is asked for, and, where a space stores in it, an object is put, read and deleted.

use std::collections::HashSet;

use super::report::{BucketHealth, Kind, Report};
use crate::error::Result;
use crate::ports::{Bucket, Buckets, Db, Host, Platform, Statement};

/// What the default bucket is called where others have names.
pub const DEFAULT: &str = "default";

/// Where the objects lie that are put for this only.
const PROBES: &str = "ledge/probe/";

/// Tries all that are configured, and tells of those that segments lie in and that aren't.
pub(super) async fn look<P: Platform>(platform: &P, report: &mut Report) -> Result<()> {
    let names = platform.bucket().names();
    report.buckets = Vec::with_capacity(names.len() + 1);
    // What nothing is stored in may be somebody's bucket that can only be read.
    let chosen =
        Statement::new("select distinct b.name from spaces s cross join buckets b on b.n = s.bucket");
    let known = Statement::new("select name, stores from buckets order by name");
    let mut results = platform.db().read(vec![chosen, known]).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    let chosen: HashSet<String> =
        rows().iter().map(|row| row.text("name").map(str::to_owned)).collect::<Result<_, _>>()?;
    let known: Vec<(String, bool)> = rows()
        .iter()
        .map(|row| Ok((row.text("name")?.to_owned(), row.integer("stores")? == 1)))
        .collect::<Result<_>>()?;
    for name in std::iter::once(None).chain(names.iter().map(|name| Some(name.as_str()))) {
        let is_written = name.is_none_or(|name| chosen.contains(name));
        let failure = probe(platform, name, is_written).await.err();
        let is_used = name.is_none_or(|name| known.iter().any(|(known, stores)| known == name && *stores));
        note(report, name.unwrap_or(DEFAULT), is_used, failure);
    }
    for (name, _) in &known {
        if !names.contains(name) {
            note(report, name, true, Some("it isn't configured".to_owned()));
        }
    }
    Ok(())
}

fn note(report: &mut Report, name: &str, is_used: bool, failure: Option<String>) {
    if let Some(failure) = &failure {
        report.add(Kind::BrokenBucket, format!("bucket {name}: {failure}"));
    }
    report.buckets.push(BucketHealth { name: name.to_owned(), works: failure.is_none(), is_used, failure });
}

/// What fails first, in words.
async fn probe<P: Platform>(platform: &P, name: Option<&str>, is_written: bool) -> Result<(), String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    let bucket = platform.bucket_of(name).map_err(failed("configuration"))?;
    let mut random = [0; 16];
    platform.host().random(&mut random);
    let text = data_encoding::HEXLOWER.encode(&random);
    let key = format!("{PROBES}{text}");
    bucket.list(PROBES, None).await.map_err(failed("list"))?;
    if !is_written {
        return Ok(());
    }
    let sha256 = platform.host().sha256(text.as_bytes()).await;
    bucket.put(&key, text.as_bytes(), sha256).await.map_err(failed("put"))?;
    let read = bucket.get(&key, 0..text.len() as u64).await;
    // It goes whatever was read.
    let deleted = bucket.delete(&[key]).await;
    if read.map_err(failed("get"))? != text.as_bytes() {
        return Err("get: what came isn't what was put".to_owned());
    }
    deleted.map_err(failed("delete"))
}
