//! What each step does, one at a time.

use std::task::{Context, Poll, Waker};

use ledge_core::reclaim::{Kind, report};
use ledge_engine_tests::run;

use crate::content::{self, SMALL};
use crate::world::{Call, Gate, Sign, World};

const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;
const GRACE: i64 = 7 * DAY;

async fn put(world: &World, name: &str, content: &'static [u8]) {
    let answer = world.send("PUT", &format!("files/{name}"), content).await;
    assert_eq!(answer.status / 100, 2, "{name}");
}

async fn reads(world: &World, name: &str, content: &[u8]) {
    let answer = world.send("GET", &format!("files/{name}"), b"").await;
    assert!(answer.status == 200 && answer.body == content, "{name}: {}", answer.status);
}

async fn purge(world: &World, name: &str) {
    assert_eq!(world.send("DELETE", &format!("files/{name}"), b"").await.status, 204);
    assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
}

#[test]
fn what_is_purged_is_doomed_and_goes_when_the_grace_is_over() {
    run(async {
        let world = World::new(1, GRACE).await;
        put(&world, "a", &SMALL[0]).await;
        put(&world, "b", &SMALL[1]).await;
        assert_eq!(world.send("DELETE", "files/a", b"").await.status, 204);
        world.sweep().await;
        assert_eq!(world.states().await, ["live", "live"], "what is in the trash is needed");
        assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
        assert_eq!(world.sweep().await.doomed, 1);
        assert_eq!(world.states().await, ["doomed", "live"]);
        world.host.pass(GRACE - HOUR);
        world.sweep().await;
        assert_eq!((world.states().await.len(), world.objects.keys().len()), (2, 2));
        world.host.pass(2 * HOUR);
        let reclaimed = world.sweep().await;
        assert_eq!((reclaimed.segments, reclaimed.bytes), (1, SMALL[0].len() as u64));
        assert_eq!(world.states().await, ["live"]);
        assert_eq!(world.objects.keys(), world.texts("select key as it from segments").await);
        assert_eq!(world.number("select count(*) as it from chunks").await, 1, "its chunks are forgotten");
        reads(&world, "b", &SMALL[1]).await;
    });
}

#[test]
fn a_look_up_prolongs_the_grace_and_a_commit_revives() {
    run(async {
        let world = World::new(2, GRACE).await;
        put(&world, "a", &SMALL[0]).await;
        purge(&world, "a").await;
        world.sweep().await;
        world.host.pass(GRACE - HOUR);
        // An upload that fails has found the chunk.
        let mut wrong = world.drive.request("PUT", "files/b", &SMALL[0]);
        wrong.headers_mut().insert("content-md5", "1B2M2Y8AsgTpgAmY7PhCfg==".parse().unwrap());
        assert_eq!(world.drive.send(&world.free(), wrong).await.status, 400);
        world.host.pass(2 * HOUR);
        assert_eq!(world.sweep().await.segments, 0);
        assert_eq!(world.states().await, ["doomed"]);
        world.host.pass(GRACE - 2 * HOUR);
        put(&world, "c", &SMALL[0]).await;
        assert_eq!(world.states().await, ["live"], "the same segment");
        world.host.pass(3 * GRACE);
        world.sweep().await;
        reads(&world, "c", &SMALL[0]).await;
    });
}

#[test]
fn an_archive_that_is_kept_keeps_what_it_was_made_of() {
    run(async {
        let world = World::new(9, GRACE).await;
        assert_eq!(world.send("PUT", "folders/t", b"").await.status, 201);
        put(&world, "t/a", content::of(&[0, 1, 2])).await;
        put(&world, "t/b", content::of(&[1])).await;
        put(&world, "t/c", content::of(&[3, 4, 5])).await;
        let download = world.send("GET", "archive/t", b"").await.body;
        let archive = br#"{"paths": ["/t"], "to": "/t.zip"}"#;
        assert_eq!(world.send("POST", "archives", archive).await.status, 201);
        assert_eq!(world.send("DELETE", "folders/t", b"").await.status, 204);
        assert_eq!(world.send("DELETE", "trash", b"").await.status, 204);
        // One of a file alone, and of the archive before: most of the segments is dead in the end.
        put(&world, "d", content::of(&[5])).await;
        let second = br#"{"paths": ["/d"], "to": "/d.zip"}"#;
        assert_eq!(world.send("POST", "archives", second).await.status, 201);
        let one = world.send("GET", "files/d.zip", b"").await.body;
        for _ in 0..3 {
            world.host.pass(GRACE + HOUR);
            world.sweep().await;
            reads(&world, "t.zip", &download).await;
        }
        purge(&world, "t.zip").await;
        purge(&world, "d").await;
        for _ in 0..3 {
            world.host.pass(GRACE + HOUR);
            world.sweep().await;
            reads(&world, "d.zip", &one).await;
        }
        assert_eq!(world.objects.keys(), world.texts("select key as it from segments").await);
        purge(&world, "d.zip").await;
        for _ in 0..3 {
            world.host.pass(GRACE + HOUR);
            world.sweep().await;
        }
        assert_eq!(world.objects.keys(), Vec::<String>::new());
    });
}

