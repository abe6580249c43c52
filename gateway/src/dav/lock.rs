//! LOCK: takes a write lock, or without a body refreshes one.

use http::{HeaderName, Response, StatusCode};
use ledge_core::locks::{self, Depth as Reach, Lock, NewLock};
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{Host, Platform, Timestamp, Upload};

use super::depth::{Depth, depth};
use super::prefix::Prefix;
use super::timeout::timeout;
use super::xml::{self, LockInfo};
use super::{Answer, Content, Failure, Request, body, in_xml};
use crate::headers::set;

/// 200 with the lock; 201 where a file was made for it.
pub(crate) async fn lock<P: Platform>(platform: &P, request: Request<'_>, upload: impl Upload) -> Answer {
    let headers = &request.parts.headers;
    // Without the header it is infinity (RFC 4918 section 9.10.3).
    let reach = match depth(headers)? {
        Some(Depth::Zero) => Reach::Zero,
        Some(Depth::Infinity) | None => Reach::Infinity,
        Some(Depth::One) => {
            return Err(Failure::new(StatusCode::BAD_REQUEST, "Depth: expected 0 or infinity"));
        }
    };
    let timeout = timeout(headers);
    let body = body::read(upload).await?;
    if body.trim_ascii().is_empty() {
        if request.address.token.submitted().lists.is_empty() {
            let detail = "LOCK without a body refreshes a lock: its token is needed, in If";
            return Err(Failure::new(StatusCode::BAD_REQUEST, detail));
        }
        let lock = locks::refresh(platform, &request.address, timeout).await?;
        return Ok(answer(StatusCode::OK, &request.prefix, &lock, platform.host().now()));
    }
    let LockInfo { scope, owner } = xml::lockinfo(&body)?;
    let name = request.address.path.last().map(|name| name.as_str()).unwrap_or_default();
    let media_type = ledge_core::media_type::guess(name);
    let wanted = NewLock { address: request.address, scope, depth: reach, owner, timeout, media_type };
    let locked = locks::lock(platform, &wanted).await?;
    let status = if locked.created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = answer(status, &request.prefix, &locked.lock, platform.host().now());
    let token = format!("<{}>", locks::token(&locked.lock.id));
    set(response.headers_mut(), HeaderName::from_static("lock-token"), token);
    Ok(response)
}

fn answer(status: StatusCode, prefix: &Prefix, lock: &Lock, now: Timestamp) -> Response<Content> {
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery>{}</D:lockdiscovery></D:prop>",
        super::locks::discovery(prefix, [lock], now)
    );
    in_xml(status, Content::Plan(ReadPlan::inline(body)))
}
