//! What is done again and again: the one table of it.

use ledge_core::jobs::Periodic;

/// Every periodic job. Its work needs a key (`Work::unique_key`), so that a run that takes long isn't overtaken by the
/// next one.
pub(crate) fn jobs() -> Vec<Periodic> {
    Vec::new()
}
