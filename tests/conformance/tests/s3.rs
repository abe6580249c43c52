//! The suite against the local host over an S3 bucket, which `cargo xtask test` starts: of s3s-fs, or of Miniflare, which
//! `LEDGE_TEST_STORE` says.

mod native;

use ledge_core::settings::Settings;
use ledge_hosts::buckets::BucketSettings;
use ledge_hosts::local;
use native::Native;

/// What s3s-fs does otherwise than S3.
const OF_S3S_FS: [&str; 5] = [
    // It compares checksums when the object has taken its place.
    "bucket: a wrong checksum stores nothing",
    // It says that keys in lists are encoded, and doesn't encode them.
    "bucket: keys are taken literally",
    // A key's name is a file's name there, and a key with more a folder's.
    "bucket: a key may have 1024 bytes",
    "bucket: a key may continue another",
    "bucket: keys are listed in the order of their bytes",
];

/// What Miniflare does otherwise: it keeps whatever arrives.
const OF_MINIFLARE: [&str; 1] = ["bucket: a wrong checksum stores nothing"];

#[test]
fn local_host_over_s3_keeps_the_contracts() {
    let buckets = BucketSettings::read(|name| std::env::var(name).ok()).expect("variables that can be used");
    assert!(buckets.default.is_some(), "LEDGE_S3_ENDPOINT names no store: run cargo xtask test");
    let left_out = match std::env::var("LEDGE_TEST_STORE").as_deref() {
        Ok("s3s-fs") => OF_S3S_FS.as_slice(),
        Ok("miniflare") => OF_MINIFLARE.as_slice(),
        other => panic!("LEDGE_TEST_STORE is {other:?}: run cargo xtask test"),
    };
    let report = local::run(async {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ports = local::open(folder.path(), Settings::default(), &buckets).expect("a platform");
        ledge_conformance::run_without(left_out, &ports, &Native).await
    });
    let report = report.expect("a runtime");
    println!("{report}");
    assert!(report.failed.is_empty(), "{} checks failed, see above", report.failed.len());
}
