//! The rows of `idempotent_answers`.

use super::{Answer, Claim, Earlier, KEPT_SECS};
use crate::auth;
use crate::error::Result;
use crate::manifest;
use crate::ports::{DbError, Row, Statement, Timestamp};

/// So many answers that are too old go with each one that comes.
const SWEPT: u64 = 100;

/// What the row's index says where two requests commit at once.
pub(super) const TABLE: &str = "idempotent_answers.";

/// Looks for an earlier answer. Whoever may no longer do what was done isn't told of it.
pub(super) fn look_up(claim: &Claim, now: Timestamp) -> Statement {
    let select = "select fingerprint, attempt, answer from idempotent_answers where token = ?1 and";
    let hash = claim.token.hash().to_string();
    match &claim.space {
        Some(space) => {
            let may = auth::STILL_UPLOADS;
            Statement::new(format!("{select} key = ?4 and expires_at > ?3 and {may}")).bind(hash).bind(space)
        }
        None => {
            let may = auth::STILL_GRANTS;
            Statement::new(format!("{select} key = ?3 and expires_at > ?2 and {may}")).bind(hash)
        }
    }
    .bind(now)
    .bind(claim.key.0.as_str())
}

/// Reads what was found; None if it is this very attempt's own.
pub(super) fn read(claim: &Claim, attempt: &str, row: &Row) -> Result<Option<Earlier>, DbError> {
    if row.text("attempt")? == attempt {
        return Ok(None);
    }
    if row.text("fingerprint")? != claim.fingerprint.to_string() {
        return Ok(Some(Earlier::Other));
    }
    let answer = serde_json::from_str(row.text("answer")?)
        .map_err(|error| DbError::Rejected(format!("a kept answer is malformed: {error}")))?;
    Ok(Some(Earlier::Same(answer)))
}

/// Stores an answer, in place of one that is too old, and removes some others that are.
pub(super) fn store(claim: &Claim, attempt: &str, answer: &Answer, now: Timestamp) -> Result<[Statement; 3]> {
    let hash = claim.token.hash().to_string();
    let key = claim.key.0.as_str();
    Ok([
        Statement::new("delete from idempotent_answers where token = ?1 and key = ?2 and expires_at <= ?3")
            .bind(hash.as_str())
            .bind(key)
            .bind(now),
        Statement::new(
            "delete from idempotent_answers where (token, key) in (
               select token, key from idempotent_answers where expires_at <= ?1 order by expires_at limit ?2)",
        )
        .bind(now)
        .bind(SWEPT),
        Statement::new(
            "insert into idempotent_answers (token, key, fingerprint, attempt, answer, expires_at)
             values (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .bind(hash)
        .bind(key)
        .bind(claim.fingerprint.to_string())
        .bind(attempt)
        .bind(manifest::to_json(answer)?)
        .bind(now.plus_secs(KEPT_SECS)),
    ])
}
