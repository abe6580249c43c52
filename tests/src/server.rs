//! The server under test.

use std::sync::LazyLock;

/// Where the server is and how to sign in.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) space: String,
    pub(crate) host: String,
}

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let variable = |name: &str| {
        std::env::var(name).unwrap_or_else(|_| panic!("{name} names no server: run cargo xtask test"))
    };
    Server {
        url: variable("LEDGE_TEST_URL").trim_end_matches('/').to_owned(),
        token: variable("LEDGE_TEST_TOKEN"),
        space: variable("LEDGE_TEST_SPACE"),
        host: variable("LEDGE_TEST_HOST"),
    }
});

/// The one server of this run.
pub(crate) fn server() -> &'static Server {
    &SERVER
}
