//! What clients of delta saves send: chunks of their own cutting, packs of them, and lists.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ledge_core::digest::Sha256;
use ledge_engine_tests::{Random, noise};
use ledge_tests::delta::{Piece, manifest, packs};
use serde_json::{Value, json};

use crate::content::{BLOCKS, SMALL, etag};

/// Chunks: those that whoever saves whole files has, too, and others.
static CHUNKS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let own = [1, 300, 4000, 9000, 70_000].into_iter().enumerate();
    let own = own.map(|(seed, length)| noise(3000 + seed as u64, length));
    BLOCKS.iter().chain(SMALL.iter()).cloned().chain(own).collect()
});

/// Chunks in a row, in all forms in which they are sent.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) content: Vec<u8>,
    /// The content's entity tag.
    pub(super) tag: String,
    /// The chunks, as answers name them and as the index does.
    pub(super) hashes: Vec<(String, String)>,
    pub(super) pack: Vec<u8>,
    /// The pack, with a wrong bit.
    pub(super) damaged: Vec<u8>,
    pub(super) list: String,
    pub(super) question: String,
}

/// A few, so that they share chunks, and memory doesn't fill with the bodies of all schedules.
pub(super) static OFFERS: LazyLock<Vec<Offer>> = LazyLock::new(|| {
    let mut random = Random::new(6);
    (0..20).map(|_| Offer::random(&mut random)).collect()
});

impl Offer {
    fn random(random: &mut Random) -> Self {
        let chunks: Vec<&[u8]> =
            (0..=random.below(4)).map(|_| CHUNKS[random.below(CHUNKS.len())].as_slice()).collect();
        let (mut content, mut pieces) = (Vec::new(), Vec::new());
        for chunk in &chunks {
            let start = content.len();
            content.extend_from_slice(chunk);
            pieces.push(Piece { hash: Sha256::of(chunk), range: start..content.len() });
        }
        let names: Vec<String> = pieces.iter().map(|piece| piece.hash.to_string()).collect();
        let index = pieces.iter().map(|piece| URL_SAFE_NO_PAD.encode(piece.hash.0));
        let pack = packs(&content, &pieces).remove(0);
        let mut damaged = pack.clone();
        *damaged.last_mut().unwrap() ^= 1;
        Self {
            tag: etag(&chunks),
            hashes: names.iter().cloned().zip(index).collect(),
            pack,
            damaged,
            list: manifest(&pieces).to_string(),
            question: json!({ "hashes": names }).to_string(),
            content,
        }
    }

    /// Whether all of its chunks are among these.
    pub(super) fn is_of(&self, known: &[String]) -> bool {
        self.hashes.iter().all(|(_, index)| known.contains(index))
    }

    /// Which of its chunks an answer doesn't call missing, as the index names them.
    pub(super) fn promised(&self, answer: &[u8]) -> Vec<String> {
        let answer: Value = serde_json::from_slice(answer).unwrap();
        let missing: Vec<&str> =
            answer["missing"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let there = self.hashes.iter().filter(|(name, _)| !missing.contains(&name.as_str()));
        there.map(|(_, index)| index.clone()).collect()
    }
}
