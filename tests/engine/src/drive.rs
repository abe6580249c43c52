//! An empty drive in a temporary folder, with one account.

use std::path::Path;
use std::sync::OnceLock;

use http::Request;
use http_body_util::BodyExt;
use ledge_core::bootstrap::{Bootstrap, first_account};
use ledge_core::ids::SpaceId;
use ledge_core::path::Path as DrivePath;
use ledge_core::ports::{Bucket, Db, Platform, Statement, Value};
use ledge_core::token::Token;
use ledge_core::tree::Address;
use ledge_hosts::local::{self, Body, LocalPorts, Temporary};

/// A drive of its own for each test.
pub struct Drive {
    /// The native ports.
    pub ports: Temporary,
    token: String,
    space: String,
}

/// An empty drive, to be copied.
struct Template {
    database: Vec<u8>,
    token: String,
    space: String,
}

static TEMPLATE: OnceLock<Template> = OnceLock::new();

/// What the gateway answered.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: http::HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// Runs a test on the native host's single thread.
pub fn run(test: impl Future<Output = ()>) {
    local::run(test).expect("a runtime");
}

impl Drive {
    /// Makes the drive.
    pub async fn new() -> Self {
        Self::on(local::temporary().expect("a temporary drive")).await
    }

    /// Makes one in memory, where the system has a folder there: for tests that need thousands of them.
    pub async fn quick() -> Self {
        let memory = Path::new("/dev/shm");
        let elsewhere = std::env::temp_dir();
        let parent = if memory.is_dir() { memory } else { elsewhere.as_path() };
        let Template { database, token, space } = match TEMPLATE.get() {
            Some(template) => template,
            None => {
                let template = Self::new().await.into_template();
                TEMPLATE.get_or_init(|| template)
            }
        };
        let ports = local::temporary_in(parent, Some(database)).expect("a temporary drive");
        Self { ports, token: token.clone(), space: space.clone() }
    }

    fn into_template(self) -> Template {
        let file = self.ports.path().join("ledge.db");
        let connection = rusqlite::Connection::open(&file).expect("the database");
        let checkpoint = "pragma wal_checkpoint(truncate)";
        connection.query_row(checkpoint, [], |_| Ok(())).expect("all of it is in the file");
        let database = std::fs::read(file).expect("the file");
        Template { database, token: self.token, space: self.space }
    }

    async fn on(ports: Temporary) -> Self {
        let Bootstrap { token, space, statements, .. } = first_account(&ports.host);
        ports.db.write(statements).await.expect("the first account");
        Self { ports, token: token.reveal().to_owned(), space: space.to_string() }
    }

    /// A request about `path` below the space, `files/a` say.
    pub fn request(&self, method: &str, path: &str, body: &'static [u8]) -> Request<&'static [u8]> {
        Request::builder()
            .method(method)
            .uri(format!("/api/v1/spaces/{}/{path}", self.space))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-length", body.len())
            .body(body)
            .expect("a request")
    }

    /// The address of what stands at a path, for use cases that are called without the gateway.
    pub fn address(&self, path: &str) -> Address {
        let names = path.split('/').filter(|name| !name.is_empty());
        Address {
            token: Token::parse(&self.token).expect("a token"),
            space: SpaceId::parse(&self.space).expect("an id"),
            base: None,
            path: DrivePath::parse(names).expect("a path"),
        }
    }

    /// Lets the gateway answer over these ports, which may be wrapped ones.
    pub async fn send<P>(&self, platform: &P, request: Request<&'static [u8]>) -> Answer
    where
        P: Platform,
        P::Host: ledge_core::ports::Host<Body = Body>,
    {
        let response = ledge_gateway::handle(platform, request).await;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.into_body().collect().await.map(|body| body.to_bytes().to_vec());
        Answer { status, headers, body: body.unwrap_or_default() }
    }

    /// Saves over the plain ports.
    pub async fn put(&self, name: &str, body: &'static [u8]) -> Answer {
        self.send(self.plain(), self.request("PUT", &format!("files/{name}"), body)).await
    }

    /// Reads over the plain ports.
    pub async fn get(&self, name: &str) -> Answer {
        self.send(self.plain(), self.request("GET", &format!("files/{name}"), b"")).await
    }

    /// The ports without any wrapper.
    pub fn plain(&self) -> &LocalPorts {
        &self.ports
    }

    /// Makes another space, which the same account owns; its id.
    ///
    /// # Panics
    /// Where there is one already.
    pub async fn second_space(&self) -> &'static str {
        let (space, root) = ("018f0000-0000-7000-8000-000000000001", "018f0000-0000-7000-8000-000000000002");
        let batch = [
            "insert into spaces (id, name, root_id, created_at) values (?1, 'second', ?2, 0)",
            "insert into nodes (id, space_id, parent_id, name, name_nfc, kind, created_at, modified_at)
             values (?2, ?1, '', ?1, ?1, 'folder', 0, 0)",
            "insert into members (account_id, space_id, role) select id, ?1, 'owner' from accounts where ?2 = ?2",
        ];
        let batch = batch.map(|sql| Statement::new(sql).bind(space).bind(root));
        self.ports.db.write(batch.to_vec()).await.expect("there was one space");
        space
    }

    /// One column of a query's rows.
    pub async fn column(&self, sql: &'static str) -> Vec<Value> {
        let rows = self.ports.db.read(vec![Statement::new(sql)]).await.expect("a query").remove(0);
        rows.iter().filter_map(|row| row.value("it").cloned()).collect()
    }

    /// The keys of all objects in the bucket.
    pub async fn objects(&self) -> Vec<String> {
        let page = self.ports.bucket.list("", None).await.expect("a listing");
        assert_eq!(page.next, None, "these tests stay below a page");
        page.objects.into_iter().map(|object| object.key).collect()
    }

    /// Objects that neither a segment nor an open ingest accounts for: nobody would ever find them.
    pub async fn lost_objects(&self) -> Vec<String> {
        let text = |values: Vec<Value>| -> Vec<String> {
            values
                .into_iter()
                .filter_map(|value| if let Value::Text(text) = value { Some(text) } else { None })
                .collect()
        };
        let known = text(self.column("select key as it from segments").await);
        let open = text(self.column("select 'ledge/seg/' || key || '/' as it from ingests").await);
        let mut objects = self.objects().await;
        objects.retain(|key| !known.contains(key) && !open.iter().any(|prefix| key.starts_with(prefix)));
        objects
    }
}
