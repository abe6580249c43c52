//! Makes the thumbnails of a picture: all sizes at once, since reading it is most of the work.

use ledge_core::error::{Error, Result};
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::{Host, Platform};
use ledge_core::thumbnails::{self, Made};
use ledge_pictures::{Format, Refusal, Thumbnail};
use serde_json::json;

/// Of longer files the first bytes are looked at before the rest is read: most that are no pictures are long.
const LOOK_FIRST_BYTES: u64 = 256 * 1024;

const _: () = {
    let (asked, made) = (thumbnails::SIZES, ledge_pictures::SIZES);
    let [a, b, c, d] = asked;
    let [e, f, g, h] = made;
    assert!(a == e && b == f && c == g && d == h, "what is asked for is what is made");
    assert!(thumbnails::MAX_SOURCE_BYTES == ledge_pictures::MAX_SOURCE_BYTES);
};

/// The whole job is a step: reading the picture, making them, and one commit. What can't be done is noted with the picture, and
/// ends the job: it would be no different the next time.
pub(crate) async fn run<P: Platform>(platform: &P, job: &Claimed, blob: &str) -> Result<Step> {
    let Some(source) = thumbnails::source(platform, job, blob).await? else { return Ok(Step::done()) };
    let size_bytes = source.size_bytes;
    let refused = if size_bytes > ledge_pictures::MAX_SOURCE_BYTES {
        Some(Refusal::TooLong)
    } else if size_bytes > LOOK_FIRST_BYTES {
        let start = source.read(platform, 0..Format::TOLD_BY_BYTES).await?;
        Format::of(&start).is_none().then_some(Refusal::NotAPicture)
    } else {
        None
    };
    let made = match refused {
        Some(refusal) => Err(refusal),
        None => {
            let file = source.read(platform, 0..size_bytes).await?;
            platform.host().compute(move || ledge_pictures::thumbnails(file)).await
        }
    };
    match made {
        Ok(made) => {
            let result = json!({ "images": made.len() });
            let progress = Progress {
                items_done: made.len() as u64,
                items_total: Some(made.len() as u64),
                bytes_done: size_bytes,
                bytes_total: Some(size_bytes),
            };
            thumbnails::keep(platform, job, blob, &source, made.into_iter().map(kept).collect()).await?;
            Ok(Step::Done { progress, result })
        }
        Err(refusal) => {
            let reason = refusal.to_string();
            thumbnails::refuse(platform, job, blob, &reason).await?;
            Err(Error::NoThumbnail { reason })
        }
    }
}

fn kept(made: Thumbnail) -> Made {
    Made { sizes: made.sizes, media_type: made.media_type, bytes: made.bytes }
}
