//! Small pictures of large ones: JPEG, PNG, GIF, WebP and BMP in; JPEG out, or lossless WebP where the picture is
//! transparent.
//!
//! Pure: bytes in, bytes out, and no clock, thread or file. What a picture takes is reckoned from its header before any of
//! it is allocated ([`memory`]); what would take more than [`MEMORY_BYTES`] is refused, as is what is broken, truncated or
//! lies about itself. No input panics. Metadata is dropped: orientation is applied, all else is left behind.

mod encode;
pub mod memory;
mod picture;
mod read;
mod refusal;
mod resize;
mod shrink;
mod size;

pub use memory::{MAX_SOURCE_BYTES, MEMORY_BYTES};
pub use read::Format;
pub use refusal::Refusal;

/// The squares that thumbnails fit in, in pixels, the smallest first.
pub const SIZES: [u32; 4] = [128, 256, 512, 1024];

/// A small picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbnail {
    /// Which of [`SIZES`] it is for: several, where the picture itself is smaller than the larger of them.
    pub sizes: Vec<u32>,
    /// How wide it is, in pixels.
    pub width: u32,
    /// How high it is, in pixels.
    pub height: u32,
    /// `image/jpeg` or `image/webp`.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Makes the thumbnails of a picture: each of [`SIZES`] has one, and none is larger than the picture. Takes the file, since
/// it need not be kept while they are made.
///
/// # Errors
/// What can't be done, and why.
pub fn thumbnails(file: Vec<u8>) -> Result<Vec<Thumbnail>, Refusal> {
    let picture = read::read(&file)?;
    drop(file);
    let picture = picture.ready();
    let (width, height) = picture.oriented_size();
    let mut made: Vec<Thumbnail> = Vec::new();
    let mut larger = picture;
    for size in SIZES.into_iter().rev() {
        let fitting = size::fit(width, height, size);
        if let Some(same) = made.iter_mut().find(|one| (one.width, one.height) == fitting) {
            same.sizes.insert(0, size);
            continue;
        }
        larger = resize::resize(larger, fitting)?;
        let (media_type, bytes) = encode::encode(&larger)?;
        made.push(Thumbnail { sizes: vec![size], width: fitting.0, height: fitting.1, media_type, bytes });
    }
    made.reverse();
    Ok(made)
}
