//! What clients of a server may use, and where it listens.

use crate::common::Folder;
use crate::serve::{Server, lines, response, slow, trained};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// A client that reads nothing of its response must not keep its connection.
#[test]
fn clients_that_do_not_read_lose_their_connections() {
    let folder = Folder::new();
    // Long names make long responses, which no buffer of the system holds.
    let (first, second) = ("a".repeat(2000), "b".repeat(2000));
    folder.write(
        "t.csv",
        format!("x,{first},{second}\n1,2,3\n2,4,6\n3,6,9\n4,8,12\n"),
    );
    folder.ok("train --data t.csv --n-targets 2 --trees 2 --model m.rpo");
    let server = Server::start(&folder, "--model m.rpo --max-connections 1 --timeout 0.5");
    let rows = json!(vec![json!({"x": 1}); 10_000]).to_string();
    let mut idle = server.send("POST", "/predict", &rows);
    let (status, _) = server.request("GET", "/health", "");
    assert_eq!(status, 200);
    let mut begun = Vec::new();
    let _ = idle.read_to_end(&mut begun);
    assert!(begun.starts_with(b"HTTP/1.1 200 OK"));
    assert!(begun.len() < 20_000_000, "the response was cut off");
    // A client that reads gets all of it.
    let (status, body) = server.request("POST", "/predict", &rows);
    assert_eq!(status, 200);
    let found: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(found["predictions"].as_array().unwrap().len(), 10_000);
}

#[test]
fn responses_have_a_largest_number_of_values() {
    let folder = Folder::new();
    trained(&folder);
    let row = json!({"city": "Oslo", "since": "2024-02-03", "age": 31});
    let rows = vec![row; 3];
    let requests = [
        json!(rows),
        json!({"rows": rows, "values": true}),
        json!({"rows": rows, "top_k": 2, "id": 4}),
        // Both labels of each row.
        json!({"rows": rows, "decide": true}),
        json!({"rows": rows, "top_k": 1}),
        json!({"rows": rows[..2], "decide": true}),
        json!(rows[..2]),
    ];
    let input = requests.map(|request| format!("{request}\n")).concat();
    let found = lines(&folder, "--model m.rpo --max-values 5", &input);
    for refused in &found[..4] {
        assert_eq!(refused["error"]["kind"], "size");
        assert_eq!(
            refused["error"]["message"],
            "the response would have 6 values, at most 5 are returned at once: send fewer rows, or ask for the best \
             labels with top_k"
        );
    }
    assert_eq!(found[2]["id"], 4);
    for served in &found[4..] {
        assert!(served["predictions"].is_array(), "{served}");
    }
    let server = Server::start(&folder, "--model m.rpo --max-values 5");
    let (status, _) = server.request("POST", "/predict", &json!(rows).to_string());
    assert_eq!(status, 413);
    let schema: Value = serde_json::from_str(&server.request("GET", "/schema", "").1).unwrap();
    assert_eq!(schema["max_values"], 5);
}

#[test]
fn compressed_requests_are_refused_by_the_name_of_their_encoding() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo");
    for (encoding, expected) in [("gzip", 415), ("identity", 422)] {
        let mut stream = server.connect();
        let head = "POST /predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 4";
        let request = format!("{head}\r\ncontent-encoding: {encoding}\r\n\r\n[{{}}]");
        stream.write_all(request.as_bytes()).unwrap();
        let (status, body) = response(stream);
        assert_eq!(status, expected, "{body}");
        assert!(status != 415 || body.contains("gzip"), "{body}");
    }
}

