//! What can go wrong, by what the caller can do about it.
//!
//! Rules: messages are lower case without a full stop and name the input; bad input names its field; whoever may
//! not know that a thing exists gets [`Error::NotFound`]; the gateway turns kinds into HTTP in exactly one place.

use crate::digest::Sha256;
use crate::ids::JobId;
use crate::locks::Root;
use crate::ports::{BucketError, DbError, UploadError};

/// Why a use case failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The input is malformed. Correct the field and try again.
    #[error("{field}: {reason}")]
    Invalid {
        /// Which part of the input: a query parameter, a header, a member of the body, a path segment.
        field: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// No token, or not a valid one.
    #[error("a valid token is needed")]
    Unauthenticated,
    /// It isn't there, or isn't there for you.
    #[error("not found")]
    NotFound,
    /// You may see it, but not do this to it.
    #[error("your role in this space is {role}, which may not do this")]
    Forbidden {
        /// The role that the caller has.
        role: &'static str,
    },
    /// Only administrators may do this.
    #[error("only administrators may do this")]
    AdministratorsOnly,
    /// The token may not do this, whatever the account's role.
    #[error("this token may not do this: it lacks {needs}")]
    TokenForbids {
        /// What the token lacks.
        needs: &'static str,
    },
    /// The tree is in another state than the request needs.
    #[error("{0}")]
    Conflict(Conflict),
    /// Locks cover what is to change, and their tokens weren't submitted by who holds them.
    #[error("locked: {}; the lock's token is needed, from the account that has taken it", list(roots))]
    Locked {
        /// Where the locks begin.
        roots: Vec<Root>,
    },
    /// A lock can't be taken beside others.
    #[error("locked already: {}", list(roots))]
    LockConflict {
        /// Where the others begin.
        roots: Vec<Root>,
    },
    /// The space has as many locks as it may.
    #[error("the space has {} locks, and can have no more", crate::locks::MAX_LOCKS)]
    TooManyLocks,
    /// A condition of the request doesn't hold.
    #[error("a precondition doesn't hold: the target has changed or is not as the request expects")]
    PreconditionFailed,
    /// No byte of the requested ranges exists.
    #[error("the range lies outside of the {size_bytes} bytes that there are")]
    RangeNotSatisfiable {
        /// The size of the content.
        size_bytes: u64,
    },
    /// The folder that a deleted node was in isn't there any more.
    #[error("the folder that it was in, {}, isn't there any more: restore that first, or say where to", name.as_ref().unwrap_or(id))]
    ParentGone {
        /// The folder's id, or that of one above it: the one to restore.
        id: String,
        /// Its name, while it is in the trash.
        name: Option<String>,
    },
    /// What changed since the cursor isn't kept any more.
    #[error(
        "what changed since isn't known any more: ask for a new cursor, list everything again, then follow from it"
    )]
    ChangesGone,
    /// More nodes than one request may be about.
    #[error("{verb}: more than {limit} nodes at once")]
    TooManyNodes {
        /// What was to be done with them.
        verb: &'static str,
        /// How many may be.
        limit: u64,
    },
    /// An archive can't be sent in one answer, or made at once.
    #[error("{reason}")]
    TooManyEntries {
        /// What there is too much of, and what to do.
        reason: String,
    },
    /// The file isn't a ZIP file, or one that can't be read.
    #[error("the ZIP file can't be read: {reason}")]
    BadArchive {
        /// What is wrong with it.
        reason: String,
    },
    /// What is in a ZIP file can't be had so.
    #[error("the entry can't be read: {reason}")]
    EntryUnsupported {
        /// Why.
        reason: String,
    },
    /// Content that was imported has no checksum yet, which this needs: a job is at work on it.
    #[error("content that was imported has no checksum yet: job {job} makes it, then try again")]
    NeedsHash {
        /// The job's id.
        job: JobId,
    },
    /// Chunks that a list names aren't known in the space: send them in a pack, and the list again.
    #[error("chunks are missing: {}", chunks_missing(hashes))]
    ChunksMissing {
        /// Their hashes, each once: the first [`MAX_NAMED`].
        hashes: Vec<Sha256>,
    },
    /// The content is no picture that is read, or making its thumbnails has failed for good.
    #[error("there is no thumbnail: {reason}")]
    NoThumbnail {
        /// Why.
        reason: String,
    },
    /// A body that is read as a whole, JSON say, is longer than that.
    #[error("body: the limit is {limit_bytes} bytes")]
    BodyTooLarge {
        /// How long it may be.
        limit_bytes: u64,
    },
    /// One operation of a batch failed, and so none was done.
    #[error("operation {index}: {source}")]
    Operation {
        /// Its place in the batch, from 0.
        index: usize,
        /// Why.
        source: Box<Self>,
    },
    /// The space's quota doesn't allow it.
    #[error("the space's quota is exceeded")]
    QuotaExceeded,
    /// The account has as many uploads open as it may.
    #[error("{} uploads are open already: finish some, or abandon them", crate::uploads::MAX_OPEN)]
    TooManyUploads,
    /// The host's memory for uploads is in use. Try again soon.
    #[error("too many uploads are under way")]
    Busy,
    /// The bucket or the database failed. Try again; nothing is half done.
    #[error("{0}")]
    Unavailable(Unavailable),
    /// A fault of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

