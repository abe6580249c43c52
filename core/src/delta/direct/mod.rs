//! Direct uploads: clients put segments into the bucket themselves, by URLs that allow just that.
//!
//! [`begin`] gives the URLs, each good for one object of one size and digest. [`ask`] has what has arrived verified by a
//! job ([`step`]): only then the index learns of the chunks, and only what it knows can be referred to. Whoever can't be
//! trusted with the URLs can't do more with them than store what was announced, once; what was announced counts against
//! the quota from the beginning until the sweep has removed it, or a job has verified it.

mod ask;
mod begin;
mod parts;
mod verify;

pub use ask::ask;
pub use begin::{Begun, begin};
pub use parts::{MAX_CHUNKS, MAX_SEGMENT_BYTES, MAX_SEGMENTS, Part};
pub use verify::step;
