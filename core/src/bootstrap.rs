//! The first administrator: what an empty database needs before anybody can sign in.

use crate::ids::{AccountId, NodeId, SpaceId, TokenId};
use crate::ports::{Db, DbError, Host, Statement};
use crate::token::Token;

/// The first account, and the statements that create it.
#[derive(Debug)]
pub struct Bootstrap {
    /// The secret, to be shown once.
    pub token: Token,
    /// The administrator's account.
    pub account: AccountId,
    /// The administrator's personal space.
    pub space: SpaceId,
    /// One `write` batch. It does nothing where an account exists already.
    pub statements: Vec<Statement>,
}

/// Makes up the first administrator: account, personal space with its root folder, membership, token.
pub fn first_account(host: &impl Host) -> Bootstrap {
    let (token, account, space) = (Token::new(host), AccountId::new(host), SpaceId::new(host));
    let (root, token_id, now) = (NodeId::new(host), TokenId::new(host), host.now());
    let statements = vec![
        Statement::new(
            "insert into accounts (id, name, role, created_at)
             select ?1, 'admin', 'admin', ?2 where not exists (select 1 from accounts)",
        )
        .bind(&account)
        .bind(now),
        // The later ones follow the account: it is there only if it is the first.
        Statement::new(
            "insert into spaces (id, name, root_id, created_at)
             select ?1, 'admin', ?2, ?3 from accounts where id = ?4",
        )
        .bind(&space)
        .bind(&root)
        .bind(now)
        .bind(&account),
        Statement::new(
            "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
             select ?1, ?2, '', ?2, ?2, 'folder', ?3, ?3 from accounts where id = ?4",
        )
        .bind(&root)
        .bind(&space)
        .bind(now)
        .bind(&account),
        Statement::new(
            "insert into members (account_id, space_id, role) select ?1, ?2, 'owner' from accounts where id = ?1",
        )
        .bind(&account)
        .bind(&space),
        Statement::new(
            "insert into tokens (id, hash, account_id, name, created_at)
             select ?1, ?2, ?3, 'first token', ?4 from accounts where id = ?3",
        )
        .bind(&token_id)
        .bind(token.hash().to_string())
        .bind(&account)
        .bind(now),
    ];
    Bootstrap { token, account, space, statements }
}

/// Whether nobody can sign in yet.
pub async fn is_fresh(db: &impl Db) -> Result<bool, DbError> {
    let rows = db.read(vec![Statement::new("select exists (select 1 from accounts) as used")]).await?;
    let row = rows.first().and_then(|rows| rows.first());
    Ok(row.map(|row| row.integer("used")).transpose()? == Some(0))
}
