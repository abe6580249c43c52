//! Splices and concatenations of many tiny extents: pages fill, split, merge and are shared.

use super::*;
use crate::chunk::LOOKAHEAD_BYTES;
use proptest::prelude::*;

/// Segments need no store here: each byte follows from its place.
fn bytes(segment: u64, range: Range<u64>) -> Vec<u8> {
    range.map(|offset| if segment == HOLE { 0 } else { ((segment * 7 + offset * 3) % 251) as u8 }).collect()
}

fn content(extents: &[Extent]) -> Vec<u8> {
    extents
        .iter()
        .flat_map(|extent| bytes(extent.segment, extent.offset..extent.offset + extent.length))
        .collect()
}

fn extent(segment: u64, offset: u64, length: u64) -> Extent {
    let offset = if segment == HOLE { 0 } else { offset };
    Extent { segment, offset, length, crc32: crc32fast::hash(&bytes(segment, offset..offset + length)) }
}

/// The answer to what is missing.
fn look_up(Missing { segment, offset, length }: Missing) -> u32 {
    extent(segment, offset, length).crc32
}

/// A blob and what it must read as.
#[derive(Debug, Clone, Default)]
struct Known {
    blob: Blob,
    model: Vec<u8>,
}

impl Known {
    fn check(&self, rows: &Rows) {
        rows.check(&self.blob, |range| {
            crc32fast::hash(&self.model[range.start as usize..range.end as usize])
        });
        assert_eq!(rows.read(&self.blob, 0..self.blob.size_bytes, bytes), self.model);
    }

    fn splice(&self, rows: &mut Rows, range: Range<usize>, new: &[Extent]) -> Self {
        let mut model = self.model.clone();
        model.splice(range.clone(), content(new));
        let range = range.start as u64..range.end as u64;
        let blob = rows.splice(&self.blob, range, new, &mut Parts::default(), look_up);
        assert!(rows.written <= 2 + new.len().div_ceil(PAGE_EXTENTS), "{} pages", rows.written);
        Self { blob, model }
    }
}

fn extents(count: impl Strategy<Value = usize>) -> impl Strategy<Value = Vec<Extent>> {
    count.prop_flat_map(|count| {
        let one = (0u64..40, 0u64..50, 1u64..6)
            .prop_map(|(segment, offset, length)| extent(segment, offset, length));
        prop::collection::vec(one, count)
    })
}

fn counts() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0usize..4, 2 => 0usize..300, 1 => 254usize..259, 1 => 500usize..800]
}

