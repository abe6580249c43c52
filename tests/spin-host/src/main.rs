//! Runs Ledge's Spin components for the tests, where there is no `spin`: wasmtime, with what `spin` adds to it.
//!
//! Instances answer up to 16 requests at once and 128 in all, as Spin's do, unless more are asked for. Requests below `/internal/` go to the functions
//! component, as in spin.toml, all others to the gateway. It says on standard output when it is ready, in one line of JSON,
//! and stops when its standard input closes.

mod app;
mod component;
mod counters;
mod instance;
mod options;
mod outbound;
mod serve;
mod sqlite;
mod variables;

use std::sync::Arc;

use anyhow::{Context, Result};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use app::App;
use options::Options;

fn main() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1))?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(run(options))
}

async fn run(options: Options) -> Result<()> {
    sqlite::prepare(&options.database, &options.sql)?;
    let listener = TcpListener::bind(options.listen)
        .await
        .with_context(|| format!("can't listen on {}", options.listen))?;
    let url = format!("http://{}", listener.local_addr()?);
    let (tick, secret) = (options.tick, options.variables.get("ledge_jobs_secret").cloned());
    let app = Arc::new(App::load(options)?);
    println!("{}", serde_json::json!({ "url": url }));
    tokio::select! {
        () = serve::serve(listener, app.clone()) => {}
        () = app.tick(tick, secret.unwrap_or_default()) => {}
        () = stdin_closes() => {}
    }
    // Tasks that block would hold up the end.
    std::process::exit(0)
}

/// Ends when standard input does; what comes before is ignored.
async fn stdin_closes() {
    let mut ignored = [0; 64];
    let mut stdin = tokio::io::stdin();
    while matches!(stdin.read(&mut ignored).await, Ok(1..)) {}
}
