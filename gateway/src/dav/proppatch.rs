//! PROPPATCH: properties are set and removed, in the order of the request, all or none.

use http::{Response, StatusCode};
use ledge_core::ports::{Platform, Timestamp, Upload};
use ledge_core::properties::{self, Change, MAX_PROPERTIES, MAX_PROPERTIES_BYTES, Patch, Patched};

use super::href::href;
use super::props::{WIN32, is_live};
use super::xml::{self, DAV, Instruction, Multistatus, Name, element};
use super::{Answer, Failure, Request, body, multistatus};
use crate::headers::{parse_http_date, parse_rfc3339};

/// Answers 207: what became of each property. Times that clients set are the modification time; what else the server makes
/// itself is protected.
pub(crate) async fn proppatch<P: Platform>(
    platform: &P,
    request: Request<'_>,
    upload: impl Upload,
) -> Answer {
    let instructions = xml::propertyupdate(&body::read(upload).await?)?;
    let read: Vec<Read> = instructions.iter().map(read).collect();
    let path: Vec<String> =
        request.address.path.names().iter().map(|name| name.as_str().to_owned()).collect();
    let mut patch = Patch { address: request.address, changes: Vec::new(), modified_at: None };
    for read in &read {
        match read {
            Read::Change(change) => patch.changes.push(change.clone()),
            Read::ModifiedAt(time) => patch.modified_at = Some(*time),
            Read::Nothing | Read::Protected | Read::Malformed => {}
        }
    }
    let fails = read.iter().any(|read| matches!(read, Read::Protected | Read::Malformed));
    if fails {
        // Nothing is done; but that there is such a resource, and for whom, has to be known all the same.
        patch.changes.clear();
        patch.modified_at = None;
    }
    let is_collection = match properties::patch(platform, &patch).await? {
        Patched::Done { is_folder } => is_folder,
        Patched::Full => {
            let detail = format!(
                "a resource has at most {MAX_PROPERTIES} properties of at most {MAX_PROPERTIES_BYTES} bytes together"
            );
            return Err(Failure::new(StatusCode::INSUFFICIENT_STORAGE, detail));
        }
    };
    let mut text = Multistatus::begin();
    let href = href(&request.prefix, path.iter().map(String::as_str), is_collection);
    text.response(&href, &report(&instructions, &read, fails));
    let response: Response<_> = multistatus(text);
    Ok(response)
}

/// What an instruction comes to.
enum Read {
    Change(Change),
    ModifiedAt(Timestamp),
    /// It is fulfilled already.
    Nothing,
    Protected,
    Malformed,
}

fn read(instruction: &Instruction) -> Read {
    match instruction {
        Instruction::Set { dead, text } => {
            let name = Name { namespace: dead.namespace.clone(), local: dead.name.clone() };
            if is_time(&name) {
                return time(text).map_or(Read::Malformed, Read::ModifiedAt);
            }
            if is_live(&name) { Read::Protected } else { Read::Change(Change::Set(dead.clone())) }
        }
        Instruction::Remove(name) if is_time(name) => Read::Nothing,
        Instruction::Remove(name) if is_live(name) => Read::Protected,
        Instruction::Remove(name) => {
            Read::Change(Change::Remove { namespace: name.namespace.clone(), name: name.local.clone() })
        }
    }
}

/// The properties that set the modification time: Windows', the standard's (as some servers take it), rclone's.
fn is_time(name: &Name) -> bool {
    matches!(
        (name.namespace.as_str(), name.local.as_str()),
        (WIN32, "Win32LastModifiedTime") | (DAV, "getlastmodified" | "lastmodified")
    )
}

/// An HTTP date, RFC 3339, or seconds since 1970.
fn time(text: &str) -> Option<Timestamp> {
    const YEAR_10000_SECS: i64 = 253_402_300_800;
    let text = text.trim();
    let secs = parse_http_date(text).or_else(|| text.parse().ok());
    let secs = secs.filter(|secs| (0..YEAR_10000_SECS).contains(secs));
    secs.map(|secs| Timestamp(secs * 1000)).or_else(|| parse_rfc3339(text))
}

/// What became of the properties, by status. One that was named twice is told once, at its worst.
fn report(instructions: &[Instruction], read: &[Read], fails: bool) -> Vec<(&'static str, String)> {
    let mut lists: [Vec<&Name>; 4] = Default::default();
    let names: Vec<Name> = instructions.iter().map(Instruction::name).collect();
    let [protected, malformed, dependent, done] = &mut lists;
    for (name, read) in names.iter().zip(read) {
        let list = match read {
            Read::Protected => &mut *protected,
            Read::Malformed => &mut *malformed,
            _ if fails => &mut *dependent,
            _ => &mut *done,
        };
        list.push(name);
    }
    let statuses = [
        "403 Forbidden</D:status><D:error><D:cannot-modify-protected-property/></D:error>",
        "409 Conflict</D:status>",
        "424 Failed Dependency</D:status>",
        "200 OK</D:status>",
    ];
    let mut told: Vec<&Name> = Vec::new();
    let mut report = Vec::new();
    for (status, list) in statuses.into_iter().zip(&lists) {
        let mut props = String::new();
        for name in list {
            if !told.contains(name) {
                told.push(name);
                props.push_str(&element(name, ""));
            }
        }
        report.push((status, props));
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_form_are_read() {
        for (text, millis) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777_000)),
            (" 1994-11-06T08:49:37.5Z ", Some(784_111_777_500)),
            ("784111777", Some(784_111_777_000)),
            ("0", Some(0)),
            ("-1", None),
            ("99999999999999999999", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(time(text).map(|time| time.0), millis, "{text}");
        }
    }
}
