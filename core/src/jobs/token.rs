//! What a job does in somebody's name, it does with the rights of the token that asked for it, as they are by then.

use super::Claimed;
use crate::error::{Error, Result};
use crate::ports::{Db, Platform, Statement};
use crate::token::Token;

impl Claimed {
    /// The token that asked. One round trip.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] where none did.
    pub(crate) async fn token<P: Platform>(&self, platform: &P) -> Result<Token> {
        let look = Statement::new("select token from jobs where id = ?1").bind(&self.id);
        let results = platform.db().read(vec![look]).await?;
        let row = results.first().and_then(|rows| rows.first()).ok_or(Error::NotFound)?;
        let hash = row.text_or_null("token")?.and_then(|hash| hash.parse().ok());
        hash.map(Token::known).ok_or(Error::Unauthenticated)
    }
}
