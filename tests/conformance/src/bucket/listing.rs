//! Listing.

use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use ledge_core::ports::{Bucket, Listed};

use super::all;
use crate::Report;
use crate::report::checks;
use crate::sample::put;

/// More than one page.
const MANY: usize = 1100;

/// Enough at once to be quick, few enough for any host.
const AT_ONCE: usize = 16;

pub(super) async fn check(bucket: &impl Bucket, report: &mut Report) {
    checks!(
        report,
        "bucket",
        keys_are_listed_in_the_order_of_their_bytes(bucket),
        a_prefix_is_a_prefix_of_bytes(bucket),
        sizes_are_listed(bucket),
        an_unknown_prefix_lists_nothing(bucket),
        pages_cover_everything_once(bucket),
        more_keys_than_a_page_are_deleted(bucket),
    );
}

fn keys(objects: &[Listed]) -> Vec<&str> {
    objects.iter().map(|object| object.key.as_str()).collect()
}

async fn store(bucket: &impl Bucket, prefix: &str, names: &[&str]) -> Result<()> {
    for name in names {
        put(bucket, &format!("{prefix}{name}"), name.as_bytes()).await?;
    }
    Ok(())
}

async fn keys_are_listed_in_the_order_of_their_bytes(bucket: &impl Bucket) -> Result<()> {
    // "-" < "/" < "0" < "A" < "a": a folder's content does not come right after a file of the same name.
    let names = ["b", "a", "a/b", "a-b", "a0", "A", "10", "9", "a/B/c", "a/b/c"];
    store(bucket, "conformance/order/", &names).await?;
    let mut wanted = names.map(|name| format!("conformance/order/{name}"));
    wanted.sort();
    ensure!(keys(&all(bucket, "conformance/order/").await?) == wanted);
    Ok(())
}

async fn a_prefix_is_a_prefix_of_bytes(bucket: &impl Bucket) -> Result<()> {
    store(bucket, "conformance/prefix/", &["a", "ab/c", "ab/d/e", "abc", "b"]).await?;
    for (prefix, wanted) in [
        ("conformance/prefix/a", vec!["a", "ab/c", "ab/d/e", "abc"]),
        ("conformance/prefix/ab", vec!["ab/c", "ab/d/e", "abc"]),
        ("conformance/prefix/ab/", vec!["ab/c", "ab/d/e"]),
        ("conformance/prefix/ab/d/e", vec!["ab/d/e"]),
    ] {
        let found = all(bucket, prefix).await?;
        let found: Vec<&str> =
            keys(&found).iter().filter_map(|key| key.strip_prefix("conformance/prefix/")).collect();
        ensure!(found == wanted, "{prefix}: {found:?}");
    }
    Ok(())
}

async fn sizes_are_listed(bucket: &impl Bucket) -> Result<()> {
    put(bucket, "conformance/sizes/a", &[0; 5]).await?;
    put(bucket, "conformance/sizes/b", &[0; 70_000]).await?;
    let found = all(bucket, "conformance/sizes/").await?;
    ensure!(found.iter().map(|object| object.size_bytes).eq([5, 70_000]));
    Ok(())
}

async fn an_unknown_prefix_lists_nothing(bucket: &impl Bucket) -> Result<()> {
    let page = bucket.list("conformance/unknown/", None).await?;
    ensure!(page.objects.is_empty() && page.next.is_none());
    Ok(())
}

fn many() -> Vec<String> {
    (0..MANY).map(|n| format!("conformance/many/{}/{n:04}", n % 3)).collect()
}

async fn pages_cover_everything_once(bucket: &impl Bucket) -> Result<()> {
    let mut wanted = many();
    stream::iter(&wanted)
        .map(|key| put(bucket, key, b"x"))
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    wanted.sort();
    let first = bucket.list("conformance/many/", None).await?;
    ensure!(!first.objects.is_empty() && first.objects.len() <= 1000);
    ensure!(first.next.is_some());
    ensure!(keys(&all(bucket, "conformance/many/").await?) == wanted, "pages miss or repeat keys");
    Ok(())
}

async fn more_keys_than_a_page_are_deleted(bucket: &impl Bucket) -> Result<()> {
    bucket.delete(&many()).await?;
    ensure!(all(bucket, "conformance/many/").await?.is_empty());
    Ok(())
}
