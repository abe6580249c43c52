//! Who acts when.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use ledge_core::ports::{Db, Host};
use ledge_core::settings::Settings;
use ledge_engine_tests::Random;

use super::audit::{Content, Known, Reader, audit};
use super::choice::{Kind, random_content};
use super::offers::OFFERS;
use super::operation::{Operation, Outcome};
use super::request::short;
use super::statistics::{Statistics, add};
use crate::content::{CONTENTS, ETAGS};
use crate::world::{Call, Gate, Sign, World};

const ACTORS: usize = 4;
const TURNS: usize = 300;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
pub(super) const DAY: i64 = 24 * HOUR;

/// Somebody who is at it.
struct Actor<'a> {
    operation: Operation,
    began_at: i64,
    /// The earliest time that anything which has taken effect meanwhile can have known.
    oldest: i64,
    future: Pin<Box<dyn Future<Output = Outcome> + 'a>>,
}

/// A call of somebody who has died.
struct Late {
    call: Call,
    began_at: i64,
    by: i64,
}

/// How long a call may be on its way.
fn patience(call: &Call, is_maintenance: bool) -> i64 {
    match call {
        Call::Put(..) => 10 * MINUTE,
        Call::Write(_) if is_maintenance => MINUTE,
        _ => i64::MAX / 10_000,
    }
}

pub(super) struct Schedule<'a> {
    pub(super) world: &'a World,
    gates: &'a [Gate],
    actors: Vec<Option<Actor<'a>>>,
    late: Vec<Late>,
    readers: Vec<Reader>,
    pub(super) known: Known,
    random: Random,
    mostly: Kind,
    pub(super) statistics: &'a Statistics,
    is_told: bool,
}

