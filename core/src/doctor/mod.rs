//! Whether database and bucket fit together: what an administrator asks after a restore, or when in doubt.
//!
//! An examination goes on step by step, each bounded, and its [`Examination`] is all that is carried from one to the next:
//! a job keeps it as its checkpoint. Others may write meanwhile: what looks wrong is looked at again, in one batch or in
//! the bucket itself, before it counts. Only the counters are compared in one statement over whole tables.

mod ask;
mod blobs;
mod buckets;
mod content;
mod counters;
mod imports;
mod nodes;
mod objects;
mod pages;
mod report;

pub use ask::ask;
pub use buckets::DEFAULT;
pub use report::{BucketHealth, Finding, Kind, Report};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::ports::Platform;

/// An examination under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examination {
    /// What comes next; None at the end.
    next: Option<Next>,
    /// Whether all content is to be read.
    content: bool,
    /// What was found so far.
    pub report: Report,
}

/// A place in an examination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "look_at", rename_all = "snake_case")]
enum Next {
    /// Each bucket, and whether it works.
    Buckets,
    /// A bucket's listing, beside the rows of segments.
    Objects {
        /// The bucket's name; None: the default one.
        #[serde(default)]
        bucket: Option<String>,
        /// The listing's cursor.
        cursor: Option<String>,
        /// The last key that was looked at.
        after: String,
    },
    /// Objects that were imported, as they were then.
    Imports {
        /// The last segment that was looked at.
        after: u64,
    },
    /// Extents, beside segments.
    Pages {
        /// The last page that was looked at.
        after: u64,
    },
    /// Sizes and checksums of content, beside pages.
    Blobs {
        /// The last blob that was looked at.
        after: String,
    },
    /// The tree.
    Nodes {
        /// The last node that was looked at.
        after: u64,
    },
    /// Bytes of spaces, uses of pages.
    Counters,
    /// What segments hold, beside what is known of it.
    Content {
        /// The last segment that was looked at.
        after: u64,
    },
}

impl Examination {
    /// Begins one. With `content`, every stored byte is read and its checksums compared.
    pub fn new(content: bool) -> Self {
        Self { next: Some(Next::Buckets), content, report: Report::default() }
    }

    /// Whether all has been looked at.
    pub fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// What is being looked at, for people who wait.
    pub fn at(&self) -> &'static str {
        match self.next {
            Some(Next::Buckets) => "buckets",
            Some(Next::Objects { .. }) => "objects",
            Some(Next::Imports { .. }) => "imports",
            Some(Next::Pages { .. }) => "pages",
            Some(Next::Blobs { .. }) => "blobs",
            Some(Next::Nodes { .. }) => "nodes",
            Some(Next::Counters) => "counters",
            Some(Next::Content { .. }) => "content",
            None => "nothing more",
        }
    }

    /// Looks at the next piece: some round trips, and of the bucket one page of its listing, one segment, or the ends of
    /// some imported objects.
    ///
    /// # Errors
    /// Those of the ports; the examination is as it was then.
    pub async fn step<P: Platform>(&mut self, platform: &P) -> Result<()> {
        let report = &mut self.report;
        self.next = match &self.next {
            None => None,
            Some(Next::Buckets) => {
                buckets::look(platform, report).await?;
                Some(next_listing(None, report))
            }
            Some(Next::Objects { bucket, cursor, after }) => {
                let name = bucket.as_deref();
                match objects::look(platform, name, cursor.as_deref(), after, report).await? {
                    Some((cursor, after)) => {
                        Some(Next::Objects { bucket: bucket.clone(), cursor: Some(cursor), after })
                    }
                    None => Some(next_listing(Some(name.unwrap_or(DEFAULT)), report)),
                }
            }
            Some(Next::Imports { after }) => {
                let next = imports::look(platform, *after, report).await?;
                Some(next.map_or(Next::Pages { after: 0 }, |after| Next::Imports { after }))
            }
            Some(Next::Pages { after }) => {
                let next = pages::look(platform, *after, report).await?;
                Some(next.map_or(Next::Blobs { after: String::new() }, |after| Next::Pages { after }))
            }
            Some(Next::Blobs { after }) => {
                let next = blobs::look(platform, after, report).await?;
                Some(next.map_or(Next::Nodes { after: 0 }, |after| Next::Blobs { after }))
            }
            Some(Next::Nodes { after }) => {
                let next = nodes::look(platform, *after, report).await?;
                Some(next.map_or(Next::Counters, |after| Next::Nodes { after }))
            }
            Some(Next::Counters) => {
                counters::look(platform, report).await?;
                self.content.then_some(Next::Content { after: 0 })
            }
            Some(Next::Content { after }) => {
                content::look(platform, *after, report).await?.map(|after| Next::Content { after })
            }
        };
        Ok(())
    }
}

/// The listing of the next bucket that works and is used, behind that one; the default one comes first. Behind all of them, imports.
fn next_listing(behind: Option<&str>, report: &Report) -> Next {
    let at = behind.and_then(|name| report.buckets.iter().position(|bucket| bucket.name == name));
    let rest = report.buckets.iter().skip(at.map_or(0, |at| at + 1));
    match rest.into_iter().find(|bucket| bucket.works && bucket.is_used) {
        Some(bucket) => Next::Objects {
            bucket: Some(bucket.name.clone()).filter(|name| name != DEFAULT),
            cursor: None,
            after: String::new(),
        },
        None => Next::Imports { after: 0 },
    }
}
