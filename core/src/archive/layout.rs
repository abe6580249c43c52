//! Where everything is in a ZIP file, before any of it is made.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use sha2::Digest;

use super::{names, zip};
use crate::digest::Sha256;

/// A node below the folder, parents before their children.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// Where its parent stands in the list; None for what stands at the top.
    pub(super) parent: Option<usize>,
    pub(super) name: String,
    /// When its content, or its list of children, was changed last, in seconds since 1970.
    pub(super) modified_secs: i64,
    /// None for a folder.
    pub(super) content: Option<Content>,
}

/// What is known of a file's content.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) blob: String,
    pub(super) etag: String,
    pub(super) size_bytes: u64,
    pub(super) crc32: u32,
}

/// The file.
#[derive(Debug)]
pub(super) struct Layout {
    nodes: Vec<Node>,
    /// What each is called in the file; a folder's path ends with a slash.
    paths: Vec<String>,
    /// Where each entry begins; then where the directory does.
    starts: Vec<u64>,
    /// Where each record of the directory begins; then where the end does.
    records: Vec<u64>,
    end: Vec<u8>,
}

/// A part of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// These bytes.
    Made(Vec<u8>),
    /// These bytes of a node's content.
    Of(usize, Range<u64>),
}

impl Layout {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        let paths = packed_paths(&nodes);
        let (mut starts, mut records, mut at) = (Vec::new(), Vec::new(), 0);
        for (node, path) in nodes.iter().zip(&paths) {
            starts.push(at);
            let entry = entry(node, path);
            at += entry.local_bytes() + entry.size_bytes;
        }
        starts.push(at);
        let directory = at;
        for ((node, path), start) in nodes.iter().zip(&paths).zip(&starts) {
            records.push(at);
            at += entry(node, path).central(*start).len() as u64;
        }
        records.push(at);
        let end = zip::end(nodes.len() as u64, at - directory, directory);
        Self { nodes, paths, starts, records, end }
    }

    /// How long the file is.
    pub(super) fn len(&self) -> u64 {
        self.records.last().copied().unwrap_or_default() + self.end.len() as u64
    }

    /// A strong entity tag: the same only for the same bytes.
    pub(super) fn etag(&self) -> String {
        let mut hasher = sha2::Sha256::new();
        let mut add = |bytes: &[u8]| {
            hasher.update((bytes.len() as u64).to_be_bytes());
            hasher.update(bytes);
        };
        // Another form of the file is other bytes.
        add(b"zip 1");
        for (node, path) in self.nodes.iter().zip(&self.paths) {
            add(path.as_bytes());
            add(&node.modified_secs.to_be_bytes());
            let content = node.content.as_ref();
            add(content.map_or("", |content| &content.etag).as_bytes());
            // Equal tags are equal content, but by other ways of storing it.
            add(&content.map_or(0, |content| content.size_bytes).to_be_bytes());
            add(&content.map_or(0, |content| content.crc32).to_be_bytes());
        }
        Sha256(hasher.finalize().into()).to_string()
    }

    pub(super) fn content(&self, node: usize) -> Option<&Content> {
        self.nodes.get(node)?.content.as_ref()
    }

    /// What stands in the bytes `range`, in order.
    pub(super) fn pieces(&self, range: &Range<u64>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let entries = self.nodes.iter().zip(&self.paths).zip(&self.starts).enumerate().skip(first);
        for (index, ((node, path), start)) in entries.take_while(|(_, (_, start))| **start < range.end) {
            let entry = entry(node, path);
            let content = start + entry.local_bytes();
            if range.start < content {
                made(&mut pieces, entry.local(), *start, range);
            }
            let within = overlap(&(content..content + entry.size_bytes), range);
            if !within.is_empty() {
                pieces.push(Piece::Of(index, within.start - content..within.end - content));
            }
        }
        let first = self.records.partition_point(|start| *start <= range.start).saturating_sub(1);
        let records = self.nodes.iter().zip(&self.paths).zip(&self.starts).zip(&self.records).skip(first);
        for (((node, path), start), record) in records.take_while(|(_, record)| **record < range.end) {
            made(&mut pieces, entry(node, path).central(*start), *record, range);
        }
        let end = self.records.last().copied().unwrap_or_default();
        made(&mut pieces, self.end.clone(), end, range);
        pieces
    }
}

fn entry<'a>(node: &Node, path: &'a str) -> zip::Entry<'a> {
    let content = node.content.as_ref();
    zip::Entry {
        name: path,
        is_folder: content.is_none(),
        size_bytes: content.map_or(0, |content| content.size_bytes),
        crc32: content.map_or(0, |content| content.crc32),
        modified_secs: node.modified_secs,
    }
}

/// The path of each node as it is packed.
fn packed_paths(nodes: &[Node]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::with_capacity(nodes.len());
    for (node, name) in nodes.iter().zip(packed_names(nodes)) {
        let above = node.parent.and_then(|parent| paths.get(parent)).map_or("", String::as_str);
        let slash = if node.content.is_none() { "/" } else { "" };
        paths.push(format!("{above}{name}{slash}"));
    }
    paths
}

