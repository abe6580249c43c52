//! RapiDoc, which shows the API's document at /docs: one file of an npm package, for gateway/build.rs to embed.
//!
//! It isn't in package.json, since npm would install more than a hundred packages with it, all of which are bundled in
//! that one file.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;
use crate::stamp::{Stamp, make_folder, remove_folder};

const PACKAGE: &str = "rapidoc@9.3.8";
/// Of the package as npm hands it over.
const INTEGRITY: &str =
    "sha512-eCYEbr1Xr8OJZvVCw8SXl9zBCRoLJbhNGuG5IZTHq/RWAOq/O4MafUCuFEyZHsrhLrlUcGZMa64pyhpib8fQKQ==";
const FOLDER: &str = "gateway/viewer";
const FILES: [&str; 2] = ["rapidoc-min.js.gz", "rapidoc-min.js.LICENSE.txt.gz"];

/// Puts the files into place, unless they are there.
pub(super) fn provide() -> Result<()> {
    let stamp = Stamp::at(Path::new(FOLDER).join("stamp"));
    if stamp.is(INTEGRITY) {
        return Ok(());
    }
    super::announce(&format!("{PACKAGE} for /docs"), "seconds, a download of 1 MB");
    let work = std::path::absolute(Path::new(".ledge/viewer")).context("can't tell the working directory")?;
    remove_folder(&work)?;
    make_folder(&work)?;
    let mut pack = Command::new("npm");
    pack.args(["pack", "--json", PACKAGE]).current_dir(&work);
    let said = process::quiet(&mut pack, "npm needs the network; then run the command again")?;
    let said: Value = serde_json::from_str(&said).context("npm pack answered no JSON")?;
    let text = |name: &str| said.pointer(&format!("/0/{name}")).and_then(Value::as_str).unwrap_or_default();
    anyhow::ensure!(
        text("integrity") == INTEGRITY,
        "{PACKAGE} is not what is pinned in xtask/src/setup/viewer.rs, but {}",
        text("integrity")
    );
    let mut tar = Command::new("tar");
    tar.arg("xzf").arg(text("filename")).current_dir(&work);
    process::quiet(&mut tar, "install tar")?;
    for file in FILES {
        let from = work.join("package/dist").join(file);
        fs::copy(&from, Path::new(FOLDER).join(file))
            .with_context(|| format!("can't copy {} to {FOLDER}", from.display()))?;
    }
    remove_folder(&work)?;
    stamp.set(INTEGRITY)
}
