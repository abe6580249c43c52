//! Beginning an upload.

use super::{Kind, MAX_LENGTH_BYTES, MAX_METADATA_BYTES, MAX_OPEN, Target, Upload};
use crate::auth::{self, Caller, Right};
use crate::error::{Conflict, Error, Result};
use crate::files;
use crate::ids::{SpaceId, UploadId};
use crate::manifest;
use crate::ports::{Db, Host, Platform, Statement, Timestamp};
use crate::token::Token;

/// What to begin.
#[derive(Debug, Clone)]
pub struct Create {
    /// Whose request.
    pub token: Token,
    /// The space.
    pub space: SpaceId,
    /// Where to; None for a part.
    pub target: Option<Target>,
    /// How long it will be; None where that isn't known yet.
    pub length_bytes: Option<u64>,
    /// What the client says of it, to be said again when it asks.
    pub metadata: String,
}

/// Begins an upload, and reserves its length of the quota. Who asks, the place, the conditions and the locks are looked at
/// now, so that nobody uploads for nothing, and again when it is finished. Two round trips.
///
/// # Errors
/// Those of a save; [`Error::BodyTooLarge`] for what no file may be; [`Error::TooManyUploads`].
pub async fn create<P: Platform>(platform: &P, request: &Create) -> Result<Upload> {
    if request.length_bytes.is_some_and(|length| length > MAX_LENGTH_BYTES) {
        return Err(Error::BodyTooLarge { limit_bytes: MAX_LENGTH_BYTES });
    }
    if request.metadata.len() > MAX_METADATA_BYTES {
        return Err(Error::invalid(
            "Upload-Metadata",
            format!("it has more than {MAX_METADATA_BYTES} bytes"),
        ));
    }
    let (token, space) = (&request.token, &request.space);
    let caller = match &request.target {
        Some(target) => files::check(platform, &target.save(token, space)?).await?,
        None => may_write(platform, token, space).await?,
    };
    let length = request.length_bytes.unwrap_or(0);
    if caller.free_bytes.is_some_and(|free| i128::from(length) > i128::from(free)) {
        return Err(Error::QuotaExceeded);
    }
    let id = UploadId::new(platform.host());
    let kind = if request.target.is_some() { Kind::File } else { Kind::Part };
    let row = NewRow { id, name: None, kind, caller: &caller, reserved_bytes: length };
    row.insert(platform, request).await.map(|(upload, _)| upload)
}

/// Who asks, where there is no place yet.
pub(super) async fn may_write<P: Platform>(platform: &P, token: &Token, space: &SpaceId) -> Result<Caller> {
    let asked = auth::look_up_nodes(token, space, platform.host().now());
    let results = platform.db().read(vec![asked]).await?;
    auth::authorise(results.first().and_then(|rows| rows.first()), Right::Write)
}

/// A row that is to be made.
pub(super) struct NewRow<'a> {
    pub(super) id: UploadId,
    /// What the client calls it, if it does.
    pub(super) name: Option<&'a str>,
    pub(super) kind: Kind,
    pub(super) caller: &'a Caller,
    pub(super) reserved_bytes: u64,
}

impl NewRow<'_> {
    /// Inserts it, and gives its stamp: in place of one of that name that is over; unless the account has too many, or the quota is less than
    /// it was.
    ///
    /// # Errors
    /// [`Conflict::NameTaken`] where an open one has that name.
    pub(super) async fn insert<P: Platform>(
        self,
        platform: &P,
        request: &Create,
    ) -> Result<(Upload, String)> {
        let host = platform.host();
        let now = host.now();
        let expires_at = now.plus_secs(platform.settings().upload_ttl_secs);
        let name = self.name.unwrap_or(self.id.as_str());
        let account = &self.caller.account;
        let stamp = super::append::stamp(host);
        let insert = Statement::new(format!(
            "insert into uploads (id, account_id, name, token_id, space_id, kind, target, metadata, length_bytes,
                                  reserved_bytes, stamp, created_at, expires_at)
             select ?4, ?5, ?6, (select id from tokens where hash = ?1), ?2, ?7, ?8, ?9, ?10, ?11, ?12, ?3, ?13
              where {}
                and not exists (select 1 from uploads where account_id = ?5 and name = ?6)
                and (select count(*) from uploads where account_id = ?5 and finished is null) < ?14
                and (select used_bytes + reserved_bytes + ?11 <= quota_bytes from spaces where id = ?2) is not 0
             returning id",
            auth::STILL_UPLOADS
        ))
        .bind(request.token.hash().to_string())
        .bind(&request.space)
        .bind(now)
        .bind(&self.id)
        .bind(account)
        .bind(name)
        .bind(self.kind.column())
        .bind(request.target.as_ref().map(manifest::to_json).transpose()?)
        .bind(request.metadata.as_str())
        .bind(request.length_bytes)
        .bind(self.reserved_bytes)
        .bind(stamp.as_str())
        .bind(expires_at)
        .bind(MAX_OPEN);
        let mut batch = Vec::new();
        if self.name.is_some() {
            let over = "delete from uploads where account_id = ?1 and name = ?2
                          and (finished is not null or expires_at <= ?3)";
            batch.push(Statement::new(over).bind(account).bind(name).bind(now));
        }
        let at = batch.len();
        batch.push(insert);
        batch.push(state_of(account, name));
        let results = platform.db().write(batch).await?;
        let made = results.get(at).is_some_and(|rows| !rows.is_empty());
        if !made {
            let row = results.get(at + 1).and_then(|rows| rows.first());
            let row = row.ok_or_else(|| Error::Internal("a count without a row".to_owned()))?;
            return Err(if row.integer("taken")? == 1 {
                Error::Conflict(Conflict::NameTaken)
            } else if row.unsigned("open")? >= MAX_OPEN {
                Error::TooManyUploads
            } else {
                Error::QuotaExceeded
            });
        }
        Ok((self.upload(request, now, expires_at), stamp))
    }

    fn upload(self, request: &Create, now: Timestamp, expires_at: Timestamp) -> Upload {
        Upload {
            id: self.id,
            kind: self.kind,
            space: request.space.clone(),
            target: request.target.clone(),
            metadata: request.metadata.clone(),
            length_bytes: request.length_bytes,
            received_bytes: 0,
            created_at: now,
            expires_at,
            finished: None,
        }
    }
}

/// Why a row wasn't made.
fn state_of(account: &crate::ids::AccountId, name: &str) -> Statement {
    Statement::new(
        "select exists (select 1 from uploads where account_id = ?1 and name = ?2) as taken,
                (select count(*) from uploads where account_id = ?1 and finished is null) as open",
    )
    .bind(account)
    .bind(name)
}
