//! Background work whose clock and messages a test has in its hand.

use std::cell::{Cell, RefCell};

use futures::Stream;
use ledge_core::digest::Sha256;
use ledge_core::error::Error;
use ledge_core::ids::JobId;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::{BucketError, Host, Lane, Platform, Ports, Queue, QueueError, Timestamp};
use ledge_functions::Outcome;
use ledge_hosts::local::LocalPorts;

/// A clock that runs ahead of the machine's by as much as a test wants, and a queue that keeps its messages until they are
/// asked for.
#[derive(Debug)]
pub struct Labour<'a> {
    ports: &'a LocalPorts,
    ahead_millis: Cell<i64>,
    messages: RefCell<Vec<Message>>,
}

/// A message in the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its lane.
    pub lane: Lane,
    /// The job that it names.
    pub job: JobId,
    /// When it arrives.
    pub due: Timestamp,
}

/// The platform of such a labour.
pub type Labouring<'a> =
    Ports<<LocalPorts as Platform>::Db, &'a <LocalPorts as Platform>::Bucket, &'a Labour<'a>, Ahead<'a>>;

/// The machine with the clock that runs ahead.
#[derive(Debug)]
pub struct Ahead<'a>(&'a Labour<'a>);

impl<'a> Labour<'a> {
    /// Nothing to do yet.
    pub fn new(ports: &'a LocalPorts) -> Self {
        Self { ports, ahead_millis: Cell::new(0), messages: RefCell::default() }
    }

    /// The ports.
    pub fn platform(&'a self) -> Labouring<'a> {
        Ports {
            db: self.ports.db.clone(),
            bucket: &self.ports.bucket,
            queue: self,
            host: Ahead(self),
            settings: self.ports.settings.clone(),
        }
    }

    /// Lets time pass.
    pub fn pass_secs(&self, secs: i64) {
        self.ahead_millis.set(self.ahead_millis.get() + secs * 1000);
    }

    /// Takes the messages out of the queue.
    pub fn take(&self) -> Vec<Message> {
        self.messages.take()
    }

    /// Delivers messages, each when it is due, until there is none.
    pub async fn settle(&'a self) {
        let platform = self.platform();
        while let Some(message) = self.next() {
            let early = message.due.0 - platform.host().now().0;
            self.ahead_millis.set(self.ahead_millis.get() + early.max(0));
            if let Outcome::Retry { after_secs } = ledge_functions::run(&platform, &message.job).await {
                self.send(message.lane, &message.job, after_secs).await.expect("it has no end");
            }
        }
    }

    fn next(&self) -> Option<Message> {
        let mut messages = self.messages.borrow_mut();
        let first = messages.iter().enumerate().min_by_key(|(_, message)| message.due)?.0;
        Some(messages.remove(first))
    }
}

impl Queue for Labour<'_> {
    async fn send(&self, lane: Lane, job: &JobId, delay_secs: u32) -> Result<(), QueueError> {
        let due = Ahead(self).now().plus_secs(delay_secs.into());
        self.messages.borrow_mut().push(Message { lane, job: job.clone(), due });
        Ok(())
    }
}

impl Host for Ahead<'_> {
    type Body = <<LocalPorts as Platform>::Host as Host>::Body;

    fn now(&self) -> Timestamp {
        Timestamp(self.0.ports.host.now().0 + self.0.ahead_millis.get())
    }

    fn random(&self, into: &mut [u8]) {
        self.0.ports.host.random(into);
    }

    async fn sha256(&self, bytes: &[u8]) -> Sha256 {
        self.0.ports.host.sha256(bytes).await
    }

    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.0.ports.host.spawn(task);
    }

    async fn sleep(&self, millis: u64) {
        self.0.ports.host.sleep(millis).await;
    }

    fn report(&self, _: &str) {}

    fn most_reads(&self) -> usize {
        self.0.ports.host.most_reads()
    }

    fn inline(&self, bytes: Vec<u8>) -> Self::Body {
        self.0.ports.host.inline(bytes)
    }

    fn stream(&self, pieces: impl Stream<Item = Result<Vec<u8>, Error>> + 'static) -> Self::Body {
        self.0.ports.host.stream(pieces)
    }

    async fn open(&self, plan: ReadPlan) -> Result<Self::Body, BucketError> {
        self.0.ports.host.open(plan).await
    }
}
