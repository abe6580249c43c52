//! Who sees which job.

use http::HeaderValue;
use ledge_core::ids::{AccountId, SpaceId};
use ledge_core::jobs::{self, By};
use ledge_core::ports::{Db, Host, Platform, Statement, Value};
use ledge_core::token::Token;
use ledge_engine_tests::{Answer, Drive, Labour, run};
use serde_json::json;

use crate::{claimed, json, nothing, request, write};

/// A token with these limits, of the drive's account or of another one.
async fn token(
    drive: &Drive,
    account: &str,
    space: Option<&str>,
    folder: Option<&str>,
    rights: &str,
) -> Token {
    let token = Token::new(&drive.ports.host);
    let row = Statement::new(
        "insert into tokens (id, hash, account_id, name, created_at, space_id, folder_id, rights)
         values (?1, ?1, ?2, 'limited', 1, ?3, ?4, ?5)",
    )
    .bind(token.hash().to_string())
    .bind(account)
    .bind(space)
    .bind(folder)
    .bind(rights);
    drive.ports.db.write(vec![row]).await.unwrap();
    token
}

async fn text(drive: &Drive, sql: &'static str) -> String {
    match drive.column(sql).await.pop() {
        Some(Value::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_token_watches_and_steers_what_it_reaches() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let account = text(&drive, "select id as it from accounts").await;
        let space = text(&drive, "select id as it from spaces").await;
        write(&drive, "insert into accounts (id, name, role, created_at) values ('018f0000-0000-7000-8000-000000000000', 'other', 'user', 1)").await;
        let whole = token(&drive, &account, None, None, "write").await;
        let reads = token(&drive, &account, None, None, "read").await;
        let of_space = token(&drive, &account, Some(&space), None, "write").await;
        let of_folder = token(&drive, &account, Some(&space), Some("folder"), "write").await;
        let others = token(&drive, "018f0000-0000-7000-8000-000000000000", None, None, "write").await;

        let (account, space) = (AccountId::parse(&account).unwrap(), SpaceId::parse(&space).unwrap());
        let mut ids = Vec::new();
        for by in [
            By::System,
            By::Account { account: &account, space: None, token: None },
            By::Account { account: &account, space: Some(&space), token: None },
            By::Account { account: &account, space: Some(&space), token: Some(&of_folder) },
        ] {
            ids.push(jobs::start(&platform, &nothing(), by).await.unwrap().id);
        }
        let send = async |method: &str, path: &str, token: &Token| {
            let mut request = request(&drive, method, path);
            let bearer = HeaderValue::try_from(format!("Bearer {}", token.reveal())).unwrap();
            request.headers_mut().insert("authorization", bearer);
            drive.send(&platform, request).await
        };
        for (token, seen, listed) in [
            // The account is the administrator's.
            (&whole, [200, 200, 200, 200], 3),
            (&reads, [200, 200, 200, 200], 3),
            (&of_space, [404, 404, 200, 200], 2),
            (&of_folder, [404, 404, 404, 200], 1),
            (&others, [404, 404, 404, 404], 0),
        ] {
            for (id, seen) in ids.iter().zip(seen) {
                assert_eq!(send("GET", &format!("jobs/{id}"), token).await.status, seen);
                let steered = if seen == 200 && token == &reads { 403 } else { seen };
                assert_eq!(send("POST", &format!("jobs/{id}/retry"), token).await.status, steered);
            }
            let list = json(&send("GET", "jobs", token).await);
            assert_eq!(list["jobs"].as_array().unwrap().len(), listed);
        }
        for (token, status) in
            [(&whole, 200), (&reads, 200), (&of_space, 403), (&of_folder, 403), (&others, 403)]
        {
            let answer: Answer = send("GET", "admin/jobs", token).await;
            assert_eq!(answer.status, status);
        }
        assert_eq!(send("POST", &format!("jobs/{}/cancel", ids[0]), &reads).await.status, 403);
        assert_eq!(json(&send("GET", &format!("jobs/{}", ids[0]), &whole).await)["state"], "pending");
    });
}

#[test]
fn administrators_see_how_many_jobs_there_are_and_how_old_the_oldest_is() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let empty = json(&drive.send(&platform, request(&drive, "GET", "admin/jobs")).await);
        assert_eq!(empty["lanes"].as_array().unwrap().len(), 3);
        assert_eq!(
            empty["lanes"][2],
            json!({ "lane": "maintenance", "pending": 0, "processing": 0, "retry": 0,
            "dead": 0, "oldest_at": null, "oldest_age_secs": null })
        );
        let first = crate::job(&platform).await;
        labour.pass_secs(100);
        crate::job(&platform).await;
        claimed(&platform, &first).await;
        let lane =
            json(&drive.send(&platform, request(&drive, "GET", "admin/jobs")).await)["lanes"][2].take();
        assert_eq!((&lane["pending"], &lane["processing"], &lane["dead"]), (&json!(1), &json!(1), &json!(0)));
        assert!((100..110).contains(&lane["oldest_age_secs"].as_i64().unwrap()), "{lane}");
        let _ = platform.host().now();
    });
}

#[test]
fn a_list_is_paged_and_can_be_of_one_state() {
    run(async {
        let drive = Drive::new().await;
        let labour = Labour::new(drive.plain());
        let platform = labour.platform();
        let account = AccountId::parse(&text(&drive, "select id as it from accounts").await).unwrap();
        let by = By::Account { account: &account, space: None, token: None };
        let mut ids = Vec::new();
        for n in 0..5 {
            let id = jobs::start(&platform, &nothing(), by).await.unwrap().id;
            if n % 2 == 0 {
                ledge_functions::run(&platform, &id).await;
            }
            ids.insert(0, id.to_string());
            labour.pass_secs(1);
        }
        let list = async |query: &str| {
            let (mut found, mut cursor) = (Vec::new(), String::new());
            loop {
                let path = format!("jobs?limit=2{query}{cursor}");
                let page = json(&drive.send(&platform, request(&drive, "GET", &path)).await);
                let jobs = page["jobs"].as_array().unwrap();
                found.extend(jobs.iter().map(|job| job["id"].as_str().unwrap().to_owned()));
                let Some(next) = page["next"].as_str() else { return found };
                cursor = format!("&cursor={next}");
            }
        };
        let of = |places: &[usize]| places.iter().map(|at| ids[*at].clone()).collect::<Vec<_>>();
        assert_eq!(list("").await, ids);
        assert_eq!(list("&state=done").await, of(&[0, 2, 4]));
        assert_eq!(list("&state=pending").await, of(&[1, 3]));
        assert_eq!(list("&state=dead").await, Vec::<String>::new());
        let wrong = drive.send(&platform, request(&drive, "GET", "jobs?state=none")).await;
        assert_eq!((wrong.status, &json(&wrong)["field"]), (400, &json!("state")));
    });
}
