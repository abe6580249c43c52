//! Storing, reading and removing.

use anyhow::{Result, ensure};
use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, BucketError};

use super::all;
use crate::Report;
use crate::report::checks;
use crate::sample::{self, put, same};

pub(super) async fn check(bucket: &impl Bucket, report: &mut Report) {
    checks!(
        report,
        "bucket",
        what_was_put_is_got(bucket),
        an_object_of_8_mib_is_kept(bucket),
        ranges_are_exact(bucket),
        a_missing_object_is_not_found(bucket),
        a_range_past_the_end_is_out_of_range(bucket),
        a_wrong_checksum_stores_nothing(bucket),
        an_empty_object_is_an_object(bucket),
        the_same_content_can_be_put_again(bucket),
        what_others_change_is_not_read_as_what_it_was(bucket),
        a_deleted_object_is_gone(bucket),
        deleting_what_does_not_exist_succeeds(bucket),
    );
}

fn missing(key: &str) -> BucketError {
    BucketError::NotFound(key.to_owned())
}

fn past_the_end(key: &str) -> BucketError {
    BucketError::OutOfRange(key.to_owned())
}

async fn what_was_put_is_got(bucket: &impl Bucket) -> Result<()> {
    let every_byte: Vec<u8> = (0..=255).collect();
    for (key, content) in [("conformance/every", every_byte), ("conformance/some", sample::bytes(1, 100_000))]
    {
        put(bucket, key, &content).await?;
        same(&bucket.get(key, 0..content.len() as u64).await?, &content)?;
    }
    Ok(())
}

async fn an_object_of_8_mib_is_kept(bucket: &impl Bucket) -> Result<()> {
    let content = sample::bytes(2, 8 << 20);
    put(bucket, "conformance/large", &content).await?;
    same(&bucket.get("conformance/large", 0..content.len() as u64).await?, &content)
}

async fn ranges_are_exact(bucket: &impl Bucket) -> Result<()> {
    let (key, content) = ("conformance/ranges", sample::bytes(3, 1000));
    put(bucket, key, &content).await?;
    for (from, to) in [(0, 1000), (0, 1), (0, 500), (1, 2), (499, 501), (999, 1000), (500, 1000)] {
        let wanted = content.get(from..to).unwrap_or_default();
        same(&bucket.get(key, from as u64..to as u64).await?, wanted)?;
    }
    ensure!(bucket.get(key, 7..7).await?.is_empty());
    ensure!(bucket.get(key, 1000..1000).await?.is_empty());
    Ok(())
}

async fn a_missing_object_is_not_found(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/missing/object";
    ensure!(bucket.get(key, 0..1).await == Err(missing(key)));
    ensure!(bucket.get(key, 0..0).await == Err(missing(key)));
    Ok(())
}

async fn a_range_past_the_end_is_out_of_range(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/short";
    put(bucket, key, b"0123456789").await?;
    for range in [0..11, 9..11, 10..11, 50..60, 11..11, 0..u64::from(u32::MAX) * 16] {
        let found = bucket.get(key, range.clone()).await;
        ensure!(found == Err(past_the_end(key)), "{range:?}: {found:?}");
    }
    Ok(())
}

async fn a_wrong_checksum_stores_nothing(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/damaged/object";
    let stored = bucket.put(key, b"what arrived", Sha256::of(b"what was sent")).await;
    ensure!(stored == Err(BucketError::Damaged(key.to_owned())), "{stored:?}");
    ensure!(bucket.get(key, 0..1).await == Err(missing(key)));
    ensure!(all(bucket, "conformance/damaged/").await?.is_empty());
    Ok(())
}

async fn an_empty_object_is_an_object(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/empty/object";
    put(bucket, key, b"").await?;
    ensure!(bucket.get(key, 0..0).await?.is_empty());
    ensure!(bucket.get(key, 0..1).await == Err(past_the_end(key)));
    let listed = all(bucket, "conformance/empty/").await?;
    ensure!(listed.iter().map(|object| object.size_bytes).eq([0]));
    Ok(())
}

async fn the_same_content_can_be_put_again(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/again";
    put(bucket, key, b"content").await?;
    put(bucket, key, b"content").await?;
    same(&bucket.get(key, 0..7).await?, b"content")
}

async fn what_others_change_is_not_read_as_what_it_was(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/others";
    ensure!(bucket.etag(key).await == Err(missing(key)));
    put(bucket, key, b"their content").await?;
    let listed = all(bucket, key).await?;
    let [object] = listed.as_slice() else { anyhow::bail!("{listed:?}") };
    let etag = bucket.etag(key).await?;
    ensure!(object.etag.as_ref().is_none_or(|listed| *listed == etag), "{object:?}, {etag}");
    ensure!(object.stored_at.0 > 1_700_000_000_000, "{object:?}");
    same(&bucket.get_unchanged(key, &etag, 0..13).await?, b"their content")?;
    same(&bucket.get_unchanged(key, &etag, 6..13).await?, b"content")?;
    put(bucket, key, b"other content").await?;
    let changed = Err(BucketError::Changed(key.to_owned()));
    ensure!(bucket.get_unchanged(key, &etag, 0..13).await == changed);
    ensure!(bucket.etag(key).await? != etag);
    bucket.delete(&[key.to_owned()]).await?;
    ensure!(bucket.get_unchanged(key, &etag, 0..13).await == changed);
    Ok(())
}

async fn a_deleted_object_is_gone(bucket: &impl Bucket) -> Result<()> {
    let key = "conformance/deleted/object";
    put(bucket, key, b"content").await?;
    bucket.delete(&[key.to_owned()]).await?;
    ensure!(bucket.get(key, 0..1).await == Err(missing(key)));
    ensure!(all(bucket, "conformance/deleted/").await?.is_empty());
    put(bucket, key, b"content").await?;
    same(&bucket.get(key, 0..7).await?, b"content")
}

async fn deleting_what_does_not_exist_succeeds(bucket: &impl Bucket) -> Result<()> {
    bucket.delete(&[]).await?;
    put(bucket, "conformance/there", b"content").await?;
    let keys = ["conformance/not/there", "conformance/there", "conformance/nor/this"].map(str::to_owned);
    bucket.delete(&keys).await?;
    bucket.delete(&keys).await?;
    ensure!(bucket.get("conformance/there", 0..1).await == Err(missing("conformance/there")));
    Ok(())
}