#[test]
fn what_is_mostly_dead_is_repacked_and_readers_keep_the_old_segment_for_the_grace() {
    run(async {
        let world = World::new(3, GRACE).await;
        put(&world, "a", content::of(&[0, 1, 2])).await;
        put(&world, "b", content::of(&[1])).await;
        put(&world, "c", content::of(&[3, 4, 5])).await;
        put(&world, "d", content::of(&[5])).await;
        let tag = world.send("HEAD", "files/b", b"").await.headers["etag"].clone();
        purge(&world, "a").await;
        purge(&world, "c").await;
        let before = world.objects.keys();
        world.host.pass(2 * HOUR);
        let reclaimed = world.sweep().await;
        assert_eq!((reclaimed.repacked, reclaimed.segments), (2, 0));
        assert_eq!(world.states().await, ["doomed", "doomed", "live"]);
        assert!(before.iter().all(|key| world.objects.holds(key)), "readers may be at it");
        for (name, block) in [("b", 1), ("d", 5)] {
            reads(&world, name, content::of(&[block])).await;
        }
        assert_eq!(world.send("HEAD", "files/b", b"").await.headers["etag"], tag);
        // What moved is found where it is now, the rest where it still is.
        put(&world, "e", content::of(&[1, 2])).await;
        assert_eq!(world.states().await, ["live", "doomed", "live"]);
        purge(&world, "e").await;
        world.host.pass(GRACE + HOUR);
        world.sweep().await;
        world.host.pass(GRACE + HOUR);
        world.sweep().await;
        assert_eq!(world.states().await, ["live"]);
        assert_eq!(world.objects.keys().len(), 1);
        for (name, block) in [("b", 1), ("d", 5)] {
            reads(&world, name, content::of(&[block])).await;
        }
        assert_eq!(world.number("select count(*) as it from chunks").await, 2);
    });
}

#[test]
fn a_damaged_segment_is_not_copied_on() {
    run(async {
        let world = World::new(4, GRACE).await;
        put(&world, "a", content::of(&[0, 1])).await;
        put(&world, "b", content::of(&[1])).await;
        purge(&world, "a").await;
        let key = world.objects.keys().pop().unwrap();
        let mut bytes = world.objects.find(&key).unwrap().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        world.objects.remove(std::slice::from_ref(&key));
        world.objects.store(&key, bytes);
        world.host.pass(2 * HOUR);
        world.sweep().await;
        assert_eq!(world.states().await, ["live"]);
        assert_eq!(world.objects.keys(), [key]);
    });
}

#[test]
fn an_upload_that_never_committed_goes_when_it_has_expired() {
    run(async {
        let world = World::new(5, GRACE).await;
        world.sql("insert into ingests (key, space_id, expires_at) values ('abc', '', (unixepoch() + 86400) * 1000)").await;
        world.objects.store("ledge/seg/abc/0", b"a".to_vec());
        world.objects.store("ledge/seg/abcd/0", b"another's".to_vec());
        world.host.pass(DAY);
        assert_eq!(world.sweep().await.uploads, 0, "it may still be under way");
        world.host.pass(2 * HOUR);
        assert_eq!(world.sweep().await.uploads, 1);
        assert_eq!(world.objects.keys(), ["ledge/seg/abcd/0"]);
        assert_eq!(world.number("select count(*) as it from ingests").await, 0);
    });
}

#[test]
fn an_object_that_no_row_knows_goes_when_two_passes_have_seen_it_and_nothing_else_does() {
    run(async {
        let world = World::new(6, DAY).await;
        put(&world, "a", &SMALL[0]).await;
        world.objects.store("ledge/seg/0123456789abcdef0123456789abcdef/0", b"lost".to_vec());
        world.objects.store("ledge/meta/x", b"a dump".to_vec());
        world.objects.store("other", b"somebody's".to_vec());
        assert_eq!(world.full_pass().await.orphans, 0);
        world.host.pass(DAY);
        assert_eq!(world.full_pass().await.orphans, 0);
        world.host.pass(DAY + HOUR);
        assert_eq!(world.full_pass().await.orphans, 1);
        assert_eq!(world.objects.keys().len(), 3);
        assert_eq!(world.number("select count(*) as it from orphans").await, 0);
        reads(&world, "a", &SMALL[0]).await;
    });
}

