//! What a JPEG file says of itself, without decoding any of it.

use super::Format;
use crate::refusal::Refusal;

/// The frame's header, and how many scans there are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: u16,
    pub(super) height: u16,
    /// Of each component, by how much more of its samples there are than of the one with the fewest: across, and down.
    components: Vec<(u8, u8)>,
    progressive: bool,
    pub(super) scans: usize,
}

impl Header {
    /// Reads it.
    pub(super) fn read(file: &[u8]) -> Result<Self, Refusal> {
        let mut rest = file.get(2..).unwrap_or_default();
        loop {
            let (marker, segment, after) =
                next(rest).ok_or_else(|| Format::Jpeg.damaged("it ends before its frame begins"))?;
            match marker {
                // All frames but DHT, JPG and DAC, which have numbers among theirs.
                0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                    return Self::of_frame(marker, segment, after);
                }
                0xda => return Err(Format::Jpeg.damaged("a scan comes before the frame")),
                _ => rest = after,
            }
        }
    }

    fn of_frame(marker: u8, segment: &[u8], after: &[u8]) -> Result<Self, Refusal> {
        let [_, h1, h0, w1, w0, _, components @ ..] = segment else {
            return Err(Format::Jpeg.damaged("its frame has no header"));
        };
        let (height, width) = (u16::from_be_bytes([*h1, *h0]), u16::from_be_bytes([*w1, *w0]));
        if width == 0 || height == 0 {
            return Err(Format::Jpeg.damaged("it has no pixels"));
        }
        let components: Vec<(u8, u8)> = components
            .chunks_exact(3)
            .filter_map(|component| component.get(1))
            .map(|factors| ((factors >> 4).max(1), (factors & 15).max(1)))
            .collect();
        // In coded data a byte of 255 never comes before one of 218.
        let scans = after.windows(2).filter(|two| *two == [0xff, 0xda]).count();
        Ok(Self { width, height, components, progressive: marker & 3 == 2, scans })
    }

    /// What decoding takes at so many eighths of the size.
    pub(super) fn memory(&self, eighths: u32) -> u64 {
        let most = |of: fn(&(u8, u8)) -> u8| u64::from(self.components.iter().map(of).max().unwrap_or(1));
        let (across, down) = (most(|factors| factors.0), most(|factors| factors.1));
        // Whole blocks of the largest component.
        let blocks = |side: u16, most: u64| u64::from(side).div_ceil(8 * most);
        let units = blocks(self.width, across) * blocks(self.height, down);
        let samples: u64 =
            self.components.iter().map(|(h, v)| units * u64::from(*h) * u64::from(*v) * 64).sum();
        let shrink = u64::from((8 / eighths.max(1)).pow(2)).max(1);
        let pixels = u64::from(self.width) * u64::from(self.height) / shrink;
        let coefficients = if self.progressive { samples * 2 } else { 0 };
        // Grey becomes three bytes at the end, while the one is there still.
        coefficients + samples / shrink + pixels * self.components.len().max(4) as u64
    }
}

/// The next segment: its marker, its content, and what follows it.
fn next(rest: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let start = rest.iter().position(|byte| *byte == 0xff)?;
    let filled = rest.get(start..)?;
    let at = filled.iter().position(|byte| *byte != 0xff)?;
    let (marker, rest) = (*filled.get(at)?, filled.get(at + 1..)?);
    // Those stand alone.
    if matches!(marker, 0x00 | 0x01 | 0xd0..=0xd8) {
        return Some((marker, &[], rest));
    }
    if marker == 0xd9 {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
    Some((marker, rest.get(2..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &[u8] = &[
        0xff, 0xd8, 0xff, 0xe0, 0, 3, 7, 0xff, 0xc2, 0, 17, 8, 0, 100, 0, 200, 3, 1, 0x22, 0, 2, 0x11, 1, 3,
        0x11, 1,
    ];

    #[test]
    fn a_header_tells_what_decoding_takes() {
        let header = Header::read(FRAME).unwrap();
        assert_eq!((header.width, header.height, header.progressive), (200, 100, true));
        // 13 × 7 units of six blocks of 64 coefficients.
        assert_eq!(header.memory(8), 13 * 7 * 6 * 64 * 3 + 200 * 100 * 4);
        assert_eq!(header.memory(1), 13 * 7 * 6 * 64 * 2 + 13 * 7 * 6 + 200 * 100 / 64 * 4);
    }

    #[test]
    fn what_ends_early_or_has_no_pixels_is_damaged() {
        for end in 0..FRAME.len() - 9 {
            assert!(Header::read(&FRAME[..end]).is_err(), "{end}");
        }
        let mut flat = FRAME.to_vec();
        flat[14] = 0;
        flat[13] = 0;
        assert!(Header::read(&flat).is_err());
    }
}
