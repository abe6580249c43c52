//! Memory for uploads: one budget for everything that runs in the same isolate.

use std::cell::Cell;

use super::BUFFER_BYTES;
use crate::error::{Error, Result};
use crate::settings::Settings;

thread_local! {
    static USED_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Leave to hold buffers; given back when dropped. How much there is of it is [`Settings::upload_memory_bytes`]: on Workers,
/// of an isolate's 128 MB, eight buffers, since gaps between buffers cost up to two more, and the bucket is given a copy in
/// JavaScript of each that is being put.
#[derive(Debug)]
pub(crate) struct Permit {
    bytes: usize,
}

impl Permit {
    /// Asks for the memory that an upload of `length` needs: two buffers, so that one fills while the other is stored;
    /// one where that is all there is; less for a small upload.
    ///
    /// # Errors
    /// [`Error::Busy`] where even that is taken. Ask before the body is read.
    pub(crate) fn take(settings: &Settings, length: Option<u64>) -> Result<Self> {
        let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
        let free = settings.upload_memory_bytes.saturating_sub(USED_BYTES.get());
        let bytes = [2 * BUFFER_BYTES, BUFFER_BYTES]
            .into_iter()
            .map(|wish| wish.min(length))
            .find(|wish| *wish <= free)
            .ok_or(Error::Busy)?;
        USED_BYTES.set(USED_BYTES.get() + bytes);
        Ok(Self { bytes })
    }

    /// Whether there is room for a second buffer.
    pub(crate) fn has_two_buffers(&self) -> bool {
        self.bytes > BUFFER_BYTES
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        USED_BYTES.set(USED_BYTES.get() - self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_share_the_budget_and_give_it_back() {
        let take = |length| Permit::take(&Settings::default(), length);
        let small = take(Some(1000)).unwrap();
        let large: Vec<Permit> = (0..3).map(|_| take(None).unwrap()).collect();
        assert!(large.iter().all(Permit::has_two_buffers));
        assert!(!small.has_two_buffers());
        // 64 MiB less 48 MiB less 1,000 bytes: one buffer, and then not one more, but enough for a small upload.
        let one = take(None).unwrap();
        assert!(!one.has_two_buffers());
        assert_eq!(take(None).err(), Some(Error::Busy));
        assert!(take(Some(7 * 1024 * 1024)).is_ok());
        drop(small);
        let last = take(None).unwrap();
        assert!(!last.has_two_buffers());
        assert_eq!(take(Some(1)).err(), Some(Error::Busy));
        drop((large, one, last));
        assert_eq!(USED_BYTES.get(), 0);
    }

    #[test]
    fn a_smaller_budget_lets_fewer_in() {
        let settings = Settings { upload_memory_bytes: 24 << 20, ..Settings::default() };
        let first = Permit::take(&settings, None).unwrap();
        let second = Permit::take(&settings, None).unwrap();
        assert!(first.has_two_buffers() && !second.has_two_buffers());
        assert_eq!(Permit::take(&settings, Some(1)).err(), Some(Error::Busy));
    }
}
