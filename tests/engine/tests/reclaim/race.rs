//! A save that refers to a chunk, against a sweep that dooms, deletes or repacks what it is in: every interleaving of their
//! calls, one by one.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use ledge_core::reclaim::{Sweep, sweep};
use ledge_engine_tests::run;

use crate::content::{self, SMALL};
use crate::world::{Gate, Sign, World, few};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const GRACE: i64 = 7 * DAY;

/// What the segment is when the race begins.
#[derive(Debug, Clone, Copy)]
enum Beginning {
    /// Nothing refers to it since a moment.
    Unused,
    /// It was doomed a moment ago.
    Doomed,
    /// It is doomed, and its time is over.
    Due,
    /// A sweep died when it had begun to delete it.
    Deleting,
    /// Half of it is in use, and it is about to be repacked; the save wants the other half.
    Shrunk,
    /// The same; the save wants the half that moves.
    Moving,
}

impl Beginning {
    fn content(self) -> &'static [u8] {
        match self {
            Self::Shrunk => content::of(&[0]),
            Self::Moving => content::of(&[1]),
            _ => &SMALL[0],
        }
    }

    async fn world(self) -> World {
        let world = World::new(1, GRACE).await;
        let put = async |name: &str, content| {
            assert_eq!(world.send("PUT", &format!("files/{name}"), content).await.status, 201);
        };
        let old = match self {
            Self::Shrunk | Self::Moving => content::of(&[0, 1]),
            _ => &SMALL[0],
        };
        put("old", old).await;
        if matches!(self, Self::Shrunk | Self::Moving) {
            put("kept", content::of(&[1])).await;
        }
        assert_eq!(world.send("DELETE", "files/old", b"").await.status, 204);
        assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
        world.host.pass(HOUR);
        if matches!(self, Self::Doomed | Self::Due | Self::Deleting) {
            world.sweep().await;
        }
        if matches!(self, Self::Due | Self::Deleting) {
            world.host.pass(GRACE + HOUR);
        }
        if matches!(self, Self::Deleting) {
            world.sql("update segments set state = 'deleting'").await;
        }
        world
    }
}

/// Plays one interleaving, `true` for the sweep's turn; None where one had nothing more to do at its turn.
async fn play(beginning: Beginning, turns: &[bool]) -> Option<usize> {
    let world = beginning.world().await;
    let content = beginning.content();
    let (saver, sweeper) = (Gate::new(), Gate::new());
    let save_at = world.at(&saver);
    let sweep_at = world.at(&sweeper);
    let mut save: Pin<Box<dyn Future<Output = u16> + '_>> = Box::pin(async {
        world.drive.send(&save_at, world.drive.request("PUT", "files/new", content)).await.status
    });
    let mut sweeping: Pin<Box<dyn Future<Output = u16> + '_>> = Box::pin(async {
        let mut at = Sweep::default();
        while !at.is_done() {
            at = sweep(&sweep_at, at, &few()).await.expect("a step");
        }
        200
    });
    let (mut saved, mut swept) = (None, None);
    let step = |future: &mut Pin<Box<dyn Future<Output = u16> + '_>>, done: &mut Option<u16>| {
        if done.is_none()
            && let Poll::Ready(status) = future.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            *done = Some(status);
        }
    };
    step(&mut save, &mut saved);
    step(&mut sweeping, &mut swept);
    for (at, sweeps) in turns.iter().enumerate() {
        let (future, gate, done) =
            if *sweeps { (&mut sweeping, &sweeper, &mut swept) } else { (&mut save, &saver, &mut saved) };
        if done.is_some() {
            return Some(at);
        }
        gate.give(Sign::Go);
        step(future, done);
    }
    while saved.is_none() {
        saver.give(Sign::Go);
        step(&mut save, &mut saved);
    }
    while swept.is_none() {
        sweeper.give(Sign::Go);
        step(&mut sweeping, &mut swept);
    }
    let read = world.send("GET", "files/new", b"").await;
    match saved {
        Some(201) => assert!(read.body == content, "{beginning:?}, {turns:?}"),
        Some(503) => {
            assert_eq!(read.status, 404, "{beginning:?}, {turns:?}");
            let again = world.send("PUT", "files/new", content).await;
            assert_eq!(again.status, 201, "{beginning:?}, {turns:?}: the next attempt stores it anew");
        }
        other => panic!("{beginning:?}, {turns:?}: {other:?}"),
    }
    for _ in 0..3 {
        world.host.pass(2 * GRACE);
        world.sweep().await;
        assert!(world.send("GET", "files/new", b"").await.body == content, "{beginning:?}, {turns:?}");
    }
    let mut rows = world.texts("select key as it from segments").await;
    rows.sort();
    assert_eq!(rows, world.objects.keys(), "{beginning:?}, {turns:?}");
    None
}

#[test]
fn a_commit_that_refers_to_a_chunk_never_loses_it_whenever_a_sweep_comes() {
    run(async {
        for beginning in [
            Beginning::Unused,
            Beginning::Doomed,
            Beginning::Due,
            Beginning::Deleting,
            Beginning::Shrunk,
            Beginning::Moving,
        ] {
            // Of the orders that begin alike, the first that finds one at its end stands for all.
            let mut orders = vec![Vec::new()];
            let mut played = 0;
            while let Some(order) = orders.pop() {
                if order.len() < TURNS && play(beginning, &order).await.is_none() {
                    played += 1;
                    for next in [false, true] {
                        let mut longer = order.clone();
                        longer.push(next);
                        // What follows the last turn is the save's alone, and then the sweep's: played already.
                        orders.push(longer);
                    }
                }
            }
            println!("{beginning:?}: {played} orders");
            assert!(played > 100, "{beginning:?}: {played} orders");
        }
    });
}

/// So many turns are in any order; behind them the save goes on first.
const TURNS: usize = 9;
