//! Files that are put, patched, extended, cut, copied and concatenated in random order, against byte vectors.

use super::store::{Drive, INLINE_BYTES, SEGMENT_BYTES, Stored};
use super::*;
use crate::chunk::noise;
use proptest::prelude::*;
use proptest::sample::Index;

/// How far a file's first byte may lie behind a hole: positions are then larger than 32 bits.
const FAR: u64 = 5 << 30;

/// A file, and what it must read as.
#[derive(Debug, Clone)]
struct File {
    stored: Stored,
    /// So many zeros come first.
    zeros: u64,
    model: Vec<u8>,
}

impl File {
    fn check(&self, drive: &Drive) {
        let size = self.zeros + self.model.len() as u64;
        assert_eq!(self.stored.size_bytes(), size);
        assert_eq!(drive.read(&self.stored, self.zeros..size), self.model);
        let Stored::Paged(blob) = &self.stored else { return };
        drive.rows.check(blob, |range| {
            let zeros = self.zeros.min(range.end) - self.zeros.min(range.start);
            let bytes = range.start.max(self.zeros) - self.zeros..range.end.max(self.zeros) - self.zeros;
            let crc32 = crc32fast::hash(&self.model[bytes.start as usize..bytes.end as usize]);
            combine_crc32(hole(zeros).crc32, crc32, bytes.end - bytes.start)
        });
    }

    fn check_range(&self, drive: &Drive, from: Index, to: Index) {
        let (from, to) = (from.index(self.model.len() + 1), to.index(self.model.len() + 1));
        let (from, to) = (from.min(to), from.max(to));
        let range = self.zeros + from as u64..self.zeros + to as u64;
        assert_eq!(drive.read(&self.stored, range), self.model[from..to]);
    }

    /// Replaces a range of the model and of the file by the same bytes.
    fn replace(&self, drive: &mut Drive, range: Range<usize>, new: &[u8]) -> Self {
        let mut model = self.model.clone();
        model.resize(model.len().max(range.start), 0);
        model.splice(range.start..range.end.min(model.len()), new.iter().copied());
        let dirty = self.zeros + range.start as u64..self.zeros + range.end as u64;
        let stored = drive.replace(&self.stored, dirty, new);
        // Before the edit as much as lies in a row in a segment; behind it the reach, and as much again.
        assert!(drive.read_bytes <= 2 * SEGMENT_BYTES as u64 + 4 * 1_024, "{} bytes", drive.read_bytes);
        Self { stored, zeros: self.zeros, model }
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put {
        far: bool,
        new: Vec<u8>,
    },
    /// Overwrites in place, or beyond the end: what is between reads as zeros.
    Patch {
        at: Index,
        beyond: usize,
        new: Vec<u8>,
    },
    /// Replaces so many bytes by others: inserts and deletes.
    Replace {
        at: Index,
        removed: usize,
        new: Vec<u8>,
    },
    Append {
        new: Vec<u8>,
    },
    Truncate {
        at: Index,
    },
    /// Deletes without chunking anew.
    Remove {
        at: Index,
        length: usize,
    },
    Extend {
        by: u64,
    },
    Copy,
    Concat {
        with: Vec<Index>,
    },
}

/// Few seeds, so that content is often known already.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let sizes = [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 4_096, 4_097];
    let length =
        prop_oneof![prop::sample::select(sizes.to_vec()), 0usize..200, 0usize..6_000, 20_000usize..60_000];
    (length, 0u64..4, 0u8..6).prop_map(|(length, seed, kind)| match kind {
        0 => vec![0; length],
        1 => noise(seed, 300).into_iter().cycle().take(length).collect(),
        _ => noise(seed, length),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    prop_oneof![
        2 => (prop::bool::weighted(0.3), content()).prop_map(|(far, new)| Step::Put { far, new }),
        4 => (index(), prop_oneof![4 => Just(0), 1 => 1usize..4_000], content())
            .prop_map(|(at, beyond, new)| Step::Patch { at, beyond, new }),
        2 => (index(), 0usize..4_000, content()).prop_map(|(at, removed, new)| Step::Replace { at, removed, new }),
        4 => content().prop_map(|new| Step::Append { new }),
        2 => index().prop_map(|at| Step::Truncate { at }),
        2 => (index(), 1usize..3_000).prop_map(|(at, length)| Step::Remove { at, length }),
        1 => (1u64..5_000).prop_map(|by| Step::Extend { by }),
        1 => Just(Step::Copy),
        2 => prop::collection::vec(index(), 1..4).prop_map(|with| Step::Concat { with }),
    ]
}

/// The file that comes of a step on `file`.
fn run(drive: &mut Drive, files: &[File], file: &File, step: Step) -> File {
    let end = file.model.len();
    match step {
        Step::Put { far: true, new } => {
            File { stored: drive.put_behind_hole(FAR, &new), zeros: FAR, model: new }
        }
        Step::Put { far: false, new } => File { stored: drive.put(new.clone()), zeros: 0, model: new },
        Step::Patch { at, beyond, new } => {
            let from = if beyond > 0 { end + beyond } else { at.index(end + 1) };
            file.replace(drive, from..from + new.len(), &new)
        }
        Step::Replace { at, removed, new } => {
            let from = at.index(end + 1);
            file.replace(drive, from..end.min(from + removed), &new)
        }
        Step::Append { new } => file.replace(drive, end..end, &new),
        Step::Truncate { at } => file.replace(drive, at.index(end + 1)..end, &[]),
        Step::Remove { at, length } => {
            let from = at.index(end + 1);
            let range = from..end.min(from + length);
            let mut model = file.model.clone();
            model.drain(range.clone());
            let range = file.zeros + range.start as u64..file.zeros + range.end as u64;
            File { stored: drive.remove(&file.stored, range), zeros: file.zeros, model }
        }
        Step::Extend { by } => {
            let mut model = file.model.clone();
            model.resize(end + by as usize, 0);
            File { stored: drive.extend(&file.stored, by), zeros: file.zeros, model }
        }
        Step::Copy => file.clone(),
        Step::Concat { with } => {
            // The zeros of the model are at its start.
            let near: Vec<&File> = files.iter().filter(|file| file.zeros == 0).collect();
            let mut joined = vec![file];
            joined.extend(with.iter().filter(|_| !near.is_empty()).map(|index| *index.get(&near)));
            let stored = drive.concat(&joined.iter().map(|file| &file.stored).collect::<Vec<_>>());
            let model = joined.iter().flat_map(|file| &file.model).copied().collect();
            File { stored, zeros: file.zeros, model }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn files_read_as_what_was_done_to_them(
        steps in prop::collection::vec((any::<Index>(), any::<Index>(), step()), 1..40),
        lost in prop::option::of(2u8..9),
        segment_bytes in prop_oneof![Just(1), 1..=SEGMENT_BYTES],
        ranges in prop::collection::vec((any::<Index>(), any::<Index>()), 4),
    ) {
        let mut drive = Drive::with(lost, segment_bytes);
        let mut files = Vec::new();
        for model in [Vec::new(), noise(10, 100_000), noise(11, 5_000)] {
            files.push(File { stored: drive.put(model.clone()), zeros: 0, model });
        }
        let mut older = files.clone();
        for (of, to, step) in steps {
            let file = run(&mut drive, &files, of.get(&files), step);
            file.check(&drive);
            for (from, to) in &ranges {
                file.check_range(&drive, *from, *to);
            }
            older.push(file.clone());
            let place = to.index(files.len());
            files[place] = if file.model.len() > 200_000 { older[0].clone() } else { file };
        }
        for file in &older {
            file.check(&drive);
        }
    }
}
