//! tus-js-client and rclone as Nextcloud's client upload a large file in parts, through a network that cuts connections
//! and refuses large bodies.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Site, Steps};
use crate::process;
use crate::server::Server;
use crate::setup::Clients;
use crate::test::libtest::Verdicts;

/// The file's size on ordinary days and on large ones.
const BYTES: [u64; 2] = [60_000_000, 300_000_000];
/// A part of it, of as many.
const PARTS: u64 = 15;
/// The network refuses bodies of more than a third of the file: on large days Cloudflare's 100 MB.
const LIMIT: u64 = 3;

pub(super) fn run(clients: &Clients, site: &Site<'_>) -> Result<Verdicts> {
    let size = if site.full { BYTES[1] } else { BYTES[0] };
    let part = (size / PARTS).to_string();
    let limit = size / LIMIT;
    let content = noise(usize::try_from(size)?);
    let file = site.write("large.bin", &content)?;
    let mut steps = Steps::default();
    steps.take("the_network_refuses_the_file_as_one_body", || {
        let network = network(site, limit, 0)?;
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-o", "refused", "-w", "%{http_code}", "-H", "Expect:", "-T"]).arg(&file);
        curl.args(["-u", &format!("me:{}", site.token), &format!("{}/dav/whole.bin", network.url())]);
        let (_, said) = site.ask(curl, None)?;
        super::same("the status", said.starts_with("413"), true)
    });
    steps.take("tus_js_client_goes_on_where_the_connection_was_cut", || {
        let network = network(site, limit, size / 8)?;
        let mut tus = Command::new(std::path::absolute("node_modules/.bin/node")?);
        tus.arg(std::path::absolute("xtask/js/tus.mjs")?).args(["--url", network.url()]);
        tus.args(["--token", site.token, "--path", "tus.bin", "--part", &part]).arg("--file").arg(&file);
        let (succeeded, said) = site.ask(tus, None)?;
        ensure!(succeeded, "{said}");
        ensure!(
            said.contains("\"retries\"") && !said.contains("\"retries\":0"),
            "no connection was cut: {said}"
        );
        same_content(clients, site, "tus.bin", &content)
    });
    steps.take("rclone_uploads_in_chunks_as_nextclouds_client", || {
        let network = network(site, limit, size)?;
        let user = "admin";
        let url = format!("{}/remote.php/dav/files/{user}/", network.url());
        let remote = remote(clients, site, "nextcloud", &url)?;
        site.write("nextcloud.conf", format!("{remote}nextcloud_chunk_size = {part}B\n"))?;
        let mut rclone = Command::new(&clients.rclone);
        rclone.arg("--config").arg(site.path("nextcloud.conf"));
        // It begins the whole file anew where a chunk's connection was cut.
        rclone.args(["--retries", "20", "--timeout", "60s", "copyto"]).arg(&file).arg("ledge:rclone.bin");
        let (succeeded, said) = site.ask(rclone, None)?;
        ensure!(succeeded, "{said}");
        same_content(clients, site, "rclone.bin", &content)
    });
    Ok(steps.0)
}

/// A bad network in front of the server.
fn network(site: &Site<'_>, limit: u64, cut_every: u64) -> Result<Server> {
    let to = site.url.trim_end_matches("dav/").trim_end_matches('/');
    let mut node = process::npm_program("node")?;
    node.arg("xtask/js/bad-network.mjs").args(["--to", to, "--limit", &limit.to_string()]);
    node.args(["--cut-every", &cut_every.to_string()]);
    Server::start(node, None)
}

/// What was uploaded is what was sent, read without the bad network.
fn same_content(clients: &Clients, site: &Site<'_>, name: &str, content: &[u8]) -> Result<()> {
    let remote = remote(clients, site, "other", &site.url)?;
    site.write("plain.conf", remote)?;
    let mut rclone = Command::new(&clients.rclone);
    rclone.arg("--config").arg(site.path("plain.conf")).args(["copyto", &format!("ledge:{name}")]);
    let (succeeded, said) = site.ask(
        {
            rclone.arg(site.path("back"));
            rclone
        },
        None,
    )?;
    ensure!(succeeded, "{said}");
    let back = fs::read(site.path("back")).context("can't read what came back")?;
    ensure!(back == content, "{name} came back with {} bytes, or other ones", back.len());
    Ok(())
}

fn remote(clients: &Clients, site: &Site<'_>, vendor: &str, url: &str) -> Result<String> {
    let mut obscure = Command::new(&clients.rclone);
    obscure.args(["obscure", site.token]);
    let (succeeded, password) = site.ask(obscure, None)?;
    ensure!(succeeded, "{password}");
    let password = password.lines().last().unwrap_or_default().trim();
    Ok(format!("[ledge]\ntype = webdav\nvendor = {vendor}\nurl = {url}\nuser = me\npass = {password}\n"))
}

/// Bytes that don't repeat: xorshift64.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
