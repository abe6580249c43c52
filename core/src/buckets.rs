//! Which of the buckets that rows name are configured.

use crate::error::Result;
use crate::manifest;
use crate::ports::{Buckets, Platform};

/// Whether a row's bucket can be reached, in SQL: nothing is decided about others, and nothing new refers to them. The
/// parameter is [`names`].
macro_rules! configured {
    ($bucket:literal, $names:literal) => {
        concat!(
            "(",
            $bucket,
            " is null or ",
            $bucket,
            " in (select configured.n from json_each(",
            $names,
            ") c cross join buckets configured on configured.name = c.value))"
        )
    };
}
pub(crate) use configured;

/// What the keys of all of the drive's own objects begin with, and nothing else is ever removed.
pub(crate) const OWN_KEYS: &str = "ledge/";

/// The names of the buckets that are configured, as JSON.
pub(crate) fn names<P: Platform>(platform: &P) -> Result<String> {
    manifest::to_json(&platform.bucket().names())
}
