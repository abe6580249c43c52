//! HTTP in, use case, HTTP out.

use http::{Request, Response};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform, Upload};

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod workers;

/// A response body in the terms of the platform's host.
pub type Body<P> = <<P as Platform>::Host as Host>::Body;

/// Answers one request. The URI is the WHATWG-parsed one (see docs/ARCHITECTURE.md, "Paths").
pub async fn handle<P: Platform, U: Upload>(platform: &P, request: Request<U>) -> Response<Body<P>> {
    let _ = request;
    match platform.host().open(ReadPlan::inline("under construction")).await {
        Ok(body) => Response::new(body),
        Err(_) => unreachable!(),
    }
}
