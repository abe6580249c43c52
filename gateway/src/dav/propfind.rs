//! PROPFIND: properties of a resource, and of what is in it.

use futures::StreamExt;
use futures::stream::{self, try_unfold};
use http::StatusCode;
use ledge_core::error::Error;
use ledge_core::ports::{Db, Platform, Upload};
use ledge_core::properties::{self, Listing, Next, Resource, Root};

use super::depth::{Depth, depth};
use super::href::href;
use super::prefix::Prefix;
use super::props::{Seen, Wanted, propstats};
use super::xml::{self, Multistatus};
use super::{Answer, Content, Failure, Request, body, in_xml, multistatus};

/// Answers 207. The first page is read before the status is sent; further ones while it is sent, so that memory doesn't
/// grow with the folder. An error then breaks the connection.
pub(crate) async fn propfind<P: Platform>(platform: &P, request: Request<'_>, upload: impl Upload) -> Answer {
    // Clients that leave it out want to see a folder; infinity, its default by the standard, is what we refuse.
    let children = match depth(&request.parts.headers)?.unwrap_or(Depth::One) {
        Depth::Zero => false,
        Depth::One => true,
        Depth::Infinity => {
            let detail = "Depth: infinity isn't answered; ask folder by folder with Depth: 1";
            return Err(Failure::of(StatusCode::FORBIDDEN, "propfind-finite-depth", detail));
        }
    };
    let wanted = xml::propfind(&body::read(upload).await?)?;
    let listing = Listing { address: request.address, children, dead: wanted.dead(), locks: wanted.locks() };
    let read = properties::read(platform, &listing).await?;
    let writer = Writer { listing, wanted, root: read.root, prefix: request.prefix };
    let mut text = Multistatus::begin();
    writer.write(&mut text, &read.node, None);
    for child in &read.page.children {
        writer.write(&mut text, child, Some(&child.name));
    }
    let content = match read.page.next {
        None => return Ok(multistatus(text)),
        Some(next) => {
            let first = stream::iter([Ok(text.part())]);
            Content::Pieces(first.chain(rest(platform.db().detached(), writer, next)).boxed_local())
        }
    };
    Ok(in_xml(StatusCode::MULTI_STATUS, content))
}

/// The pages after the first one.
fn rest<D: Db + 'static>(
    db: D,
    writer: Writer,
    next: Next,
) -> impl futures::Stream<Item = Result<Vec<u8>, Error>> {
    try_unfold((db, writer, Some(next)), |(db, writer, next)| async move {
        let Some(next) = next else { return Ok(None) };
        let page = properties::read_on(&db, &writer.listing, next).await?;
        let mut text = Multistatus::go_on();
        for child in &page.children {
            writer.write(&mut text, child, Some(&child.name));
        }
        let bytes = if page.next.is_some() { text.part() } else { text.end() };
        Ok(Some((bytes, (db, writer, page.next))))
    })
}

/// What the responses of one answer have in common.
struct Writer {
    listing: Listing,
    wanted: Wanted,
    root: Root,
    prefix: Prefix,
}

impl Writer {
    fn seen(&self) -> Seen<'_> {
        Seen { root: self.root, prefix: &self.prefix }
    }

    fn write(&self, text: &mut Multistatus, resource: &Resource, child: Option<&str>) {
        let above = self.listing.address.path.names().iter().map(|name| name.as_str());
        let href = href(&self.prefix, above.chain(child), resource.file.is_none());
        text.response(&href, &propstats(resource, self.seen(), &self.wanted));
    }
}
