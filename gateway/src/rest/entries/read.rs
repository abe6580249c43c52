//! The content of one entry.

use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use ledge_core::conditions::{self, Conditions, Current, Verdict};
use ledge_core::error::{Error, Result};
use ledge_core::media_type;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform};
use ledge_core::range::{self, RangeSpec, Resolved};
use ledge_core::tree::Address;
use ledge_core::unzip::{self, Opened};

use crate::headers::{conditions as read_conditions, content_disposition, if_range, quoted, set, text};
use crate::rest::files::content_range;
use crate::rest::no_content;

pub(super) async fn read<P: Platform>(
    platform: &P,
    address: &Address,
    parts: &Parts,
    at: u64,
) -> Result<Response<ReadPlan>> {
    let opened = unzip::open(platform, address, at).await?;
    let now = platform.host().now();
    let current = Current { etag: Some(&opened.etag), modified_at: now };
    let given = read_conditions(&parts.headers);
    let by_tag = Conditions { if_modified_since_secs: None, if_unmodified_since_secs: None, ..given };
    let mut response = match by_tag.evaluate(Some(current), true) {
        Verdict::Failed => return Err(Error::PreconditionFailed),
        Verdict::NotModified => {
            let mut response = no_content();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        Verdict::Proceed if parts.method == Method::HEAD => {
            let mut response = Response::new(ReadPlan::default());
            response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(opened.entry.size_bytes));
            response
        }
        Verdict::Proceed => {
            let specs = text(&parts.headers, &header::RANGE).and_then(|header| range::parse(&header));
            let wanted = specs.filter(|_| {
                if_range(&parts.headers).is_none_or(|it| conditions::if_range(&it, current, now))
            });
            content(platform, &opened, wanted.as_deref()).await?
        }
    };
    let headers = response.headers_mut();
    let name = opened.entry.name.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or("entry");
    let media_type = media_type::guess(name);
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    set(headers, header::ETAG, quoted(&opened.etag));
    set(headers, header::CONTENT_DISPOSITION, content_disposition(name, &media_type, false));
    set(headers, header::CONTENT_TYPE, media_type);
    Ok(response)
}

async fn content<P: Platform>(
    platform: &P,
    opened: &Opened,
    specs: Option<&[RangeSpec]>,
) -> Result<Response<ReadPlan>> {
    let size_bytes = opened.entry.size_bytes;
    let resolved = specs.map_or(Resolved::Whole, |specs| range::resolve(specs, size_bytes));
    let range = match &resolved {
        Resolved::Unsatisfiable => return Err(Error::RangeNotSatisfiable { size_bytes }),
        Resolved::Parts(parts) if parts.len() == 1 => parts.first(),
        _ => None,
    };
    let mut response = Response::new(opened.plan(platform, range.cloned().unwrap_or(0..size_bytes)).await?);
    let most = platform.host().most_reads();
    if response.body().bucket_reads() > most {
        let reason = format!(
            "this host makes at most {most} reads from the bucket for one answer: ask for parts, by ranges"
        );
        return Err(Error::TooManyEntries { reason });
    }
    if let Some(range) = range {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        set(response.headers_mut(), header::CONTENT_RANGE, content_range(range, size_bytes));
    }
    Ok(response)
}
