//! How clients of a server share its connections, its memory and its threads.

use crate::common::Folder;
use crate::serve::{Server, response, slow, trained};
use serde_json::json;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Asks for `/health` on a connection that is kept. Returns the head of the response in lower case; `None` if the
/// connection was closed.
fn health(stream: &mut TcpStream) -> Option<String> {
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        .ok()?;
    let mut text = String::new();
    while !text.ends_with("}}") {
        let mut byte = [0];
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        text.push(byte[0].into());
    }
    let (head, _) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    Some(head.to_ascii_lowercase())
}

/// Returns true if something can be read within some time.
fn answers_within(stream: &TcpStream, milliseconds: u64) -> bool {
    let kept = stream.read_timeout().unwrap();
    stream
        .set_read_timeout(Some(Duration::from_millis(milliseconds)))
        .unwrap();
    let found = stream.peek(&mut [0]);
    stream.set_read_timeout(kept).unwrap();
    match found {
        Ok(n) => n > 0,
        Err(e) => {
            assert!(
                matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
                "{e}"
            );
            false
        }
    }
}

/// A request of which one byte is missing.
fn unfinished(server: &Server, size: usize) -> TcpStream {
    let mut stream = server.connect();
    let head =
        format!("POST /predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {size}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![b' '; size - 1]).unwrap();
    stream
}

/// Clients that keep their connections must not shut out others, whether they send requests all the time or none.
#[test]
fn every_client_gets_a_connection() {
    let folder = Folder::new();
    trained(&folder);
    let options = "--model m.rpo --max-connections 2 --idle-timeout 3600";
    let server = Server::start(&folder, options);
    // Both are idle: the one that has been idle for longest is closed.
    let (mut first, mut second) = (server.connect(), server.connect());
    let head = health(&mut first).unwrap();
    assert!(!head.contains("connection: close"), "{head}");
    std::thread::sleep(Duration::from_millis(100));
    health(&mut second).unwrap();
    assert_eq!(server.request("GET", "/health", "").0, 200);
    assert_eq!(first.read(&mut [0]).unwrap(), 0);
    let head = health(&mut second).unwrap();
    assert!(!head.contains("connection: close"), "{head}");
    // Both are busy: they are asked to close their connections.
    let mut first = server.connect();
    health(&mut first).unwrap();
    let waiting = server.send("GET", "/health", "");
    let clock = Instant::now();
    let ends = |stream: &mut TcpStream| health(stream).is_none_or(|head| head.contains("connection: close"));
    while !ends(&mut first) && !ends(&mut second) {
        assert!(clock.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(response(waiting).0, 200);
}

/// Proxies keep their connections for longer than requests may take to arrive.
#[test]
fn idle_connections_have_their_own_time() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo --timeout 0.2");
    let mut stream = server.connect();
    for _ in 0..3 {
        health(&mut stream).unwrap();
        std::thread::sleep(Duration::from_millis(700));
    }
    // The head of a request must arrive in time.
    stream.write_all(b"GET /health HTTP/1.1\r\n").unwrap();
    assert!(!matches!(stream.read(&mut [0]), Ok(1)));
    let server = Server::start(&folder, "--model m.rpo --idle-timeout 0.2");
    let mut stream = server.connect();
    health(&mut stream).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    // Nothing was ever sent.
    assert_eq!(server.connect().read(&mut [0]).unwrap(), 0);
}

#[test]
fn large_requests_wait_for_memory() {
    let folder = Folder::new();
    trained(&folder);
    let size = 70_000;
    let server = Server::start(&folder, &format!("--model m.rpo --max-bytes {size} --timeout 15"));
    let large = format!("[]{}", " ".repeat(size - 2));
    assert_eq!(server.request("POST", "/predict", &large).0, 200);
    let mut begun: Vec<TcpStream> = (0..8).map(|_| unfinished(&server, size)).collect();
    // The room is taken when the server has read all of their heads.
    let probes = (0..40).map(|_| server.send("POST", "/predict", &large));
    let waiting = probes.into_iter().find(|probe| !answers_within(probe, 500));
    let waiting = waiting.expect("the room is taken");
    // A body of undeclared size waits when it turns out to be large, and small ones do not wait.
    let mut chunked = server.connect();
    let head = "POST /predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked";
    let size = large.len();
    chunked
        .write_all(format!("{head}\r\n\r\n{size:x}\r\n{large}\r\n0\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(server.request("POST", "/predict", "[]").0, 200);
    assert!(!answers_within(&waiting, 300) && !answers_within(&chunked, 300));
    // Each leaves its room.
    begun.truncate(6);
    assert_eq!(response(waiting).0, 200);
    assert_eq!(response(chunked).0, 200);
}

#[test]
fn requests_that_wait_too_long_for_memory_are_refused() {
    let folder = Folder::new();
    trained(&folder);
    let size = 70_000;
    let server = Server::start(&folder, &format!("--model m.rpo --max-bytes {size} --timeout 5"));
    let all_room = || {
        let begun: Vec<TcpStream> = (0..8).map(|_| unfinished(&server, size)).collect();
        std::thread::sleep(Duration::from_secs(1));
        begun
    };
    let (first, second) = (all_room(), all_room());
    // The first end after 5 seconds, and then the second begin.
    let (status, body) = server.request("POST", "/predict", &format!("[]{}", " ".repeat(size - 2)));
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("waiting for other requests"), "{body}");
    drop((first, second));
}

/// The server notes that there are too few files, and clients wait.
#[cfg(target_os = "linux")]
#[test]
fn a_connection_takes_one_file() {
    use std::process::Stdio;
    let folder = Folder::new();
    trained(&folder);
    let rpo = env!("CARGO_BIN_EXE_rpo");
    let script = format!("ulimit -n 50; exec {rpo} serve --model m.rpo --http 127.0.0.1:0 --threads 1");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path(""));
    let mut server = Server::of(shell.stderr(Stdio::piped()));
    let connect = |n: usize| -> Vec<TcpStream> { (0..n).map(|_| server.connect()).collect() };
    let mut few = connect(30);
    for stream in &mut few {
        health(stream).unwrap();
    }
    for stream in &mut few {
        assert!(health(stream).is_some_and(|head| !head.contains("connection: close")));
    }
    // The idle ones make room.
    for stream in &mut connect(40) {
        health(stream).unwrap();
    }
    server.child.kill().unwrap();
    let mut noted = String::new();
    let mut errors = server.child.stderr.take().unwrap();
    errors.read_to_string(&mut noted).unwrap();
    assert!(noted.starts_with("note: a connection has to wait: "), "{noted}");
    assert_eq!(noted.lines().count(), 1, "{noted}");
}

/// A connection that is closed while something can be read from it is reset: its client gets no response.
#[cfg(target_os = "linux")]
#[test]
fn requests_of_connections_that_were_reset_end() {
    let folder = Folder::new();
    let (options, request) = slow(&folder);
    let server = Server::start(&folder, &format!("{options} --threads 1 --timeout 60"));
    let request = request(100);
    let clock = Instant::now();
    assert_eq!(server.request("POST", "/predict", &request).0, 200);
    let of_one = clock.elapsed();
    for _ in 0..24 {
        let mut stream = server.connect();
        stream.set_nodelay(true).unwrap();
        stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            .unwrap();
        assert!(answers_within(&stream, 20_000));
        let head = format!(
            "POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
            request.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        // The server reads the request meanwhile.
        std::thread::sleep(Duration::from_millis(100));
    }
    let clock = Instant::now();
    let (status, _) = server.request("POST", "/predict", &json!([]).to_string());
    assert_eq!(status, 200);
    assert!(
        clock.elapsed() < 8 * of_one + Duration::from_secs(1),
        "{:?}, {of_one:?}",
        clock.elapsed()
    );
}
