//! WebP, decoded as a whole: lossy, lossless, or the first frame of an animation.

use std::io::Cursor;

use image_webp::{DecodingError, WebPDecoder};

use super::Format;
use crate::memory;
use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;

/// What chunks that aren't pixels may take.
const CHUNKS_BYTES: usize = 1 << 20;

pub(super) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    let mut decoder = WebPDecoder::new(Cursor::new(file)).map_err(refused)?;
    decoder.set_memory_limit(CHUNKS_BYTES);
    let (width, height) = decoder.dimensions();
    let kind = if decoder.has_alpha() { Kind::Rgba } else { Kind::Rgb };
    // Beside what comes out: of a lossy one its planes, and where it has opacity that as a picture of its own; of a lossless
    // one its transforms, and four bytes a pixel where three come out; of an animation the frame and the canvas.
    let beside = match (decoder.is_animated(), decoder.is_lossy(), kind) {
        (true, ..) => 12,
        (false, true, Kind::Rgb) => 2,
        (false, true, _) => 7,
        (false, false, Kind::Rgb) => 5,
        (false, false, _) => 1,
    };
    let needed = memory::pixels(width, height, beside + kind.bytes() as u64).saturating_add(1 << 20);
    memory::check(Format::WebP, (width, height), file, needed)?;
    if !frames_fit(file, (width, height)) {
        return Err(Format::WebP.damaged("a frame is larger than the picture"));
    }
    let size = decoder.output_buffer_size().ok_or_else(|| Format::WebP.damaged("it has no size"))?;
    let mut pixels = vec![0; size];
    decoder.read_image(&mut pixels).map_err(refused)?;
    let exif = decoder.exif_metadata().ok().flatten();
    Ok(Picture::new(width, height, kind, pixels).oriented(exif.as_deref()))
}

/// Whether what lossy frames say of themselves fits into the picture: their decoder takes what they say.
fn frames_fit(file: &[u8], picture: (u32, u32)) -> bool {
    chunks(file.get(12..).unwrap_or_default()).all(|(name, content)| match &name {
        b"VP8 " => frame_fits(content, picture),
        b"ANMF" => chunks(content.get(16..).unwrap_or_default())
            .all(|(name, content)| name != *b"VP8 " || frame_fits(content, picture)),
        _ => true,
    })
}

fn frame_fits(content: &[u8], (width, height): (u32, u32)) -> bool {
    let Some(&[w0, w1, h0, h1]) = content.get(6..10) else { return true };
    let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
    side(w0, w1) <= width && side(h0, h1) <= height
}

/// The chunks of a RIFF file: each one's name, and as much of its content as there is.
fn chunks(mut rest: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let (head, after) = rest.split_at_checked(8)?;
        let (name, size) = head.split_first_chunk::<4>()?;
        let size = u32::from_le_bytes(size.try_into().ok()?) as usize;
        let content = after.get(..size).unwrap_or(after);
        rest = after.get(size.saturating_add(size & 1)..).unwrap_or_default();
        Some((*name, content))
    })
}

fn refused(error: DecodingError) -> Refusal {
    match error {
        DecodingError::UnsupportedFeature(what) => Format::WebP.unsupported(what),
        error => Format::WebP.damaged(error),
    }
}
