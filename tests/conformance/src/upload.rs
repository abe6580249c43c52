//! `Upload`.

use anyhow::{Result, bail, ensure};
use ledge_core::ports::{Upload, UploadError};

use crate::report::checks;
use crate::sample::{self, same};
use crate::{Report, Runner};

pub(crate) async fn check(runner: &impl Runner, report: &mut Report) {
    checks!(
        report,
        "upload",
        content_arrives_whole_and_in_order(runner),
        pieces_are_no_larger_than_asked(runner),
        what_is_read_is_appended(runner),
        an_empty_body_ends_at_once(runner),
        a_body_shorter_than_announced_is_cut(runner),
        a_body_without_any_of_its_bytes_is_cut(runner),
        memory_is_an_upload_too(),
    );
}

/// Reads to the end in pieces of at most `at_most`.
async fn drain(upload: &mut impl Upload, at_most: usize) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    loop {
        let before = content.len();
        let count = upload.read(&mut content, at_most).await?;
        ensure!(count == content.len() - before, "{count} isn't the number of bytes appended");
        ensure!(count <= at_most);
        if count == 0 {
            return Ok(content);
        }
    }
}

async fn sent(runner: &impl Runner, content: &[u8]) -> Result<impl Upload> {
    runner.upload(content.to_vec(), content.len() as u64).await
}

async fn content_arrives_whole_and_in_order(runner: &impl Runner) -> Result<()> {
    let content = sample::bytes(20, 3_000_007);
    let mut upload = sent(runner, &content).await?;
    same(&drain(&mut upload, 1 << 20).await?, &content)?;
    ensure!(upload.read(&mut Vec::new(), 10).await == Ok(0), "the end doesn't last");
    Ok(())
}

async fn pieces_are_no_larger_than_asked(runner: &impl Runner) -> Result<()> {
    let content = sample::bytes(21, 10_000);
    for at_most in [1001, 4096, 10_000, 10_001] {
        same(&drain(&mut sent(runner, &content).await?, at_most).await?, &content)?;
    }
    let mut upload = sent(runner, b"0123456789").await?;
    same(&drain(&mut upload, 1).await?, b"0123456789")
}

async fn what_is_read_is_appended(runner: &impl Runner) -> Result<()> {
    let mut upload = sent(runner, b"after").await?;
    let mut content = b"before ".to_vec();
    while upload.read(&mut content, 2).await? > 0 {}
    same(&content, b"before after")
}

async fn an_empty_body_ends_at_once(runner: &impl Runner) -> Result<()> {
    let mut upload = sent(runner, b"").await?;
    same(&drain(&mut upload, 100).await?, b"")
}

/// The error at the end of a body, which must come instead of its end.
async fn cut(upload: &mut impl Upload) -> Result<UploadError> {
    let mut content = Vec::new();
    loop {
        match upload.read(&mut content, 100_000).await {
            Ok(0) => bail!("{} bytes looked like a whole body", content.len()),
            Ok(_) => {}
            Err(error) => return Ok(error),
        }
    }
}

async fn a_body_shorter_than_announced_is_cut(runner: &impl Runner) -> Result<()> {
    for (sent, announced) in [(1, 2), (99_999, 100_000), (300_000, 5_000_000)] {
        let mut upload = runner.upload(sample::bytes(22, sent), announced).await?;
        cut(&mut upload).await?;
        ensure!(upload.read(&mut Vec::new(), 10).await.is_err(), "a cut body ended all the same");
    }
    Ok(())
}

async fn a_body_without_any_of_its_bytes_is_cut(runner: &impl Runner) -> Result<()> {
    let mut upload = runner.upload(Vec::new(), 10).await?;
    cut(&mut upload).await?;
    Ok(())
}

async fn memory_is_an_upload_too() -> Result<()> {
    let content = sample::bytes(23, 1000);
    same(&drain(&mut content.as_slice(), 300).await?, &content)
}
