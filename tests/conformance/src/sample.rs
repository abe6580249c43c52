//! Content to store and compare.

use anyhow::{Result, bail};
use ledge_core::digest::Sha256;
use ledge_core::ports::Bucket;

/// Bytes that differ from each other and from any other seed's: a misplaced or repeated piece is found.
pub(crate) fn bytes(seed: u8, count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ u64::from(seed);
    let mut next = || {
        // xorshift64*: good enough for content, and the same everywhere.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes()
    };
    let mut bytes: Vec<u8> = std::iter::repeat_with(&mut next).take(count.div_ceil(8)).flatten().collect();
    bytes.truncate(count);
    bytes
}

/// Stores content under a key.
pub(crate) async fn put(bucket: &impl Bucket, key: &str, bytes: &[u8]) -> Result<()> {
    Ok(bucket.put(key, bytes, Sha256::of(bytes)).await?)
}

/// Compares content without printing all of it.
pub(crate) fn same(found: &[u8], wanted: &[u8]) -> Result<()> {
    if let Some(at) = found.iter().zip(wanted).position(|(a, b)| a != b) {
        bail!("content differs from byte {at} on");
    }
    if found.len() != wanted.len() {
        bail!("{} bytes instead of {}", found.len(), wanted.len());
    }
    Ok(())
}
