//! Read plans become bodies.

use anyhow::{Context, Result, ensure};
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::{Bucket, BucketError, Host, Platform};

use crate::report::checks;
use crate::sample::{self, put, same};
use crate::{Report, Runner};

const KEYS: [&str; 3] = ["conformance/body/a", "conformance/body/b", "conformance/body/c"];
const SIZES: [usize; 3] = [1000, 300_000, 1 << 20];

pub(super) async fn check<P, R>(platform: &P, runner: &R, report: &mut Report)
where
    P: Platform,
    R: Runner<Body = <P::Host as Host>::Body>,
{
    let stage = &Stage { platform, runner };
    checks!(
        report,
        "host",
        objects_for_bodies_are_stored(stage),
        an_empty_plan_is_an_empty_body(stage),
        inline_bytes_are_a_body(stage),
        bytes_in_memory_are_a_body(stage),
        zeros_are_a_body(stage),
        an_object_is_a_body(stage),
        a_range_of_an_object_is_a_body(stage),
        many_slices_are_a_body_in_order(stage),
        many_objects_are_a_body_in_order(stage),
        bodies_can_be_read_side_by_side(stage),
        a_missing_first_object_is_an_error_before_the_body(stage),
        a_first_range_past_the_end_is_an_error_before_the_body(stage),
        a_missing_later_object_breaks_the_body(stage),
        a_later_range_past_the_end_breaks_the_body(stage),
    );
    let keys = KEYS.map(str::to_owned);
    report.note(
        "host",
        "objects_for_bodies_are_removed",
        platform.bucket().delete(&keys).await.map_err(Into::into),
    );
}

struct Stage<'a, P, R> {
    platform: &'a P,
    runner: &'a R,
}

impl<P, R> Stage<'_, P, R>
where
    P: Platform,
    R: Runner<Body = <P::Host as Host>::Body>,
{
    /// Reads a plan as a client would, and compares.
    async fn gives(&self, slices: impl IntoIterator<Item = Slice>, wanted: &[u8]) -> Result<()> {
        let plan = plan(slices);
        ensure!(plan.len() == wanted.len() as u64);
        let body = self.platform.host().open(plan).await?;
        same(&self.runner.content(body).await?, wanted)
    }

    /// Where opening a plan has to fail.
    async fn refusal(&self, slices: impl IntoIterator<Item = Slice>) -> Result<BucketError> {
        self.platform.host().open(plan(slices)).await.err().context("the plan was opened")
    }

    /// Where a plan opens, but its body can't be completed.
    async fn breaks(&self, slices: impl IntoIterator<Item = Slice>) -> Result<()> {
        let body = self.platform.host().open(plan(slices)).await?;
        let content = self.runner.content(body).await;
        ensure!(
            content.is_err(),
            "{} bytes looked like a whole body",
            content.map_or(0, |bytes| bytes.len())
        );
        Ok(())
    }
}

fn plan(slices: impl IntoIterator<Item = Slice>) -> ReadPlan {
    let mut plan = ReadPlan::default();
    slices.into_iter().for_each(|slice| plan.push(slice));
    plan
}

/// The content of the object with that number.
fn content(number: usize) -> Vec<u8> {
    let seed = u8::try_from(number).unwrap_or_default();
    sample::bytes(100 + seed, SIZES.get(number).copied().unwrap_or_default())
}

/// A range of the object with that number, and what is in it.
fn part(number: usize, from: usize, to: usize) -> (Slice, Vec<u8>) {
    let key = KEYS.get(number).copied().unwrap_or_default().to_owned();
    let bytes = content(number).get(from..to).unwrap_or_default().to_vec();
    (Slice::Object { place: key.into(), range: from as u64..to as u64 }, bytes)
}

fn inline(bytes: &[u8]) -> (Slice, Vec<u8>) {
    (Slice::Inline(bytes.to_vec()), bytes.to_vec())
}

fn zeros(count: usize) -> (Slice, Vec<u8>) {
    (Slice::Zeros(count as u64), vec![0; count])
}

fn missing_object() -> Slice {
    Slice::Object { place: "conformance/body/missing".into(), range: 0..100 }
}

fn past_the_end() -> Slice {
    Slice::Object { place: "conformance/body/a".into(), range: 900..1001 }
}

/// Splits parts into slices and the content that they make.
fn assemble(parts: impl IntoIterator<Item = (Slice, Vec<u8>)>) -> (Vec<Slice>, Vec<u8>) {
    let (slices, contents): (Vec<Slice>, Vec<Vec<u8>>) = parts.into_iter().unzip();
    (slices, contents.concat())
}

