//! Stores a buffer of whole chunks: looks them up, references the known ones, puts the rest as one segment.

use std::collections::HashMap;
use std::ops::Range;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::Digest;

use super::{Door, IDS_PER_INGEST, Ingest};
use crate::delta::pack::Claimed;
use crate::digest::Sha256;
use crate::error::{Error, Result};
use crate::manifest::{Extent, Extents, HOLE, combine_crc32, crc32_of_zeros};
use crate::plan::Place;
use crate::ports::{Bucket, BucketError, Host, Platform, Statement};

/// A segment that has been put and has no row yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewSegment {
    /// The id that its row will have.
    pub(crate) id: u64,
    /// Its key in the bucket.
    pub(crate) key: String,
    /// Its size.
    pub(crate) size_bytes: u64,
    /// The bucket's row; None: the default one.
    pub(crate) bucket: Option<i64>,
}

/// A chunk that the space didn't know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewChunk {
    /// Its SHA-256, as the index keeps it.
    pub(crate) hash: String,
    /// Where it is.
    pub(crate) extent: Extent,
}

/// Stores the chunks of contents: of one, or of an edit that is made again since others were faster. What was stored
/// stays known from one to the next.
pub(crate) struct Store<'a, P> {
    platform: &'a P,
    space_key: i64,
    door: &'a mut Door,
    segments: Vec<NewSegment>,
    chunks: Vec<NewChunk>,
    /// Chunks so far: content that repeats itself is stored once.
    own: HashMap<Sha256, Extent>,
    /// Where the segments are that they are in.
    keys: HashMap<u64, Place>,
    content: Chunked,
}

/// Content that is made of stored chunks.
#[derive(Default)]
pub(crate) struct Chunked {
    etag: ChunkEtag,
    /// The CRC-32 of the whole.
    pub(crate) crc32: u32,
    /// Its size.
    pub(crate) size_bytes: u64,
    /// Where its bytes are.
    pub(crate) extents: Extents,
}

impl Chunked {
    /// The entity tag that the list of its chunks gives.
    pub(crate) fn etag(&self) -> String {
        self.etag.finish()
    }

    /// Adds the next chunk.
    pub(crate) fn add(&mut self, hash: Sha256, extent: Extent) {
        self.etag.add(hash, extent.length);
        self.crc32 = combine_crc32(self.crc32, extent.crc32, extent.length);
        self.size_bytes += extent.length;
        self.extents.push(extent);
    }
}

/// A chunk of the buffer.
struct Piece {
    range: Range<usize>,
    hash: Sha256,
    crc32: u32,
}

impl Piece {
    fn length(&self) -> u64 {
        self.range.len() as u64
    }
}

impl<'a, P: Platform> Store<'a, P> {
    pub(crate) fn new(platform: &'a P, space_key: i64, door: &'a mut Door) -> Self {
        Self {
            platform,
            space_key,
            door,
            segments: Vec::new(),
            chunks: Vec::new(),
            own: HashMap::new(),
            keys: HashMap::new(),
            content: Chunked::default(),
        }
    }

    /// Stores the chunks of `buffer`. Bytes behind the last one stay as they are; those of the chunks are moved about.
    pub(crate) async fn put(&mut self, buffer: &mut [u8], chunks: &[Range<usize>]) -> Result<()> {
        let mut pieces = Vec::with_capacity(chunks.len());
        for range in chunks {
            pieces.push(self.piece(buffer, range).await);
        }
        self.put_pieces(buffer, pieces).await
    }

    /// The same for chunks whose hashes their sender has told.
    ///
    /// # Errors
    /// [`Error::Invalid`] where one isn't what it should be. Then none of these is stored.
    pub(crate) async fn put_claimed(&mut self, buffer: &mut [u8], chunks: &[Claimed]) -> Result<()> {
        let mut pieces = Vec::with_capacity(chunks.len());
        for Claimed { range, hash, number } in chunks {
            let piece = self.piece(buffer, range).await;
            if piece.hash != *hash {
                let reason = format!("chunk {number} of the pack: its SHA-256 is {}, not {hash}", piece.hash);
                return Err(Error::invalid("body", reason));
            }
            pieces.push(piece);
        }
        self.put_pieces(buffer, pieces).await
    }

    async fn piece(&self, buffer: &[u8], range: &Range<usize>) -> Piece {
        let bytes = buffer.get(range.clone()).unwrap_or_default();
        let hash = self.platform.host().sha256(bytes).await;
        Piece { range: range.clone(), hash, crc32: crc32fast::hash(bytes) }
    }

    async fn put_pieces(&mut self, buffer: &mut [u8], pieces: Vec<Piece>) -> Result<()> {
        let known = self.look_up(&pieces).await?;
        let n = self.segments.len() as u64;
        if n >= IDS_PER_INGEST {
            return Err(Error::invalid("body", "an upload in one piece ends at 8 TiB"));
        }
        let ingest = self.door.open(self.platform).await?.clone();
        let (segment, key) = (ingest.nth_id(n), ingest.segment_key(n));
        let mut packed = 0;
        for piece in pieces {
            let extent = match known.get(&piece.hash).or_else(|| self.own.get(&piece.hash)) {
                Some(&extent) => extent,
                None => {
                    let extent =
                        Extent { segment, offset: packed as u64, length: piece.length(), crc32: piece.crc32 };
                    self.chunks.push(NewChunk { hash: index_form(piece.hash), extent });
                    buffer.copy_within(piece.range.clone(), packed);
                    packed += piece.range.len();
                    extent
                }
            };
            self.own.insert(piece.hash, extent);
            self.content.add(piece.hash, extent);
        }
        let bytes = buffer.get(..packed).unwrap_or_default();
        if !bytes.is_empty() {
            let sha256 = self.platform.host().sha256(bytes).await;
            self.put_segment(&ingest, &key, bytes, sha256).await?;
            let bucket = ingest.bucket.as_ref();
            self.keys.insert(
                segment,
                Place { bucket: bucket.map(|bucket| bucket.name.clone()), ..Place::from(key.clone()) },
            );
            let (size_bytes, bucket) = (packed as u64, bucket.map(|bucket| bucket.n));
            self.segments.push(NewSegment { id: segment, key, size_bytes, bucket });
        }
        Ok(())
    }

