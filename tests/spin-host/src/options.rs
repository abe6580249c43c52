//! The command line.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// What the host was asked for.
pub struct Options {
    /// `--gateway`: the component for requests.
    pub gateway: PathBuf,
    /// `--functions`: the component for jobs.
    pub functions: PathBuf,
    /// `--database`: SQLite's file.
    pub database: PathBuf,
    /// `--sqlite`: SQL to be run before anything else; as `spin up --sqlite @FILE`.
    pub sql: Vec<PathBuf>,
    /// `--cache`: where compiled components are kept.
    pub cache: Option<PathBuf>,
    /// `--variable NAME=VALUE`.
    pub variables: HashMap<String, String>,
    /// `--listen`.
    pub listen: SocketAddr,
    /// `--tick-secs`: how often the functions component is told to look for jobs.
    pub tick: Duration,
    /// `--reuse`: how many requests an instance answers before another takes its place.
    pub reuse: usize,
    /// `--idle-secs`: how long an instance waits for the next one.
    pub idle: Duration,
    /// `--memory-mib`: how large an instance's memory may grow.
    pub memory_bytes: usize,
}

impl Options {
    /// Reads the command line.
    pub fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut given: HashMap<String, Vec<String>> = HashMap::new();
        while let Some(name) = arguments.next() {
            let value = arguments.next().with_context(|| format!("{name} needs a value"))?;
            given.entry(name).or_default().push(value);
        }
        let mut take = |name: &str| given.remove(name).unwrap_or_default();
        let one = |mut values: Vec<String>| values.pop();
        let required = |name: &str, values: Vec<String>| {
            values.into_iter().next_back().with_context(|| format!("{name} is missing"))
        };
        let variables = take("--variable")
            .iter()
            .map(|pair| match pair.split_once('=') {
                Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
                None => bail!("--variable takes NAME=VALUE"),
            })
            .collect::<Result<_>>()?;
        let options = Self {
            gateway: required("--gateway", take("--gateway"))?.into(),
            functions: required("--functions", take("--functions"))?.into(),
            database: required("--database", take("--database"))?.into(),
            sql: take("--sqlite").into_iter().map(PathBuf::from).collect(),
            cache: one(take("--cache")).map(PathBuf::from),
            variables,
            listen: one(take("--listen")).as_deref().unwrap_or("127.0.0.1:0").parse()?,
            tick: Duration::from_secs(one(take("--tick-secs")).as_deref().unwrap_or("10").parse()?),
            reuse: one(take("--reuse")).as_deref().unwrap_or("128").parse()?,
            idle: Duration::from_secs(one(take("--idle-secs")).as_deref().unwrap_or("1").parse()?),
            memory_bytes: one(take("--memory-mib")).as_deref().unwrap_or("128").parse::<usize>()? << 20,
        };
        if let Some(unknown) = given.keys().next() {
            bail!("there is no {unknown}");
        }
        Ok(options)
    }
}
