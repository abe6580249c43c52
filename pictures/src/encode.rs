//! Writing a thumbnail.

use image_webp::{ColorType as WebpColor, WebPEncoder};
use jpeg_encoder::{ColorType as JpegColor, Encoder, SamplingFactor};

use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;

/// Of 100: pictures of up to 256 pixels are looked at closely, and small in any case.
const SMALL_QUALITY: u8 = 95;
/// That of all larger ones.
const LARGE_QUALITY: u8 = 85;
const SMALL_SIDE: u32 = 256;

/// The media type, and the file.
pub(crate) fn encode(picture: &Picture) -> Result<(&'static str, Vec<u8>), Refusal> {
    let unwritable = |error: &dyn std::fmt::Display| Refusal::Unwritable(error.to_string());
    let mut file = Vec::new();
    if picture.kind == Kind::Rgb {
        let side = |side: u32| u16::try_from(side).map_err(|error| unwritable(&error));
        let (width, height) = (side(picture.width)?, side(picture.height)?);
        let is_small = picture.width.max(picture.height) <= SMALL_SIDE;
        let mut encoder = Encoder::new(&mut file, if is_small { SMALL_QUALITY } else { LARGE_QUALITY });
        // Colours at half the resolution show in pictures that are small already.
        encoder.set_sampling_factor(SamplingFactor::R_4_4_4);
        encoder.set_optimized_huffman_tables(true);
        encoder.encode(&picture.pixels, width, height, JpegColor::Rgb).map_err(|error| unwritable(&error))?;
        return Ok(("image/jpeg", file));
    }
    let seen = Picture::new(picture.width, picture.height, picture.kind, picture.pixels.clone()).seen();
    WebPEncoder::new(&mut file)
        .encode(&seen.pixels, seen.width, seen.height, WebpColor::Rgba8)
        .map_err(|error| unwritable(&error))?;
    Ok(("image/webp", file))
}
