//! Embeds the viewer for /docs, if the set-up has put it into `viewer/`; a build without it has a page that says so.
//!
//! Writes `$OUT_DIR/viewer.rs`: an array expression of (name below /docs, media type, gzipped content).

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const FILES: [(&str, &str); 2] = [
    ("rapidoc-min.js", "text/javascript; charset=utf-8"),
    ("rapidoc-min.js.LICENSE.txt", "text/plain; charset=utf-8"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("viewer");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut list = String::from("&[\n");
    for (name, media_type) in FILES {
        let path = folder.join(format!("{name}.gz"));
        if path.is_file() {
            writeln!(
                list,
                "    ({name:?}, {media_type:?}, include_bytes!({:?})),",
                path.display().to_string()
            )?;
        }
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("viewer.rs"), list)?;
    Ok(())
}
