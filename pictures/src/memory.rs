//! How much memory, and work, a picture takes, reckoned before any is taken.

use crate::read::Format;
use crate::refusal::Refusal;

/// What a picture may take: the file, what its decoder needs, and its pixels. With the program itself, its stack and the
/// thumbnails it stays below the 64 MiB that one job may use of an isolate's 128 MB.
pub const MEMORY_BYTES: u64 = 56 << 20;

/// The longest file that is read: photographs of 100 million pixels have some 40 MB, those of telephones 3 to 12.
pub const MAX_SOURCE_BYTES: u64 = 32 << 20;

/// More take too long, however little memory they take: some seconds of a Worker's time. The largest cameras have 102 million.
pub(crate) const MAX_PIXELS: u64 = 120_000_000;

/// Refuses what would take more than [`MEMORY_BYTES`], or has more than [`MAX_PIXELS`]. `of_decoder` is what it takes beside the
/// file.
pub(crate) fn check(
    format: Format,
    (width, height): (u32, u32),
    file: &[u8],
    of_decoder: u64,
) -> Result<(), Refusal> {
    let needed_bytes = of_decoder.saturating_add(file.len() as u64);
    if needed_bytes > MEMORY_BYTES {
        return Err(Refusal::TooLarge { format, width, height, needed_bytes });
    }
    let pixels = pixels(width, height, 1);
    if pixels > MAX_PIXELS {
        let what = format!("it has {pixels} pixels, and {MAX_PIXELS} is the limit");
        return Err(Refusal::TooMuchWork { format, what });
    }
    Ok(())
}

/// So many bytes for each pixel.
pub(crate) fn pixels(width: u32, height: u32, bytes_each: u64) -> u64 {
    u64::from(width).saturating_mul(u64::from(height)).saturating_mul(bytes_each)
}
