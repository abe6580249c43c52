//! Holds what has arrived of uploads in parts against what their clients have sent.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ledge_core::digest::Sha256;
use ledge_core::ports::{Host, Rows};

use super::audit::{Content, Known, integer, text};
use super::statistics::{Statistics, add};
use super::uploads::content;
use crate::content::CONTENTS;
use crate::world::World;

pub(super) const UPLOADS: &str =
    "select u.id, u.kind, u.metadata, u.blob_id, u.tail, u.received_bytes, u.length_bytes, u.expires_at,
            json_extract(u.finished, '$.etag') as became, b.etag from uploads u left join blobs b on b.id = u.blob_id
      order by u.id";
pub(super) const PARTS: &str =
    "select p.upload, b.etag from upload_parts p left join blobs b on b.id = p.blob_id
      order by p.upload, p.place, p.name";
pub(super) const RESERVED: &str =
    "select reserved_bytes - (select coalesce(sum(u.reserved_bytes), 0) from uploads u where u.space_id = s.id)
          - (select coalesce(sum(p.size_bytes), 0) from packs p where p.space = s.n) as it from spaces s";

/// An upload as it was when it was last seen.
#[derive(Debug, PartialEq)]
pub(super) struct Upload {
    is_finished: bool,
    expires_at: i64,
}

/// Notes what joining would make now of what has arrived, before anybody joins it.
pub(super) fn joined(uploads: &Rows, parts: &Rows, known: &mut Known) {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for part in parts {
        folders.entry(part.text("upload").unwrap()).or_default().push(part.text("etag").unwrap());
    }
    for tags in folders.values().filter(|tags| tags.len() > 1) {
        join(tags, known);
    }
    let whole = uploads.iter().filter(|row| {
        text(row, "kind") == "part"
            && row.integer_or_null("length_bytes").unwrap() == Some(integer(row, "received_bytes"))
    });
    let whole: Vec<&str> = whole.filter_map(|row| row.text_or_null("etag").unwrap()).collect();
    for first in &whole {
        for second in &whole {
            join(&[first, second], known);
        }
    }
}

fn join(tags: &[&str], known: &mut Known) {
    let tag = Sha256::of(format!("joined {}", tags.join(" ")).as_bytes()).to_string();
    if !known.contents.contains_key(&tag) {
        let bytes: Vec<&[u8]> = tags.iter().map(|tag| &**known.contents.get(*tag).unwrap()).collect();
        known.contents.insert(tag, Content::Owned(bytes.concat()));
    }
}

/// What has arrived is the beginning of what the client sends, and what has become a file is all of it.
pub(super) fn audit(world: &World, uploads: &Rows, known: &mut Known, statistics: &Statistics) {
    let mut there = std::collections::HashMap::new();
    for row in uploads {
        let id = text(row, "id");
        let became = row.text_or_null("became").unwrap();
        let sent = content(row.text("metadata").unwrap()).map(|number| CONTENTS[number]);
        let of = |tag: &str| known.contents.get(tag).unwrap_or_else(|| panic!("{tag}, of upload {id}"));
        if let (Some(tag), Some(sent)) = (became, sent) {
            assert!(**of(tag) == *sent, "upload {id} has become something else");
        } else if let Some(sent) = sent {
            assert_eq!(
                row.text_or_null("blob_id").unwrap().is_some(),
                row.text_or_null("etag").unwrap().is_some(),
                "the blob of upload {id}"
            );
            let stored = row.text_or_null("etag").unwrap().map(|tag| of(tag).to_vec());
            let tail = row.text_or_null("tail").unwrap().map(|tail| STANDARD.decode(tail).unwrap());
            add(&statistics.drafts, u64::from(stored.is_some()));
            let arrived = [stored.unwrap_or_default(), tail.unwrap_or_default()].concat();
            assert_eq!(arrived.len() as i64, integer(row, "received_bytes"), "upload {id}");
            assert!(sent.starts_with(&arrived), "upload {id} has something else");
        }
        let upload = Upload { is_finished: became.is_some(), expires_at: integer(row, "expires_at") };
        there.insert(id, upload);
    }
    let now = world.host.now().0;
    for (id, before) in &known.uploads {
        let has_finished = there.get(id).is_some_and(|upload| upload.is_finished) && !before.is_finished;
        add(&statistics.finished, u64::from(has_finished));
        let has_expired = !there.contains_key(id) && !before.is_finished && before.expires_at <= now;
        add(&statistics.expired, u64::from(has_expired));
    }
    known.uploads = there;
}
