//! Rows of a large picture, made smaller as they come: so it is never in memory as a whole.

use crate::picture::{Kind, Picture};

/// Pictures are shrunk by a whole factor to no less than this many pixels on their longer side: what is left to the resizer
/// decides how sharp a thumbnail of 1,024 is.
const LEAST_SIDE: u32 = 1536;

/// Takes rows, and averages squares of pixels.
#[derive(Debug)]
pub(crate) struct Shrinker {
    whole: (u32, u32),
    factor: u32,
    kind: Kind,
    width: usize,
    /// Of each pixel of the row that is being made: its sums.
    sums: Vec<[u64; 4]>,
    /// How many rows are in the sums.
    rows: u32,
    pixels: Vec<u8>,
}

impl Shrinker {
    /// Shrinks pictures of this size.
    pub(crate) fn new(width: u32, height: u32, kind: Kind) -> Self {
        let factor = factor(width, height);
        let shrunk = width.div_ceil(factor) as usize;
        let rows = height.div_ceil(factor) as usize;
        Self {
            whole: (width, height),
            factor,
            kind,
            width: shrunk,
            sums: if factor > 1 { vec![[0; 4]; shrunk] } else { Vec::new() },
            rows: 0,
            pixels: Vec::with_capacity(shrunk.saturating_mul(rows).saturating_mul(kind.bytes())),
        }
    }

    /// What it takes for pictures of this size, in bytes.
    pub(crate) fn memory(width: u32, height: u32, kind: Kind) -> u64 {
        let factor = factor(width, height);
        let shrunk = u64::from(width.div_ceil(factor));
        shrunk * u64::from(height.div_ceil(factor)) * kind.bytes() as u64 + shrunk * 32
    }

    /// Takes the next row.
    pub(crate) fn push(&mut self, row: &[u8]) {
        if self.factor == 1 {
            self.pixels.extend_from_slice(row);
            return;
        }
        let square = self.factor as usize * self.kind.bytes();
        for (sums, pixels) in self.sums.iter_mut().zip(row.chunks(square)) {
            for pixel in pixels.chunks_exact(self.kind.bytes()) {
                match *pixel {
                    [r, g, b] => add(sums, [r, g, b], 1),
                    [r, g, b, a] => add(sums, [r, g, b], a.into()),
                    _ => {}
                }
            }
        }
        self.rows += 1;
        if self.rows == self.factor {
            self.finish_row();
        }
    }

    fn finish_row(&mut self) {
        let (width, rows) = (u64::from(self.whole.0), u64::from(std::mem::take(&mut self.rows)));
        let factor = u64::from(self.factor);
        for (column, sums) in (0..).zip(&mut self.sums) {
            let [r, g, b, weight] = std::mem::take(sums);
            let mean = |sum: u64, of: u64| {
                u8::try_from((sum + of / 2).checked_div(of).unwrap_or_default()).unwrap_or(u8::MAX)
            };
            self.pixels.extend([r, g, b].map(|sum| mean(sum, weight)));
            if self.kind != Kind::Rgb {
                let columns = factor.min(width.saturating_sub(column * factor));
                self.pixels.push(mean(weight, columns * rows));
            }
        }
    }

    /// The picture, once all rows are there; None where some are missing.
    pub(crate) fn finish(mut self) -> Option<Picture> {
        if self.rows > 0 {
            self.finish_row();
        }
        let height = self.whole.1.div_ceil(self.factor);
        let width = u32::try_from(self.width).ok()?;
        if self.pixels.len() != self.width.checked_mul(height as usize)?.checked_mul(self.kind.bytes())? {
            return None;
        }
        let covered = |side: u32| f64::from(side) / f64::from(self.factor);
        let picture = Picture::new(width, height, self.kind, self.pixels);
        Some(Picture {
            covered: (covered(self.whole.0), covered(self.whole.1)),
            whole: self.whole,
            ..picture
        })
    }
}

fn factor(width: u32, height: u32) -> u32 {
    (width.max(height) / LEAST_SIDE).max(1)
}

fn add(sums: &mut [u64; 4], [r, g, b]: [u8; 3], weight: u64) {
    let [reds, greens, blues, weights] = sums;
    *reds += u64::from(r) * weight;
    *greens += u64::from(g) * weight;
    *blues += u64::from(b) * weight;
    *weights += weight;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_averaged_and_what_is_transparent_has_no_colour() {
        let mut shrinker = Shrinker::new(3073, 2, Kind::Rgba);
        let pixel =
            |x: u32, y: u32| if (x + y).is_multiple_of(2) { [200, 100, 0, 255] } else { [9, 9, 9, 0] };
        for y in 0..2 {
            shrinker.push(&(0..3073).flat_map(|x| pixel(x, y)).collect::<Vec<u8>>());
        }
        let picture = shrinker.finish().unwrap();
        assert_eq!((picture.width, picture.height), (1537, 1));
        assert_eq!(picture.covered, (1536.5, 1.0));
        assert!(picture.pixels.chunks(4).all(|pixel| *pixel == [200, 100, 0, 128]));
    }

    #[test]
    fn missing_rows_are_noticed() {
        let mut shrinker = Shrinker::new(4, 2, Kind::Rgb);
        shrinker.push(&[1; 12]);
        assert!(shrinker.finish().is_none());
    }
}
