//! How much a step does.

/// Bounds of a step: what a database and a bucket do in a few seconds, whatever there is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Expired uploads that a step removes.
    pub ingests: u64,
    /// Pages of at most 1,000 objects that a step lists.
    pub listings: u32,
    /// Segments that a step deletes; each has some ten chunks to be forgotten.
    pub deleted: u64,
    /// Candidates that a step looks at.
    pub candidates: u64,
    /// Segments of which a step measures how much is in use.
    pub measured: u64,
    /// Pages that a segment may have to be measured. What more share is kept: it is hardly ever mostly dead.
    pub pages: u64,
    /// Bytes that a step packs together anew: a segment.
    pub packed_bytes: u64,
    /// Of a segment, so many bytes must be won, besides half of it.
    pub won_bytes: u64,
    /// A segment that came, or came back, a shorter time ago isn't repacked: who uploads chunks first refers to
    /// them a little later.
    pub settled_secs: i64,
    /// Segments that a step of a full pass looks at.
    pub passed: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ingests: 20,
            listings: 10,
            deleted: 500,
            candidates: 1000,
            measured: 16,
            pages: 128,
            packed_bytes: 8 * 1024 * 1024,
            won_bytes: 64 * 1024,
            settled_secs: 60 * 60,
            passed: 5000,
        }
    }
}
