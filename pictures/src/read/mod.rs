//! Reading a picture: which format it has, and a file for each.

mod bmp;
mod gif;
mod jpeg;
mod png;
mod webp;

use std::fmt;

use crate::memory::MAX_SOURCE_BYTES;
use crate::picture::Picture;
use crate::refusal::Refusal;

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JPEG: sequential and progressive, grey, colour and CMYK.
    Jpeg,
    /// PNG of any depth.
    Png,
    /// GIF: its first frame.
    Gif,
    /// WebP, lossy and lossless; of an animation the first frame.
    WebP,
    /// Windows bitmaps.
    Bmp,
}

impl Format {
    /// How many bytes of a file tell its format.
    pub const TOLD_BY_BYTES: u64 = 12;

    /// The format of a file that begins so; its name and its media type say nothing.
    pub fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [b'B', b'M', ..] => Some(Self::Bmp),
            _ => None,
        }
    }

    pub(crate) fn damaged(self, error: impl fmt::Display) -> Refusal {
        Refusal::Damaged { format: self, what: error.to_string() }
    }

    pub(crate) fn unsupported(self, what: impl fmt::Display) -> Refusal {
        Refusal::Unsupported { format: self, what: what.to_string() }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jpeg => "JPEG",
            Self::Png => "PNG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
            Self::Bmp => "BMP",
        })
    }
}

/// Reads a picture; large ones are shrunk on the way.
pub(crate) fn read(file: &[u8]) -> Result<Picture, Refusal> {
    if file.len() as u64 > MAX_SOURCE_BYTES {
        return Err(Refusal::TooLong);
    }
    match Format::of(file).ok_or(Refusal::NotAPicture)? {
        Format::Jpeg => jpeg::read(file),
        Format::Png => png::read(file),
        Format::Gif => gif::read(file),
        Format::WebP => webp::read(file),
        Format::Bmp => bmp::read(file),
    }
}
