//! `Queue` over Queues: one binding for each lane. The message is `{"job": "<id>"}` in both directions.

use ledge_core::ids::JobId;
use ledge_core::ports::{Lane, Queue, QueueError};
use wasm_bindgen::{JsCast, JsValue};

use super::js;

/// The queues that this Worker may send to.
#[derive(Debug, Clone)]
pub struct Queues {
    thumbnails: worker_sys::Queue,
    archives: worker_sys::Queue,
    maintenance: worker_sys::Queue,
}

impl Queues {
    /// Asks for each lane's queue by its binding's name.
    pub(super) fn new<E>(binding: impl Fn(&'static str) -> Result<worker::Queue, E>) -> Result<Self, E> {
        let queue = |name| Ok(JsValue::from(binding(name)?).unchecked_into());
        Ok(Self {
            thumbnails: queue("QUEUE_THUMBNAILS")?,
            archives: queue("QUEUE_ARCHIVES")?,
            maintenance: queue("QUEUE_MAINTENANCE")?,
        })
    }
}

impl Queue for Queues {
    async fn send(&self, lane: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError> {
        let queue = match lane {
            Lane::Thumbnails => &self.thumbnails,
            Lane::Archives => &self.archives,
            Lane::Maintenance => &self.maintenance,
        };
        let message = js::object([("job", JsValue::from_str(job.as_str()))]);
        let options = js::object([
            ("contentType", JsValue::from_str("json")),
            ("delaySeconds", JsValue::from(delay_secs)),
        ]);
        js::settle(queue.send(message.into(), options.into()))
            .await
            .map(drop)
            .map_err(|thrown| QueueError(js::reason(&thrown)))
    }
}

/// The job that a message names, or None where it isn't one of ours.
pub fn job_of(message: &JsValue) -> Option<JobId> {
    JobId::parse(&js::property(message, "job").as_string()?)
}
