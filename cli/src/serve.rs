//! `ledge serve`: gateway and functions in one process, over the native host.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use ledge_core::bootstrap::{Bootstrap, first_account, is_fresh};
use ledge_core::ids::JobId;
use ledge_core::ports::{Db, Lane, Queue};
use ledge_core::settings::Settings;
use ledge_functions::Outcome;
use ledge_hosts::buckets::BucketSettings;
use ledge_hosts::local::{self, LocalPorts};
use tokio::net::TcpListener;

/// Serve the drive that lies in a folder of this machine.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder that holds the drive; made at the first start.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Where to listen. Port 0 takes a free one. There is no TLS: keep to loopback, or put a proxy in front.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8788")]
    listen: SocketAddr,

    /// Say where it listens (and, at the first start, the token) as one line of JSON, for programs.
    #[arg(long)]
    json: bool,

    /// How often to look for wake-ups that were lost and for periodic jobs.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    tick_secs: u64,

    /// Stop also when standard input closes: for programs that start it, and may die.
    #[arg(long)]
    until_stdin_closes: bool,
}

/// Serves until SIGTERM or Ctrl-C, or until standard input closes where that was asked for.
pub(crate) fn run(options: &Options) -> Result<()> {
    local::run(serve(options)).context("the system refuses what a server needs")?
}

async fn serve(options: &Options) -> Result<()> {
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let buckets = BucketSettings::read(|name| std::env::var(name).ok())?;
    let ports = local::open(&options.data, settings, &buckets)
        .context("can't open the drive; does --data name a folder that you may write to?")?;
    // Before the first token is made: a start that fails must not have used up the one time it is shown.
    let listener = TcpListener::bind(options.listen).await.with_context(|| {
        format!("can't listen on {}; choose another address or port with --listen", options.listen)
    })?;
    let url = format!("http://{}", listener.local_addr().context("can't tell the port that was taken")?);
    let first = bootstrap_if_fresh(&ports).await?;
    announce(&url, first.as_ref(), options.json).context("can't write to standard output")?;

    let ports = Rc::new(ports);
    let gateway = ports.clone();
    let answer = move |request| {
        let ports = gateway.clone();
        async move { ledge_gateway::handle(&*ports, request).await }
    };
    let mut stopped_well = Ok(());
    let stop = async {
        tokio::select! {
            signal = local::stop_signal() => stopped_well = signal,
            () = stdin_closes(), if options.until_stdin_closes => {}
        }
    };
    tokio::select! {
        () = local::serve(listener, answer, stop) => {}
        () = ports.queue.deliver(|lane, job| work(&ports, lane, job)) => {}
        () = tick(&ports, options.tick_secs) => {}
    }
    stopped_well.map_err(|error| anyhow!("can't wait for signals: {error}"))
}

/// Ticks for ever. The first time, whatever waits has lost its messages: they were in the memory of an earlier process.
async fn tick(ports: &LocalPorts, every_secs: u64) {
    ledge_functions::tick(ports, Some(0)).await;
    loop {
        tokio::time::sleep(Duration::from_secs(every_secs)).await;
        ledge_functions::tick(ports, None).await;
    }
}

/// Ends when standard input does; what comes before is ignored.
async fn stdin_closes() {
    let (closed, is_closed) = tokio::sync::oneshot::channel();
    // A thread of its own: tokio's blocking threads would hold up the end of the runtime.
    std::thread::spawn(move || {
        let _unread = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _nobody_waits = closed.send(());
    });
    let _closed = is_closed.await;
}

/// Makes the first administrator where there is none yet.
async fn bootstrap_if_fresh(ports: &LocalPorts) -> Result<Option<Bootstrap>> {
    if !is_fresh(&ports.db).await.context("can't read the database")? {
        return Ok(None);
    }
    let mut first = first_account(&ports.host);
    ports
        .db
        .write(std::mem::take(&mut first.statements))
        .await
        .context("can't create the first administrator")?;
    Ok(Some(first))
}

fn announce(url: &str, first: Option<&Bootstrap>, json: bool) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        let line = serde_json::json!({
            "url": url,
            "token": first.map(|first| first.token.reveal()),
            "space": first.map(|first| first.space.as_str()),
        });
        writeln!(out, "{line}")?;
        return out.flush();
    }
    if let Some(Bootstrap { token, space, .. }) = first {
        writeln!(out, "The first administrator's token. It is shown this one time only: keep it safe.\n")?;
        writeln!(out, "    token  {}\n    space  {space}\n", token.reveal())?;
    }
    writeln!(out, "listening on {url}")?;
    out.flush()
}

/// Works on one queue message; sends it again where that is what became of it.
async fn work(ports: &LocalPorts, lane: Lane, job: JobId) {
    if let Outcome::Retry { after_secs } = ledge_functions::run(ports, &job).await
        && let Err(error) = ports.queue.send(lane, &job, after_secs).await
    {
        // The job's row is still there; the sweep finds it.
        eprintln!("ledge: job {job} waits for the next sweep: {error}");
    }
}
