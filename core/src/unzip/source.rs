//! Reading parts of a file of the drive, all of one version.

use std::ops::Range;

use super::bad;
use super::records::{End, TAIL_BYTES, find_end};
use crate::blobs::read_plan;
use crate::error::Result;
use crate::files::{self, File, Wanted, Which};
use crate::ids::{NodeId, VersionId};
use crate::plan::ReadPlan;
use crate::ports::Platform;
use crate::range::RangeSpec;
use crate::tree::Address;

/// What is read at once lies in few pieces, or one would ask the bucket for each byte.
const MAX_READS: usize = 256;

/// A ZIP file that is being read.
pub(crate) struct Source<'a, P> {
    platform: &'a P,
    address: &'a Address,
    /// Its node.
    pub(crate) node: NodeId,
    /// How long it is.
    pub(crate) size_bytes: u64,
    /// The version that is read.
    pub(crate) version: VersionId,
    /// Its entity tag, without quotes.
    pub(crate) etag: String,
    /// Where its directory is.
    pub(crate) end: End,
    /// The file's last bytes, and where they begin.
    tail: Vec<u8>,
    tail_at: u64,
}

impl<'a, P: Platform> Source<'a, P> {
    /// Finds the file and its directory. One round trip.
    pub(crate) async fn open(platform: &'a P, address: &'a Address, which: &Which) -> Result<Self> {
        let last = [RangeSpec::Suffix(TAIL_BYTES as u64)];
        let file = files::find(platform, address, which, Wanted::Ranges(&last)).await?;
        let size_bytes = file.version.blob.size_bytes;
        let tail_at = size_bytes.saturating_sub(TAIL_BYTES as u64);
        let tail = if size_bytes == 0 {
            Vec::new()
        } else {
            read(platform, file.plan(tail_at..size_bytes)?).await?
        };
        let end = find_end(&tail, size_bytes)?;
        let (node, version, etag) = (file.node, file.version.id.clone(), file.version.blob.etag);
        Ok(Self { platform, address, node, size_bytes, version, etag, end, tail, tail_at })
    }

    /// Bytes of the file, of a bounded number. One round trip, unless they are among the last.
    pub(crate) async fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>> {
        if range.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(start) = range.start.checked_sub(self.tail_at) {
            let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
            let known = self.tail.get(place(start)..place(range.end - self.tail_at));
            return known.map(<[u8]>::to_vec).ok_or_else(|| bad("it is cut off"));
        }
        let file = self.part(&range).await?;
        read(self.platform, file.plan(range)?).await
    }

    /// The file, with the pages of a part of it, which isn't empty.
    pub(crate) async fn part(&self, range: &Range<u64>) -> Result<File> {
        let spec = [RangeSpec::From { first: range.start, last: Some(range.end.saturating_sub(1)) }];
        let which = Which::Version(self.version.clone());
        files::find(self.platform, self.address, &which, Wanted::Ranges(&spec)).await
    }
}

/// Reads a bounded plan.
pub(crate) async fn read<P: Platform>(platform: &P, plan: ReadPlan) -> Result<Vec<u8>> {
    if plan.bucket_reads() > MAX_READS {
        return Err(bad(format!("a part of it lies in more than {MAX_READS} pieces")));
    }
    let mut bytes = Vec::new();
    read_plan(platform, plan, &mut bytes).await?;
    Ok(bytes)
}
