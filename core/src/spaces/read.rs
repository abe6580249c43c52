//! Reading one space, or all of an account's.

use super::{Space, columns, read, the_only};
use crate::auth::{self, Right};
use crate::error::Result;
use crate::ids::SpaceId;
use crate::ports::{Db, Host, Platform, Statement};
use crate::token::Token;

/// The most spaces of a list.
const MAX_SPACES: u64 = 1000;

const ONE: &str = concat!(
    "select ",
    columns!(),
    " from tokens k cross join members m on m.account_id = k.account_id and m.space_id = ?1
     cross join spaces s on s.id = m.space_id
     where k.hash = ?2"
);

/// What is limited to a folder sees no space.
const ALL: &str = concat!(
    "select ",
    columns!(),
    " from tokens k cross join members m on m.account_id = k.account_id
     cross join spaces s on s.id = m.space_id
     where k.hash = ?1 and k.folder_id is null and (k.space_id is null or k.space_id = s.id)
     order by s.created_at, s.id limit ?2"
);

/// Asks for a space as the token's account sees it.
pub(super) fn one(token: &Token, space: &SpaceId) -> Statement {
    Statement::new(ONE).bind(space).bind(token.hash().to_string())
}

/// A space. One round trip.
pub async fn find<P: Platform>(platform: &P, token: &Token, space: &SpaceId) -> Result<Space> {
    let batch = vec![auth::look_up(token, space, platform.host().now()), one(token, space)];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::authorise(rows().first(), Right::Read)?;
    the_only(&rows())
}

/// The spaces that the token reaches as a whole, the oldest first, at most 1,000. One round trip.
pub async fn list<P: Platform>(platform: &P, token: &Token) -> Result<Vec<Space>> {
    let all = Statement::new(ALL).bind(token.hash().to_string()).bind(MAX_SPACES);
    let batch = vec![auth::look_up_account(token, platform.host().now()), all];
    let mut results = platform.db().read(batch).await?.into_iter();
    let mut rows = || results.next().unwrap_or_default();
    auth::limits(rows().first())?;
    rows().iter().map(read).collect()
}
