//! GET of a space's locks.

use http::{Response, StatusCode};
use ledge_core::error::Result;
use ledge_core::locks;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use serde::Serialize;
use utoipa::ToSchema;

use crate::address::space;
use crate::headers::rfc3339;
use crate::openapi::words::{Depth, Kind, Scope, Time};
use crate::rest::json;
use crate::rest::query::Query;
use crate::routes::Matched;

#[derive(Serialize, ToSchema)]
struct Locks {
    locks: Vec<Lock>,
}

#[derive(Serialize, ToSchema)]
struct Lock {
    id: String,
    /// What the client knows it by.
    token: String,
    node_id: String,
    /// From the space's root; nothing is encoded.
    path: String,
    #[schema(value_type = Kind)]
    kind: &'static str,
    #[schema(value_type = Scope)]
    scope: &'static str,
    #[schema(value_type = Depth)]
    depth: &'static str,
    /// XML, as the client describes itself.
    #[schema(required)]
    owner: Option<String>,
    account_id: String,
    #[schema(value_type = Time)]
    created_at: String,
    #[schema(value_type = Time)]
    expires_at: String,
}

/// All of them, those first that end first.
#[utoipa::path(
    get, path = "/api/v1/spaces/{space}/locks",
    responses((status = 200, description = "The locks; only the space's owners see them.", body = Locks)),
)]
pub(crate) async fn list<P: Platform>(platform: &P, matched: Matched<'_>) -> Result<Response<ReadPlan>> {
    let (token, space) = space(&matched)?;
    Query::read(&matched.parts.uri, &[])?;
    let locks = locks::survey(platform, &token, &space).await?;
    json(StatusCode::OK, &Locks { locks: locks.into_iter().map(Lock::from).collect() })
}

impl From<locks::Lock> for Lock {
    fn from(lock: locks::Lock) -> Self {
        Self {
            id: lock.id.to_string(),
            token: locks::token(&lock.id),
            node_id: lock.node.to_string(),
            path: lock.root.to_string(),
            kind: if lock.root.is_folder { "folder" } else { "file" },
            scope: lock.scope.name(),
            depth: lock.depth.name(),
            owner: lock.owner,
            account_id: lock.account.to_string(),
            created_at: rfc3339(lock.created_at),
            expires_at: rfc3339(lock.expires_at),
        }
    }
}
