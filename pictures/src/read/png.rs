//! PNG, row by row; an interlaced one as a whole, since its rows come in pieces.

use std::io::Cursor;

use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Reader, Transformations};

use super::Format;
use crate::memory;
use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;
use crate::shrink::Shrinker;

/// What chunks that aren't pixels may take.
const CHUNKS_BYTES: usize = 4 << 20;

pub(super) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(file), Limits { bytes: CHUNKS_BYTES });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let (width, height, interlaced) = {
        let header = decoder.read_header_info().map_err(refused)?;
        (header.width, header.height, header.interlaced)
    };
    // Two rows of 16 bits and four channels, and what inflating takes.
    let rows = u64::from(width) * 8 * 3 + (1 << 20);
    let whole = if interlaced { memory::pixels(width, height, 4) } else { 0 };
    let shrunk = Shrinker::memory(width, height, Kind::Rgba);
    memory::check(Format::Png, (width, height), file, rows + whole + shrunk)?;

    let mut reader = decoder.read_info().map_err(refused)?;
    let (color, depth) = reader.output_color_type();
    if depth != BitDepth::Eight {
        return Err(Format::Png.unsupported(format_args!("{depth:?} bits")));
    }
    let kind = match color {
        ColorType::Rgb | ColorType::Grayscale => Kind::Rgb,
        _ => Kind::Rgba,
    };
    let mut shrinker = Shrinker::new(width, height, kind);
    let mut expanded = Vec::new();
    let mut push = |row: &[u8]| {
        shrinker.push(expand(row, color, &mut expanded));
    };
    if interlaced {
        whole_rows(&mut reader, &mut push)?;
    } else {
        while let Some(row) = reader.next_row().map_err(refused)? {
            push(row.data());
        }
    }
    let exif = reader.info().exif_metadata.as_ref().map(|exif| exif.to_vec());
    let picture = shrinker.finish().ok_or_else(|| Format::Png.damaged("rows are missing"))?;
    Ok(picture.oriented(exif.as_deref()))
}

fn whole_rows(reader: &mut Reader<Cursor<&[u8]>>, push: &mut impl FnMut(&[u8])) -> Result<(), Refusal> {
    let size = reader.output_buffer_size().ok_or_else(|| Format::Png.damaged("it has no size"))?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(refused)?;
    for row in pixels.chunks(frame.line_size.max(1)) {
        push(row);
    }
    Ok(())
}

/// A row of red, green and blue, with or without opacity.
fn expand<'a>(row: &'a [u8], color: ColorType, expanded: &'a mut Vec<u8>) -> &'a [u8] {
    expanded.clear();
    match color {
        ColorType::Grayscale => expanded.extend(row.iter().flat_map(|grey| [*grey; 3])),
        ColorType::GrayscaleAlpha => {
            for pixel in row.chunks_exact(2) {
                if let [grey, alpha] = *pixel {
                    expanded.extend([grey, grey, grey, alpha]);
                }
            }
        }
        _ => return row,
    }
    expanded
}

fn refused(error: DecodingError) -> Refusal {
    match error {
        DecodingError::LimitsExceeded => Refusal::TooMuchWork {
            format: Format::Png,
            what: format!("its chunks have more than {CHUNKS_BYTES} bytes"),
        },
        error => Format::Png.damaged(error),
    }
}
