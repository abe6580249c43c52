//! The HTTP client by which the native host reaches a bucket: hyper's, with its pool of connections.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as Hyper;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use ledge_core::ports::Timestamp;

use crate::s3::{Broken, Client};

/// How long it may take to connect: a store that is there answers in a tenth of a second.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a connection is kept that nobody uses. Stores close theirs after about as long.
const IDLE: Duration = Duration::from_secs(15);

/// An HTTP client. Clones share its connections.
#[derive(Debug, Clone)]
pub struct HttpClient {
    hyper: Hyper<HttpsConnector<HttpConnector>, Full<Bytes>>,
}

impl HttpClient {
    /// A client that knows servers by the system's certificates; which must be there if `tls`.
    ///
    /// # Errors
    /// The system's certificates can't be read.
    pub fn new(tls: bool) -> io::Result<Self> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        let builder = HttpsConnectorBuilder::new();
        let connector = if tls {
            builder.with_native_roots()?.https_only().enable_http1().wrap_connector(connector)
        } else {
            let nobody = rustls::RootCertStore::empty();
            let trusting =
                rustls::ClientConfig::builder().with_root_certificates(nobody).with_no_client_auth();
            builder.with_tls_config(trusting).https_or_http().enable_http1().wrap_connector(connector)
        };
        let mut builder = Hyper::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
        Ok(Self { hyper: builder.build(connector) })
    }
}

impl Client for HttpClient {
    type Body = Incoming;

    async fn send(&self, request: Request<&[u8]>) -> Result<Response<Incoming>, Broken> {
        let request = request.map(|body| Full::new(Bytes::copy_from_slice(body)));
        self.hyper.request(request).await.map_err(|error| broken(&error))
    }

    async fn collect(&self, body: Incoming, limit_bytes: usize) -> Result<Vec<u8>, Broken> {
        let all = Limited::new(body, limit_bytes).collect().await;
        all.map(|all| all.to_bytes().to_vec()).map_err(|error| broken(&*error))
    }

    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn jitter(&self) -> u32 {
        // Without randomness there is no jitter, which is no reason to fail.
        getrandom::u32().unwrap_or_default()
    }

    async fn sleep(&self, millis: u64) {
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
}

/// What went wrong, down to what the system says. hyper and rustls name hosts and addresses, never a URL.
pub(super) fn broken(error: &dyn Error) -> Broken {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    Broken(text)
}
