//! Many writers, one file; and what requests that fail leave behind.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use futures::future::join_all;
use ledge_core::ports::Value;
use ledge_engine_tests::{Drive, noise, run};

#[test]
fn twenty_writers_make_twenty_versions_and_the_last_commit_wins() {
    run(async {
        let drive = Drive::new().await;
        let contents: Vec<&'static [u8]> =
            (0..20).map(|n| &*noise(n, if n % 2 == 0 { 100 } else { 300_000 }).leak()).collect();
        let answers = join_all(contents.iter().map(|content| drive.put("a", content))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert_eq!(answers.iter().filter(|answer| answer.status == 204).count(), 19);

        assert_eq!(drive.column("select count(*) as it from versions").await, [Value::Integer(20)]);
        let sizes: usize = contents.iter().map(|content| content.len()).sum();
        assert_eq!(drive.column("select used_bytes as it from spaces").await, [Value::Integer(sizes as i64)]);
        assert_eq!(drive.column("select change_seq as it from spaces").await, [Value::Integer(20)]);
        let last = drive.column(
            "select b.etag = (select c.etag from nodes n join versions w on w.id = n.version_id
                                join blobs c on c.id = w.blob_id where n.kind = 'file') as it
               from versions v join blobs b on b.id = v.blob_id order by v.rowid desc limit 1",
        );
        assert_eq!(last.await, [Value::Integer(1)], "the version that was committed last is the current one");
        assert_eq!(drive.column("select id as it from ingests").await, []);
    });
}

#[test]
fn a_refused_upload_leaves_no_ingest_behind() {
    run(async {
        let drive = Drive::new().await;
        let content: &'static [u8] = noise(1, 5000).leak();
        for (path, header, status) in [
            ("files/none/a", ("x-none", ""), 409),
            ("files/a", ("if-match", "*"), 412),
            ("files/a", ("content-length", "80000000000"), 507),
        ] {
            let quota = "update spaces set quota_bytes = 1000000";
            ledge_core::ports::Db::write(&drive.ports.db, vec![ledge_core::ports::Statement::new(quota)])
                .await
                .unwrap();
            let mut request = drive.request("PUT", path, content);
            request.headers_mut().insert(header.0, header.1.parse().unwrap());
            assert_eq!(drive.send(drive.plain(), request).await.status, status, "{path}");
            assert_eq!(drive.column("select id as it from ingests").await, []);
            assert_eq!(drive.objects().await, Vec::<String>::new());
        }
    });
}

#[test]
fn g15_a_quota_is_never_overrun_whoever_is_first() {
    run(async {
        let drive = Drive::new().await;
        let quota = ledge_core::ports::Statement::new("update spaces set quota_bytes = 1000000");
        ledge_core::ports::Db::write(&drive.ports.db, vec![quota]).await.unwrap();
        let content: &'static [u8] = noise(3, 300_000).leak();
        let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let answers = join_all(names.iter().map(|name| drive.put(name, content))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 3);
        assert_eq!(answers.iter().filter(|answer| answer.status == 507).count(), 17);
        assert_eq!(drive.column("select used_bytes as it from spaces").await, [Value::Integer(900_000)]);
        for (name, answer) in names.iter().zip(&answers) {
            let read = drive.get(name).await;
            assert_eq!(
                (read.status, read.body == content),
                if answer.status == 201 { (200, true) } else { (404, false) }
            );
        }
        assert_eq!(drive.lost_objects().await, Vec::<String>::new());
    });
}