impl Schedule<'_> {
    pub(super) async fn play(seed: u64, statistics: &mut Statistics) {
        let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(77));
        let grace = [2 * MINUTE, HOUR, DAY, 7 * DAY][random.below(4)];
        let mut world = World::new(seed, grace).await;
        let upload_ttl_secs = [DAY, 30 * DAY][random.below(2)];
        world.settings = Rc::new(Settings { upload_ttl_secs, ..(*world.settings).clone() });
        let mostly = Kind::random(&mut random);
        world.sql("update spaces set trash_days = 3").await;
        let kept = ["1", "2", "3", "null"][random.below(4)];
        world.sql(format!("update spaces set versions_kept = {kept}").leak()).await;
        world.objects.store("ledge/meta/x", b"a dump".to_vec());
        world.objects.store("other/y", b"somebody's".to_vec());
        let gates: Vec<Gate> = (0..ACTORS).map(|_| Gate::new()).collect();
        let is_told = std::env::var_os("LEDGE_TEST_SEED").is_some();
        let mut schedule = Schedule {
            world: &world,
            gates: &gates,
            actors: (0..ACTORS).map(|_| None).collect(),
            late: Vec::new(),
            readers: Vec::new(),
            known: Known::default(),
            random,
            mostly,
            statistics,
            is_told,
        };
        for (content, tag) in CONTENTS.iter().zip(ETAGS.iter()) {
            schedule.known.contents.insert(tag.clone(), Content::Borrowed(content));
        }
        for offer in OFFERS.iter() {
            schedule.known.contents.insert(offer.tag.clone(), Content::Borrowed(&offer.content));
        }
        // Whoever reads a failure finds its seed here.
        let told = Told(seed);
        for _ in 0..TURNS {
            schedule.turn().await;
        }
        schedule.end_all().await;
        schedule.rest().await;
        std::mem::forget(told);
    }

    async fn turn(&mut self) {
        match self.random.below(100) {
            0..22 => self.begin().await,
            22..84 => {
                let at = self.random.below(ACTORS);
                let sign = match self.random.below(40) {
                    0 => Sign::FailBefore,
                    1 => Sign::FailAfter,
                    _ => Sign::Go,
                };
                add(&self.statistics.failed_calls, u64::from(self.actors[at].is_some() && sign != Sign::Go));
                self.step(at, sign).await;
            }
            84..87 => self.die(),
            87..90 => self.land().await,
            90..97 => {
                let secs = match self.random.below(12) {
                    0..6 => 1 + self.random.below(30),
                    6..9 => 60 * (1 + self.random.below(120)),
                    9 => 24 * 60 * 60,
                    10 => usize::try_from(self.world.settings.grace_secs / 2).unwrap(),
                    _ => usize::try_from(self.world.settings.grace_secs * 2 + HOUR).unwrap(),
                };
                self.pass(i64::try_from(secs).unwrap()).await;
            }
            97 => self.stray().await,
            _ => self.close(),
        }
    }

    /// Somebody begins something.
    async fn begin(&mut self) {
        let Some(at) = self.actors.iter().position(Option::is_none) else { return };
        let Some(operation) = Operation::random(self.world, &mut self.random, self.mostly).await else {
            return;
        };
        self.tell(|| format!("{at} begins {}", short(&operation)));
        let future = Box::pin(operation.clone().run(self.world, &self.gates[at]));
        let began_at = self.world.host.now().0;
        self.actors[at] = Some(Actor { operation, began_at, oldest: began_at, future });
        self.poll(at).await;
    }

    /// Lets somebody's next call take effect, or fail.
    async fn step(&mut self, at: usize, sign: Sign) {
        if self.actors[at].is_none() {
            return;
        }
        self.tell(|| format!("{at}: {} {sign:?}", self.gates[at].kind()));
        self.gates[at].give(sign);
        self.poll(at).await;
    }

    async fn poll(&mut self, at: usize) {
        let Some(actor) = self.actors[at].as_mut() else { return };
        let polled = actor.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let (began_at, has_changed) = (actor.began_at, self.gates[at].has_changed());
        if has_changed {
            self.ages(began_at);
        }
        let Some(actor) = self.actors[at].as_mut() else { return };
        match polled {
            Poll::Pending => {
                let waits = self.gates[at].waiting().is_some();
                assert!(waits, "{} waits for something else than its next call", short(&actor.operation));
            }
            Poll::Ready(outcome) => {
                let actor = self.actors[at].take().unwrap();
                self.end(&actor.operation, actor.oldest, outcome);
            }
        }
        if has_changed {
            self.audit().await;
        }
    }

    /// Something has taken effect that may have taken its time so early: what chunks were seen, and segments doomed, counts
    /// from then, for those who are at it too.
    fn ages(&mut self, began_at: i64) {
        for actor in self.actors.iter_mut().flatten() {
            actor.oldest = actor.oldest.min(began_at);
        }
        let until = began_at + self.world.settings.grace_secs * 1000;
        for promise in self.known.promises.values_mut() {
            *promise = until.min(*promise);
        }
    }

    pub(super) async fn audit(&mut self) {
        audit(self.world, &mut self.known, &self.readers, self.statistics).await;
    }

    fn end(&mut self, operation: &Operation, oldest: i64, outcome: Outcome) {
        let statistics = self.statistics;
        match outcome {
            Outcome::Planned { etag, plan } => {
                let content = self.known.contents.get(&etag).cloned();
                let content = content.unwrap_or_else(|| Content::Owned(self.world.host.read(&plan).unwrap()));
                let opened_at = self.world.host.now().0;
                self.readers.push(Reader { plan, content, opened_at });
            }
            Outcome::Reclaimed(done) => {
                add(&statistics.doomed, done.doomed);
                add(&statistics.gone, done.segments);
                add(&statistics.repacked, done.repacked);
                add(&statistics.expired_uploads, done.uploads);
                add(&statistics.orphans, done.orphans);
            }
            Outcome::Answered { status, body } => {
                self.tell(|| format!("{} is answered with {status}", short(operation)));
                assert!(status != 500, "{}: {}", short(operation), String::from_utf8_lossy(&body));
                let until = oldest + self.world.settings.grace_secs * 1000;
                for hash in operation.promised(status, &body) {
                    let promise = self.known.promises.entry(hash).or_insert(until);
                    *promise = until.max(*promise);
                    add(&statistics.promises, 1);
                }
                statistics.answered(operation, status, &body);
            }
            Outcome::Nothing => {}
        }
    }

    /// Somebody dies; the call that they were waiting for may still be on its way.
    fn die(&mut self) {
        let at = self.random.below(ACTORS);
        let Some(actor) = self.actors[at].take() else { return };
        self.tell(|| format!("{at} dies"));
        add(&self.statistics.deaths, 1);
        let waiting = self.gates[at].forget();
        let Some((call, since)) = waiting else { return };
        if self.random.one_in(2) {
            let by = since.0 / 1000 + patience(&call, actor.operation.is_maintenance());
            self.late.push(Late { call, began_at: actor.began_at, by });
        }
    }

    /// A late call arrives.
    async fn land(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let at = self.random.below(self.late.len());
        let Late { call, began_at, .. } = self.late.swap_remove(at);
        self.arrive(call, began_at).await;
    }

    async fn arrive(&mut self, call: Call, began_at: i64) {
        self.tell(|| "a late call arrives".to_owned());
        add(&self.statistics.late_calls, 1);
        match call {
            Call::Write(batch) => {
                let _nobody_hears = self.world.drive.ports.db.write(batch).await;
            }
            Call::Put(key, bytes) => self.world.objects.store(&key, bytes),
            Call::Delete(keys) => self.world.objects.remove(&keys),
            Call::Read | Call::Get | Call::List => return,
        }
        self.ages(began_at);
        self.audit().await;
    }

    /// Time passes; what can't be on its way for so long has arrived.
    async fn pass(&mut self, secs: i64) {
        let then = self.world.host.now().0 / 1000 + secs;
        for at in 0..ACTORS {
            while let Some((call, since)) = self.gates[at].waiting() {
                let Some(actor) = &self.actors[at] else { break };
                if since.0 / 1000 + patience(&call, actor.operation.is_maintenance()) >= then {
                    break;
                }
                self.step(at, Sign::Go).await;
            }
        }
        while let Some(at) = self.late.iter().position(|late| late.by < then) {
            let Late { call, began_at, .. } = self.late.swap_remove(at);
            // The last moment has come: it happens now, or never.
            if self.random.one_in(2) {
                self.arrive(call, began_at).await;
            }
        }
        self.tell(|| format!("{secs} seconds pass"));
        self.world.host.pass(secs);
    }

    /// An object appears that nobody knows of.
    async fn stray(&mut self) {
        let content = random_content(&mut self.random);
        let key = format!("ledge/seg/{:032x}/0", self.random.below(usize::MAX / 2));
        self.world.objects.store(&key, content[..100].to_vec());
        self.known.strays.insert(key);
        add(&self.statistics.strays, 1);
        self.audit().await;
    }

    /// A reader reads all of its plan.
    fn close(&mut self) {
        if self.readers.is_empty() {
            return;
        }
        let at = self.random.below(self.readers.len());
        let reader = self.readers.swap_remove(at);
        self.read(&reader);
    }

    fn read(&self, reader: &Reader) {
        if reader.is_owed(self.world) {
            let read = self.world.host.read(&reader.plan).expect("a plan is owed its bytes");
            assert!(*read == *reader.content, "a reader reads something else");
            add(&self.statistics.plans_read, 1);
        }
    }

    /// Everybody comes to rest.
    async fn end_all(&mut self) {
        for at in 0..ACTORS {
            while self.actors[at].is_some() {
                self.step(at, Sign::Go).await;
            }
        }
        while !self.late.is_empty() {
            self.land().await;
        }
        for reader in std::mem::take(&mut self.readers) {
            self.read(&reader);
        }
    }

    fn tell(&self, what: impl Fn() -> String) {
        if self.is_told {
            println!("{}", what());
        }
    }
}

/// Says which seed it was, when it is dropped by a panic.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        println!("run it alone with LEDGE_TEST_SEED={}", self.0);
    }
}
