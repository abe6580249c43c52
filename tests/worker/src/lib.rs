//! Runs the ports' conformance suite inside workerd. `GET /conformance` answers
//! `{"passed": ["name", …], "failed": [{"name": …, "reason": …}, …]}`. Natively, this crate is empty.

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod entry;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod runner;
