//! Several ranges in one answer: `multipart/byteranges`, RFC 9110 section 14.6.

use std::ops::Range;

use http::{Response, StatusCode, header};
use ledge_core::error::Result;
use ledge_core::files::File;
use ledge_core::plan::{ReadPlan, Slice};
use ledge_core::ports::Host;

use crate::headers::set;

/// A 206 with a part for each range. The length is known before the first byte, as everything but the content is
/// inline.
pub(super) fn answer(host: &impl Host, file: &File, parts: &[Range<u64>]) -> Result<Response<ReadPlan>> {
    // Random, so that no content can hold it by intention.
    let mut random = [0; 16];
    host.random(&mut random);
    let boundary = u128::from_be_bytes(random);
    let blob = &file.version.blob;
    let mut plan = ReadPlan::default();
    for range in parts {
        let content_range = content_range(range, blob.size_bytes);
        let media_type = &blob.media_type;
        let head = format!(
            "\r\n--{boundary:032x}\r\nContent-Type: {media_type}\r\nContent-Range: {content_range}\r\n\r\n"
        );
        plan.push(Slice::Inline(head.into_bytes()));
        for slice in file.plan(range.clone())?.into_slices() {
            plan.push(slice);
        }
    }
    plan.push(Slice::Inline(format!("\r\n--{boundary:032x}--\r\n").into_bytes()));
    let mut response = Response::new(plan);
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let media_type = format!("multipart/byteranges; boundary={boundary:032x}");
    set(response.headers_mut(), header::CONTENT_TYPE, media_type);
    Ok(response)
}

/// The value of a `Content-Range` header; `range` is not empty.
pub(in crate::rest) fn content_range(range: &Range<u64>, size_bytes: u64) -> String {
    format!("bytes {}-{}/{size_bytes}", range.start, range.end.saturating_sub(1))
}
