//! A write that happens once, whatever becomes of its answer.

use crate::ports::{Db, DbError, Rows, Statement};

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
    let happened = async || Ok(happened().await?.then_some(()));
    write_once_for(db, batch, |_| Ok(()), happened).await
}

/// The same for a batch that has something to tell: `answer` takes it from the batch's own rows, `happened` finds it out
/// where those are lost.
pub(crate) async fn write_once_for<D: Db, T>(
    db: &D,
    batch: Vec<Statement>,
    answer: impl Fn(&[Rows]) -> Result<T, DbError>,
    happened: impl AsyncFn() -> Result<Option<T>, DbError>,
) -> Result<T, DbError> {
    let first = match db.write(batch.clone()).await {
        Ok(rows) => return answer(&rows),
        Err(error) => error,
    };
    if !matches!(first, DbError::Unavailable(_)) {
        return Err(first);
    }
    if let Some(done) = happened().await? {
        return Ok(done);
    }
    let second = match db.write(batch).await {
        Ok(rows) => return answer(&rows),
        Err(error) => error,
    };
    // Either answer may be lost, or the first attempt may have arrived after it was looked for.
    happened().await?.ok_or(second)
}
