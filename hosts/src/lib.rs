//! The ports for each host. The target picks: `wasm32-unknown-unknown` is Cloudflare Workers, `wasm32-wasip2` is Spin, native
//! is local. What can be any host's stands beside them.

pub mod buckets;
#[cfg(any(target_family = "wasm", test))]
pub mod counted;
#[cfg(not(target_family = "wasm"))]
pub mod local;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod migrations;
pub mod s3;
#[cfg(all(target_arch = "wasm32", target_os = "wasi"))]
pub mod spin;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod target;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod workers;
