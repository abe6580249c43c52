//! Cuts over a stream, for clients that keep their own copy: the same cuts as the server's, by the same code.

use std::mem;

use super::{MAX_BYTES, cuts};

/// How much is held before it is cut: two of the largest chunks, so that few bytes are moved for each that is cut.
const HELD_BYTES: usize = 2 * MAX_BYTES;

/// Cuts content that comes in pieces of any size. The chunks don't depend on the pieces.
#[derive(Debug, Default)]
pub struct Cutter {
    held: Vec<u8>,
}

impl Cutter {
    /// Takes the next piece, and hands over each chunk whose end is certain now. At most 8 MiB are held.
    ///
    /// # Errors
    /// Those of `each`, after which the cutter is of no more use.
    pub fn push<E>(
        &mut self,
        mut piece: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let (now, later) = piece.split_at(piece.len().min(HELD_BYTES.saturating_sub(self.held.len())));
            self.held.extend_from_slice(now);
            piece = later;
            if self.held.len() < HELD_BYTES {
                return Ok(());
            }
            let end = hand_over(&self.held, false, &mut each)?;
            self.held.drain(..end);
        }
    }

    /// The content has ended: hands over what is left.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn finish<E>(&mut self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        hand_over(&mem::take(&mut self.held), true, &mut each).map(|_| ())
    }
}

/// Hands over the chunks of `held`, and tells where the last one ends.
fn hand_over<E>(held: &[u8], ended: bool, each: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<usize, E> {
    let mut end = 0;
    for range in cuts(held, ended) {
        end = range.end;
        each(held.get(range).unwrap_or_default())?;
    }
    Ok(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::noise;
    use proptest::prelude::*;

    fn cut(content: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut chunks = Vec::new();
        let mut keep = |chunk: &[u8]| {
            chunks.push(chunk.to_vec());
            Ok::<(), ()>(())
        };
        let mut cutter = Cutter::default();
        content.chunks(piece).for_each(|piece| cutter.push(piece, &mut keep).unwrap());
        cutter.finish(&mut keep).unwrap();
        chunks
    }

    #[test]
    fn nothing_has_no_chunk_and_an_error_is_passed_on() {
        assert!(cut(&[], 1).is_empty());
        let mut cutter = Cutter::default();
        cutter.push(&noise(1, 10), |_| Err("early")).unwrap();
        assert_eq!(cutter.finish(|_| Err("stop")), Err("stop"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn a_stream_is_cut_like_the_whole(seed: u64, length in 0usize..20_000_000, piece in 1_000usize..12_000_000) {
            let content = noise(seed, length);
            let whole: Vec<&[u8]> = cuts(&content, true).into_iter().map(|range| &content[range]).collect();
            prop_assert_eq!(cut(&content, piece), whole);
        }
    }
}
