//! Raw sockets against a running server: what clients see at the edges of the protocol.

use std::cell::{Cell, RefCell};

use ledge_core::ports::Upload as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::*;

/// Runs `client` against a server with this handler, then stops it.
async fn with_server<H, F>(handler: H, client: impl AsyncFnOnce(TcpStream))
where
    H: Fn(Request<Upload>) -> F + 'static,
    F: Future<Output = Response<Body>> + 'static,
{
    LocalSet::new()
        .run_until(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (stop, stopped) = oneshot::channel::<()>();
            let server = tokio::task::spawn_local(serve(listener, handler, async {
                let _ = stopped.await;
            }));
            client(TcpStream::connect(address).await.unwrap()).await;
            drop(stop);
            server.await.unwrap();
        })
        .await;
}

async fn exchange(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn the_handler_sees_the_target_as_workers_parse_it() {
    let echo =
        |request: Request<Upload>| async move { Response::new(Body::whole(request.uri().to_string())) };
    for (target, expected) in [
        ("/a/%2e%2e/b?c", "http://drive.example/b?c"),
        ("/a\\b", "http://drive.example/a/b"),
        ("http://other/a/..", "http://other/"),
    ] {
        with_server(echo, async |mut stream| {
            let request =
                format!("GET {target} HTTP/1.1\r\nHost: drive.example\r\nConnection: close\r\n\r\n");
            let answer = exchange(&mut stream, &request).await;
            assert!(answer.ends_with(&format!("\r\n\r\n{expected}")), "{answer}");
        })
        .await;
    }
    with_server(echo, async |mut stream| {
        let request = "GET / HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n";
        let answer = exchange(&mut stream, request).await;
        assert!(
            answer.starts_with("HTTP/1.1 400 ") && answer.contains("\"code\":\"bad_target\""),
            "{answer}"
        );
        for header in
            ["x-content-type-options: nosniff", "content-security-policy: sandbox", "cache-control: private"]
        {
            assert!(answer.contains(header), "{answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_body_cut_short_is_never_an_end() {
    for head in ["Content-Length: 10\r\n\r\n12345", "Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n"] {
        let seen: Rc<RefCell<Vec<String>>> = Rc::default();
        let notes = seen.clone();
        let handler = move |mut request: Request<Upload>| {
            let notes = notes.clone();
            async move {
                let mut bytes = Vec::new();
                for _ in 0..3 {
                    let read = request.body_mut().read(&mut bytes, 1024).await;
                    notes.borrow_mut().push(match read {
                        Ok(count) => count.to_string(),
                        Err(_) => "cut".to_owned(),
                    });
                }
                Response::new(Body::whole(""))
            }
        };
        with_server(handler, async |mut stream| {
            stream.write_all(format!("PUT / HTTP/1.1\r\nHost: h\r\n{head}").as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
            while seen.borrow().len() < 3 {
                tokio::task::yield_now().await;
            }
        })
        .await;
        assert_eq!(*seen.borrow(), ["5", "cut", "cut"], "{head}");
    }
}

#[tokio::test]
async fn an_answer_before_the_body_was_read_arrives() {
    let refuse = |_: Request<Upload>| async { Response::new(Body::whole("no")) };
    with_server(refuse, async |mut stream| {
        let length = 16 << 20;
        let head =
            format!("PUT / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        let request = head + &"x".repeat(length);
        let answer = exchange(&mut stream, &request).await;
        assert!(answer.ends_with("\r\n\r\nno"), "{answer}");
    })
    .await;
    // Who asks first is answered without being asked to go on.
    with_server(refuse, async |mut stream| {
        let request = "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
        let answer = exchange(&mut stream, request).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    })
    .await;
}

#[tokio::test]
async fn a_client_that_disconnects_drops_its_handler() {
    struct Noted(Rc<Cell<bool>>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let (started, dropped) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(false)));
    let (starts, drops) = (started.clone(), dropped.clone());
    let handler = move |_: Request<Upload>| {
        let (starts, noted) = (starts.clone(), Noted(drops.clone()));
        async move {
            starts.set(true);
            std::future::pending::<()>().await;
            drop(noted);
            Response::new(Body::whole(""))
        }
    };
    with_server(handler, async |mut stream| {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").await.unwrap();
        while !started.get() {
            tokio::task::yield_now().await;
        }
        drop(stream);
        while !dropped.get() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
