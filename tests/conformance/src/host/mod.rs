//! `Host`.

mod bodies;
mod machine;

use ledge_core::ports::{Host, Platform};

use crate::{Report, Runner};

pub(crate) async fn check<P, R>(platform: &P, runner: &R, report: &mut Report)
where
    P: Platform,
    R: Runner<Body = <P::Host as Host>::Body>,
{
    machine::check(platform.host(), platform.bucket(), report).await;
    bodies::check(platform, runner, report).await;
}