/// The names of all nodes as they are packed. Where two would meet, since one is mapped onto the other's or both come to the
/// top from different folders, the later gets a number; and those that keep theirs come first.
fn packed_names(nodes: &[Node]) -> Vec<String> {
    let mut names: Vec<String> = nodes.iter().map(|node| names::mapped(&node.name)).collect();
    let is_mapped: Vec<bool> = nodes.iter().zip(&names).map(|(node, name)| *name != node.name).collect();
    let of =
        |wanted: bool| is_mapped.iter().enumerate().filter(move |(_, is)| **is == wanted).map(|(at, _)| at);
    let mut may_meet: HashSet<Option<usize>> = HashSet::from([None]);
    may_meet.extend(of(true).filter_map(|at| nodes.get(at)).map(|node| node.parent));
    let mut taken: HashMap<Option<usize>, HashSet<String>> = HashMap::new();
    for at in of(false).chain(of(true)) {
        let (Some(node), Some(name)) = (nodes.get(at), names.get_mut(at)) else { continue };
        if may_meet.contains(&node.parent) {
            let taken = taken.entry(node.parent).or_default();
            *name = names::free(std::mem::take(name), taken);
            taken.insert(name.clone());
        }
    }
    names
}

/// Adds what of `bytes`, which stand at `start`, is in the range.
fn made(pieces: &mut Vec<Piece>, bytes: Vec<u8>, start: u64, range: &Range<u64>) {
    let within = overlap(&(start..start + bytes.len() as u64), range);
    let at = |position: u64| usize::try_from(position - start).unwrap_or(usize::MAX);
    if within.is_empty() {
        return;
    }
    let part = bytes.get(at(within.start)..at(within.end)).unwrap_or_default();
    match pieces.last_mut() {
        Some(Piece::Made(before)) => before.extend_from_slice(part),
        _ => pieces.push(Piece::Made(part.to_vec())),
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> Range<u64> {
    let start = one.start.max(other.start);
    start..one.end.min(other.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(parent: Option<usize>, name: &str, size_bytes: u64) -> Node {
        let content = Content { blob: String::new(), etag: name.to_owned(), size_bytes, crc32: 7 };
        Node { parent, name: name.to_owned(), modified_secs: 1_700_000_000, content: Some(content) }
    }

    fn folder(parent: Option<usize>, name: &str) -> Node {
        Node { content: None, ..file(parent, name, 0) }
    }

    fn example() -> Layout {
        Layout::new(vec![
            folder(None, "top"),
            file(Some(0), "a\\b", 10),
            file(Some(0), "a_b", 0),
            folder(Some(0), "empty"),
            file(Some(0), "z", 300),
        ])
    }

    /// All bytes of a part; those of contents are the node's number.
    fn bytes(pieces: &[Piece]) -> Vec<u8> {
        let of = |piece: &Piece| match piece {
            Piece::Made(bytes) => bytes.clone(),
            Piece::Of(node, range) => vec![u8::try_from(*node).unwrap(); (range.end - range.start) as usize],
        };
        pieces.iter().flat_map(of).collect()
    }

    #[test]
    fn folders_have_entries_and_mapped_names_meet_nobody() {
        let layout = example();
        assert_eq!(layout.paths, ["top/", "top/a_b (2)", "top/a_b", "top/empty/", "top/z"]);
        assert_ne!(layout.etag(), Layout::new(vec![folder(None, "top")]).etag());
    }

    #[test]
    fn what_comes_to_the_top_from_different_folders_meets_nobody() {
        let layout = Layout::new(vec![file(None, "a.txt", 1), file(None, "a.txt", 2), folder(None, "a.txt")]);
        assert_eq!(layout.paths, ["a.txt", "a (2).txt", "a (3).txt/"]);
    }

    proptest! {
        #[test]
        fn every_range_is_that_part_of_the_whole(start in 0_u64..1400, length in 1_u64..1400) {
            let layout = example();
            let whole = bytes(&layout.pieces(&(0..layout.len())));
            prop_assert_eq!(whole.len() as u64, layout.len());
            let range = start.min(layout.len())..(start + length).min(layout.len());
            let part = bytes(&layout.pieces(&range));
            prop_assert_eq!(&part[..], &whole[range.start as usize..range.end as usize]);
        }

        #[test]
        fn of_contents_only_what_is_in_the_range_is_named(start in 0_u64..1400, length in 1_u64..1400) {
            let layout = example();
            let range = start.min(layout.len())..(start + length).min(layout.len());
            for piece in layout.pieces(&range) {
                if let Piece::Of(node, within) = piece {
                    let size = layout.content(node).unwrap().size_bytes;
                    prop_assert!(!within.is_empty() && within.end <= size);
                }
            }
        }
    }
}