/// Such clients read the response when they have sent all of their request.
#[test]
fn clients_that_send_everything_first_see_refusals() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo --max-bytes 4000000");
    let status = |line: &str, n: usize| {
        let mut stream = server.connect();
        let head = format!("{line}\r\nhost: x\r\ncontent-length: {n}\r\n");
        stream
            .write_all(format!("{head}connection: close\r\n\r\n").as_bytes())
            .unwrap();
        stream.write_all(&vec![b' '; n]).unwrap();
        response(stream).0
    };
    for (line, n, expected) in [
        ("POST /nothing HTTP/1.1", 12_000_000, 404),
        ("PUT /predict HTTP/1.1", 12_000_000, 405),
        ("POST /predict HTTP/1.1", 12_000_000, 413),
        ("POST /predict HTTP/1.1\r\ncontent-encoding: br", 12_000_000, 415),
    ] {
        assert_eq!(status(line, n), expected, "{line}");
    }
    // A client that asks whether to send the rest is told at once.
    let mut stream = server.connect();
    let head = "POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: 5000000\r\nconnection: close";
    stream
        .write_all(format!("{head}\r\nexpect: 100-continue\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(response(stream).0, 413);
}

/// Rows beyond the limit, and values that nobody asked for, take no more than their text.
#[cfg(target_os = "linux")]
#[test]
fn requests_take_memory_in_proportion_to_their_size() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo");
    let peak = || -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() >> 10
    };
    let size = 16 << 20;
    let rows = format!("[{}{{}}]", "{\"\":0},".repeat(size / 7 - 1));
    let (status, body) = server.request("POST", "/predict", &rows);
    assert!(
        status == 413 && body.contains("the request has 2396745 rows"),
        "{body}"
    );
    let list = format!(
        "{{\"age\":1,\"since\":null,\"city\":[{}1]}}",
        "1,".repeat(size / 2 - 50)
    );
    let (status, body) = server.request("POST", "/predict", &list);
    assert!(status == 422 && body.len() < 1000, "{status}");
    assert!(peak() < 150, "{} MB", peak());
}

#[test]
fn requests_have_a_largest_number_of_explained_scores() {
    let folder = Folder::new();
    trained(&folder);
    let row = json!({"city": "Oslo", "since": "2024-02-03", "age": 31});
    let requests = [
        json!({"rows": [row, row], "explain": 1}),
        json!({"rows": [row, row], "explain": 1, "top_k": 1}),
    ];
    let input = requests.map(|request| format!("{request}\n")).concat();
    let found = lines(
        &folder,
        "--model m.rpo --background table.csv --max-explained 3",
        &input,
    );
    assert_eq!(
        found[0]["error"],
        json!({"kind": "size", "message": "4 scores would be explained, at most 3 are at once (--max-explained): send \
            fewer rows, or ask for the best labels with top_k"})
    );
    assert_eq!(found[1]["explanations"].as_array().unwrap().len(), 2);
}

/// The work for a client that has gone must not delay others.
#[test]
fn explanations_that_nobody_waits_for_end() {
    let folder = Folder::new();
    let (options, request) = slow(&folder);
    let server = Server::start(&folder, &format!("{options} --timeout 0.5 --threads 1"));
    let clock = Instant::now();
    let (status, _) = server.request("POST", "/predict", &request(50));
    assert_eq!(status, 200);
    let of_twentieth = clock.elapsed();
    let stream = server.send("POST", "/predict", &request(1000));
    std::thread::sleep(Duration::from_millis(300));
    drop(stream);
    let clock = Instant::now();
    // Until then the only thread is busy.
    while server.request("POST", "/predict", "[]").0 == 503 {}
    assert!(
        clock.elapsed() > Duration::from_millis(400),
        "{:?}",
        clock.elapsed()
    );
    let most = Duration::from_millis(1500) + 5 * of_twentieth;
    assert!(clock.elapsed() < most, "{:?}, {of_twentieth:?}", clock.elapsed());
    // A client that closes its side and waits is answered.
    let stream = server.send("POST", "/predict", &request(5));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(response(stream).0, 200);
}

#[test]
fn hosts_have_names() {
    let folder = Folder::new();
    trained(&folder);
    for address in ["localhost:0", ":0"] {
        let server = Server::start_at(address, &folder, "--model m.rpo");
        assert!(!server.address.ends_with(":0"));
        assert_eq!(server.request("GET", "/health", "").0, 200);
    }
    for address in ["localhost", "8080", "::1:80", "127.0.0.1:x"] {
        let run = folder.run(&format!("serve --model m.rpo --http {address}"));
        assert_eq!(run.code, Some(2), "{address}");
        assert!(run.stderr.contains("ADDRESS:PORT is expected"), "{}", run.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_hangup_ends_a_server_unless_it_is_ignored() {
    use crate::common::send;
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    trained(&folder);
    // A test that itself was started by nohup has servers that ignore it.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    if u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 0 {
        let mut server = Server::start(&folder, "--model m.rpo");
        send("-HUP", server.child.id());
        assert!(server.child.wait().unwrap().success());
    }
    // As nohup starts it.
    let script = format!(
        "trap '' HUP; exec {} serve --model m.rpo",
        env!("CARGO_BIN_EXE_rpo")
    );
    let mut shell = Command::new("sh");
    let mut child = shell
        .args(["-c", &script])
        .current_dir(folder.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"[]\n").unwrap();
    let mut begun = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut begun).unwrap();
    send("-HUP", child.id());
    input.write_all(b"[]\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("{\"predictions\":[]}\n"));
}
