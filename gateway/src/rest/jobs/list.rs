//! GET of one's jobs.

use http::request::Parts;
use http::{Response, StatusCode};
use ledge_core::error::{Error, Result};
use ledge_core::ids::JobId;
use ledge_core::jobs::{self, State};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use super::Job;
use crate::credentials;
use crate::openapi::{parameters, words};
use crate::rest::query::Query;
use crate::rest::{cursor, json};

/// A page of jobs.
#[derive(Serialize, ToSchema)]
struct Jobs {
    jobs: Vec<Job>,
    #[schema(required)]
    next: Option<String>,
}

/// A page of the account's jobs, newest first.
#[utoipa::path(
    get, path = "/api/v1/jobs",
    params(parameters::Page, ("state" = Option<words::State>, Query, description = "Only those in this state.")),
    responses((status = 200, description = "A page of jobs.", body = Jobs)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, parts: &Parts) -> Result<Response<ReadPlan>> {
    let token = credentials::token(&parts.headers)?;
    let query = Query::read(&parts.uri, &["cursor", "limit", "state"])?;
    let (after, limit) = cursor::page(&query, JobId::parse)?;
    let state = query.get("state").map(|name| {
        let names = State::ALL.map(State::name).join(", ");
        State::parse(name).ok_or_else(|| Error::invalid("state", format!("expected one of {names}")))
    });
    let page = jobs::list(platform, &token, state.transpose()?, after, limit).await?;
    let last = page.jobs.last().filter(|_| page.more);
    let next = last.map(|last| cursor::after(last.created_at, last.id.as_str()));
    json(StatusCode::OK, &Jobs { jobs: page.jobs.into_iter().map(Job::from).collect(), next })
}
