//! Which keys there are.

use anyhow::{Result, ensure};
use ledge_core::ports::Bucket;

use super::all;
use crate::Report;
use crate::report::checks;
use crate::sample::{put, same};

pub(super) async fn check(bucket: &impl Bucket, report: &mut Report) {
    checks!(
        report,
        "bucket",
        keys_are_taken_literally(bucket),
        a_key_may_have_1024_bytes(bucket),
        a_key_may_continue_another(bucket),
    );
}

async fn keys_are_taken_literally(bucket: &impl Bucket) -> Result<()> {
    let keys = [
        "a b",
        "a+b",
        "a%20b",
        "a%2Fb",
        "A B",
        "a~b!'()*",
        "a=b&c?d#e",
        "a:b@c,d;e",
        "a\"b\\c|d<e>",
        ".a",
        "..a",
        "a.",
    ];
    for key in keys {
        put(bucket, &format!("conformance/literal/{key}"), key.as_bytes()).await?;
    }
    for key in keys {
        same(&bucket.get(&format!("conformance/literal/{key}"), 0..key.len() as u64).await?, key.as_bytes())?;
    }
    ensure!(all(bucket, "conformance/literal/").await?.len() == keys.len());
    Ok(())
}

async fn a_key_may_have_1024_bytes(bucket: &impl Bucket) -> Result<()> {
    // Names of 200 bytes between slashes, and one name without any slash.
    let split: String = "conformance/long/"
        .chars()
        .chain("x".repeat(200).chars().chain(['/']).cycle())
        .take(1023)
        .chain(['y'])
        .collect();
    let unsplit: String = "conformance/".chars().chain("z".repeat(1012).chars()).collect();
    for key in [split, unsplit] {
        ensure!(key.len() == 1024);
        put(bucket, &key, b"content").await?;
        same(&bucket.get(&key, 0..7).await?, b"content")?;
        ensure!(all(bucket, &key).await?.iter().map(|object| object.key.as_str()).eq([key.as_str()]));
    }
    Ok(())
}

async fn a_key_may_continue_another(bucket: &impl Bucket) -> Result<()> {
    let keys = ["conformance/x", "conformance/x/y", "conformance/x/y/z"];
    for key in keys {
        put(bucket, key, key.as_bytes()).await?;
    }
    for key in keys {
        same(&bucket.get(key, 0..key.len() as u64).await?, key.as_bytes())?;
    }
    bucket.delete(&["conformance/x/y".to_owned()]).await?;
    let left = all(bucket, "conformance/x").await?;
    ensure!(left.iter().map(|object| object.key.as_str()).eq(["conformance/x", "conformance/x/y/z"]));
    Ok(())
}
