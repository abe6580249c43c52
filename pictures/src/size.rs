//! How large a thumbnail is.

/// The size of a picture that fits into a square: its proportions, rounded to whole pixels, and never larger than it is.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a fraction of a width or height, which is not negative and fits"
)]
pub(crate) fn fit(width: u32, height: u32, square: u32) -> (u32, u32) {
    if width <= square && height <= square {
        return (width, height);
    }
    let (wide, high) = (f64::from(width), f64::from(height));
    let scale = (f64::from(square) / wide).min(f64::from(square) / high);
    let scaled = |side: f64| ((scale * side + 0.5).floor() as u32).clamp(1, square);
    (scaled(wide), scaled(high))
}

#[cfg(test)]
mod tests {
    use super::fit;

    #[test]
    fn pictures_keep_their_proportions_and_are_never_enlarged() {
        assert_eq!(fit(4000, 3000, 1024), (1024, 768));
        assert_eq!(fit(3000, 4000, 128), (96, 128));
        assert_eq!(fit(300, 200, 512), (300, 200));
        assert_eq!(fit(512, 512, 512), (512, 512));
        assert_eq!(fit(1_000_000, 3, 1024), (1024, 1));
        assert_eq!(fit(u32::MAX, u32::MAX, 128), (128, 128));
        assert_eq!(fit(1023, 1025, 1024), (1022, 1024));
    }
}
