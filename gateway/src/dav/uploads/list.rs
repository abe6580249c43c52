//! PROPFIND: which parts are there, for a client that goes on.

use http::StatusCode;
use ledge_core::ports::{Platform, Upload};
use ledge_core::uploads;
use percent_encoding::utf8_percent_encode;

use super::Request;
use crate::dav::depth::{Depth, depth};
use crate::dav::href::ENCODED;
use crate::dav::xml::{Multistatus, escape};
use crate::dav::{Answer, Failure, body, multistatus};
use crate::headers::{http_date, quoted};

/// 207 with a folder and its parts; above the folders, with their names. Whatever is asked for, the few properties that
/// there are.
pub(super) async fn list<P: Platform>(platform: &P, request: &Request<'_>, upload: impl Upload) -> Answer {
    let children = match depth(&request.parts.headers)?.unwrap_or(Depth::One) {
        Depth::Zero => false,
        Depth::One => true,
        Depth::Infinity => {
            let detail = "Depth: infinity isn't answered; ask folder by folder with Depth: 1";
            return Err(Failure::of(StatusCode::FORBIDDEN, "propfind-finite-depth", detail));
        }
    };
    body::read(upload).await?;
    let mut text = Multistatus::begin();
    let top = &request.prefix;
    match request.names.first() {
        None => {
            collection(&mut text, &format!("{top}/"), "");
            if children {
                for name in uploads::folders(platform, &request.token).await? {
                    collection(&mut text, &format!("{top}/{}/", encoded(&name)), &name);
                }
            }
        }
        Some(folder) => {
            let (_, parts) = uploads::parts(platform, &request.token, folder).await?;
            let top = format!("{top}/{}", encoded(folder));
            collection(&mut text, &format!("{top}/"), folder);
            for part in parts.iter().filter(|_| children) {
                let properties = format!(
                    "<D:displayname>{}</D:displayname><D:getcontentlength>{}</D:getcontentlength>\
                     <D:getetag>{}</D:getetag><D:getlastmodified>{}</D:getlastmodified><D:resourcetype/>",
                    escape(&part.name),
                    part.size_bytes,
                    escape(&quoted(&part.etag)),
                    http_date(part.stored_at),
                );
                let href = format!("{top}/{}", encoded(&part.name));
                text.response(&href, &[("200 OK</D:status>", properties)]);
            }
        }
    }
    Ok(multistatus(text))
}

fn collection(text: &mut Multistatus, href: &str, name: &str) {
    let properties = format!(
        "<D:displayname>{}</D:displayname><D:resourcetype><D:collection/></D:resourcetype>",
        escape(name)
    );
    text.response(href, &[("200 OK</D:status>", properties)]);
}

fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}
