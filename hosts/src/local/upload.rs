//! `Upload` over hyper's incoming body.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use ledge_core::ports::{self, UploadError};

/// How much of a body that nobody wanted is read on, so that its sender gets to see the answer. Past it
/// the connection closes.
const DRAIN_BYTES: usize = 64 * 1024 * 1024;

/// How long that may take.
const DRAIN_TIME: Duration = Duration::from_secs(30);

/// A request's body. hyper reports a body shorter than its Content-Length, and chunks that break off, as errors.
#[derive(Debug)]
pub struct Upload {
    /// None after the end or an error.
    incoming: Option<Incoming>,
    /// What has arrived but was not asked for yet.
    arrived: Bytes,
    cut: Option<UploadError>,
    /// The sender waits for "100 Continue", which hyper sends when the body is first asked for.
    sender_waits: bool,
    rest: Rest,
}

impl Upload {
    /// The body, and a handle on what will be left of it.
    pub(super) fn new(incoming: Incoming, sender_waits: bool) -> (Self, Rest) {
        let rest = Rest::default();
        let upload = Self {
            incoming: Some(incoming),
            arrived: Bytes::new(),
            cut: None,
            sender_waits,
            rest: rest.clone(),
        };
        (upload, rest)
    }

    /// Waits for bytes; none are left in `arrived` at the end of the body.
    async fn arrive(&mut self) -> Result<(), UploadError> {
        if let Some(cut) = &self.cut {
            return Err(cut.clone());
        }
        self.sender_waits = false;
        while self.arrived.is_empty() {
            let Some(incoming) = &mut self.incoming else { break };
            match incoming.frame().await {
                // A frame without data carries trailers.
                Some(Ok(frame)) => self.arrived = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    let cut = UploadError::Cut(error.to_string());
                    (self.incoming, self.cut) = (None, Some(cut.clone()));
                    return Err(cut);
                }
                None => self.incoming = None,
            }
        }
        Ok(())
    }
}

impl ports::Upload for Upload {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        self.arrive().await?;
        let now = self.arrived.split_to(at_most.min(self.arrived.len()));
        into.extend_from_slice(&now);
        Ok(now.len())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // Who still waits has sent nothing: reading on would ask for a body that nobody wants.
        if !self.sender_waits {
            self.rest.0.replace(self.incoming.take());
        }
    }
}

/// What a handler left unread.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest(Rc<RefCell<Option<Incoming>>>);

impl Rest {
    /// Reads on, within limits: a client that is still sending when the connection closes would see a reset
    /// instead of its answer.
    pub(super) async fn drain(self) {
        let Some(mut incoming) = self.0.take() else { return };
        let read_on = async {
            let mut drained = 0_usize;
            while let Some(Ok(frame)) = incoming.frame().await {
                drained = drained.saturating_add(frame.data_ref().map_or(0, Bytes::len));
                if drained > DRAIN_BYTES {
                    break;
                }
            }
        };
        // Over time, the connection closes like any other that was answered before its body was read.
        let _ = tokio::time::timeout(DRAIN_TIME, read_on).await;
    }
}
