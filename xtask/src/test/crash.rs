//! What the suite needs that starts its servers itself, since it kills them: tests/crash.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::libtest::{Program, Programs};
use crate::build::Worker;
use crate::process;
use crate::setup::SpinHost;
use crate::spin::{self, Instances};
use crate::state::Administrator;
use crate::store::Store;
use crate::workerd;

/// The test program.
const TARGET: &str = "crash";

/// What its servers are set to: workers that died with an earlier server are given up soon.
const VARIABLES: [(&str, &str); 1] = [("LEDGE_JOB_LEASE_SECS", "3")];
const TICK_SECS: &str = "1";

/// Where a server's segments are below the folder of buckets.
const SEGMENTS: &str = "{name}/ledge/seg";

type Environment = Vec<(&'static str, String)>;

/// Whether a program starts its servers itself.
pub(super) fn is(program: &Program) -> bool {
    program.target == TARGET
}

/// How to start the native host.
pub(super) fn local(programs: &Programs) -> Result<Environment> {
    native(programs, "local", variables(&VARIABLES), None)
}

/// How to start the native host over S3: each server has a bucket of its own.
pub(super) fn local_s3(programs: &Programs, store: &Store) -> Result<Environment> {
    native(programs, "local-s3", variables(&with_own_bucket(store)), Some(store.folder()))
}

/// How to start the Spin components over a copy of the template: each server has a bucket of its own. What is lost is brought
/// back by the native command, into the same kind of file.
pub(super) fn on_spin(
    programs: &Programs,
    host: &SpinHost,
    template: &Path,
    store: &Store,
    administrator: &Administrator,
) -> Result<Environment> {
    let all = with_own_bucket(store);
    let database = format!("{{state}}/{}", spin::DATABASE);
    let arguments = spin::arguments(host, &database, None, &all, (Instances::Small, TICK_SECS))?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let program = host.program.display().to_string();
    let (template, buckets) = (Some(template), Some(store.folder()));
    let how = How {
        host: "spin",
        program: &program,
        arguments: &arguments,
        variables: json!({}),
        template,
        buckets,
    };
    let mut environment = how.environment()?;
    let restore = json!({
        "database": spin::DATABASE, "bucket": store.folder().join(SEGMENTS),
        "program": std::path::absolute(&programs.ledge).context("can't tell a path")?,
        "arguments": ["restore", "--data", "{state}"], "variables": variables(&all),
    });
    environment.push(("LEDGE_TEST_RESTORE", restore.to_string()));
    environment.push(("LEDGE_TEST_TOKEN", administrator.token.clone()));
    environment.push(("LEDGE_TEST_SPACE", administrator.space.clone()));
    Ok(environment)
}

/// The variables, with a bucket of the server's name.
fn with_own_bucket(store: &Store) -> Vec<(&'static str, &str)> {
    let of_store = store.variables().into_iter().filter(|(name, _)| *name != "LEDGE_S3_BUCKET");
    VARIABLES.into_iter().chain(of_store).chain([("LEDGE_S3_BUCKET", "{name}")]).collect()
}

fn native(programs: &Programs, host: &str, variables: Value, buckets: Option<&Path>) -> Result<Environment> {
    let arguments =
        ["serve", "--json", "--until-stdin-closes", "--listen", "127.0.0.1:0", "--tick-secs", TICK_SECS];
    let arguments: Vec<&str> = arguments.into_iter().chain(["--data", "{state}"]).collect();
    let ledge = programs.ledge.display().to_string();
    let segments = match buckets {
        Some(buckets) => buckets.join(SEGMENTS),
        None => "objects/ledge/seg".into(),
    };
    // What is lost with the database, and what brings it back.
    let restore = json!({
        "database": "ledge.db", "bucket": segments, "program": ledge, "arguments": ["restore", "--data", "{state}"],
        "variables": &variables,
    });
    let how = How { host, program: &ledge, arguments: &arguments, variables, template: None, buckets };
    let mut environment = how.environment()?;
    environment.push(("LEDGE_TEST_RESTORE", restore.to_string()));
    Ok(environment)
}

fn variables(given: &[(&str, &str)]) -> Value {
    given.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

/// How to start the Workers over a copy of the template; over S3, where each server has a bucket of its own.
pub(super) fn on_workerd(
    programs: &Programs,
    template: &Path,
    administrator: &Administrator,
    store: Option<&Store>,
) -> Result<Environment> {
    let of_workers = store.map_or_else(|| VARIABLES.to_vec(), with_own_bucket);
    let mut arguments = vec!["xtask/js/workerd.mjs".to_owned(), "--state".to_owned(), "{state}".to_owned()];
    arguments.extend(["--tick-secs".to_owned(), TICK_SECS.to_owned()]);
    for (name, value) in &of_workers {
        arguments.extend(["--var".to_owned(), format!("{name}={value}")]);
    }
    for (config, folder) in workerd::built(&[Worker::TestGateway, Worker::Functions]) {
        arguments.extend(["--worker".to_owned(), format!("{}={}", config.display(), folder.display())]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let npm = process::npm_bin()?;
    let path = process::path_with(&[&npm])?;
    let of_node = json!({ "PATH": path.to_string_lossy(), "WRANGLER_SEND_METRICS": "false" });
    let node = npm.join("node").display().to_string();
    let how = How {
        host: "workerd",
        program: &node,
        arguments: &arguments,
        variables: of_node,
        template: Some(template),
        buckets: store.map(Store::folder),
    };
    let mut environment = how.environment()?;
    // Not the file that runs: compiling the tests may have put another one in its place.
    let itself = std::env::args_os().next().context("can't tell this program's path")?;
    let itself = std::path::absolute(itself).context("can't tell the working directory")?;
    let here = std::env::current_dir().context("can't tell the working directory")?;
    let ledge = std::path::absolute(&programs.ledge).context("can't tell a path")?.display().to_string();
    let here = here.join("xtask").display().to_string();
    let mut of_restore = vec![("CARGO_MANIFEST_DIR", here.as_str()), ("LEDGE_PROGRAM", ledge.as_str())];
    if store.is_some() {
        of_restore.extend(of_workers.iter().copied());
    }
    let bucket = store.map_or_else(|| PathBuf::from("v3/r2"), |store| store.folder().join(SEGMENTS));
    let restore = json!({
        "database": "v3/d1", "bucket": bucket, "program": itself.display().to_string(),
        "arguments": ["restore", "--d1", "--persist-to", "{state}", "--backup", "{backup}"],
        "variables": variables(&of_restore),
    });
    environment.push(("LEDGE_TEST_RESTORE", restore.to_string()));
    environment.push(("LEDGE_TEST_TOKEN", administrator.token.clone()));
    environment.push(("LEDGE_TEST_SPACE", administrator.space.clone()));
    Ok(environment)
}

/// How a server is started.
struct How<'a> {
    host: &'a str,
    program: &'a str,
    arguments: &'a [&'a str],
    variables: Value,
    /// What its state begins with.
    template: Option<&'a Path>,
    /// Where each server has a folder made of its name: its bucket.
    buckets: Option<&'a Path>,
}

impl How<'_> {
    fn environment(&self) -> Result<Environment> {
        let folder = std::env::current_dir().context("can't tell the working directory")?;
        let template = self.template.map(std::path::absolute).transpose();
        let template = template.context("can't tell the working directory")?;
        let how = json!({
            "program": self.program, "arguments": self.arguments, "folder": folder, "variables": self.variables,
            "template": template, "buckets": self.buckets,
        });
        Ok(vec![("LEDGE_TEST_HOST", self.host.to_owned()), ("LEDGE_TEST_START", how.to_string())])
    }
}
