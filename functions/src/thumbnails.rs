//! Makes the thumbnails of a picture: all sizes at once, since reading it is most of the work.

use std::cell::RefCell;

use ledge_core::error::{Error, Result};
use ledge_core::jobs::{Claimed, Progress, Step};
use ledge_core::ports::{Host, Platform, Timestamp};
use ledge_core::thumbnails::{self, Made};
use ledge_pictures::{Format, Refusal, Thumbnail};
use serde_json::json;

/// How many pictures are in the memory of one instance at once: while one is read, another is decoded.
const AT_ONCE: usize = 2;
/// A turn that lasts longer is over: its worker was cut off. As long as a lease.
const TURN_SECS: i64 = 120;
const LOOK_AGAIN_MILLIS: u64 = 100;
const LOOKS: usize = 200;

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
    let _turn = Turn::wait_for(platform.host()).await?;
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

thread_local! {
    /// When the turns began that are taken.
    static TURNS: RefCell<Vec<Timestamp>> = const { RefCell::new(Vec::new()) };
}

/// Leave to hold a picture in memory, of which all jobs in one instance share what there is; given back when dropped.
struct Turn(Timestamp);

impl Turn {
    /// Waits for one, some 20 seconds.
    async fn wait_for(host: &impl Host) -> Result<Self> {
        for _ in 0..LOOKS {
            if let Some(turn) = Self::take(host.now()) {
                return Ok(turn);
            }
            host.sleep(LOOK_AGAIN_MILLIS).await;
        }
        Err(Error::Busy)
    }

    fn take(now: Timestamp) -> Option<Self> {
        TURNS.with_borrow_mut(|turns| {
            turns.retain(|begun| begun.plus_secs(TURN_SECS) > now);
            (turns.len() < AT_ONCE).then(|| {
                turns.push(now);
                Self(now)
            })
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TURNS.with_borrow_mut(|turns| {
            // Which of two that began at the same time makes no difference.
            if let Some(at) = turns.iter().position(|begun| *begun == self.0) {
                turns.swap_remove(at);
            }
        });
    }
}

fn kept(made: Thumbnail) -> Made {
    Made { sizes: made.sizes, media_type: made.media_type, bytes: made.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pictures_at_once_and_no_third_until_one_is_done_or_lost() {
        let turn = |secs: i64| Turn::take(Timestamp(0).plus_secs(secs));
        let (first, second) = (turn(0), turn(0));
        assert!(first.is_some() && second.is_some() && turn(1).is_none());
        drop(first);
        let lost = turn(2);
        assert!(lost.is_some() && turn(3).is_none());
        std::mem::forget(lost);
        drop(second);
        let third = turn(4);
        assert!(third.is_some() && turn(5).is_none());
        assert!(turn(3 + TURN_SECS).is_some());
    }
}
