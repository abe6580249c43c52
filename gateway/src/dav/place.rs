//! From a URL's path to names.

use ledge_core::error::Result;
use ledge_core::path::Path;

use crate::address::decode;

/// The names of a path below the mount. Slashes at the end or side by side don't count: some clients put a base URL that
/// ends with one before a path that begins with one.
pub(super) fn names(path: &str) -> Result<Path> {
    let names = path.split('/').filter(|segment| !segment.is_empty()).map(decode);
    Path::parse(names.collect::<Result<Vec<String>>>()?)
}
