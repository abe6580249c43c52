//! JPEG, decoded at a half, a quarter or an eighth of its size where that is enough.
//!
//! A sequential file is then never in memory at its own size. Of a progressive one all coefficients are, two bytes each.

use jpeg_decoder::{Decoder, Error, PixelFormat};

use super::Format;
use crate::memory;
use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;

mod header;

use header::Header;

/// The least that is left to the resizer on the longer side: a quarter more than the largest thumbnail.
const LEAST_SIDE: u64 = 1280;
/// Files of cameras and programs have ten or so. Each goes over the whole picture again.
const MAX_SCANS: usize = 100;

/// As much as other programs write.
const MAX_HEIGHT: u16 = 65_500;

pub(super) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    let header = Header::read(file)?;
    let (width, height) = (header.width, header.height);
    let whole = (u32::from(width), u32::from(height));
    if header.scans > MAX_SCANS {
        let what = format!("it has {} scans, and {MAX_SCANS} is the limit", header.scans);
        return Err(Refusal::TooMuchWork { format: Format::Jpeg, what });
    }
    let eighths = eighths(width, height);
    memory::check(Format::Jpeg, whole, file, header.memory(eighths))?;
    // The decoder counts rows in 16 bits, and goes beyond them with the last block of a picture as high as that.
    if height > MAX_HEIGHT {
        return Err(Format::Jpeg.unsupported(format_args!("more than {MAX_HEIGHT} rows")));
    }
    let mut decoder = Decoder::new(file);
    // Rounded up: it takes the smallest that is no smaller than this on one side.
    let scaled = |side: u16| u16::try_from((u32::from(side) * eighths).div_ceil(8)).unwrap_or(u16::MAX);
    let (scaled_width, scaled_height) = decoder.scale(scaled(width), scaled(height)).map_err(refused)?;
    let pixels = decoder.decode().map_err(refused)?;
    let info = decoder.info().ok_or_else(|| Format::Jpeg.damaged("it has no frame"))?;
    let pixels = to_rgb(pixels, info.pixel_format)?;
    let (scaled_width, scaled_height) = (u32::from(scaled_width), u32::from(scaled_height));
    if pixels.len() as u64 != memory::pixels(scaled_width, scaled_height, 3) {
        return Err(Format::Jpeg.damaged("it has another size than it says"));
    }
    let picture = Picture::new(scaled_width, scaled_height, Kind::Rgb, pixels);
    let part = |side: u32, decoded: u32| (f64::from(side) * f64::from(eighths) / 8.0).min(f64::from(decoded));
    let covered = (part(whole.0, scaled_width), part(whole.1, scaled_height));
    Ok(Picture { whole, covered, ..picture }.oriented(decoder.exif_data()))
}

/// How many eighths of its size it is decoded at.
fn eighths(width: u16, height: u16) -> u32 {
    let longer = u64::from(width.max(height));
    [1, 2, 4]
        .into_iter()
        .find(|eighths| longer * eighths / 8 >= LEAST_SIDE)
        .map_or(8, |eighths| eighths as u32)
}

fn refused(error: Error) -> Refusal {
    match error {
        Error::Unsupported(what) => Format::Jpeg.unsupported(format_args!("{what:?}")),
        error => Format::Jpeg.damaged(error),
    }
}

/// Grey and CMYK as red, green and blue. The latter is stored inverted, and decoded to what it was.
fn to_rgb(pixels: Vec<u8>, format: PixelFormat) -> Result<Vec<u8>, Refusal> {
    match format {
        PixelFormat::RGB24 => Ok(pixels),
        PixelFormat::L8 => Ok(pixels.into_iter().flat_map(|grey| [grey; 3]).collect()),
        PixelFormat::CMYK32 => Ok(cmyk(pixels)),
        PixelFormat::L16 => Err(Format::Jpeg.unsupported("lossless with 16 bits")),
    }
}

/// In place: three bytes for four.
fn cmyk(mut pixels: Vec<u8>) -> Vec<u8> {
    let mut to = 0;
    for from in (0..pixels.len()).step_by(4) {
        let Some(&[c, m, y, k]) = pixels.get(from..from + 4) else { break };
        let light = |ink: u8| {
            let light = (255 - u16::from(ink)) * (255 - u16::from(k));
            u8::try_from((light + 127) / 255).unwrap_or(u8::MAX)
        };
        if let Some(rgb) = pixels.get_mut(to..to + 3) {
            rgb.copy_from_slice(&[light(c), light(m), light(y)]);
        }
        to += 3;
    }
    pixels.truncate(to);
    pixels
}
