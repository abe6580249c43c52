//! The application: two components, and who gets which request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use wasmtime_wasi_http::handler::{ErrorCode, ProxyHandler, Request, Response};

use crate::component::{self, Loaded};
use crate::counters::Counters;
use crate::instance::{Instances, Shared};
use crate::options::Options;

/// A running application.
pub struct App {
    gateway: ProxyHandler<Instances>,
    functions: ProxyHandler<Instances>,
    /// What was counted of the gateway component.
    counters: Arc<Counters>,
    /// And of the functions component.
    counters_of_jobs: Arc<Counters>,
}

impl App {
    /// Compiles both components, or takes them from the cache.
    pub fn load(options: Options) -> Result<Self> {
        let engine = component::engine()?;
        let cache = options.cache.as_deref();
        let gateway = component::load(&engine, &options.gateway, cache)?;
        let functions = component::load(&engine, &options.functions, cache)?;
        let counters = Arc::new(Counters::default());
        let counters_of_jobs = Arc::new(Counters::default());
        let of = |loaded: Loaded, counters: &Arc<Counters>, functions: Option<ProxyHandler<Instances>>| {
            ProxyHandler::new(Instances {
                loaded,
                shared: Arc::new(Shared {
                    variables: options.variables.clone(),
                    database: options.database.clone(),
                    memory_bytes: options.memory_bytes,
                    reuse: options.reuse,
                    idle: options.idle,
                    counters: counters.clone(),
                    functions,
                }),
            })
        };
        let functions = of(functions, &counters_of_jobs, None);
        let gateway = of(gateway, &counters, Some(functions.clone()));
        Ok(Self { gateway, functions, counters, counters_of_jobs })
    }

    /// What was counted, as JSON.
    pub fn counted(&self) -> String {
        self.counters.text(&self.counters_of_jobs)
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request) -> wasmtime::Result<Response> {
        let internal = request.uri().path().starts_with("/internal/");
        let handler = if internal { &self.functions } else { &self.gateway };
        handler.handle((), request).await
    }

    /// Tells the functions component again and again to look for jobs, as a cron job would.
    pub async fn tick(&self, every: Duration, secret: String) {
        loop {
            tokio::time::sleep(every).await;
            let body =
                Full::new(Bytes::new()).map_err(|never| -> ErrorCode { match never {} }).boxed_unsync();
            let request = http::Request::post("http://localhost/internal/jobs/run")
                .header("x-ledge-jobs-secret", &secret)
                .body(body);
            match request.map(|request| self.functions.handle((), request)) {
                Ok(answer) => match answer.await {
                    Ok(answer) if answer.status().is_success() => {}
                    Ok(answer) => eprintln!("spin-host: a sweep was answered {}", answer.status()),
                    Err(error) => eprintln!("spin-host: a sweep failed: {error:?}"),
                },
                Err(error) => eprintln!("spin-host: a sweep can't be asked for: {error}"),
            }
        }
    }
}
