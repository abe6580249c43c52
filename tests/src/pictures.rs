//! Pictures of many kinds with what ImageMagick makes of them, and how far a thumbnail is from that. tests/pictures/README.md
//! tells how they were made.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// A picture, and its thumbnails as they should be.
#[derive(Debug)]
pub struct Case {
    /// The name of its file.
    pub name: String,
    /// The file.
    pub file: Vec<u8>,
    /// Its media type.
    pub media_type: &'static str,
    /// What ImageMagick makes of it for some sizes.
    pub expected: Vec<(u32, Pixels)>,
}

/// Pixels of four bytes: red, green, blue and opacity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// How many a row has.
    pub width: u32,
    /// How many rows there are.
    pub height: u32,
    /// All of them.
    pub rgba: Vec<u8>,
}

/// How far a thumbnail may be from what ImageMagick makes: the mean difference of any channel, of 255.
pub const MOST_DIFFERENCE: f64 = 3.0;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("pictures").join(name)
}

/// All cases, by their names.
///
/// # Panics
/// Where a file can't be read.
pub fn all() -> Vec<Case> {
    let names = |folder: &Path| {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let (sources, results) = (folder("sources"), folder("expected"));
    let results_names = names(&results);
    names(&sources)
        .into_iter()
        .map(|name| {
            let expected = results_names
                .iter()
                .filter_map(|result| {
                    let size = result.strip_prefix(&name)?.strip_prefix('.')?.strip_suffix(".png")?;
                    Some((size.parse().ok()?, png(&fs::read(results.join(result)).unwrap())))
                })
                .collect();
            let media_type = match name.rsplit('.').next() {
                Some("jpg") => "image/jpeg",
                Some("png") => "image/png",
                Some("gif") => "image/gif",
                Some("webp") => "image/webp",
                _ => "image/bmp",
            };
            Case { file: fs::read(sources.join(&name)).unwrap(), name, media_type, expected }
        })
        .collect()
}

/// One of them.
///
/// # Panics
/// Where there is none of that name.
pub fn file(name: &str) -> Vec<u8> {
    fs::read(folder("sources").join(name)).unwrap()
}

/// Reads a thumbnail.
///
/// # Panics
/// Where it isn't what its media type says.
pub fn decode(media_type: &str, file: &[u8]) -> Pixels {
    match media_type {
        "image/jpeg" => {
            let mut decoder = jpeg_decoder::Decoder::new(file);
            let rgb = decoder.decode().unwrap();
            let info = decoder.info().unwrap();
            assert_eq!(info.pixel_format, jpeg_decoder::PixelFormat::RGB24);
            let rgba = rgb.chunks(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
            Pixels { width: info.width.into(), height: info.height.into(), rgba }
        }
        "image/webp" => {
            let mut decoder = image_webp::WebPDecoder::new(Cursor::new(file)).unwrap();
            assert!(decoder.has_alpha(), "WebP is for what is transparent");
            let (width, height) = decoder.dimensions();
            let mut rgba = vec![0; decoder.output_buffer_size().unwrap()];
            decoder.read_image(&mut rgba).unwrap();
            Pixels { width, height, rgba }
        }
        other => panic!("a thumbnail is {other}"),
    }
}

fn png(file: &[u8]) -> Pixels {
    let mut reader = png::Decoder::new(Cursor::new(file)).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgba).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba, "written by make.py");
    Pixels { width: info.width, height: info.height, rgba }
}

impl Pixels {
    /// The mean difference of each channel, of 255. Of colours only what is seen of them counts.
    ///
    /// # Panics
    /// Where the sizes differ.
    pub fn difference(&self, other: &Self) -> [f64; 4] {
        assert_eq!((self.width, self.height), (other.width, other.height));
        let mut sums = [0.0; 4];
        for (one, two) in self.rgba.chunks(4).zip(other.rgba.chunks(4)) {
            for (channel, sum) in sums.iter_mut().enumerate() {
                let seen = |pixel: &[u8]| {
                    let alpha = f64::from(pixel[3]) / 255.0;
                    f64::from(pixel[channel]) * if channel == 3 { 1.0 } else { alpha }
                };
                *sum += (seen(one) - seen(two)).abs();
            }
        }
        sums.map(|sum| sum / f64::from(self.width * self.height))
    }
}