#[test]
fn an_object_that_is_gone_or_has_its_row_by_the_next_pass_is_an_orphan_no_longer() {
    run(async {
        let world = World::new(8, DAY).await;
        put(&world, "a", &SMALL[0]).await;
        let key = |of: &str| format!("ledge/seg/{of}123456789abcdef0123456789abcdef/0");
        for of in ["0", "f", "z"] {
            world.objects.store(&key(of), b"its upload is under way".to_vec());
        }
        world.sql("update segments set key = 'x' || key").await;
        world.full_pass().await;
        assert_eq!(world.number("select count(*) as it from orphans").await, 4);
        world.sql("update segments set key = substr(key, 2)").await;
        world.objects.remove(&[key("0"), key("z")]);
        world.full_pass().await;
        assert_eq!(world.number("select count(*) as it from orphans").await, 1);
        assert_eq!(world.number("select count(*) as it from orphans where key > 'ledge/seg/f'").await, 1);
        reads(&world, "a", &SMALL[0]).await;
    });
}

#[test]
fn a_commit_that_is_days_late_finds_all_that_it_refers_to_or_is_refused() {
    run(async {
        let world = World::new(9, DAY).await;
        let gate = Gate::new();
        let at_gate = world.at(&gate);
        let mut save = Box::pin(world.drive.send(&at_gate, world.drive.request("PUT", "files/a", &SMALL[0])));
        let mut go_on = || save.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let commits = |call| match call {
            Some((Call::Write(batch), _)) => batch.iter().any(|it| it.sql.starts_with("insert into guard")),
            _ => false,
        };
        assert!(go_on().is_pending());
        while !commits(gate.waiting()) {
            gate.give(Sign::Go);
            assert!(go_on().is_pending());
        }
        assert_eq!(world.objects.keys().len(), 1, "the bytes come first");
        // It was sent by now, and believes in the time of then: its ingest, which has expired, still has its row.
        for _ in 0..2 {
            world.full_pass().await;
            world.host.pass(3 * DAY);
        }
        assert_eq!(world.full_pass().await.orphans, 0);
        gate.give(Sign::Go);
        let Poll::Ready(answer) = go_on() else { panic!("that was its last call") };
        assert_eq!(answer.status, 201);
        reads(&world, "a", &SMALL[0]).await;
    });
}

#[test]
fn a_full_pass_finds_segments_that_were_dead_before_there_were_candidates() {
    run(async {
        let world = World::new(7, DAY).await;
        for (at, content) in SMALL.iter().enumerate() {
            put(&world, &format!("f{at}"), content).await;
        }
        purge(&world, "f0").await;
        purge(&world, "f3").await;
        world.sql("delete from candidates").await;
        assert_eq!(world.sweep().await.doomed, 0);
        world.full_pass().await;
        assert_eq!(world.sweep().await.doomed, 2);
    });
}

#[test]
fn a_report_says_what_would_go_and_changes_nothing() {
    run(async {
        let world = World::new(8, GRACE).await;
        for (at, content) in SMALL.iter().enumerate() {
            put(&world, &format!("f{at}"), content).await;
        }
        let bytes = |at: usize| Some(SMALL[at].len() as u64);
        purge(&world, "f0").await;
        world.sweep().await;
        world.host.pass(GRACE + HOUR);
        purge(&world, "f1").await;
        world.sql("update segments set state = 'deleting' where id = (select max(id) from segments)").await;
        let before = world.states().await;
        let reports = report(&world.free()).await.unwrap();
        let of = |kind| reports.iter().find(|report| report.kind == kind).map(|it| (it.count, it.bytes));
        assert_eq!(of(Kind::Due), Some((1, bytes(0))));
        assert_eq!(of(Kind::Unused), Some((1, bytes(1))));
        assert_eq!(of(Kind::Deleting), Some((1, bytes(4))));
        assert_eq!(of(Kind::Doomed), Some((0, Some(0))));
        assert_eq!(of(Kind::ExpiredUploads), Some((0, None)));
        assert_eq!(world.states().await, before);
    });
}
