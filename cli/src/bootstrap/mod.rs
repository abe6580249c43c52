//! `ledge bootstrap`: the first administrator of a drive that runs elsewhere, as SQL to be sent there.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use ledge_core::bootstrap::{Bootstrap, first_account, is_fresh};
use ledge_core::ports::{Db, Statement};
use ledge_hosts::local;

use crate::literal;

/// Make up the first administrator of a drive elsewhere.
///
/// Writes the SQL that creates it, and prints its token, once, with the ids of its account and space. Where
/// an account exists already, the SQL does nothing.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The file to write, one statement a line, for `wrangler d1 execute --file`. It doesn't hold the token.
    #[arg(long, value_name = "FILE")]
    sql: PathBuf,
}

/// Writes the file, then prints one line of JSON: `{"token", "account", "space"}`.
pub(crate) fn run(options: &Options) -> Result<()> {
    let first = local::run(make_up()).context("the system refuses what a dry run needs")??;
    let sql: String = first.statements.iter().map(|statement| format!("{};\n", statement.sql)).collect();
    fs::write(&options.sql, sql).with_context(|| {
        format!("can't write {}; name a file in a folder that exists with --sql", options.sql.display())
    })?;
    let line = serde_json::json!({
        "token": first.token.reveal(),
        "account": first.account.as_str(),
        "space": first.space.as_str(),
    });
    writeln!(std::io::stdout(), "{line}").context("can't write to standard output")
}

/// The first administrator, its statements without parameters, tried on an empty drive.
async fn make_up() -> Result<Bootstrap> {
    let drive = local::temporary().context("can't open an empty drive to try the statements on")?;
    let mut first = first_account(&drive.host);
    first.statements = first
        .statements
        .iter()
        .map(|statement| literal::inline(statement).map(Statement::new))
        .collect::<Result<_>>()?;
    drive.db.write(first.statements.clone()).await.context("the statements don't fit the schema")?;
    anyhow::ensure!(!is_fresh(&drive.db).await?, "the statements created no account");
    Ok(first)
}
