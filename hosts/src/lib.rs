//! The ports for each host. The target picks: `wasm32-unknown-unknown` is Cloudflare Workers, native is local. What can be
//! any host's stands beside them.

#[cfg(not(target_family = "wasm"))]
pub mod local;
pub mod s3;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod workers;
