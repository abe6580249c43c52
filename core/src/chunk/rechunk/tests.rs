//! An edit, fed as an upload would feed it, against chunking the whole new content.

use super::*;
use crate::chunk::{MAX_BYTES, cuts, noise};
use proptest::prelude::*;

const UNBOUNDED: u64 = u64::MAX;

/// Content, and where it has holes.
#[derive(Debug, Clone)]
struct Sparse {
    bytes: Vec<u8>,
    hole: Vec<bool>,
}

impl Sparse {
    fn solid(bytes: Vec<u8>) -> Self {
        Self { hole: vec![false; bytes.len()], bytes }
    }

    fn spliced(&self, dirty: &Range<usize>, new: &[u8]) -> Self {
        let (mut bytes, mut hole) = (self.bytes.clone(), self.hole.clone());
        bytes.splice(dirty.clone(), new.iter().copied());
        hole.splice(dirty.clone(), new.iter().map(|_| false));
        Self { bytes, hole }
    }

    /// What is between holes is chunked by itself.
    fn spans(&self, sizes: Sizes) -> Vec<Span> {
        let (mut spans, mut start) = (Vec::new(), 0);
        for run in self.hole.chunk_by(|one, next| one == next) {
            let (hole, bytes) = (run[0], &self.bytes[start..start + run.len()]);
            for length in if hole { vec![run.len()] } else { lengths(bytes, sizes) } {
                spans.push(Span { start: start as u64, end: (start + length) as u64, hole });
                start += length;
            }
        }
        spans
    }

    fn chunks(&self, sizes: Sizes) -> Vec<Range<u64>> {
        self.spans(sizes).iter().filter(|span| !span.hole).map(|span| span.start..span.end).collect()
    }
}

fn lengths(content: &[u8], sizes: Sizes) -> Vec<usize> {
    sizes.cuts(content, true).iter().map(ExactSizeIterator::len).collect()
}

/// What an edit did.
#[derive(Debug, Default)]
struct Done {
    /// The chunks of the new content.
    chunks: Vec<Range<u64>>,
    /// How many old bytes were read before the dirty range.
    before: u64,
    /// How many old bytes were read behind it.
    behind: u64,
    /// In how many requests.
    requests: u64,
}

/// Runs an edit to its end, with new bytes in pieces of `piece` bytes.
fn edit(mut rechunk: Rechunk, spans: &[Span], old: &Sparse, new: &[u8], piece: usize) -> Done {
    let dirty = rechunk.dirty.clone();
    let (mut done, mut buffer, mut pieces, mut lengths) =
        (Done::default(), vec![], new.chunks(piece), vec![]);
    loop {
        match rechunk.wants() {
            Wants::Old(range) => {
                done.requests += u64::from(!range.is_empty());
                let count = range.end - range.start;
                if range.end <= dirty.start {
                    done.before += count
                } else {
                    done.behind += count
                }
                let range = range.start as usize..range.end as usize;
                assert!(!old.hole[range.clone()].contains(&true), "holes are never read");
                buffer.extend_from_slice(&old.bytes[range]);
            }
            Wants::New => match pieces.next() {
                Some(piece) => buffer.extend_from_slice(piece),
                None => rechunk.end_of_new(),
            },
            Wants::Nothing => break,
        }
        let found = rechunk.cuts(&buffer);
        buffer.drain(..found.last().map_or(0, |last| last.end));
        lengths.extend(found.iter().map(|range| range.len() as u64));
    }
    assert!(pieces.next().is_none(), "all new bytes are chunked");
    let replaced = rechunk.replaces().unwrap();
    assert!(replaced.start <= dirty.start && dirty.end <= replaced.end);
    let data = || spans.iter().filter(|span| !span.hole).map(|span| span.start..span.end);
    done.chunks = data().filter(|chunk| chunk.end <= replaced.start).collect();
    let mut at = replaced.start;
    for length in lengths {
        done.chunks.push(at..at + length);
        at += length;
        let landed =
            (at + dirty.end).checked_sub(dirty.start + new.len() as u64).filter(|&at| at >= dirty.end);
        let boundary = spans.iter().any(|span| Some(span.end) == landed);
        assert!(!boundary || landed == Some(replaced.end), "it ends at the first cut that lands");
    }
    assert_eq!(
        at - replaced.start,
        new.len() as u64 + (dirty.start - replaced.start) + (replaced.end - dirty.end)
    );
    let behind = data().filter(|chunk| chunk.start >= replaced.end);
    done.chunks.extend(behind.map(|chunk| chunk.start - replaced.end + at..chunk.end - replaced.end + at));
    done
}

