//! Clock, randomness, hashing and tasks.

use std::cell::Cell;
use std::rc::Rc;

use anyhow::{Result, ensure};
use ledge_core::digest::Sha256;
use ledge_core::ports::{Bucket, Host, Timestamp};

use crate::Report;
use crate::report::checks;
use crate::sample;

pub(super) async fn check(host: &impl Host, bucket: &impl Bucket, report: &mut Report) {
    checks!(
        report,
        "host",
        the_clock_is_sane(host, bucket),
        random_bytes_differ(host),
        sha256_gives_the_standards_examples(host),
        sha256_hashes_large_input(host),
        a_spawned_task_runs(host, bucket),
        a_sleep_ends_when_it_is_over(host),
    );
}

/// Something that goes outside and comes back: clocks and tasks move on meanwhile.
async fn round_trip(bucket: &impl Bucket) -> Result<()> {
    bucket.list("conformance/unknown/", None).await?;
    Ok(())
}

async fn the_clock_is_sane(host: &impl Host, bucket: &impl Bucket) -> Result<()> {
    // 2026-01-01 and 2100-01-01.
    ensure!(host.now() > Timestamp(1_767_225_600_000));
    ensure!(host.now() < Timestamp(4_102_444_800_000));
    let before = host.now();
    for _ in 0..3 {
        round_trip(bucket).await?;
        // Clocks may be set back a little, but not by much.
        ensure!(host.now().plus_secs(1) >= before);
        ensure!(host.now() <= before.plus_secs(60));
    }
    Ok(())
}

async fn random_bytes_differ(host: &impl Host) -> Result<()> {
    let mut drawn = [[0_u8; 16]; 100];
    drawn.iter_mut().for_each(|bytes| host.random(bytes));
    drawn.sort_unstable();
    ensure!(drawn.windows(2).all(|pair| pair.first() != pair.last()));
    ensure!(!drawn.contains(&[0; 16]));
    host.random(&mut []);
    // Past what WebCrypto gives at once.
    let mut many = vec![0_u8; 200_000];
    host.random(&mut many);
    for piece in many.chunks(1000) {
        let most = (0..=255).map(|value| piece.iter().filter(|byte| **byte == value).count()).max();
        ensure!(most.is_some_and(|most| most < 50), "not random: one value stands {most:?} times in 1,000");
    }
    Ok(())
}

async fn sha256_gives_the_standards_examples(host: &impl Host) -> Result<()> {
    // FIPS 180-4's examples, and the empty text.
    let examples = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        ),
    ];
    for (input, digest) in examples {
        ensure!(host.sha256(input.as_bytes()).await.to_string() == digest);
    }
    Ok(())
}

async fn sha256_hashes_large_input(host: &impl Host) -> Result<()> {
    let content = sample::bytes(9, 3_000_001);
    ensure!(host.sha256(&content).await == Sha256::of(&content));
    Ok(())
}

async fn a_spawned_task_runs(host: &impl Host, bucket: &impl Bucket) -> Result<()> {
    let done = Rc::new(Cell::new(false));
    let flag = done.clone();
    host.spawn(async move { flag.set(true) });
    for _ in 0..100 {
        round_trip(bucket).await?;
        if done.get() {
            return Ok(());
        }
    }
    anyhow::bail!("it hasn't run after 100 round trips")
}

async fn a_sleep_ends_when_it_is_over(host: &impl Host) -> Result<()> {
    let before = host.now();
    host.sleep(100).await;
    ensure!(host.now().0 - before.0 >= 100);
    ensure!(host.now() <= before.plus_secs(60));
    Ok(())
}
