//! `Queue` in process: messages wait in memory for whoever calls [`InProcess::deliver`].
//!
//! A restart loses them, as the port's contract allows: the job rows are the truth, and the sweep sends again.

use std::collections::HashMap;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use ledge_core::ids::JobId;
use ledge_core::ports::{Lane, Queue, QueueError};
use tokio::sync::{Mutex, Semaphore, mpsc};
use tokio::time::{Instant, sleep_until};

/// How many jobs of one lane run at once: they share one thread, so more would only take memory.
const fn jobs_at_once(lane: Lane) -> usize {
    match lane {
        Lane::Thumbnails => 2,
        Lane::Archives | Lane::Maintenance => 4,
    }
}

/// The longest delay that the port allows: 24 hours.
const MAX_DELAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A queue in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct InProcess {
    messages: Rc<Messages>,
}

#[derive(Debug)]
struct Messages {
    sender: mpsc::UnboundedSender<Message>,
    receiver: Mutex<mpsc::UnboundedReceiver<Message>>,
}

#[derive(Debug)]
struct Message {
    lane: Lane,
    job: JobId,
    due: Instant,
}

impl InProcess {
    /// An empty queue.
    pub fn new() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { messages: Rc::new(Messages { sender, receiver: Mutex::new(receiver) }) }
    }

    /// Hands every message to `handler` when it is due, a few of each lane at once, for as long as the
    /// future is polled. There is one delivery at a time: a second one waits for the first to be dropped.
    pub async fn deliver<F: Future<Output = ()>>(&self, handler: impl Fn(Lane, JobId) -> F) {
        let room: HashMap<Lane, Semaphore> =
            Lane::ALL.into_iter().map(|lane| (lane, Semaphore::new(jobs_at_once(lane)))).collect();
        let (room, handler) = (&room, &handler);
        let mut receiver = self.messages.receiver.lock().await;
        let mut running = FuturesUnordered::new();
        loop {
            tokio::select! {
                message = receiver.recv() => {
                    let Some(Message { lane, job, due }) = message else { break };
                    running.push(async move {
                        sleep_until(due).await;
                        // Semaphores that are never closed always give a permit in the end.
                        let _permit = match room.get(&lane) {
                            Some(lane) => lane.acquire().await.ok(),
                            None => None,
                        };
                        handler(lane, job).await;
                    });
                }
                Some(()) = running.next() => {}
            }
        }
    }
}

impl Default for InProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl Queue for InProcess {
    async fn send(&self, lane: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError> {
        let delay = Duration::from_secs(delay_secs.into()).min(MAX_DELAY);
        let message = Message { lane, job: job.clone(), due: Instant::now() + delay };
        self.messages.sender.send(message).map_err(|_| QueueError("nobody receives messages".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn job(n: u8) -> JobId {
        JobId::parse(&format!("01900000-0000-7000-8000-0000000000{n:02x}")).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_arrives_when_its_delay_is_over() {
        let queue = InProcess::new();
        queue.send(Lane::Maintenance, &job(1), 60).await.unwrap();
        queue.send(Lane::Maintenance, &job(2), 0).await.unwrap();
        let (start, arrived) = (Instant::now(), RefCell::new(Vec::new()));
        let deliver = queue.deliver(|_, job| {
            arrived.borrow_mut().push((job, start.elapsed().as_secs()));
            async {}
        });
        let _ = tokio::time::timeout(Duration::from_secs(90), deliver).await;
        assert_eq!(*arrived.borrow(), [(job(2), 0), (job(1), 60)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_may_send_itself_again_and_a_lane_has_a_limit() {
        let queue = InProcess::new();
        for n in 0..20 {
            queue.send(Lane::Maintenance, &job(n), 0).await.unwrap();
        }
        let (running, most, done) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let (queue, running, most, done) = (&queue, &running, &most, &done);
        let deliver = queue.deliver(|lane, job| async move {
            running.set(running.get() + 1);
            most.set(most.get().max(running.get()));
            tokio::time::sleep(Duration::from_secs(1)).await;
            running.set(running.get() - 1);
            done.set(done.get() + 1);
            if done.get() <= 20 {
                queue.send(lane, &job, 10).await.unwrap();
            }
        });
        let _ = tokio::time::timeout(Duration::from_secs(60), deliver).await;
        assert_eq!((most.get(), done.get()), (jobs_at_once(Lane::Maintenance), 40));
    }
}
