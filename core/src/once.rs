//! A write that happens once, whatever becomes of its answer.

use crate::ports::{Db, DbError, Statement};

/// Runs a guarded batch. Where its answer is lost, `happened` tells whether it took effect, and it is sent once more if
/// it didn't.
///
/// # Errors
/// [`DbError::Unavailable`] where that is lost too, or can't be told: the batch may have taken effect.
pub(crate) async fn write_once<D: Db>(
    db: &D,
    batch: Vec<Statement>,
    happened: impl AsyncFn() -> Result<bool, DbError>,
) -> Result<(), DbError> {
    let first = match db.write(batch.clone()).await {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    if !matches!(first, DbError::Unavailable(_)) {
        return Err(first);
    }
    if happened().await? {
        return Ok(());
    }
    let Err(second) = db.write(batch).await else { return Ok(()) };
    // Either answer may be lost, or the first attempt may have arrived after it was looked for.
    if happened().await? { Ok(()) } else { Err(second) }
}
