//! What contradicts itself is an error: no panic, and no blob that reads as something else.

use super::*;
use proptest::prelude::*;

fn extent(length: u64) -> Extent {
    Extent { segment: 9, offset: 0, length, crc32: 1 }
}

fn page(start: u64, page: u64) -> PageRef {
    PageRef { start, page, crc32: 0 }
}

#[test]
fn rows_that_contradict_each_other_are_refused() {
    let loaded =
        HashMap::from([(1, vec![extent(10)]), (2, vec![extent(10), extent(5)]), (3, vec![extent(0)])]);
    let refused = |pages: &[PageRef], size_bytes: u64, range: Range<u64>| {
        let manifest = Manifest { pages, size_bytes, loaded: &loaded };
        let spliced = splice(&manifest, range, &[extent(3)], &Parts::default());
        matches!(spliced, Err(Error::Internal(_)))
    };
    assert!(!refused(&[page(0, 1), page(10, 2)], 25, 10..10));
    assert!(refused(&[page(0, 1), page(10, 2)], 26, 10..10), "a page shorter than its place");
    assert!(refused(&[page(0, 1), page(11, 2)], 26, 10..10));
    assert!(refused(&[page(1, 1)], 11, 1..1), "a list that begins late");
    assert!(refused(&[page(0, 1), page(0, 1)], 10, 0..0), "a page of nothing");
    assert!(refused(&[], 1, 0..0));
    assert!(refused(&[page(0, 3)], 10, 0..0), "an empty extent");
    assert!(refused(&[page(0, 4)], 10, 5..5), "a page that isn't loaded");
    assert!(refused(&[page(0, 4), page(10, 1)], 20, 10..10), "nor a neighbour");
    assert!(!refused(&[page(0, 4), page(10, 1)], 20, 0..10), "what goes needn't be");
    assert!(refused(&[page(0, 1)], 10, 5..11), "a range beyond the end");
    assert!(refused(&[page(0, 1)], 10, Range { start: 6, end: 5 }));
}

#[test]
fn content_ends_at_two_to_the_53() {
    let loaded = HashMap::from([(1, vec![hole(MAX_CONTENT_BYTES)])]);
    let largest = Manifest { pages: &[page(0, 1)], size_bytes: MAX_CONTENT_BYTES, loaded: &loaded };
    let splice = |range, new: &[Extent]| splice(&largest, range, new, &Parts::default());
    assert!(
        matches!(splice(0..1, &[hole(1)]), Ok(Spliced::Done(edit)) if edit.size_bytes() == MAX_CONTENT_BYTES)
    );
    assert!(matches!(splice(0..0, &[hole(1)]), Err(Error::Invalid { field: "content", .. })));
    assert!(matches!(splice(0..1, &[hole(u64::MAX)]), Err(Error::Internal(_))));
    let many = vec![Piece::Blob(largest); 3_000];
    assert!(matches!(concat(&many), Err(Error::Invalid { field: "content", .. })));
    assert!(concat(&many[..1]).is_ok());
}

proptest! {
    #[test]
    fn no_rows_make_an_edit_panic(
        starts in prop::collection::vec(prop_oneof![0u64..30, any::<u64>()], 0..4),
        lengths in prop::collection::vec(
            prop::collection::vec((0u64..3, prop_oneof![0u64..9, any::<u64>()], 0u64..9), 0..4), 4),
        size_bytes in prop_oneof![0u64..40, any::<u64>()],
        (from, to) in prop_oneof![(0u64..40, 0u64..40), (any::<u64>(), any::<u64>())],
        parts in prop::collection::vec((0u64..3, 0u64..9, prop_oneof![0u64..9, any::<u64>()]), 0..4),
    ) {
        let extent = |(segment, offset, length)| Extent { segment, offset, length, crc32: 5 };
        let loaded: HashMap<u64, Vec<Extent>> =
            (0u64..).zip(lengths).map(|(id, page)| (id, page.into_iter().map(extent).collect())).collect();
        let pages: Vec<PageRef> = (0u64..).zip(starts).map(|(id, start)| page(start, id)).collect();
        let (parts, range) = (parts.into_iter().map(extent).collect::<Parts>(), Range { start: from, end: to });
        let manifest = Manifest { pages: &pages, size_bytes, loaded: &loaded };
        pages_to_splice(&pages, size_bytes, &range);
        let spans = spans(&manifest, &range, &parts);
        let spliced = splice(&manifest, range, &loaded[&0], &parts);
        let both = concat(&[Piece::Blob(manifest), Piece::Extents(&loaded[&1]), Piece::Blob(manifest)]);
        prop_assert!(pages.len() < 2 || pages[0].start == 0 || (spans.is_err() && spliced.is_err() && both.is_err()));
    }
}