/// Content of several kinds, some of which have cuts by force only.
fn content(length: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<u8>> {
    (length, any::<u64>(), 0..4u8).prop_map(|(length, seed, kind)| match kind {
        0 | 1 => noise(seed, length),
        2 => vec![0; length],
        _ => noise(seed, 333).into_iter().cycle().take(length).collect(),
    })
}

/// The same, perhaps with holes.
fn sparse() -> impl Strategy<Value = Sparse> {
    let holes = prop::collection::vec((0usize..12_000, 1usize..2_000), 0..4);
    (content(0usize..12_000), prop_oneof![Just(vec![]), holes]).prop_map(|(bytes, holes)| {
        let mut sparse = Sparse::solid(bytes);
        for at in holes.into_iter().flat_map(|(start, length)| start..start + length) {
            if let (Some(byte), Some(hole)) = (sparse.bytes.get_mut(at), sparse.hole.get_mut(at)) {
                (*byte, *hole) = (0, true);
            }
        }
        sparse
    })
}

/// Places an edit: anywhere, or within a few bytes of a cut, where a byte decides about it.
fn place(old: &Sparse, (at, near, delta): (prop::sample::Index, bool, i64)) -> usize {
    let (spans, size) = (old.spans(Sizes::SMALL), old.bytes.len());
    match (near, spans.is_empty()) {
        (true, false) => {
            spans[at.index(spans.len())].end.saturating_add_signed(delta).min(size as u64) as usize
        }
        _ => at.index(size + 1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn an_edit_cuts_like_chunking_the_whole(
        old in sparse(),
        new in content(prop_oneof![Just(0), Just(1), 0usize..20, 0usize..3_000]),
        from in (any::<prop::sample::Index>(), any::<bool>(), -3i64..4),
        removed in prop_oneof![Just(Some(0)), Just(Some(1)), Just(None), (0usize..5_000).prop_map(Some)],
        piece in 1usize..2_000,
    ) {
        let from = place(&old, from);
        let dirty = from..removed.map_or(old.bytes.len(), |count| old.bytes.len().min(from + count));
        let whole = old.spliced(&dirty, &new);
        let spans = old.spans(Sizes::SMALL);
        let range = dirty.start as u64..dirty.end as u64;
        let rechunk = Rechunk::reaching(Sizes::SMALL, UNBOUNDED, &spans, range.clone());
        let done = edit(rechunk, &spans, &old, &new, piece);
        prop_assert_eq!(&done.chunks, &whole.chunks(Sizes::SMALL));

        // Within reach, the reads are bounded; where no cut lands, the chunks are others but still chunks.
        let max = Sizes::SMALL.max as u64;
        let bounded = edit(Rechunk::with(Sizes::SMALL, &spans, range), &spans, &old, &new, piece);
        prop_assert!(bounded.before <= max && bounded.behind <= 5 * max, "{:?}", bounded);
        let size = |chunks: &[Range<u64>]| chunks.iter().map(|chunk| chunk.end - chunk.start).sum::<u64>();
        prop_assert_eq!(size(&bounded.chunks), size(&done.chunks));
        prop_assert!(bounded.chunks.iter().all(|chunk| (1..=max).contains(&(chunk.end - chunk.start))));
        prop_assert!(done.behind > 4 * max || bounded.chunks == done.chunks);
    }

    #[test]
    fn any_spans_and_ranges_come_to_an_end(
        far in prop::collection::vec((any::<u64>(), any::<u64>(), any::<bool>()), 0..6),
        near in prop::collection::vec((0u64..60, 0u64..60, any::<bool>()), 0..6),
        dirty in prop_oneof![(any::<u64>(), any::<u64>()), (0u64..60, 0u64..60)],
        new in 0usize..3_000,
    ) {
        for spans in [far, near] {
            let spans: Vec<Span> = spans.into_iter().map(|(start, end, hole)| Span { start, end, hole }).collect();
            let mut rechunk = Rechunk::with(Sizes::SMALL, &spans, Range { start: dirty.0, end: dirty.1 });
            let mut buffer = Vec::new();
            for turn in 0..40 {
                match rechunk.wants() {
                    Wants::Old(range) => {
                        buffer.resize(buffer.len() + (range.end - range.start).min(5_000) as usize, 1);
                    }
                    Wants::New if turn < 20 => buffer.resize(buffer.len() + new, 2),
                    Wants::New => rechunk.end_of_new(),
                    Wants::Nothing => break,
                }
                let found = rechunk.cuts(&buffer);
                buffer.drain(..found.last().map_or(0, |last| last.end));
            }
        }
    }
}

#[test]
fn an_overwritten_byte_costs_less_than_two_chunks_on_average() {
    let old = Sparse::solid(noise(11, 400_000));
    let spans = old.spans(Sizes::SMALL);
    let average = 400_000 / spans.len() as u64;
    let (mut read, mut requests, mut count) = (0, 0, 0);
    for at in (1_500..398_000u64).step_by(397) {
        let rechunk = Rechunk::with(Sizes::SMALL, &spans, at..at + 1);
        let done = edit(rechunk, &spans, &old, &[!old.bytes[at as usize]], 9);
        read += done.before + done.behind;
        requests += done.requests;
        count += 1;
    }
    assert!(read < 2 * average * count, "{} bytes, chunks of {average}", read / count);
    assert!(requests * 10 < 23 * count, "{requests} requests for {count} edits");
}

#[test]
fn an_append_reads_the_last_chunk_once_and_a_truncation_less() {
    let old = Sparse::solid(noise(12, 20_000));
    let spans = old.spans(Sizes::SMALL);
    let last = spans.last().unwrap();
    for length in [0, 1, 64, 10_000] {
        let rechunk = Rechunk::with(Sizes::SMALL, &spans, 20_000..20_000);
        let done = edit(rechunk, &spans, &old, &noise(13, length), 4_096);
        assert_eq!((done.before, done.behind, done.requests), (last.end - last.start, 0, 1));
    }
    for size in [19_999, 10_000, 1] {
        let done = edit(Rechunk::with(Sizes::SMALL, &spans, size..20_000), &spans, &old, &[], 1);
        assert!(done.before < Sizes::SMALL.max as u64 && done.behind == 0 && done.requests == 1, "{done:?}");
    }
}

#[test]
fn a_full_chunk_at_the_end_is_not_read_to_append() {
    let old = Sparse::solid(vec![0; 2 * Sizes::SMALL.max]);
    let spans = old.spans(Sizes::SMALL);
    let end = old.bytes.len() as u64;
    let done = edit(Rechunk::with(Sizes::SMALL, &spans, end..end), &spans, &old, b"more", 4);
    assert_eq!((done.requests, done.chunks.last()), (0, Some(&(end..end + 4))));
}

#[test]
fn the_stored_sizes_land_too() {
    let old = noise(7, 12 * 1024 * 1024);
    let spans: Vec<Span> = cuts(&old, true)
        .iter()
        .map(|cut| Span { start: cut.start as u64, end: cut.end as u64, hole: false })
        .collect();
    let solid = Sparse::solid(old);
    for (at, removed, new) in [(0, 1, 1), (5_000_000, 1, 1), (5_000_000, 0, 4_096), (spans[4].end, 0, 1)] {
        let new = noise(8, new);
        let done = edit(Rechunk::new(&spans, at..at + removed), &spans, &solid, &new, 65_536);
        let whole = solid.spliced(&(at as usize..(at + removed) as usize), &new);
        assert_eq!(done.chunks, whole.chunks(Sizes::STORED));
        assert!(done.before + done.behind <= 2 * MAX_BYTES as u64 && done.requests <= 3, "{done:?}");
    }
}
