//! BMP, decoded as a whole.

use std::io::Cursor;

use image::codecs::bmp::BmpDecoder;
use image::error::ImageError;
use image::{ColorType, ImageDecoder};

use super::Format;
use crate::memory;
use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;

pub(super) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    let decoder = BmpDecoder::new(Cursor::new(file)).map_err(refused)?;
    let (width, height) = decoder.dimensions();
    let kind = match decoder.color_type() {
        ColorType::Rgb8 => Kind::Rgb,
        ColorType::Rgba8 => Kind::Rgba,
        other => return Err(Format::Bmp.unsupported(format_args!("{other:?}"))),
    };
    if width == 0 || height == 0 {
        return Err(Format::Bmp.damaged("it has no pixels"));
    }
    memory::check(Format::Bmp, (width, height), file, decoder.total_bytes().saturating_add(1 << 20))?;
    let size = usize::try_from(decoder.total_bytes()).map_err(|error| Format::Bmp.damaged(error))?;
    let mut pixels = vec![0; size];
    decoder.read_image(&mut pixels).map_err(refused)?;
    Ok(Picture::new(width, height, kind, pixels))
}

fn refused(error: ImageError) -> Refusal {
    match error {
        ImageError::Unsupported(what) => Format::Bmp.unsupported(what),
        error => Format::Bmp.damaged(error),
    }
}
