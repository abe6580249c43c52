//! Thumbnails are what ImageMagick makes. The black-box suite asks the same of each host.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use ledge_tests::pictures::{self, MOST_DIFFERENCE};

#[test]
fn thumbnails_are_those_that_imagemagick_makes() {
    let cases = pictures::all();
    assert!(cases.len() >= 50, "{} pictures", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let made = match ledge_pictures::thumbnails(case.file) {
            Ok(made) => made,
            Err(why) => {
                wrong.push(format!("{}: {why}", case.name));
                continue;
            }
        };
        assert!(!case.expected.is_empty(), "{}", case.name);
        for (size, expected) in &case.expected {
            let thumbnail = made.iter().find(|one| one.sizes.contains(size)).unwrap();
            let pixels = pictures::decode(thumbnail.media_type, &thumbnail.bytes);
            if (pixels.width, pixels.height) != (expected.width, expected.height) {
                wrong.push(format!(
                    "{} {size}: {} × {}, not {} × {}",
                    case.name, pixels.width, pixels.height, expected.width, expected.height
                ));
                continue;
            }
            let difference = pixels.difference(expected);
            println!("{} {size}: {difference:.2?}", case.name);
            if difference.iter().any(|channel| *channel > MOST_DIFFERENCE) {
                wrong.push(format!("{} {size}: {difference:.2?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
