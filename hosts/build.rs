//! Embeds migrations/NNNN_*.sql, so that a binary and the schema it expects can't come apart.
//!
//! Writes `$OUT_DIR/migrations.rs`: an array expression of (number, file name, text), in the order of the numbers.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../migrations").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());

    let mut files = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<PathBuf>, std::io::Error>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "sql"));
    files.sort();

    let mut list = String::from("[\n");
    for (at, path) in files.iter().enumerate() {
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a file name that is not UTF-8")?;
        let number: u32 = name
            .split_once('_')
            .and_then(|(number, _)| number.parse().ok())
            .ok_or_else(|| format!("migrations/{name}: its name should be NNNN_what.sql"))?;
        if usize::try_from(number)? != at + 1 {
            return Err(format!("migrations/{name}: number {:04} was expected here", at + 1).into());
        }
        println!("cargo::rerun-if-changed={}", path.display());
        writeln!(list, "    ({number}, {name:?}, include_str!({:?})),", path.display().to_string())?;
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}
