//! Where keys lead.

use ledge_engine_tests::{Drive, Labour, check, run};
use serde_json::json;

use super::world::{Foreign, ask, body, finish, import, number, platform, report, tree};

fn refused(report: &serde_json::Value) -> Vec<(&str, &str)> {
    let refused = report["refused"].as_array().unwrap();
    refused.iter().map(|it| (it["key"].as_str().unwrap(), it["code"].as_str().unwrap())).collect()
}

#[test]
fn each_key_becomes_a_file_or_is_told_with_a_reason() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let deep = format!("{}x", "d/".repeat(128));
        let long = "l".repeat(256);
        let fine = [
            "a.txt",
            "a b+c&d=e?f#g%20.txt",
            "folder/b.txt",
            "folder/deeper/c",
            "100%25",
            "…/日本語.txt",
            "🗂/ü",
            "\\back\\slash",
            "marked/",
            "marked2/",
            "marked2/x",
            ".hidden",
            "...",
            "CON",
            "trailing.",
            " space ",
        ];
        let strange = [
            ("/leading", "not_a_name"),
            ("a//b", "not_a_name"),
            ("a/../b", "not_a_name"),
            ("./c", "not_a_name"),
            ("tab\there", "not_a_name"),
            ("nul\0", "not_a_name"),
            ("line\nbreak/x", "not_a_name"),
            (long.as_str(), "not_a_name"),
            (deep.as_str(), "too_deep"),
            // `a.txt` is a file.
            ("a.txt/below", "taken"),
            // NFD, whose NFC comes behind it.
            ("u\u{308}ber", "fine"),
            ("über", "twin"),
        ];
        let own = ["ledge/seg/00/0", "ledge/meta/x"];
        let keys = fine.iter().copied().chain(strange.iter().map(|(key, _)| *key)).chain(own);
        let foreign = Foreign::new(keys);
        for page in [1000, 1, 3] {
            let drive = if page == 1000 { &drive } else { &Drive::new().await };
            foreign.page.set(page);
            let platform = platform(&labour, drive, &foreign);
            let platform = ledge_core::ports::Ports { db: drive.ports.db.clone(), ..platform };
            let report = import(drive, &platform).await;
            let mut expected: Vec<(&str, &str)> =
                strange.iter().copied().filter(|(_, code)| *code != "fine").collect();
            expected.sort_unstable();
            assert_eq!(refused(&report), expected, "pages of {page}");
            assert_eq!((report["own"].as_u64(), report["refused_count"].as_u64()), (Some(2), Some(11)));
            let files = fine.iter().filter(|key| !key.ends_with('/')).count() as u64 + 1;
            assert_eq!(report["files"].as_u64(), Some(files));
            assert_eq!(report["bytes"].as_u64(), Some(10 * files));
            let mut tree = tree(drive).await;
            tree.retain(|path| !path.ends_with('/') || path.contains("marked/"));
            let mut wanted: Vec<String> =
                fine.iter().filter(|key| **key != "marked2/").map(|key| format!("in/{key}")).collect();
            wanted.push("in/u\u{308}ber".to_owned());
            wanted.sort_unstable();
            assert_eq!(tree, wanted, "pages of {page}");
            check(drive).await;
        }
    });
}

#[test]
fn names_begin_behind_the_last_slash_of_the_prefix() {
    run(async {
        let keys = ["photos/2024/a", "photos/2024/b", "photos/2025/c", "photos/", "music/d"];
        for (prefix, files) in [
            ("photos/", vec!["2024/a", "2024/b", "2025/c"]),
            ("photos", vec!["photos/2024/a", "photos/2024/b", "photos/2025/c"]),
            ("photos/2024", vec!["2024/a", "2024/b"]),
            ("photos/2024/a", vec!["a"]),
            ("nothing", vec![]),
        ] {
            let drive = Drive::new().await;
            let labour = Labour::new(drive.plain());
            let foreign = Foreign::new(keys);
            let platform = platform(&labour, &drive, &foreign);
            let wanted = json!({ "bucket": "foreign", "prefix": prefix });
            let job = ask(&drive, &platform, &wanted).await;
            assert_eq!(finish(&drive, &platform, &job).await.0, "done");
            let mut tree = tree(&drive).await;
            tree.retain(|path| !path.ends_with('/'));
            assert_eq!(tree, files, "{prefix}");
        }
    });
}

#[test]
fn what_is_there_already_is_left_alone() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let foreign = Foreign::new(["file", "folder/x", "new/y", "cafe\u{301}"]);
        let platform = platform(&labour, &drive, &foreign);
        for (method, path) in [
            ("PUT", "folders/in"),
            ("PUT", "folders/in/file"),
            ("PUT", "files/in/folder"),
            ("PUT", "files/in/caf%C3%A9"),
        ] {
            assert_eq!(drive.send(drive.plain(), drive.request(method, path, b"")).await.status, 201);
        }
        let first = import(&drive, &platform).await;
        assert_eq!(refused(&first), [("cafe\u{301}", "twin"), ("file", "taken"), ("folder/x", "taken")]);
        assert_eq!((first["files"].as_u64(), first["folders"].as_u64()), (Some(1), Some(1)));
        // Again: what was imported is known, and only what is new comes.
        let again = import(&drive, &platform).await;
        assert_eq!((again["files"].as_u64(), again["unchanged"].as_u64()), (Some(0), Some(1)));
        foreign.change("new/y");
        let changed = import(&drive, &platform).await;
        assert_eq!(refused(&changed)[3], ("new/y", "taken"));
        check(&drive).await;
    });
}

#[test]
fn a_hundred_thousand_keys() {
    run(async {
        let drive = Drive::quick().await;
        let labour = Labour::new(drive.plain());
        let key = |n: u32| match n % 10 {
            0 => format!("many/{:03}//{n}", n / 100),
            1 => format!("many/{:03}/e\u{301}{n}", n / 100),
            2 => format!("many/{:03}/{n}\u{1}", n / 100),
            3 => format!("flat-{n} \u{1f9ff}"),
            _ => format!("many/{:03}/{n}.jpg", n / 100),
        };
        let foreign = Foreign::new((0..100_000).map(key));
        let platform = platform(&labour, &drive, &foreign);
        let job = ask(&drive, &platform, &json!({ "bucket": "foreign" })).await;
        // A worker at a time, none of which comes to the end.
        let mut workers = 0;
        while ledge_engine_tests::worker::state(&drive, &job).await.0 != "done" {
            ledge_engine_tests::worker::due(&drive).await;
            ledge_functions::run(&platform, &job).await;
            workers += 1;
        }
        assert!(workers > 1, "{workers}");
        let told = report(&drive, &platform, &job).await;
        assert_eq!((told["files"].as_u64(), told["refused_count"].as_u64()), (Some(80_000), Some(20_000)));
        assert_eq!(
            number(&drive, "select count(*) as it from segments where source_etag is not null").await,
            80_000
        );
        // The report, page by page.
        let (mut keys, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("imports/{job}?limit=1000{cursor}");
            let page = body(&drive.send(&platform, drive.request("GET", &path, b"")).await);
            keys.extend(
                page["refused"].as_array().unwrap().iter().map(|it| it["key"].as_str().unwrap().to_owned()),
            );
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(keys.len(), 20_000);
        assert!(keys.is_sorted());
    });
}