/// How the tree differs from what a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// A folder on the way isn't there.
    #[error("the parent folder doesn't exist")]
    ParentMissing,
    /// A file stands where a folder is needed.
    #[error("a file is not a folder: it has no children")]
    NotAFolder,
    /// A folder stands where a file is needed.
    #[error("a folder is in the way")]
    IsAFolder,
    /// A file stands where a folder is to be made.
    #[error("a file is in the way")]
    IsAFile,
    /// Something with this name is there already.
    #[error("the name is taken")]
    NameTaken,
    /// A folder can't be moved or copied into itself, nor replaced by what it holds.
    #[error("a folder can't be put into itself, nor replaced by itself or what is in it")]
    IntoItself,
    /// The top folder of a space stays.
    #[error("the space's top folder can't be moved, copied or deleted")]
    IsRoot,
    /// Paths have an end.
    #[error("the tree would be more than {} names deep", crate::path::MAX_DEPTH)]
    TooDeep,
    /// The current version can't be deleted while the file is there.
    #[error("the current version can't be deleted: delete the file, or restore another version first")]
    CurrentVersion,
    /// The file would have another size than its client thinks.
    #[error("the file would have another size than announced")]
    SizeDiffers,
    /// The lock that is to be given back isn't there, but another is.
    #[error("what is there is locked, but not by that lock")]
    NotLocked,
    /// What is over can't be ended, and what is done can't be done again.
    #[error("the job is over")]
    JobOver,
    /// Another job that does the same is unfinished, and there may be only one.
    #[error("another job of this kind is under way")]
    JobUnderWay,
    /// An upload goes on where it has ended so far, and nowhere else.
    #[error("the upload goes on at another byte than this one: ask where")]
    WrongOffset,
    /// Not all parts are there that are to be joined.
    #[error("a part that is to be joined isn't whole, or isn't in the same space")]
    Incomplete,
    /// Content goes through the drive only.
    #[error(
        "content goes through this drive only: its operator has not allowed direct transfers, or its bucket knows none"
    )]
    NotDirect,
    /// Content that was imported isn't what it was: its object was changed, or removed.
    #[error(
        "the object that this was imported from was changed or removed since: put it back, or import it again"
    )]
    SourceChanged,
    /// Others keep changing the target. Try again.
    #[error("the target keeps changing")]
    Contended,
}

/// Which part failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// Metadata can't be read or written.
    #[error("the database is unavailable")]
    Database {
        /// For the log, not for the client.
        cause: String,
    },
    /// Content can't be read or written.
    #[error("the bucket is unavailable")]
    Bucket {
        /// For the log, not for the client.
        cause: String,
    },
    /// Content lies in a bucket that the configuration doesn't name, or not any more.
    #[error("the bucket {name} isn't configured")]
    BucketNotConfigured {
        /// Its name.
        name: String,
    },
    /// Content that was found to be there already has been removed since.
    #[error("content that was found to be there already has been removed since")]
    SegmentsGone,
    /// A job of a release that is still to be deployed, or no longer is.
    #[error("not a job of this release: {why}")]
    OtherRelease {
        /// What can't be read.
        why: String,
    },
}

/// How many missing chunks an error names: who has sent them asks again.
pub const MAX_NAMED: usize = 8192;

/// A use case's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The first few, for people.
fn list(roots: &[Root]) -> String {
    let more = if roots.len() > 3 { ", …" } else { "" };
    roots.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join(", ") + more
}

fn chunks_missing(hashes: &[Sha256]) -> String {
    let more = if hashes.len() > 1 { format!(" and {} more", hashes.len() - 1) } else { String::new() };
    hashes.first().map(ToString::to_string).unwrap_or_default() + &more
}

impl Error {
    /// Bad input in `field`.
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Self {
        Self::Invalid { field, reason: reason.into() }
    }

    /// Whether the same may succeed later, with nobody having changed what was asked for: what a job tries again. All else
    /// is an answer.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Busy | Self::Internal(_) | Self::Conflict(Conflict::Contended) => {
                true
            }
            Self::Operation { source, .. } => source.may_pass(),
            _ => false,
        }
    }

    /// The error as that of an operation in a batch.
    #[must_use]
    pub fn of_operation(self, index: usize) -> Self {
        Self::Operation { index, source: Box::new(self) }
    }

    /// The error of the only operation in a batch.
    #[must_use]
    pub fn alone(self) -> Self {
        match self {
            Self::Operation { source, .. } => *source,
            error => error,
        }
    }
}

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        match error {
            DbError::Unavailable(cause) => Self::Unavailable(Unavailable::Database { cause }),
            // A use case that lets a constraint fail on purpose handles it; here it is unexpected.
            DbError::Violated(_) | DbError::Duplicate(_) | DbError::Rejected(_) => {
                Self::Internal(error.to_string())
            }
        }
    }
}

impl From<BucketError> for Error {
    fn from(error: BucketError) -> Self {
        match error {
            BucketError::NotConfigured(name) => {
                return Self::Unavailable(Unavailable::BucketNotConfigured { name });
            }
            BucketError::Changed(_) => return Self::Conflict(Conflict::SourceChanged),
            _ => {}
        }
        // An object that a row refers to and that isn't there is the bucket's fault, not the client's.
        Self::Unavailable(Unavailable::Bucket { cause: error.to_string() })
    }
}

impl From<UploadError> for Error {
    fn from(error: UploadError) -> Self {
        Self::invalid("body", error.to_string())
    }
}
