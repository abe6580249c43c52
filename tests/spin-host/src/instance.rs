//! Instances: what each holds, how many requests it takes, when it ends.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use wasmtime::component::{GuestTaskId, ResourceTable};
use wasmtime::{ResourceLimiter, Store, StoreContextMut};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_http::WasiHttpCtx;
use wasmtime_wasi_http::handler::{
    HandlerState, Instance, Proxy, ProxyHandler, ShouldAccept, ViewFn, WorkerExpiration, WorkerState,
    WorkerStatus,
};
use wasmtime_wasi_http::p3::{WasiHttpCtxView, WasiHttpView};

use crate::component::Loaded;
use crate::counters::Counters;
use crate::outbound::Outbound;

/// Spin's own number.
const REQUESTS_AT_ONCE: usize = 16;

/// How long an instance may work at all; far longer than a test.
const WORKING: Duration = Duration::from_secs(3600);

/// What all instances of a component share.
pub struct Shared {
    pub variables: HashMap<String, String>,
    pub database: PathBuf,
    pub memory_bytes: usize,
    /// How many requests an instance answers in all.
    pub reuse: usize,
    /// How long it waits for the next one.
    pub idle: Duration,
    pub counters: Arc<Counters>,
    /// Who answers `http://functions.spin.internal`.
    pub functions: Option<ProxyHandler<Instances>>,
}

/// What an instance holds.
pub struct State {
    pub shared: Arc<Shared>,
    pub table: ResourceTable,
    wasi: WasiCtx,
    http: WasiHttpCtx,
    outbound: Outbound,
    limits: Limits,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.outbound, table: &mut self.table, ctx: &mut self.http }
    }
}

/// How far an instance's memory may grow.
struct Limits {
    bytes: usize,
    counters: Arc<Counters>,
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let may = desired <= self.bytes;
        self.counters.grows(desired, may);
        Ok(may)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

/// Makes instances of a component.
pub struct Instances {
    pub loaded: Loaded,
    pub shared: Arc<Shared>,
}

impl HandlerState for Instances {
    type StoreData = State;
    type WorkerExpiration = Expiration;
    type WorkerState = Worker;

    async fn instantiate(&self) -> wasmtime::Result<Instance<State, Expiration, Worker>> {
        let state = State {
            shared: self.shared.clone(),
            table: ResourceTable::new(),
            wasi: WasiCtxBuilder::new().inherit_stderr().build(),
            http: WasiHttpCtx::new(),
            outbound: Outbound { shared: self.shared.clone() },
            limits: Limits { bytes: self.shared.memory_bytes, counters: self.shared.counters.clone() },
        };
        let mut store = Store::new(self.loaded.engine(), state);
        store.limiter(|state| &mut state.limits);
        let service = self.loaded.instantiate_async(&mut store).await?;
        Ok(Instance {
            store,
            proxy: Proxy::P3(service),
            view: ViewFn::P3(State::http),
            expiration: Expiration { idle: self.shared.idle, sleep: None },
            state: Worker { reuse: self.shared.reuse },
        })
    }
}

/// An instance at work.
pub struct Worker {
    reuse: usize,
}

impl WorkerState for Worker {
    type StoreData = State;
    type RequestId = ();

    fn should_accept_request(&self, at_once: usize, in_all: usize) -> ShouldAccept {
        if in_all >= self.reuse {
            ShouldAccept::Never
        } else if at_once >= REQUESTS_AT_ONCE {
            ShouldAccept::No
        } else {
            ShouldAccept::Yes
        }
    }

    fn on_request_start(
        &self,
        _: StoreContextMut<'_, State>,
        (): (),
        _: GuestTaskId,
    ) -> Pin<Box<dyn Future<Output = ()> + 'static + Send + Sync>> {
        Box::pin(std::future::pending())
    }

    fn drop(&self, _: Store<State>, result: wasmtime::Result<()>) {
        if let Err(error) = result {
            eprintln!("spin-host: an instance broke down: {error:?}");
        }
    }
}

type Sleep = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

/// When an instance ends.
pub struct Expiration {
    idle: Duration,
    sleep: Option<(Instant, Sleep)>,
}

impl WorkerExpiration for Expiration {
    fn poll(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        status: WorkerStatus,
        since: Instant,
    ) -> Poll<()> {
        let patience = if status == WorkerStatus::Idle { self.idle } else { WORKING };
        let deadline = since + patience;
        if self.sleep.as_ref().is_none_or(|(known, _)| *known != deadline) {
            self.sleep = Some((deadline, Box::pin(tokio::time::sleep_until(deadline.into()))));
        }
        match &mut self.sleep {
            Some((_, sleep)) => sleep.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}
