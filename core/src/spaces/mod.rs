//! Spaces: what they hold, who one is in them, and what they keep.

mod change;
mod read;

pub use change::{Change, change};
pub use read::{find, list};

use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ports::{Row, Timestamp};
use crate::tree::id;

/// The most versions of a file that a policy can name.
pub const MAX_VERSIONS: u64 = 10_000;
/// The longest time in which appends are one version: a day.
pub const MAX_APPEND_WINDOW_SECS: u64 = 86_400;
/// The longest time that a policy can name: a hundred years.
pub const MAX_DAYS: u64 = 36_500;

/// A drive, as one of its members sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Its id.
    pub id: SpaceId,
    /// Its name.
    pub name: String,
    /// The member's role: `reader`, `writer` or `owner`.
    pub role: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// How much it may hold; None where there is no limit.
    pub quota_bytes: Option<u64>,
    /// How much it holds: every kept version, in the trash and of copies too.
    pub used_bytes: u64,
    /// How much of the quota open uploads hold besides.
    pub reserved_bytes: u64,
    /// The bucket that new segments go into; None: the default one.
    pub bucket: Option<String>,
    /// What it keeps.
    pub policy: Policy,
}

/// What a space keeps; None: for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// The newest versions of a file that are kept, the current one among them. Those with a label are kept besides.
    pub versions_kept: Option<u64>,
    /// How many days a version is kept after it was replaced, unless it has a label.
    pub versions_days: Option<u64>,
    /// How many days the trash is kept.
    pub trash_days: Option<u64>,
    /// For how many seconds what an account appends to a file is one version; None: each time another one.
    pub append_window_secs: Option<u64>,
}

/// The columns that [`read`] understands, of the space `s` and the membership `m`.
macro_rules! columns {
    () => {
        "s.id, s.name, s.created_at, s.quota_bytes, s.used_bytes, s.reserved_bytes, s.versions_kept,
         s.versions_days, s.trash_days, s.append_window_secs, (select b.name from buckets b where b.n = s.bucket) as bucket,
         m.role"
    };
}
use columns;

fn read(row: &Row) -> Result<Space> {
    let number = |column| -> Result<Option<u64>> {
        Ok(row.integer_or_null(column)?.and_then(|number| u64::try_from(number).ok()))
    };
    Ok(Space {
        id: id(row, "id", SpaceId::parse)?,
        name: row.text("name")?.to_owned(),
        role: row.text("role")?.to_owned(),
        created_at: Timestamp(row.integer("created_at")?),
        quota_bytes: number("quota_bytes")?,
        used_bytes: row.unsigned("used_bytes")?,
        reserved_bytes: row.unsigned("reserved_bytes")?,
        bucket: row.text_or_null("bucket")?.map(str::to_owned),
        policy: Policy {
            versions_kept: number("versions_kept")?,
            versions_days: number("versions_days")?,
            trash_days: number("trash_days")?,
            append_window_secs: number("append_window_secs")?,
        },
    })
}

fn the_only(rows: &[Row]) -> Result<Space> {
    read(rows.first().ok_or_else(|| Error::Internal("a space without a row".to_owned()))?)
}
