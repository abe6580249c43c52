//! Making a picture smaller, and turning it upright.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::picture::Picture;
use crate::refusal::Refusal;

/// The picture in this size, upright. It isn't made larger by anybody who calls this.
pub(crate) fn resize(picture: Picture, upright: (u32, u32)) -> Result<Picture, Refusal> {
    let (width, height) = picture.turned(upright);
    let whole = (f64::from(picture.width), f64::from(picture.height));
    if (width, height) == (picture.width, picture.height) && picture.covered == whole {
        return Ok(picture.upright());
    }
    let kind = picture.kind;
    let failed = |error: &dyn std::fmt::Display| Refusal::Unwritable(error.to_string());
    let from = ImageRef::new(picture.width, picture.height, &picture.pixels, kind.pixel_type())
        .map_err(|error| failed(&error))?;
    let mut to = Image::new(width, height, kind.pixel_type());
    let options = ResizeOptions::new()
        .resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3))
        .use_alpha(false)
        .crop(0.0, 0.0, picture.covered.0, picture.covered.1);
    Resizer::new().resize(&from, &mut to, &options).map_err(|error| failed(&error))?;
    let resized = Picture::new(width, height, kind, to.into_vec());
    Ok(Picture { orientation: picture.orientation, ..resized }.upright())
}
