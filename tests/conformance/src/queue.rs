//! `Queue`: that messages can be sent. That they arrive is checked from outside, by the black-box suites.

use anyhow::Result;
use ledge_core::ids::JobId;
use ledge_core::ports::{Host, Lane, Queue};

use crate::Report;
use crate::report::checks;

pub(crate) async fn check(queue: &impl Queue, host: &impl Host, report: &mut Report) {
    checks!(report, "queue", every_lane_takes_messages(queue, host), a_message_may_be_delayed(queue, host));
}

async fn every_lane_takes_messages(queue: &impl Queue, host: &impl Host) -> Result<()> {
    for lane in Lane::ALL {
        queue.send(lane, &JobId::new(host), 0).await?;
    }
    Ok(())
}

async fn a_message_may_be_delayed(queue: &impl Queue, host: &impl Host) -> Result<()> {
    for delay_secs in [1, 24 * 60 * 60] {
        queue.send(Lane::Maintenance, &JobId::new(host), delay_secs).await?;
    }
    Ok(())
}
