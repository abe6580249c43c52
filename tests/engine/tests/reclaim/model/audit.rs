//! Holds the bucket against the database.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ledge_core::digest::Sha256;
use ledge_core::manifest::{Extent, PageRef};
use ledge_core::plan::{Place, ReadPlan, Slice};
use ledge_core::ports::{Db, Host, Row, Rows, Statement};

use super::drafts::{self, Upload};
use super::statistics::{Statistics, add};
use crate::world::World;

/// Bytes that content must have.
pub(super) type Content = Cow<'static, [u8]>;

/// What is known of content, whatever rows say later.
#[derive(Default)]
pub(super) struct Known {
    /// By entity tag.
    pub(super) contents: HashMap<String, Content>,
    pages: HashMap<u64, Page>,
    blobs: HashSet<String>,
    chunks: HashSet<(u64, u64, String)>,
    doomed: BTreeSet<u64>,
    /// Until when chunks must be there, by their hashes: somebody has been told that they are.
    pub(super) promises: HashMap<String, i64>,
    /// Uploads in parts.
    pub(super) uploads: HashMap<String, Upload>,
    /// Objects that nobody has asked for.
    pub(super) strays: BTreeSet<String>,
}

/// A page, and the bytes that it has stood for since it came.
struct Page {
    text: String,
    extents: Vec<Extent>,
    bytes: Rc<Vec<u8>>,
}

/// A reader that is under way.
pub(super) struct Reader {
    pub(super) plan: ReadPlan,
    pub(super) content: Content,
    pub(super) opened_at: i64,
}

struct Segment {
    key: String,
    state: String,
}

const TABLES: [&str; 9] = [
    "select id, key, size_bytes, state from segments",
    "select id, extents, (select json_group_array(s.segment) from page_segments s where s.page = pages.id) as named
       from pages",
    "select id, etag, size_bytes, pages, inline, tail from blobs",
    "select segment, offset, length, hash from chunks",
    "select key from ingests",
    "select count(*) as loose from page_segments s where not exists (select 1 from pages p where p.id = s.page)",
    drafts::UPLOADS,
    drafts::PARTS,
    drafts::RESERVED,
];

/// Asserts it.
pub(super) async fn audit(world: &World, known: &mut Known, readers: &[Reader], statistics: &Statistics) {
    let batch = TABLES.into_iter().map(Statement::new).collect();
    let tables = world.drive.ports.db.read(batch).await.unwrap();
    let segments = segments(world, &tables[0], known, statistics);
    pages(world, &tables[1], &segments, known);
    for row in &tables[2] {
        blob(row, known);
    }
    drafts::joined(&tables[6], &tables[7], known);
    drafts::audit(world, &tables[6], known, statistics);
    assert_eq!(integer(&tables[8][0], "it"), 0, "what is reserved, but for uploads and packs");
    let now = world.host.now().0;
    known.promises.retain(|_, until| *until > now);
    let mut promised: HashSet<String> = known.promises.keys().cloned().collect();
    for row in &tables[3] {
        if chunk(world, row, &segments, known) {
            promised.remove(row.text("hash").unwrap());
        }
    }
    assert!(promised.is_empty(), "{promised:?} are gone before their time");
    assert_eq!(tables[5][0].unsigned("loose").unwrap(), 0, "page_segments of a page that is gone");
    let keys: HashSet<&str> = segments.values().map(|segment| segment.key.as_str()).collect();
    let ingests: Vec<String> =
        tables[4].iter().map(|row| format!("ledge/seg/{}/", row.text("key").unwrap())).collect();
    for key in world.objects.keys() {
        let is_open = || ingests.iter().any(|prefix| key.starts_with(prefix));
        assert!(
            !key.starts_with("ledge/seg/")
                || keys.contains(key.as_str())
                || known.strays.contains(&key)
                || is_open(),
            "{key} is lost from sight"
        );
    }
    for outside in ["ledge/meta/x", "other/y"] {
        assert!(world.objects.holds(outside), "{outside} is nobody's to delete");
    }
    for reader in readers.iter().filter(|reader| reader.is_owed(world)) {
        reader.needs_nothing_that_is_gone(world);
    }
}

fn segments(
    world: &World,
    rows: &Rows,
    known: &mut Known,
    statistics: &Statistics,
) -> BTreeMap<u64, Segment> {
    let mut segments = BTreeMap::new();
    let mut doomed = BTreeSet::new();
    for row in rows {
        let (id, key, state) = (unsigned(row, "id"), text(row, "key"), text(row, "state"));
        if state != "deleting" {
            let object = world.objects.find(&key);
            let size = object.map(|bytes| bytes.len() as u64);
            assert_eq!(size, Some(unsigned(row, "size_bytes")), "segment {id}, {state}");
        }
        if state == "doomed" {
            doomed.insert(id);
        }
        if state == "live" && known.doomed.contains(&id) {
            add(&statistics.revived, 1);
        }
        segments.insert(id, Segment { key, state });
    }
    known.doomed = doomed;
    segments
}

