//! The ports for each host. The target picks: `wasm32-unknown-unknown` is Cloudflare Workers, native is local.

#[cfg(not(target_family = "wasm"))]
pub mod local;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod workers;
