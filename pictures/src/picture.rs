//! A picture in memory.

use fast_image_resize::{MulDiv, PixelType, images};
use image::metadata::Orientation;
use image::{DynamicImage, RgbImage, RgbaImage};

/// Its pixels, and what is to be done with them still.
#[derive(Debug)]
pub(crate) struct Picture {
    /// How many pixels a row has.
    pub(crate) width: u32,
    /// How many rows there are.
    pub(crate) height: u32,
    /// How many of those widths and heights the picture really covers: a last column may stand for part of one.
    pub(crate) covered: (f64, f64),
    /// The picture's own size, before it was shrunk on reading and as it is stored: what thumbnails are in proportion to.
    pub(crate) whole: (u32, u32),
    /// What a row consists of.
    pub(crate) kind: Kind,
    /// The rows, one after another, without gaps.
    pub(crate) pixels: Vec<u8>,
    /// How it is to be turned.
    pub(crate) orientation: Orientation,
}

/// What a pixel consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Red, green, blue.
    Rgb,
    /// Those, and how opaque it is.
    Rgba,
    /// The same, with colours multiplied by how opaque it is: transparent ones don't bleed into others then.
    Premultiplied,
}

impl Kind {
    /// Bytes of a pixel.
    pub(crate) fn bytes(self) -> usize {
        if self == Self::Rgb { 3 } else { 4 }
    }

    /// What the resizer calls it.
    pub(crate) fn pixel_type(self) -> PixelType {
        if self == Self::Rgb { PixelType::U8x3 } else { PixelType::U8x4 }
    }
}

impl Picture {
    /// A picture of which nothing was left out.
    pub(crate) fn new(width: u32, height: u32, kind: Kind, pixels: Vec<u8>) -> Self {
        Self {
            width,
            height,
            covered: (f64::from(width), f64::from(height)),
            whole: (width, height),
            kind,
            pixels,
            orientation: Orientation::NoTransforms,
        }
    }

    /// Turned as the metadata says, if it says so in a way that is understood.
    pub(crate) fn oriented(self, exif: Option<&[u8]>) -> Self {
        let chunk = exif.map(|chunk| chunk.strip_prefix(b"Exif\0\0").unwrap_or(chunk));
        let orientation = chunk.and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms);
        Self { orientation, ..self }
    }

    /// Its size once it is turned.
    pub(crate) fn oriented_size(&self) -> (u32, u32) {
        self.turned(self.whole)
    }

    /// The same for any size; turning back is the same.
    pub(crate) fn turned(&self, (width, height): (u32, u32)) -> (u32, u32) {
        use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
        match self.orientation {
            Rotate90 | Rotate90FlipH | Rotate270 | Rotate270FlipH => (height, width),
            _ => (width, height),
        }
    }

    /// Ready to be resized: without the alpha channel where all is opaque, premultiplied where it isn't. In place.
    pub(crate) fn ready(mut self) -> Self {
        if self.kind != Kind::Rgba {
            return self;
        }
        if self.pixels.chunks_exact(4).all(|pixel| matches!(pixel, [_, _, _, 255])) {
            let mut to = 0;
            for from in (0..self.pixels.len()).step_by(4) {
                self.pixels.copy_within(from..from + 3, to);
                to += 3;
            }
            self.pixels.truncate(to);
            self.kind = Kind::Rgb;
        } else {
            self.kind = Kind::Premultiplied;
            self.alpha(|alpha, image| alpha.multiply_alpha_inplace(image));
        }
        self
    }

    /// With colours as they are seen.
    pub(crate) fn seen(mut self) -> Self {
        if self.kind == Kind::Premultiplied {
            self.kind = Kind::Rgba;
            self.alpha(|alpha, image| alpha.divide_alpha_inplace(image));
        }
        self
    }

    fn alpha(
        &mut self,
        work: impl FnOnce(&MulDiv, &mut images::Image<'_>) -> Result<(), fast_image_resize::ImageError>,
    ) {
        let image = images::Image::from_slice_u8(self.width, self.height, &mut self.pixels, PixelType::U8x4);
        // Sizes and type are those of the pixels: neither can fail.
        let done = image.ok().map(|mut image| work(&MulDiv::new(), &mut image).is_ok());
        debug_assert_eq!(done, Some(true));
    }

    /// Turned as it is to be.
    pub(crate) fn upright(mut self) -> Self {
        let orientation = std::mem::replace(&mut self.orientation, Orientation::NoTransforms);
        if orientation == Orientation::NoTransforms {
            return self;
        }
        let pixels = std::mem::take(&mut self.pixels);
        let image = match self.kind {
            Kind::Rgb => RgbImage::from_raw(self.width, self.height, pixels).map(DynamicImage::ImageRgb8),
            _ => RgbaImage::from_raw(self.width, self.height, pixels).map(DynamicImage::ImageRgba8),
        };
        // The length is that of the size.
        let Some(mut image) = image else { return self };
        image.apply_orientation(orientation);
        Self::new(image.width(), image.height(), self.kind, image.into_bytes())
    }
}