type Staged<'a, 'b, P, R> = &'a Stage<'b, P, R>;

macro_rules! staged {
    ($($(#[$doc:meta])* async fn $name:ident($stage:ident) $body:block)+) => {$(
        $(#[$doc])*
        async fn $name<P, R>($stage: Staged<'_, '_, P, R>) -> Result<()>
        where
            P: Platform,
            R: Runner<Body = <P::Host as Host>::Body>,
        $body
    )+};
}

staged! {
    async fn objects_for_bodies_are_stored(stage) {
        for (number, key) in KEYS.into_iter().enumerate() {
            put(stage.platform.bucket(), key, &content(number)).await?;
        }
        Ok(())
    }

    async fn an_empty_plan_is_an_empty_body(stage) {
        stage.gives([], b"").await
    }

    async fn inline_bytes_are_a_body(stage) {
        let bytes = sample::bytes(7, 100_000);
        stage.gives([Slice::Inline(bytes.clone())], &bytes).await?;
        stage.gives([Slice::Inline(b"x".to_vec())], b"x").await
    }

    async fn bytes_in_memory_are_a_body(stage) {
        for bytes in [Vec::new(), b"x".to_vec(), sample::bytes(8, 100_000)] {
            let body = stage.platform.host().inline(bytes.clone());
            same(&stage.runner.content(body).await?, &bytes)?;
        }
        Ok(())
    }

    async fn zeros_are_a_body(stage) {
        for count in [1, 65_535, 65_536, 65_537, 1_000_000] {
            let (slice, wanted) = zeros(count);
            stage.gives([slice], &wanted).await?;
        }
        Ok(())
    }

    async fn an_object_is_a_body(stage) {
        for (number, size) in SIZES.into_iter().enumerate() {
            let (slice, wanted) = part(number, 0, size);
            stage.gives([slice], &wanted).await?;
        }
        Ok(())
    }

    async fn a_range_of_an_object_is_a_body(stage) {
        for (from, to) in [(0, 1), (999, 1000), (100_000, 200_001), (299_999, 300_000)] {
            let (slice, wanted) = part(1, from, to);
            stage.gives([slice], &wanted).await?;
        }
        Ok(())
    }

    async fn many_slices_are_a_body_in_order(stage) {
        let (slices, wanted) = assemble([
            inline(b"begin"),
            part(0, 10, 20),
            zeros(70_000),
            part(2, 0, 1 << 20),
            part(1, 5, 6),
            inline(b"middle"),
            part(0, 0, 1000),
            part(1, 250_000, 300_000),
            part(1, 0, 250_000),
            zeros(1),
            part(2, 1000, 1001),
            part(2, 7, 500_000),
            zeros(3),
            inline(b"end"),
        ]);
        stage.gives(slices, &wanted).await
    }

    async fn many_objects_are_a_body_in_order(stage) {
        let (slices, wanted) = assemble((0..40).map(|n| part(n % 3, n, 1000 - n)));
        stage.gives(slices, &wanted).await
    }

    async fn bodies_can_be_read_side_by_side(stage) {
        let (slices, wanted) = assemble((0..5).map(|n| part(n % 3, 0, 1000)));
        let reads = (0..3).map(|_| stage.gives(slices.clone(), &wanted));
        futures::future::try_join_all(reads).await?;
        Ok(())
    }

    async fn a_missing_first_object_is_an_error_before_the_body(stage) {
        let wanted = BucketError::NotFound("conformance/body/missing".to_owned());
        ensure!(stage.refusal([missing_object()]).await? == wanted);
        ensure!(stage.refusal([missing_object(), part(0, 0, 10).0, part(1, 0, 10).0]).await? == wanted);
        Ok(())
    }

    async fn a_first_range_past_the_end_is_an_error_before_the_body(stage) {
        let wanted = BucketError::OutOfRange("conformance/body/a".to_owned());
        ensure!(stage.refusal([past_the_end()]).await? == wanted);
        ensure!(stage.refusal([past_the_end(), part(1, 0, 10).0]).await? == wanted);
        Ok(())
    }

    async fn a_missing_later_object_breaks_the_body(stage) {
        stage.breaks([part(0, 0, 1000).0, missing_object()]).await?;
        stage.breaks([part(2, 0, 1 << 20).0, missing_object(), part(1, 0, 10).0, part(0, 0, 10).0]).await
    }

    async fn a_later_range_past_the_end_breaks_the_body(stage) {
        stage.breaks([part(1, 0, 1000).0, past_the_end(), part(1, 0, 10).0]).await
    }
}