#[derive(Debug, Clone)]
enum Step {
    Splice {
        of: prop::sample::Index,
        at: prop::sample::Index,
        length: usize,
        on_page: bool,
        new: Vec<Extent>,
    },
    Concat {
        of: Vec<prop::sample::Index>,
        between: Vec<Extent>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    let length = prop_oneof![2 => Just(0usize), 2 => 1usize..10, 1 => 1usize..3_000];
    prop_oneof![
        4 => (index(), index(), length, prop::bool::weighted(0.3), extents(counts()))
            .prop_map(|(of, at, length, on_page, new)| Step::Splice { of, at, length, on_page, new }),
        1 => (prop::collection::vec(index(), 0..4), extents(counts()))
            .prop_map(|(of, between)| Step::Concat { of, between }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn edits_of_pages_equal_edits_of_bytes(steps in prop::collection::vec(step(), 1..25)) {
        let mut rows = Rows::default();
        let mut known = vec![Known::default()];
        for step in steps {
            let next = match step {
                Step::Splice { of, at, length, on_page, new } => {
                    let old = of.get(&known);
                    let starts: Vec<usize> = old.blob.pages.iter().map(|page| page.start as usize).collect();
                    let from = match on_page && !starts.is_empty() {
                        true => *at.get(&starts),
                        false => at.index(old.model.len() + 1),
                    };
                    let to = old.model.len().min(from + length);
                    let to = starts.into_iter().rfind(|&start| on_page && (from..to).contains(&start)).unwrap_or(to);
                    old.clone().splice(&mut rows, from..to, &new)
                }
                Step::Concat { of, between } => {
                    let blobs: Vec<&Known> = of.iter().map(|of| of.get(&known)).collect();
                    let all: Vec<PageRef> =
                        blobs.iter().flat_map(|known| pages_to_concat(&known.blob.pages)).collect();
                    let loaded = rows.load(&all);
                    let mut pieces: Vec<Piece<'_>> =
                        blobs.iter().map(|known| Piece::Blob(known.blob.manifest(&loaded))).collect();
                    pieces.insert(pieces.len() / 2, Piece::Extents(&between));
                    let mut models: Vec<Vec<u8>> = blobs.iter().map(|known| known.model.clone()).collect();
                    models.insert(models.len() / 2, content(&between));
                    let edit = concat(&pieces).unwrap();
                    Known { blob: rows.commit(&edit), model: models.concat() }
                }
            };
            next.check(&rows);
            if next.model.len() < 20_000 {
                known.push(next);
            }
        }
        for known in &known {
            known.check(&rows);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_rechunked_edit_needs_no_other_pages(
        known in prop::collection::vec(extents(prop_oneof![1usize..4, 250usize..260]), 1..9),
        (from, to) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        (left, right) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        on_page: bool,
    ) {
        // Pages as they come, so that there are small ones side by side.
        let mut rows = Rows::default();
        let mut old = Known::default();
        for extents in known {
            let (bytes, page) = (content(&extents), 1 + rows.pages.len() as u64);
            old.blob.pages.push(PageRef { start: old.blob.size_bytes, page, crc32: crc32fast::hash(&bytes) });
            old.blob.size_bytes += bytes.len() as u64;
            old.model.extend(bytes);
            rows.pages.insert(page, extents);
        }
        let size = old.blob.size_bytes;
        let dirty = match on_page {
            true => from.get(&old.blob.pages).start + to.index(3) as u64,
            false => from.index(old.model.len() + 1) as u64,
        }
        .min(size);
        let dirty = dirty..size.min(dirty + to.index(600) as u64);
        let pages = pages_to_splice(&old.blob.pages, size, &dirty);
        let loaded = rows.load(&pages);
        let manifest = old.blob.manifest(&loaded);
        let spans = spans(&manifest, &dirty, &Parts::default()).unwrap();

        // What makes a cut is known on the left, and at least the next page on the right.
        let at = |position: u64| spans.iter().any(|span| (span.start..span.end).contains(&position));
        prop_assert!((dirty.start.saturating_sub(LOOKAHEAD_BYTES)..dirty.start).all(at));
        let reach = spans.last().map_or(size, |span| span.end).max(dirty.end);
        let whole_pages = pages.iter().filter(|page| page.start > dirty.end && page.start < reach);
        prop_assert!(reach == size || whole_pages.count() > 0);
        prop_assert!(pages.len() <= 6);

        let starts: Vec<u64> =
            spans.iter().map(|span| span.start).filter(|&at| at <= dirty.start).chain([dirty.start]).collect();
        let ends: Vec<u64> =
            spans.iter().map(|span| span.end).filter(|&at| at >= dirty.end).chain([dirty.end]).collect();
        let range = *left.get(&starts)..*right.get(&ends);
        let mut parts = Parts::default();
        let mut spliced = splice(&manifest, range.clone(), &[extent(7, 7, 3)], &parts);
        if let Ok(Spliced::Needs(missing)) = spliced {
            missing.into_iter().for_each(|it| parts.add(extent(it.segment, it.offset, it.length)));
            spliced = splice(&manifest, range.clone(), &[extent(7, 7, 3)], &parts);
        }
        let Ok(Spliced::Done(edit)) = spliced else { panic!("{spliced:?}") };
        let mut model = old.model.clone();
        model.splice(range.start as usize..range.end as usize, bytes(7, 7..10));
        let blob = rows.commit(&edit);
        prop_assert_eq!(blob.crc32, crc32fast::hash(&model));
        prop_assert_eq!(rows.read(&blob, 0..blob.size_bytes, bytes), model);
    }
}

#[test]
fn pages_split_behind_256_extents() {
    for (count, pages) in
        [(0, vec![]), (1, vec![1]), (256, vec![256]), (257, vec![256, 1]), (513, vec![256, 256, 1])]
    {
        let mut rows = Rows::default();
        let new: Vec<Extent> = (1..=count).map(|segment| extent(segment, 0, 2)).collect();
        let known = Known::default().splice(&mut rows, 0..0, &new);
        known.check(&rows);
        let counts: Vec<usize> = known.blob.pages.iter().map(|page| rows.pages[&page.page].len()).collect();
        assert_eq!(counts, pages);
    }
}

#[test]
fn pages_that_become_neighbours_are_merged() {
    let mut rows = Rows::default();
    let mut known = Known::default();
    for count in [100, 200, 100] {
        let (new, end): (Vec<Extent>, _) =
            ((1..=count).map(|n| extent(n, 0, 2)).collect(), known.model.len());
        known = known.splice(&mut rows, end..end, &new);
    }
    assert_eq!(known.blob.pages.len(), 3);
    let known = known.splice(&mut rows, 200..600, &[]);
    known.check(&rows);
    assert_eq!((known.blob.pages.len(), rows.written), (1, 1));
}

#[test]
fn ten_thousand_appends_fill_page_after_page_and_write_one_each() {
    let mut rows = Rows::default();
    let mut known = Known::default();
    for turn in 1..=10_000u64 {
        let (new, end) = ([extent(turn, 0, 1)], known.model.len());
        known.blob = rows.splice(&known.blob, end as u64..end as u64, &new, &mut Parts::default(), look_up);
        known.model.extend(content(&new));
        assert_eq!(rows.written, 1);
    }
    known.check(&rows);
    assert_eq!(known.blob.pages.len(), 10_000usize.div_ceil(PAGE_EXTENTS));
}

#[test]
fn a_thousand_concatenations_of_one_extent_share_pages() {
    let mut rows = Rows::default();
    let mut known = Known::default();
    for turn in 1..=1_000u64 {
        let one = Known::default().splice(&mut rows, 0..0, &[extent(turn, 0, 1)]);
        let loaded =
            rows.load(&[pages_to_concat(&known.blob.pages), pages_to_concat(&one.blob.pages)].concat());
        let pieces = [Piece::Blob(known.blob.manifest(&loaded)), Piece::Blob(one.blob.manifest(&loaded))];
        let edit = concat(&pieces).unwrap();
        known = Known { blob: rows.commit(&edit), model: [known.model, one.model].concat() };
        assert!(rows.written <= 1);
    }
    known.check(&rows);
    assert_eq!(known.blob.pages.len(), 4);
}

#[test]
fn a_splice_loads_few_pages_and_shares_all_others() {
    let mut rows = Rows::default();
    let new: Vec<Extent> = (1..=100 * 256).map(|segment| extent(segment, 0, 2)).collect();
    let known = Known::default().splice(&mut rows, 0..0, &new);
    for (range, pages) in [
        (0..1, 3),
        (25_000..25_001, 4),
        (511..513, 4),
        (1_023..1_025, 5),
        (1_024..1_024, 5),
        (100..51_000, 2),
        (51_199..51_200, 2),
        (51_200..51_200, 2),
    ] {
        let old = &known.blob;
        let range64 = range.start as u64..range.end as u64;
        assert_eq!(pages_to_splice(&old.pages, old.size_bytes, &range64).len(), pages, "{range:?}");
        let next = known.splice(&mut rows, range, &[extent(77, 7, 3)]);
        next.check(&rows);
        let shared =
            next.blob.pages.iter().filter(|page| old.pages.iter().any(|before| before.page == page.page));
        assert_eq!(next.blob.pages.len() - shared.count(), rows.written);
        assert!(rows.written <= 3);
    }
}
