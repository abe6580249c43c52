//! `ledge doctor`: whether database and bucket fit together.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use ledge_core::doctor::{Examination, Report};
use ledge_core::ports::Platform;
use ledge_core::settings::Settings;
use ledge_hosts::buckets::BucketSettings;
use ledge_hosts::local;

/// Examine the drive on this machine; it may be served meanwhile.
///
/// Ends with an error where something is wrong.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder that holds the drive.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Look whether every extent of every page resolves to a stored object of the right size, whether sizes and checksums
    /// fit, and count anew what is counted. It is what the command does, and can be said.
    #[arg(long)]
    verify: bool,

    /// Read all content, too, and compare its checksums.
    #[arg(long)]
    content: bool,

    /// Print the report as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// Examines, and prints what was found.
pub(crate) fn run(options: &Options) -> Result<()> {
    let _said = options.verify;
    let work = async {
        ensure!(
            options.data.join("ledge.db").exists(),
            "{} has no database; `ledge restore` brings one back from a dump",
            options.data.display()
        );
        let buckets = BucketSettings::read(|name| std::env::var(name).ok())?;
        let ports = local::open(&options.data, Settings::default(), &buckets);
        let ports = ports.context("can't open the drive")?;
        let report = examine(&ports, options.content).await?;
        let mut out = std::io::stdout().lock();
        if options.json {
            writeln!(out, "{}", serde_json::to_string(&report)?)?;
        } else {
            tell(&mut out, &report)?;
        }
        ensure!(report.faults == 0, "{} faults", report.faults);
        Ok(())
    };
    local::run(work).context("the system refuses what an examination needs")?
}

/// Examines all.
pub(crate) async fn examine<P: Platform>(platform: &P, content: bool) -> Result<Report> {
    let mut examination = Examination::new(content);
    let mut said = "";
    while !examination.is_over() {
        if said != examination.at() {
            said = examination.at();
            eprintln!("doctor: looking at {said}");
        }
        examination.step(platform).await.with_context(|| format!("while looking at {said}"))?;
    }
    Ok(examination.report)
}

/// Prints a report for people.
pub(crate) fn tell(out: &mut impl Write, report: &Report) -> Result<()> {
    let Report {
        objects,
        object_bytes,
        pages,
        blobs,
        nodes,
        content_bytes,
        buckets,
        faults,
        notes,
        findings,
    } = report;
    for bucket in buckets {
        writeln!(out, "bucket {}: {}", bucket.name, bucket.failure.as_deref().unwrap_or("works"))?;
    }
    writeln!(out, "objects {objects} ({object_bytes} bytes), pages {pages}, blobs {blobs}, nodes {nodes}")?;
    if *content_bytes > 0 {
        writeln!(out, "content read {content_bytes} bytes")?;
    }
    for found in findings {
        let weight = if found.kind.is_note() { "note" } else { "FAULT" };
        writeln!(out, "{weight} {}: {}", serde_json::to_string(&found.kind)?.trim_matches('"'), found.what)?;
    }
    if (findings.len() as u64) < faults + notes {
        writeln!(out, "… and {} more", faults + notes - findings.len() as u64)?;
    }
    writeln!(out, "{faults} faults, {notes} notes")?;
    Ok(())
}
