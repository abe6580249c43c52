//! The suite against the local host: SQLite, a folder, hyper.

mod native;

use ledge_hosts::local;
use native::Native;

#[test]
fn local_host_keeps_the_contracts() {
    let report = local::run(async {
        let ports = local::temporary().expect("a temporary folder");
        ledge_conformance::run(&*ports, &Native).await
    });
    let report = report.expect("a runtime");
    println!("{report}");
    assert!(report.failed.is_empty(), "{} checks failed, see above", report.failed.len());
}
