//! GIF: its first frame, on the screen that it belongs to.

use gif::{ColorOutput, DecodeOptions, DecodingError, MemoryLimit};

use super::Format;
use crate::memory;
use crate::picture::{Kind, Picture};
use crate::refusal::Refusal;
use crate::shrink::Shrinker;

pub(super) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::Indexed);
    if let Some(limit) = std::num::NonZeroU64::new(memory::MEMORY_BYTES) {
        options.set_memory_limit(MemoryLimit::Bytes(limit));
    }
    let mut decoder = options.read_info(file).map_err(refused)?;
    let screen = (decoder.width(), decoder.height());
    let frame = decoder.next_frame_info().map_err(refused)?;
    let frame = frame.ok_or_else(|| Format::Gif.damaged("it has no frame"))?;
    let (left, top, across, down) = (frame.left, frame.top, frame.width, frame.height);
    let transparent = frame.transparent;
    if across == 0 || down == 0 {
        return Err(Format::Gif.damaged("its first frame has no pixels"));
    }
    let side = |screen: u16, frame: u16| u32::from(if screen == 0 { frame } else { screen });
    let (width, height) = (side(screen.0, across), side(screen.1, down));
    let needed = memory::pixels(across.into(), down.into(), 1)
        + Shrinker::memory(width, height, Kind::Rgba)
        + (1 << 20);
    memory::check(Format::Gif, (width.max(across.into()), height.max(down.into())), file, needed)?;

    let mut indices = vec![0; usize::from(across) * usize::from(down)];
    decoder.read_into_buffer(&mut indices).map_err(refused)?;
    let palette = decoder.palette().map_err(refused)?;
    let colors: Vec<[u8; 4]> = (0..=u8::MAX)
        .map(|index| match palette.chunks_exact(3).nth(index.into()) {
            // What has no colour isn't seen.
            Some(&[r, g, b]) if transparent != Some(index) => [r, g, b, 255],
            _ => [0; 4],
        })
        .collect();
    let mut shrinker = Shrinker::new(width, height, Kind::Rgba);
    let mut row = vec![0; width as usize * 4];
    for y in 0..height {
        row.fill(0);
        let of_frame =
            y.checked_sub(top.into()).and_then(|y| indices.chunks_exact(across.into()).nth(y as usize));
        let places = row.chunks_exact_mut(4).skip(left.into());
        for (place, index) in places.zip(of_frame.unwrap_or_default()) {
            place.copy_from_slice(colors.get(usize::from(*index)).unwrap_or(&[0; 4]));
        }
        shrinker.push(&row);
    }
    shrinker.finish().ok_or_else(|| Format::Gif.damaged("rows are missing"))
}

fn refused(error: DecodingError) -> Refusal {
    Format::Gif.damaged(error)
}