    /// Puts a segment, and once more where that failed: the same bytes under the same key, whether they arrived or not.
    /// A bucket fails now and then, and an upload is too much to begin again for it.
    async fn put_segment(&self, ingest: &Ingest, key: &str, bytes: &[u8], sha256: Sha256) -> Result<()> {
        let bucket = self.platform.bucket_of(ingest.bucket_name())?;
        ingest.may_put(self.platform.host().now())?;
        match bucket.put(key, bytes, sha256).await {
            Err(BucketError::Unavailable(_) | BucketError::Damaged(_)) => {
                ingest.may_put(self.platform.host().now())?;
                Ok(bucket.put(key, bytes, sha256).await?)
            }
            done => Ok(done?),
        }
    }

    /// The chunks among `pieces` that the space knows, marked as seen so that the sweep leaves them alone for the
    /// grace time. Segments that are being deleted don't count.
    async fn look_up(&mut self, pieces: &[Piece]) -> Result<HashMap<Sha256, Extent>> {
        let wanted: Vec<&Piece> = pieces.iter().filter(|piece| !self.own.contains_key(&piece.hash)).collect();
        if wanted.is_empty() {
            return Ok(HashMap::new());
        }
        let hashes = serde_json::Value::from_iter(wanted.iter().map(|piece| index_form(piece.hash)));
        let statement = Statement::new(
            "update chunks set seen_at = ?3
              where space = ?1 and hash in (select value from json_each(?2))
                and exists (select 1 from segments s where s.id = chunks.segment and s.state <> 'deleting')
             returning hash, segment, offset, length, (select s.key from segments s where s.id = segment) as key,
                    (select b.name from segments s cross join buckets b on b.n = s.bucket where s.id = segment) as bucket",
        )
        .bind(self.space_key)
        .bind(hashes.to_string())
        .bind(self.platform.host().now());
        let found = self.door.open_with(self.platform, statement).await?;
        let mut known = HashMap::new();
        for row in &found {
            let hash = row.text("hash")?;
            let piece = wanted.iter().find(|piece| index_form(piece.hash) == hash);
            let piece = piece.ok_or_else(|| Error::Internal("a chunk that wasn't asked for".to_owned()))?;
            let extent = Extent {
                segment: row.unsigned("segment")?,
                offset: row.unsigned("offset")?,
                length: row.unsigned("length")?,
                crc32: piece.crc32,
            };
            let bucket = row.text_or_null("bucket")?.map(str::to_owned);
            // Nobody could read what lies in a bucket that isn't configured any more.
            if extent.length == piece.length() && self.platform.bucket_of(bucket.as_deref()).is_ok() {
                known.insert(piece.hash, extent);
                self.keys.insert(extent.segment, Place { bucket, ..Place::from(row.text("key")?) });
            }
        }
        Ok(known)
    }

    /// Adds zeros that are stored nowhere. In the entity tag they stand as the chunk whose hash nothing has.
    pub(crate) fn put_hole(&mut self, length: u64) {
        let zeros = Extent { segment: HOLE, offset: 0, length, crc32: crc32_of_zeros(length) };
        self.content.add(Sha256([0; 32]), zeros);
    }

    /// The content whose chunks were stored since this was last asked.
    pub(crate) fn take(&mut self) -> Chunked {
        std::mem::take(&mut self.content)
    }

    /// How much of the content that [`Store::take`] would give there is.
    pub(crate) fn content_bytes(&self) -> u64 {
        self.content.size_bytes
    }

    /// What has been stored and has no row yet.
    pub(crate) fn stored(&self) -> (&[NewSegment], &[NewChunk]) {
        (&self.segments, &self.chunks)
    }

    /// Where the segments are that the content refers to.
    pub(crate) fn keys(&self) -> &HashMap<u64, Place> {
        &self.keys
    }

    pub(crate) fn platform(&self) -> &'a P {
        self.platform
    }

    /// The ingest, if there is one.
    pub(crate) fn opened(&self) -> Option<&Ingest> {
        self.door.ingest()
    }

    /// The ingest, opened by now.
    pub(crate) async fn ingest(&mut self) -> Result<Ingest> {
        self.door.open(self.platform).await.cloned()
    }
}

/// How the chunk index writes a hash: base64url, which makes the index a quarter smaller than hex would.
pub(crate) fn index_form(hash: Sha256) -> String {
    URL_SAFE_NO_PAD.encode(hash.0)
}

/// An entity tag: the SHA-256 over each chunk's SHA-256 and length (8 bytes, big-endian).
#[derive(Default)]
struct ChunkEtag(sha2::Sha256);

impl ChunkEtag {
    fn add(&mut self, hash: Sha256, length: u64) {
        self.0.update(hash.0);
        self.0.update(length.to_be_bytes());
    }

    fn finish(&self) -> String {
        Sha256(self.0.clone().finalize().into()).to_string()
    }
}

/// The entity tag of a list of chunks.
pub(super) fn chunk_etag(chunks: impl IntoIterator<Item = (Sha256, u64)>) -> String {
    let mut etag = ChunkEtag::default();
    for (hash, length) in chunks {
        etag.add(hash, length);
    }
    etag.finish()
}
