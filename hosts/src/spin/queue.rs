//! `Queue` on Spin, which has none: the jobs' table is the queue, and a message only wakes.
//!
//! The gateway wakes the functions component by a request, beside its answer. The functions component keeps what it would
//! send to itself, and works on it before it answers. What is to come later, or gets lost, the next sweep finds.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use http::{Request, StatusCode};
use ledge_core::ids::JobId;
use ledge_core::ports::{Lane, Queue, QueueError};
use spin_sdk::wasip3::spawn;

use super::client::Outbound;
use crate::s3::Client;

/// The header with the secret that the two components share.
pub const SECRET_HEADER: &str = "x-ledge-jobs-secret";

/// Wake-ups. Clones share them.
#[derive(Debug, Clone)]
pub struct Messages(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Sent { url: String, secret: String },
    Kept(Rc<RefCell<VecDeque<JobId>>>),
}

impl Messages {
    /// Messages that are requests to the functions component.
    pub(super) fn to(url: String, secret: String) -> Self {
        Self(Kind::Sent { url, secret })
    }

    /// Messages that whoever sends them works on, too.
    pub(super) fn kept() -> Self {
        Self(Kind::Kept(Rc::default()))
    }

    /// Takes the oldest message that was kept.
    pub fn take(&self) -> Option<JobId> {
        match &self.0 {
            Kind::Kept(kept) => kept.borrow_mut().pop_front(),
            Kind::Sent { .. } => None,
        }
    }
}

impl Queue for Messages {
    async fn send(&self, _: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError> {
        if delay_secs > 0 {
            return Ok(());
        }
        match &self.0 {
            Kind::Kept(kept) => kept.borrow_mut().push_back(job.clone()),
            // Without a secret the other component would refuse it.
            Kind::Sent { secret, .. } if secret.is_empty() => {}
            Kind::Sent { url, secret } => {
                let request = Request::post(format!("{url}?job={job}"))
                    .header(SECRET_HEADER, secret)
                    .body(&[][..])
                    .map_err(|error| QueueError(error.to_string()))?;
                spawn(wake(request));
            }
        }
        Ok(())
    }
}

async fn wake(request: Request<&[u8]>) {
    match Outbound.send(request).await {
        Ok(answer) if answer.status() == StatusCode::NO_CONTENT => {}
        Ok(answer) => {
            eprintln!("ledge: a job waits for the next sweep: its wake-up was answered {}", answer.status())
        }
        Err(error) => eprintln!("ledge: a job waits for the next sweep: it can't be woken: {error}"),
    }
}
