//! A thumbnail that somebody wants: it, or the job that makes it, or why there is none.

use super::{Entry, ask, hopeless};
use crate::auth::{self, Right};
use crate::blobs::{keyed_page, keys};
use crate::error::{Conflict, Error, Result};
use crate::files::{self, Wanted, Which, which};
use crate::jobs::{self, Job, State};
use crate::manifest;
use crate::plan::{ReadPlan, Slice};
use crate::ports::{Host, Platform, Row, Rows, Statement};
use crate::tree::{Address, walk};

/// What somebody wants.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The file.
    pub address: &'a Address,
    /// Which of its versions.
    pub which: &'a Which,
    /// One of [`super::SIZES`].
    pub size: u32,
}

/// How it stands with a thumbnail.
#[derive(Debug)]
pub enum Found {
    /// It is made.
    Image(Image),
    /// A job makes it. Whoever may read the file need not be who asked first: `is_own` tells whether the caller's account did.
    Making {
        /// The job.
        job: Box<Job>,
        /// Whether it is the caller's.
        is_own: bool,
    },
}

/// A thumbnail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/jpeg` or `image/webp`.
    pub media_type: String,
    /// Its entity tag, without quotes.
    pub etag: String,
    /// Where it is.
    pub plan: ReadPlan,
}

/// What there is of the thumbnails of the file's version `v`: the row, and where the sheet's content is.
macro_rules! row {
    ($which:ident) => {
        concat!(
            walk!(),
            "select t.refused, t.images, s.inline, json_extract(e.value, '$[0]') as start, p.extents, ",
            keys!(),
            " from walk w cross join nodes n on n.id = w.id
             cross join versions v on ",
            which!($which),
            " cross join thumbnails t on t.blob_id = v.blob_id
              left join blobs s on s.id = t.sheet
              left join json_each(s.pages) e
              left join pages p on p.id = json_extract(e.value, '$[1]')
             where w.depth = ?3
             order by e.key"
        )
    };
}

/// The job that makes them.
macro_rules! job {
    ($which:ident) => {
        concat!(
            walk!(),
            "select ",
            jobs::columns!(),
            " from walk w cross join nodes n on n.id = w.id
             cross join versions v on ",
            which!($which),
            " cross join thumbnails t on t.blob_id = v.blob_id
              cross join jobs j on j.id = t.job_id
             where w.depth = ?3"
        )
    };
}

/// Finds a thumbnail, authorised to read the file. One round trip; one more where it has to be asked for.
///
/// # Errors
/// [`Error::NoThumbnail`] where there is none, and why.
pub async fn get<P: Platform>(platform: &P, asked: &Asked<'_>) -> Result<Found> {
    for _ in 0..2 {
        let (row_sql, job_sql) = match asked.which {
            Which::Current => (row!(current), job!(current)),
            Which::Version(_) => (row!(version), job!(version)),
            Which::At(_) => (row!(at), job!(at)),
        };
        let bind = |sql| files::bind_place(Statement::new(sql), asked.address, asked.which);
        let look_up = auth::look_up_at(asked.address, platform.host().now());
        let first = vec![look_up, bind(row_sql), bind(job_sql)];
        let (file, also) =
            files::find_with(platform, asked.address, asked.which, Wanted::Nothing, first).await?;
        let mut also = also.into_iter();
        let mut rows = || also.next().unwrap_or_default();
        let caller = auth::authorise(rows().first(), Right::Read)?;
        let (rows, jobs) = (rows(), rows());
        if let Some(found) = known(&rows, &jobs, asked.size)? {
            return match found {
                Known::Image(image) => Ok(Found::Image(image)),
                Known::Job(job) => {
                    let is_own = job.account.as_ref() == Some(&caller.account);
                    Ok(Found::Making { job, is_own })
                }
            };
        }
        let blob = &file.version.blob;
        if let Some(reason) = hopeless(&blob.media_type, blob.size_bytes) {
            return Err(Error::NoThumbnail { reason });
        }
        if let Some(job) = ask::ask(platform, asked.address, &caller.account, &blob.id).await? {
            let is_own = job.account.as_ref() == Some(&caller.account);
            return Ok(Found::Making { job: Box::new(job), is_own });
        }
        // Made or refused in the meantime, or the blob has gone.
    }
    Err(Error::Conflict(Conflict::Contended))
}

enum Known {
    Image(Image),
    Job(Box<Job>),
}

/// What the rows say; None where a job has to be asked for.
fn known(rows: &Rows, jobs: &Rows, size: u32) -> Result<Option<Known>> {
    let Some(row) = rows.first() else { return Ok(None) };
    if let Some(reason) = row.text_or_null("refused")? {
        return Err(Error::NoThumbnail { reason: reason.to_owned() });
    }
    if let Some(images) = row.text_or_null("images")? {
        let entries: Vec<Entry> = manifest::from_json(images)?;
        let entry = entries.into_iter().find(|entry| entry.sizes.contains(&size));
        let Some(entry) = entry else {
            return Err(Error::Internal(format!("a sheet without the size {size}")));
        };
        return Ok(Some(Known::Image(image(rows, row, entry)?)));
    }
    let Some(job) = jobs.first().map(Job::read).transpose()? else { return Ok(None) };
    match job.state {
        State::Pending | State::Retry | State::Processing => Ok(Some(Known::Job(Box::new(job)))),
        State::Dead => {
            let why = job.error.unwrap_or_default();
            Err(Error::NoThumbnail {
                reason: format!("the job {} that should make it was given up: {why}", job.id),
            })
        }
        // Somebody has ended it.
        State::Done | State::Cancelled => Ok(None),
    }
}

fn image(rows: &Rows, row: &Row, entry: Entry) -> Result<Image> {
    let range = entry.start..entry.start.saturating_add(entry.length);
    let plan = match row.text_or_null("inline")? {
        Some(inline) => {
            let bytes = crate::blobs::decode(Some(inline))?;
            let at = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
            let part = bytes.get(at(range.start)..at(range.end));
            let part =
                part.ok_or_else(|| Error::Internal("a sheet is shorter than its images".to_owned()))?;
            let mut plan = ReadPlan::default();
            plan.push(Slice::Inline(part.to_vec()));
            plan
        }
        None => {
            let pages = rows.iter().map(keyed_page).collect::<Result<Vec<_>>>()?;
            manifest::slices(&pages, range)?
        }
    };
    Ok(Image { media_type: entry.media_type, etag: entry.etag, plan })
}
