//! Whatever fails at any call of a sweep, or whoever dies there: the next sweep finishes, and nothing that is needed is
//! gone at any time.

use std::pin::pin;

use futures::future::{Either, select};
use ledge_core::error::Result;
use ledge_core::ports::Platform;
use ledge_core::reclaim::{FullPass, Sweep, full_pass, sweep};
use ledge_core::wrappers::{Faults, When, fail};
use ledge_engine_tests::run;

use crate::content::{self, SMALL};
use crate::world::{World, few};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const GRACE: i64 = DAY;

/// Something to do for each step: due, unused, mostly dead, expired, and lost.
async fn world() -> World {
    let world = World::new(1, GRACE).await;
    let put = async |name: &str, content| {
        assert_eq!(world.send("PUT", &format!("files/{name}"), content).await.status, 201);
    };
    let purge = async |name: &str| {
        assert_eq!(world.send("DELETE", &format!("files/{name}"), b"").await.status, 204);
        assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
    };
    put("due", &SMALL[0]).await;
    purge("due").await;
    world.objects.store("ledge/seg/0123456789abcdef0123456789abcdef/0", b"lost".to_vec());
    world.sweep().await;
    world.full_pass().await;
    world.host.pass(3 * DAY);
    put("unused", &SMALL[1]).await;
    put("shrunk", content::of(&[0, 1, 2])).await;
    put("kept", content::of(&[1])).await;
    put("also", &SMALL[2]).await;
    purge("unused").await;
    purge("shrunk").await;
    world.sql("insert into ingests (key, space_id, expires_at) values ('abc', '', 1)").await;
    world.objects.store("ledge/seg/abc/0", b"a".to_vec());
    world.host.pass(HOUR);
    world
}

async fn everything<P: Platform>(platform: &P) -> Result<()> {
    let mut at = Sweep::default();
    while !at.is_done() {
        at = sweep(platform, at, &few()).await?;
    }
    let mut at = FullPass::default();
    while !at.is_done() {
        at = full_pass(platform, at, &few()).await?;
    }
    Ok(())
}

async fn reads(world: &World, when: &str) {
    for (name, content) in [("kept", content::of(&[1])), ("also", SMALL[2].as_slice())] {
        let answer = world.send("GET", &format!("files/{name}"), b"").await;
        assert!(answer.body == content, "{name}, {when}: {}", answer.status);
    }
    let keys = world.texts("select key as it from segments where state <> 'deleting'").await;
    assert!(keys.iter().all(|key| world.objects.holds(key)), "{when}");
}

#[test]
fn a_sweep_that_fails_or_dies_at_any_call_is_finished_by_the_next() {
    run(async {
        let counted = Faults::default();
        let calm = world().await;
        everything(&fail(&calm.free(), &counted)).await.unwrap();
        let steps = counted.calls();
        assert!(steps > 20, "{steps} calls");
        for step in 0..steps {
            for when in [When::Before, When::After, When::DiesBefore, When::DiesAfter] {
                let at = format!("call {step}, {when:?}");
                let world = world().await;
                let faults = Faults::at(step, when);
                let free = world.free();
                let failing = fail(&free, &faults);
                if let Either::Left((done, _)) =
                    select(pin!(everything(&failing)), pin!(faults.death())).await
                {
                    assert!(done.is_err(), "{at}: it isn't on the way");
                }
                reads(&world, &at).await;
                world.host.pass(2 * HOUR);
                everything(&world.free()).await.unwrap();
                reads(&world, &at).await;
                world.host.pass(3 * DAY);
                everything(&world.free()).await.unwrap();
                reads(&world, &at).await;
                let mut rows = world.texts("select key as it from segments").await;
                rows.sort();
                assert_eq!(rows, world.objects.keys(), "{at}");
                assert_eq!(world.states().await, ["live", "live"], "{at}");
                assert_eq!(world.number("select count(*) as it from ingests").await, 0, "{at}");
            }
        }
    });
}
