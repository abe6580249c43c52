//! Operations as the requests that clients send, and in a few words.

use http::Request;
use serde_json::{Value, json};

use super::operation::Operation;
use super::uploads;
use crate::world::World;

impl Operation {
    /// Those that are requests.
    pub(super) fn request(&self, world: &World) -> Request<&'static [u8]> {
        let drive = &world.drive;
        let batch = |operation: String| {
            let body = format!("{{\"operations\":[{operation}]}}");
            drive.request("POST", "nodes/batch", body.leak().as_bytes())
        };
        match self {
            Self::Save { name, content, is_damaged } => {
                let mut put = drive.request("PUT", &format!("files/{name}"), content);
                if *is_damaged {
                    put.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
                }
                put
            }
            Self::Copy { from, to } => batch(format!(
                "{{\"op\":\"copy\",\"path\":\"/{from}\",\"to\":{{\"parent\":\"/\",\"name\":\"{to}\"}},\
                  \"conflict\":\"replace\"}}"
            )),
            Self::Delete(name) => drive.request("DELETE", &format!("files/{name}"), b""),
            Self::Purge(None) => drive.request("DELETE", "trash", b""),
            Self::Purge(Some(id)) => drive.request("DELETE", &format!("trash/{id}"), b""),
            Self::Restore(id) => {
                batch(format!("{{\"op\":\"restore\",\"id\":\"{id}\",\"conflict\":\"rename\"}}"))
            }
            Self::RestoreVersion { name, version } => drive.request(
                "POST",
                &format!("versions/{name}"),
                format!("{{\"restore\":\"{version}\"}}").leak().as_bytes(),
            ),
            Self::DeleteVersion { name, version } => {
                drive.request("DELETE", &format!("versions/{name}?version={version}"), b"")
            }
            Self::Begin { name, content, is_part } => uploads::begin(drive, name, *content, *is_part),
            Self::Part { upload, body } => uploads::part(drive, upload, body),
            Self::Abandon(id) => uploads::abandon(drive, id),
            Self::Join { parts, name } => uploads::join(drive, parts, name),
            Self::MakeFolder(folder) => uploads::make_folder(drive, folder),
            Self::PutPart { folder, number, body } => uploads::put_part(drive, folder, *number, body),
            Self::JoinFolder { folder, name } => uploads::join_folder(drive, folder, name),
            Self::DropFolder(folder) => uploads::drop_folder(drive, folder),
            Self::Ask(offer) => drive.request("POST", "chunks/missing", offer.question.as_bytes()),
            Self::Pack { offer, is_damaged } => {
                let body = if *is_damaged { &offer.damaged } else { &offer.pack };
                with(drive.request("POST", "segments", body), "content-type", "application/vnd.ledge.pack")
            }
            Self::List { name, offer } => {
                let put = drive.request("PUT", &format!("files/{name}"), offer.list.as_bytes());
                with(put, "content-type", "application/vnd.ledge.manifest+json")
            }
            Self::Append { name, body } => drive.request("POST", &format!("append/{name}?create=true"), body),
            Self::Patch { name, start, body } => {
                let range = format!("bytes {start}-{}/*", start + body.len() - 1);
                with(drive.request("PATCH", &format!("files/{name}"), body), "content-range", &range)
            }
            Self::Concat { name, sources } => {
                let sources: Vec<Value> =
                    sources.iter().map(|source| json!({ "path": format!("/{source}") })).collect();
                let body = json!({ "sources": sources }).to_string();
                drive.request("POST", &format!("concat/{name}"), body.leak().as_bytes())
            }
            other => unreachable!("{other:?} is no request"),
        }
    }
}

fn with(mut request: Request<&'static [u8]>, name: &'static str, value: &str) -> Request<&'static [u8]> {
    request.headers_mut().insert(name, value.parse().unwrap());
    request
}

/// For who reads what has happened.
pub(super) fn short(operation: &Operation) -> String {
    match operation {
        Operation::Save { name, content, is_damaged } => {
            format!(
                "a save of {} bytes as {name}{}",
                content.len(),
                if *is_damaged { ", damaged" } else { "" }
            )
        }
        Operation::Part { upload, body } => {
            format!("a part of {} bytes behind {} of {}", body.len(), upload.received, upload.id)
        }
        Operation::PutPart { folder, number, body } => {
            format!("a part of {} bytes as {number} of {folder}", body.len())
        }
        Operation::Ask(offer) => format!("a question about {}", offer.question),
        Operation::Pack { offer, is_damaged } => {
            format!("a pack of {}{}", offer.question, if *is_damaged { ", damaged" } else { "" })
        }
        Operation::List { name, offer } => format!("a list for {name} of {}", offer.question),
        Operation::Append { name, body } => format!("an append of {} bytes to {name}", body.len()),
        Operation::Patch { name, start, body } => {
            format!("a patch of {} bytes at {start} of {name}", body.len())
        }
        other => format!("{other:?}"),
    }
}
