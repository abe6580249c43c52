//! The entry points for Cloudflare Workers: the queues' consumer, and the cron trigger.
//!
//! Each message is acknowledged or retried by itself. An error returned from here would panic and end every
//! other invocation of the isolate, so there is none.

use ledge_core::ports::Platform;
use ledge_hosts::workers::{self, queue};
use wasm_bindgen::JsValue;
use worker::{
    Context, Env, MessageBatch, MessageExt, QueueRetryOptionsBuilder, RawMessage, ScheduleContext,
    ScheduledEvent, event,
};

use crate::Outcome;

/// When to try again after the Worker turned out not to be set up: long enough to deploy it once more.
const SETUP_RETRY_SECS: u32 = 60;

#[event(queue)]
async fn consume(batch: MessageBatch<JsValue>, env: Env, context: Context) -> worker::Result<()> {
    let ports = match workers::ports(&env, &context) {
        Ok(ports) => ports,
        Err(error) => {
            worker::console_error!("{error}");
            batch.raw_iter().for_each(|message| retry(&message, SETUP_RETRY_SECS));
            return Ok(());
        }
    };
    for message in batch.raw_iter() {
        work_on(&ports, &message).await;
    }
    Ok(())
}

#[event(scheduled)]
async fn tick(_: ScheduledEvent, env: Env, context: ScheduleContext) {
    match workers::scheduled_ports(&env, context) {
        Ok(ports) => crate::tick(&ports, None).await,
        Err(error) => worker::console_error!("{error}"),
    }
}

async fn work_on<P: Platform>(platform: &P, message: &RawMessage) {
    let Some(job) = queue::job_of(&message.body()) else {
        worker::console_error!("a message names no job and is dropped: {:?}", message.body());
        return message.ack();
    };
    match crate::run(platform, &job).await {
        Outcome::Done => message.ack(),
        Outcome::Retry { after_secs } => retry(message, after_secs),
    }
}

fn retry(message: &RawMessage, after_secs: u32) {
    message.retry_with_options(&QueueRetryOptionsBuilder::new().with_delay_seconds(after_secs).build());
}
