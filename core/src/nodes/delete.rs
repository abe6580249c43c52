//! Deleting what stands at a path.

use super::{Expected, Operation, batch};
use crate::error::{Error, Result};
use crate::ports::Platform;
use crate::tree::Address;

/// Puts what stands at the address into the trash, with all below, if it is what is expected. Two round trips.
pub async fn delete<P: Platform>(platform: &P, address: &Address, expected: Expected) -> Result<()> {
    let operations = [Operation::delete(address.into(), expected)];
    batch(platform, &address.token, &address.space, &operations).await.map(|_| ()).map_err(Error::alone)
}
