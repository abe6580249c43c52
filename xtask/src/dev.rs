//! `cargo xtask dev`: Ledge on this machine, until Ctrl-C.
//!
//! The Workers run in workerd, with D1, R2 and Queues in a folder. The first start makes an administrator and prints
//! the token, once: the database holds only its hash.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::build::{self, Worker};
use crate::server::must_be_free;
use crate::stamp::{make_folder, remove_folder};
use crate::state::{self, Administrator};
use crate::{interrupt, local, setup, workerd};

/// The port that `wrangler dev` takes, too.
const PORT: u16 = 8787;
const STATE: &str = ".ledge/dev";
const LOCAL_STATE: &str = ".ledge/dev-local";

/// What `cargo xtask dev` was asked for.
pub(crate) struct Options {
    port: u16,
    local: bool,
}

impl Options {
    /// Reads the command line.
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self> {
        let local = arguments.flag("--local");
        let port = arguments
            .value("--port")?
            .map_or(Ok(PORT), |port| port.parse())
            .context("--port takes a number")?;
        arguments.end()?;
        Ok(Self { port, local })
    }
}

/// `cargo xtask dev`.
pub(crate) fn run(options: Options) -> Result<()> {
    if options.local {
        return local::become_host(Path::new(LOCAL_STATE), options.port);
    }
    must_be_free(options.port)?;
    let tools = setup::run()?;
    build::build(&tools, &Worker::DEPLOYED)?;
    let state = Path::new(STATE);
    let known = known_space(state)?;
    if known.is_none() {
        // A first start that was interrupted left a drive whose token nobody has seen.
        remove_folder(state)?;
    }
    state::migrate(state)?;
    let administrator = if known.is_none() { Some(state::bootstrap(state, local::ledge())?) } else { None };

    interrupt::watch()?;
    let workers = workerd::built(&Worker::DEPLOYED);
    let mut workerd = workerd::start(&workerd::Options {
        state,
        port: options.port,
        workers,
        variables: &[],
        objects: &[],
        tick_secs: 10,
        log: None,
    })?;
    match (&administrator, known) {
        (Some(new), _) => {
            println!("{}", first_start(new));
            println!("{}", examples(workerd.url(), &new.token, &new.space));
            // Last: a start that was interrupted before the token was shown is a first start again.
            remember_space(state, &new.space)?;
        }
        (None, Some(space)) => println!("{}", examples(workerd.url(), "$LEDGE_TOKEN", &space)),
        (None, None) => bail!("there is no administrator; remove {STATE} to begin anew"),
    }
    println!("Ledge is serving on {}; Ctrl-C stops it.", workerd.url());
    workerd.wait()?;
    eprintln!("stopping");
    Ok(())
}

fn first_start(administrator: &Administrator) -> String {
    format!(
        "\nThe administrator's token, which is not shown again:\n\n    export LEDGE_TOKEN={}\n\n\
         If you lose it, remove {STATE} and start again: that makes a new, empty drive with a new token.\n",
        administrator.token
    )
}

/// Three requests to copy and paste: a folder, a file, a part of the file.
fn examples(url: &str, token: &str, space: &str) -> String {
    let authorization = format!("-H \"Authorization: Bearer {token}\"");
    let space = format!("{url}/api/v1/spaces/{space}");
    format!(
        "Try it, from this folder:\n\n\
         curl -X PUT {authorization} {space}/folders/photos\n\
         curl -T README.md {authorization} {space}/files/photos/README.md\n\
         curl -r 0-99 {authorization} {space}/files/photos/README.md\n"
    )
}

fn space_file(state: &Path) -> PathBuf {
    state.join("space")
}

/// The space of the administrator that an earlier start made.
fn known_space(state: &Path) -> Result<Option<String>> {
    let path = space_file(state);
    match std::fs::read_to_string(&path) {
        Ok(space) => Ok(Some(space)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("can't read {}", path.display())),
    }
}

fn remember_space(state: &Path, space: &str) -> Result<()> {
    make_folder(state)?;
    std::fs::write(space_file(state), space)
        .with_context(|| format!("can't write {}", space_file(state).display()))
}
