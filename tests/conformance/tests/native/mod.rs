//! What the suite needs of the native host, beside its ports.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use anyhow::{Context, Result};
use http::{Request, Response};
use http_body_util::BodyExt;
use ledge_conformance::Runner;
use ledge_hosts::local::{self, Body, Upload};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// Reads bodies, and sends uploads to a server of its own.
pub(crate) struct Native;

impl Runner for Native {
    type Body = Body;
    type Upload = Upload;

    async fn content(&self, body: Body) -> Result<Vec<u8>> {
        Ok(body.collect().await?.to_bytes().to_vec())
    }

    /// Sends a real request to a server of its own. It is answered never, so that its body stays readable.
    async fn upload(&self, bytes: Vec<u8>, announced_bytes: u64) -> Result<Upload> {
        let (sender, receiver) = oneshot::channel();
        let sender = Rc::new(Cell::new(Some(sender)));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let handler = move |request: Request<Upload>| {
            if let Some(sender) = sender.take() {
                let _ = sender.send(request.into_body());
            }
            std::future::pending::<Response<Body>>()
        };
        tokio::task::spawn_local(local::serve(listener, handler, std::future::pending()));
        tokio::task::spawn_local(send(address, bytes, announced_bytes));
        receiver.await.context("no request arrived")
    }
}

async fn send(address: SocketAddr, bytes: Vec<u8>, announced_bytes: u64) -> Result<()> {
    let mut connection = TcpStream::connect(address).await?;
    let head = format!("PUT / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {announced_bytes}\r\n\r\n");
    connection.write_all(head.as_bytes()).await?;
    connection.write_all(&bytes).await?;
    if bytes.len() as u64 == announced_bytes {
        // The whole body was sent: wait for the answer, like a client that is well.
        std::future::pending::<()>().await;
    }
    connection.shutdown().await?;
    Ok(())
}
