//! The wrappers: counting counts, faults fall where they were planned.

use anyhow::{Result, ensure};
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::{Bucket, BucketError, Db, DbError, Host, Platform};
use ledge_core::wrappers::{Counts, Faults, When, count, fail};

use crate::db::{self, note, noted, notes};
use crate::report::checks;
use crate::sample::put;
use crate::{Report, bucket};

const KEY: &str = "conformance/wrapped";

pub(crate) async fn check<P: Platform>(platform: &P, report: &mut Report) {
    checks!(
        report,
        "wrappers",
        counting_counts_every_call(platform),
        counting_changes_nothing(platform),
        a_fault_before_leaves_nothing(platform),
        a_fault_after_leaves_the_effect(platform),
        a_fault_falls_on_its_call_alone(platform),
        the_traces_are_removed(platform),
    );
}

async fn counting_counts_every_call<P: Platform>(platform: &P) -> Result<()> {
    notes(platform.db()).await?;
    let counts = Counts::default();
    let counted = count(platform, &counts);
    counted.db.write(vec![note("a", 1), note("b", 2)]).await?;
    noted(&counted.db).await?;
    ensure!((counts.round_trips(), counts.bucket_operations()) == (2, 0));
    ensure!(counted.db.write(vec![note("a", 1)]).await.is_err());
    ensure!(counts.round_trips() == 3, "a call that failed is a call");
    put(&counted.bucket, KEY, b"content").await?;
    counted.bucket.get(KEY, 0..7).await?;
    counted.bucket.list(KEY, None).await?;
    ensure!(counts.bucket_operations() == 3);
    let mut plan = ReadPlan::inline("not counted");
    for range in [0..3, 3..5, 0..1] {
        plan.push(Slice::Object { place: KEY.into(), range });
    }
    drop(counted.host.open(plan).await?);
    ensure!(counts.bucket_operations() == 5, "two merged ranges and another one are two reads");
    counted.bucket.delete(&[KEY.to_owned()]).await?;
    ensure!((counts.round_trips(), counts.bucket_operations()) == (3, 6));
    Ok(())
}

async fn counting_changes_nothing<P: Platform>(platform: &P) -> Result<()> {
    let counts = Counts::default();
    let counted = count(platform, &counts);
    notes(&counted.db).await?;
    counted.db.write(vec![note("a", 3)]).await?;
    ensure!(noted(platform.db()).await? == ["a=3"]);
    put(&counted.bucket, KEY, b"content").await?;
    ensure!(platform.bucket().get(KEY, 0..7).await? == b"content");
    ensure!(counted.bucket.get("conformance/none", 0..1).await.is_err());
    Ok(())
}

async fn a_fault_before_leaves_nothing<P: Platform>(platform: &P) -> Result<()> {
    notes(platform.db()).await?;
    let faults = Faults::at(0, When::Before);
    let lost = fail(platform, &faults).db.write(vec![note("a", 1)]).await;
    ensure!(matches!(lost, Err(DbError::Unavailable(_))));
    ensure!(noted(platform.db()).await?.is_empty());

    bucket::clear(platform.bucket()).await?;
    let faults = Faults::at(0, When::Before);
    ensure!(put(&fail(platform, &faults).bucket, KEY, b"content").await.is_err());
    ensure!(platform.bucket().get(KEY, 0..1).await == Err(BucketError::NotFound(KEY.to_owned())));
    Ok(())
}

async fn a_fault_after_leaves_the_effect<P: Platform>(platform: &P) -> Result<()> {
    notes(platform.db()).await?;
    let faults = Faults::at(0, When::After);
    let lost = fail(platform, &faults).db.write(vec![note("a", 1)]).await;
    ensure!(matches!(lost, Err(DbError::Unavailable(_))));
    ensure!(noted(platform.db()).await? == ["a=1"]);

    let faults = Faults::at(0, When::After);
    ensure!(put(&fail(platform, &faults).bucket, KEY, b"content").await.is_err());
    ensure!(platform.bucket().get(KEY, 0..7).await? == b"content");
    Ok(())
}

async fn a_fault_falls_on_its_call_alone<P: Platform>(platform: &P) -> Result<()> {
    notes(platform.db()).await?;
    let faults = Faults::at(2, When::Before);
    let failing = fail(platform, &faults);
    failing.db.write(vec![note("a", 1)]).await?;
    put(&failing.bucket, KEY, b"content").await?;
    ensure!(failing.db.write(vec![note("b", 1)]).await.is_err());
    failing.db.write(vec![note("c", 1)]).await?;
    ensure!(faults.calls() == 4);
    ensure!(noted(platform.db()).await? == ["a=1", "c=1"]);
    Ok(())
}

async fn the_traces_are_removed<P: Platform>(platform: &P) -> Result<()> {
    db::clear(platform.db()).await?;
    bucket::clear(platform.bucket()).await
}
