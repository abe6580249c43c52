//! Compiling components. That takes a while, so the result is kept.

use std::hash::{DefaultHasher, Hasher};
use std::path::Path;

use anyhow::{Context, Result};
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Config, Engine};
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::instance::State;
use crate::{sqlite, variables};

/// A component that can be instantiated.
pub type Loaded = ServicePre<State>;

/// The engine.
pub fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config.wasm_component_model_async(true);
    Ok(Engine::new(&config)?)
}

/// Reads a component, and gives it what Spin gives.
pub fn load(engine: &Engine, path: &Path, cache: Option<&Path>) -> Result<Loaded> {
    let wasm = std::fs::read(path).with_context(|| format!("can't read {}", path.display()))?;
    let component = compile(engine, &wasm, cache)?;
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi::p3::add_to_linker(&mut linker)?;
    wasmtime_wasi_http::p3::add_to_linker(&mut linker)?;
    sqlite::bindings::spin::sqlite::sqlite::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    variables::add_to_linker(&mut linker)?;
    Ok(ServicePre::new(linker.instantiate_pre(&component)?)?)
}

fn compile(engine: &Engine, wasm: &[u8], cache: Option<&Path>) -> Result<Component> {
    let Some(cache) = cache else { return Ok(Component::new(engine, wasm)?) };
    let mut hasher = DefaultHasher::new();
    hasher.write(wasm);
    let kept = cache.join(format!("{:016x}.cwasm", hasher.finish()));
    if kept.is_file() {
        // SAFETY: nobody but this program writes into its cache; another version's file is refused.
        if let Ok(component) = unsafe { Component::deserialize_file(engine, &kept) } {
            return Ok(component);
        }
    }
    let component = Component::new(engine, wasm)?;
    std::fs::create_dir_all(cache)?;
    // Two that start at once write the same.
    let partial = cache.join(format!("{:016x}.{}", hasher.finish(), std::process::id()));
    std::fs::write(&partial, component.serialize()?)?;
    std::fs::rename(&partial, &kept)?;
    Ok(component)
}
