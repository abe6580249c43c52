//! Texts of the API that are one of a few words, or have a form.

use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

macro_rules! words {
    ($($(#[$about:meta])* $name:ident: $($word:literal)|+;)+) => { $(
        $(#[$about])*
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some([$($word),+])).into()
            }
        }

        impl ToSchema for $name {}
    )+ };
}

words! {
    /// What a node is.
    Kind: "file" | "folder";
    /// What happened to a node.
    Change: "created" | "updated" | "moved" | "deleted" | "restored" | "purged";
    /// What a member may do in a space.
    Role: "reader" | "writer" | "owner";
    /// What a listing is ordered by.
    Sort: "name" | "size" | "modified_at";
    /// Which way.
    Order: "asc" | "desc";
    /// What an operation does.
    Verb: "move" | "copy" | "delete" | "restore";
    /// What to do where a name is taken.
    Conflict: "fail" | "replace" | "rename";
    /// What a token may do.
    Rights: "read" | "write";
    /// How a token may be used.
    Protocol: "rest" | "webdav";
    /// Whom a lock keeps out.
    Scope: "exclusive" | "shared";
    /// How far down a lock reaches.
    Depth: "0" | "infinity";
    /// What became of a job.
    State: "pending" | "retry" | "processing" | "done" | "dead" | "cancelled";
    /// What can be given back: uploads that never committed and have expired; segments that nothing refers to and that a
    /// sweep would doom; segments to be measured, and repacked where little of them is in use; doomed segments within
    /// their grace time; those whose time is over; those whose deletion has begun; objects that no row knows.
    Reclaimed: "expired_uploads" | "unused" | "shrunk" | "doomed" | "due" | "deleting" | "orphans";
    /// Why an object can't become a file.
    Refusal: "not_a_name" | "too_deep" | "taken" | "twin";
    /// Which queue a job goes through.
    Lane: "thumbnails" | "archives" | "maintenance";
}

/// A time: RFC 3339. Answers are in UTC, with milliseconds.
pub(crate) struct Time;

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Time {}
