//! Making a token.

use super::{Entry, Protocols};
use crate::auth::{self, Limits};
use crate::error::{Conflict, Error, Result};
use crate::files::commit::{Refused, write_once};
use crate::ids::{AccountId, NodeId, SpaceId, TokenId};
use crate::ports::{Db, Host, Platform, Row, Statement, Timestamp};
use crate::token::Token;

/// What the new token is called and limited to. What is None is as in the token that asks.
#[derive(Debug, Clone)]
pub struct Create {
    /// What its owner calls it: 1 to 255 bytes without control characters.
    pub name: String,
    /// When it ends.
    pub expires_at: Option<Timestamp>,
    /// The one space that it reaches.
    pub space: Option<SpaceId>,
    /// The folder in that space that it reaches.
    pub folder: Option<NodeId>,
    /// Whether it may change things.
    pub writes: Option<bool>,
    /// How it may be used.
    pub protocols: Option<Protocols>,
}

/// A new token.
#[derive(Debug)]
pub struct Created {
    /// The secret, to be shown once.
    pub secret: Token,
    /// The token.
    pub token: Entry,
}

/// The longest name. One line of a list.
const MAX_NAME_BYTES: usize = 255;

/// Nothing about a token changes so often.
const ATTEMPTS: usize = 3;

/// Whether the account of the token ?1 is a member of the space ?2; whether the node ?3 is a folder that lives in it;
/// and whether the token's own folder is that one or above. Without ?2, the space is the token's own.
const REACH: &str = "with recursive up (id, parent_id) as (
      select id, parent_id from nodes where id = ?3 and kind = 'folder' and trashed_at is null
      union all
      select n.id, n.parent_id from up u cross join nodes n where n.id = u.parent_id and n.trashed_at is null
    )
    select exists (select 1 from members m where m.account_id = asker.account_id
                      and m.space_id = coalesce(?2, asker.space_id)) as is_member,
           exists (select 1 from up u cross join spaces s on s.root_id = u.id
                    where s.id = coalesce(?2, asker.space_id)) as lives,
           asker.folder_id is null or exists (select 1 from up u where u.id = asker.folder_id) as is_within
      from tokens asker where asker.hash = ?1";

/// Makes a token that may do no more than the one that asks. Two round trips. Tells what it will have made before each
/// attempt to commit it.
///
/// # Errors
/// [`Error::NotFound`] for a space or folder out of its reach, [`Error::TokenForbids`] for other rights that it lacks.
pub async fn create<P: Platform>(
    platform: &P,
    asking: &Token,
    request: &Create,
    tell: &dyn Fn(&Created) -> Result<()>,
) -> Result<Created> {
    let host = platform.host();
    check(request, host.now())?;
    let id = TokenId::new(host);
    for _ in 0..ATTEMPTS {
        let now = host.now();
        let reach = Statement::new(REACH)
            .bind(asking.hash().to_string())
            .bind(request.space.as_ref())
            .bind(request.folder.as_ref());
        let batch = vec![auth::look_up_account(asking, now), reach];
        let mut results = platform.db().read(batch).await?.into_iter();
        let mut rows = || results.next().unwrap_or_default();
        let limits = auth::limits(rows().first())?;
        let token = narrow(request, &limits, rows().first(), id.clone(), now)?;
        let created = Created { secret: Token::new(host), token };
        tell(&created)?;
        let happened = Statement::new("select 1 from tokens where id = ?1").bind(&id);
        match write_once(platform, statements(asking, &created, &limits.account), &happened).await {
            Ok(()) => return Ok(created),
            // The token that asks has changed: what it is now says what the answer is.
            Err(Refused::TargetChanged) => {}
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

fn statements(asking: &Token, created: &Created, account: &AccountId) -> Vec<Statement> {
    let Created { secret, token } = created;
    let guard = Statement::new(format!(
        "insert into guard (why) select 'access_gone' where not {}",
        auth::STILL_GRANTS
    ))
    .bind(asking.hash().to_string())
    .bind(token.created_at);
    let row = Statement::new(
        "insert into tokens
           (id, hash, account_id, name, created_at, expires_at, space_id, folder_id, rights, protocols)
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .bind(&token.id)
    .bind(secret.hash().to_string())
    .bind(account)
    .bind(token.name.as_str())
    .bind(token.created_at)
    .bind(token.expires_at)
    .bind(token.space.as_ref())
    .bind(token.folder.as_ref())
    .bind(if token.writes { "write" } else { "read" })
    .bind(token.protocols.column());
    vec![guard, row]
}

fn check(request: &Create, now: Timestamp) -> Result<()> {
    let name = &request.name;
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        return Err(Error::invalid("name", "expected 1 to 255 bytes without control characters"));
    }
    if request.expires_at.is_some_and(|time| time <= now) {
        return Err(Error::invalid("expires_at", "expected a time to come"));
    }
    Ok(())
}

/// The new token, within the limits of the one that asks.
fn narrow(
    request: &Create,
    limits: &Limits,
    reach: Option<&Row>,
    id: TokenId,
    now: Timestamp,
) -> Result<Entry> {
    let lacks = |needs| Err(Error::TokenForbids { needs });
    if !limits.writes {
        return lacks("the right to write, which making tokens needs");
    }
    let reach = reach.ok_or(Error::Unauthenticated)?;
    let own_space = limits.space.as_deref().and_then(SpaceId::parse);
    let own_folder = limits.folder.as_deref().and_then(NodeId::parse);
    let space = match (&request.space, own_space) {
        (Some(space), own) => {
            if own.is_some_and(|own| own != *space) || reach.integer("is_member")? != 1 {
                return Err(Error::NotFound);
            }
            Some(space.clone())
        }
        (None, own) => own,
    };
    let folder = match &request.folder {
        Some(_) if space.is_none() => {
            return Err(Error::invalid("folder_id", "a folder needs the space_id that it is in"));
        }
        Some(folder) => {
            if reach.integer("lives")? != 1 || reach.integer("is_within")? != 1 {
                return Err(Error::NotFound);
            }
            Some(folder.clone())
        }
        None => own_folder,
    };
    let own_protocols = Protocols::read(&limits.protocols);
    let protocols = request.protocols.unwrap_or(own_protocols);
    if own_protocols != Protocols::All && protocols != own_protocols {
        return lacks("a protocol that the new one should have");
    }
    let expires_at = match (request.expires_at, limits.expires_at) {
        (Some(wanted), Some(own)) if wanted > own => return lacks("as much time as the new one should have"),
        (wanted, own) => wanted.or(own),
    };
    Ok(Entry {
        id,
        name: request.name.clone(),
        created_at: now,
        expires_at,
        space,
        folder,
        writes: request.writes.unwrap_or(true),
        protocols,
        current: false,
    })
}
