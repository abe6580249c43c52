//! Ids that a client may see: UUIDv7 as text, a type for each.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::{Builder, Uuid};

use crate::ports::{Host, Value};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// A new id: the host's time, then random bits.
            pub fn new(host: &impl Host) -> Self {
                Self(new_v7(host))
            }

            /// Reads an id that a client sent, in any of UUID's spellings; None where it is not one.
            pub fn parse(text: &str) -> Option<Self> {
                Uuid::try_parse(text).ok().map(|id| Self(id.hyphenated().to_string()))
            }

            /// The id as it stands in the database.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&$name> for Value {
            fn from(id: &$name) -> Self {
                Self::Text(id.0.clone())
            }
        }
    )*};
}

ids! {
    /// A person or a program that signs in.
    AccountId,
    /// A drive with its own tree, quota and members.
    SpaceId,
    /// A file or a folder.
    NodeId,
    /// One saved state of a file.
    VersionId,
    /// Immutable content.
    BlobId,
    /// An app password or API key (its row; the secret is [`crate::token::Token`]).
    TokenId,
    /// A piece of background work.
    JobId,
    /// A lock; [`crate::locks::token`] is what WebDAV's clients know of it.
    LockId,
    /// An upload in parts.
    UploadId,
}

fn new_v7(host: &impl Host) -> String {
    let mut random = [0; 10];
    host.random(&mut random);
    let millis = u64::try_from(host.now().0).unwrap_or(0);
    Builder::from_unix_timestamp_millis(millis, &random).into_uuid().hyphenated().to_string()
}
