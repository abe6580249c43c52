//! Properties: which there are, and their values.

use base64::{Engine, engine::general_purpose::STANDARD};
use ledge_core::properties::{Resource, Root};

use super::locks;
use super::prefix::Prefix;
use super::xml::{DAV, Name, element, escape};
use crate::headers::{http_date, quoted, rfc3339_secs};

const OWNCLOUD: &str = "http://owncloud.org/ns";
/// The namespace in which Windows keeps its times.
pub(super) const WIN32: &str = "urn:schemas-microsoft-com:";

/// What the properties of all resources of an answer depend on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    /// What is asked of the space.
    pub(super) root: Root,
    /// Where the tree begins.
    pub(super) prefix: &'a Prefix,
}

/// What a PROPFIND asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All but what costs or is rare, and these.
    All(Vec<Name>),
    /// All names.
    Names,
    /// These.
    These(Vec<Name>),
}

/// What `allprop` has.
const USUAL: [&str; 9] = [
    "creationdate",
    "displayname",
    "getcontentlength",
    "getcontenttype",
    "getetag",
    "getlastmodified",
    "resourcetype",
    "supportedlock",
    "lockdiscovery",
];

/// What must be asked for by name.
const RARE: [(&str, &str); 6] = [
    (DAV, "quota-available-bytes"),
    (DAV, "quota-used-bytes"),
    (OWNCLOUD, "checksums"),
    (OWNCLOUD, "id"),
    (OWNCLOUD, "size"),
    (WIN32, "Win32LastModifiedTime"),
];

/// The properties of a resource, in an order that simple clients want: those that there are, then those that there
/// aren't.
pub(super) fn propstats(resource: &Resource, seen: Seen<'_>, wanted: &Wanted) -> [(&'static str, String); 2] {
    let (mut found, mut missing) = (String::new(), String::new());
    let mut show = |name: &Name, or_missing: bool| match property(resource, seen, name) {
        Some(xml) => found.push_str(&xml),
        None if or_missing => missing.push_str(&element(name, "")),
        None => {}
    };
    match wanted {
        Wanted::These(names) => names.iter().for_each(|name| show(name, true)),
        Wanted::All(more) => {
            let usual: Vec<Name> = USUAL.iter().map(|local| dav(local)).collect();
            usual.iter().for_each(|name| show(name, false));
            let dead = || resource.dead.iter().map(|dead| name(&dead.namespace, &dead.name));
            dead().for_each(|name| show(&name, false));
            for name in more.iter().filter(|name| !usual.contains(name) && dead().all(|it| it != **name)) {
                show(name, true);
            }
        }
        Wanted::Names => found = names(resource, seen),
    }
    [("200 OK</D:status>", found), ("404 Not Found</D:status>", missing)]
}

impl Wanted {
    /// Whether dead properties have to be looked up.
    pub(super) fn dead(&self) -> bool {
        match self {
            Self::All(_) | Self::Names => true,
            Self::These(names) => names.iter().any(|name| !is_live(name)),
        }
    }

    /// Whether locks have to be looked up.
    pub(super) fn locks(&self) -> bool {
        match self {
            Self::All(_) => true,
            Self::Names => false,
            Self::These(names) => names.contains(&dav("lockdiscovery")),
        }
    }
}

/// The names of all that there are.
fn names(resource: &Resource, seen: Seen<'_>) -> String {
    let live =
        USUAL.iter().map(|local| dav(local)).chain(RARE.iter().map(|(space, local)| name(space, local)));
    let live = live.filter(|name| property(resource, seen, name).is_some());
    let dead = resource.dead.iter().map(|dead| name(&dead.namespace, &dead.name));
    live.chain(dead).map(|name| element(&name, "")).collect()
}

/// A property as an element.
fn property(resource: &Resource, seen: Seen<'_>, name: &Name) -> Option<String> {
    if is_live(name) {
        return live(resource, seen, name).map(|inner| element(name, &inner));
    }
    let dead = resource.dead.iter().find(|dead| dead.namespace == name.namespace && dead.name == name.local);
    dead.map(|dead| dead.xml.clone())
}

/// Whether a property is ours.
pub(super) fn is_live(name: &Name) -> bool {
    (name.namespace == DAV && USUAL.contains(&name.local.as_str()))
        || RARE.iter().any(|(namespace, local)| *namespace == name.namespace && *local == name.local)
}

/// The inside of a live property's element; None where the resource has none such.
fn live(resource: &Resource, seen: Seen<'_>, name: &Name) -> Option<String> {
    let file = resource.file.as_ref();
    let is_folder = file.is_none();
    let number = |number: u64| number.to_string();
    Some(match name.local.as_str() {
        "creationdate" => rfc3339_secs(resource.created_at),
        "displayname" => escape(&resource.name).into_owned(),
        "getcontentlength" | "size" => number(file?.size_bytes),
        "getcontenttype" => escape(&file?.media_type).into_owned(),
        "getetag" => quoted(&resource.etag),
        "getlastmodified" | "Win32LastModifiedTime" => http_date(resource.modified_at),
        "resourcetype" => if is_folder { "<D:collection/>" } else { "" }.to_owned(),
        "supportedlock" => locks::SUPPORTED.to_owned(),
        "lockdiscovery" => locks::discovery(seen.prefix, &resource.locks, seen.root.asked_at),
        "quota-used-bytes" if is_folder => number(seen.root.used_bytes),
        "quota-available-bytes" if is_folder => number(seen.root.free_bytes?),
        "id" => resource.id.to_string(),
        "checksums" => checksums(resource)?,
        _ => return None,
    })
}

/// Verified digests as ownCloud's clients read them.
fn checksums(resource: &Resource) -> Option<String> {
    let digests = &resource.file.as_ref()?.digests;
    let names = [("sha", "SHA1"), ("md5", "MD5"), ("sha-256", "SHA256"), ("adler", "ADLER32")];
    let sums: Vec<String> = names
        .iter()
        .filter_map(|(ours, theirs)| {
            let bytes = STANDARD.decode(digests.get(*ours)?).ok()?;
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(format!("{theirs}:{hex}"))
        })
        .collect();
    (!sums.is_empty()).then(|| format!("<oc:checksum>{}</oc:checksum>", sums.join(" ")))
}

fn dav(local: &str) -> Name {
    name(DAV, local)
}

fn name(namespace: &str, local: &str) -> Name {
    Name { namespace: namespace.to_owned(), local: local.to_owned() }
}