fn pages(world: &World, rows: &Rows, segments: &BTreeMap<u64, Segment>, known: &mut Known) {
    let mut there = HashSet::new();
    for row in rows {
        let (id, extents) = (unsigned(row, "id"), row.text("extents").unwrap());
        there.insert(id);
        let before = known.pages.get(&id);
        if before.is_none_or(|page| page.text != extents) {
            let parsed: Vec<Extent> = serde_json::from_str(extents).unwrap();
            let bytes = Rc::new(bytes_of(world, &parsed, segments));
            let bytes = match before {
                None => bytes,
                Some(page) => {
                    assert!(page.bytes == bytes, "page {id} reads as something else");
                    page.bytes.clone()
                }
            };
            known.pages.insert(id, Page { text: extents.to_owned(), extents: parsed, bytes });
        }
        let page = &known.pages[&id];
        let needed: BTreeSet<u64> =
            page.extents.iter().map(|extent| extent.segment).filter(|segment| *segment != 0).collect();
        for segment in &needed {
            let state = segments.get(segment).map(|segment| segment.state.as_str());
            assert_eq!(state, Some("live"), "segment {segment}, which page {id} needs");
        }
        let named: BTreeSet<u64> = serde_json::from_str(row.text("named").unwrap()).unwrap();
        assert_eq!(named, needed, "what is said of page {id}");
    }
    known.pages.retain(|id, _| there.contains(id));
}

fn bytes_of(world: &World, extents: &[Extent], segments: &BTreeMap<u64, Segment>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for extent in extents {
        if extent.segment == 0 {
            bytes.resize(bytes.len() + usize::try_from(extent.length).unwrap(), 0);
            continue;
        }
        let key = &segments.get(&extent.segment).expect("a page's segment has a row").key;
        let part = world.objects.range(key, extent.offset..extent.offset + extent.length);
        bytes.extend(part.expect("a page's bytes are there"));
    }
    bytes
}

/// A blob reads as what was saved under its entity tag. Its row never changes.
fn blob(row: &Row, known: &mut Known) {
    let id = text(row, "id");
    if known.blobs.contains(&id) {
        let Some(pages) = row.text_or_null("pages").unwrap() else { return };
        let pages: Vec<PageRef> = serde_json::from_str(pages).unwrap();
        assert!(pages.iter().all(|page| known.pages.contains_key(&page.page)), "a page of blob {id} is gone");
        return;
    }
    let mut bytes = Vec::new();
    let decoded = |column| row.text_or_null(column).unwrap().map(|text| STANDARD.decode(text).unwrap());
    bytes.extend(decoded("inline").unwrap_or_default());
    let pages = row.text_or_null("pages").unwrap().unwrap_or("[]");
    for page in serde_json::from_str::<Vec<PageRef>>(pages).unwrap() {
        bytes.extend_from_slice(&known.pages.get(&page.page).expect("a blob's page is there").bytes);
    }
    bytes.extend(decoded("tail").unwrap_or_default());
    assert_eq!(bytes.len() as u64, unsigned(row, "size_bytes"), "blob {id}");
    // The tag of an edit is not that of its content: what it was at first is what it stays.
    let content = known.contents.entry(text(row, "etag")).or_insert_with(|| Content::Owned(bytes.clone()));
    assert!(**content == *bytes, "blob {id} reads as something else");
    known.blobs.insert(id);
}

/// A chunk is where the index says. Whether look-ups find it.
fn chunk(world: &World, row: &Row, segments: &BTreeMap<u64, Segment>, known: &mut Known) -> bool {
    let (segment, offset, length) =
        (unsigned(row, "segment"), unsigned(row, "offset"), unsigned(row, "length"));
    let hash = text(row, "hash");
    let place = segments
        .get(&segment)
        .unwrap_or_else(|| panic!("chunk {hash} is in segment {segment}, which is gone"));
    if place.state == "deleting" {
        return false;
    }
    if !known.chunks.insert((segment, offset, hash.clone())) {
        return true;
    }
    let bytes = world.objects.range(&place.key, offset..offset + length).expect("a chunk's bytes are there");
    assert_eq!(URL_SAFE_NO_PAD.encode(Sha256::of(&bytes).0), hash, "segment {segment}, {offset}");
    true
}

impl Reader {
    /// Whether its plan is younger than the grace time.
    pub(super) fn is_owed(&self, world: &World) -> bool {
        world.host.now().0 < self.opened_at + world.settings.grace_secs * 1000
    }

    fn needs_nothing_that_is_gone(&self, world: &World) {
        for slice in self.plan.slices() {
            if let Slice::Object { place: Place { key, .. }, .. } = slice {
                assert!(world.objects.holds(key), "{key} is gone under a reader");
            }
        }
    }
}

pub(super) fn text(row: &Row, column: &str) -> String {
    row.text(column).unwrap().to_owned()
}

pub(super) fn integer(row: &Row, column: &str) -> i64 {
    row.integer(column).unwrap()
}

fn unsigned(row: &Row, column: &str) -> u64 {
    row.unsigned(column).unwrap()
}
