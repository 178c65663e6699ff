//! Serving a model: line by line, and over HTTP.

use crate::common::{Folder, csv, number, svmlight};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Rows of words, dates and numbers, with labels that are functions of them.
fn table() -> String {
    let mut text = "city,since,age,label_a,label_b\n".to_owned();
    for i in 0..40 {
        let city = ["Bern", "Oslo"][i % 2];
        text += &format!(
            "{city},2024-{:02}-03,{},{},{}\n",
            1 + i % 12,
            i,
            i % 2,
            usize::from(i > 20)
        );
    }
    text
}

pub(crate) fn trained(folder: &Folder) {
    folder.write("table.csv", table());
    folder.ok("train --data table.csv --targets label_* --trees 10 --seed 1 --model m.rpo");
}

/// Returns the responses to the input lines.
pub(crate) fn lines(folder: &Folder, options: &str, input: &str) -> Vec<Value> {
    let mut child = folder
        .command(&format!("serve {options}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Texts and numbers are missing values where they were in training, and words where they were words.
#[test]
fn missing_values_are_those_of_the_training() {
    let folder = Folder::new();
    let predicted = |input: &str| {
        let responses = lines(&folder, "--model m.rpo", input);
        let of = |row: &Value| number(row, "y");
        let rows = responses[0]["predictions"].as_array().unwrap();
        rows.iter().map(of).collect::<Vec<_>>()
    };
    let options = "--targets y --method gbmort --iterations 200 --model m.rpo";
    let mut text = "@relation r\n@attribute c {DE,NA,''}\n@attribute y numeric\n@data\n".to_owned();
    let mut table = "x,y\n".to_owned();
    for i in 0..60 {
        text += &format!("{},{}\n", ["DE", "NA", "''"][i % 3], [1, 9, 5][i % 3]);
        table += &format!("{},{}\n", ["-999", "2", "3"][i % 3], [9, 1, 2][i % 3]);
    }
    folder.write("words.arff", text).write("numbers.csv", table);
    let trained = folder.run(&format!("train --data words.arff {options}"));
    assert!(
        trained.stderr.contains("with the value \"NA\""),
        "{}",
        trained.stderr
    );
    let found = predicted("[{\"c\":\"NA\"},{\"c\":\"\"},{\"c\":\"DE\"}]\n");
    for (found, expected) in found.iter().zip([9.0, 5.0, 1.0]) {
        assert!((found - expected).abs() < 0.1, "{found} {expected}");
    }
    folder.ok(&format!(
        "train --data numbers.csv --missing-values=-999 {options}"
    ));
    let found = predicted("[{\"x\":-999},{\"x\":\"-999\"},{\"x\":null},{\"x\":2}]\n");
    assert_eq!(found[..2], [found[2]; 2]);
    assert!(found[0] > 8.9 && found[3] < 1.1, "{found:?}");
}

#[test]
fn lines_are_predicted_as_files_are() {
    let folder = Folder::new();
    trained(&folder);
    let expected = folder.ok("predict --data table.csv --model m.rpo");
    let requests: String = table()
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let age: f64 = cells[2].parse().unwrap();
            format!(
                "{}\n",
                json!({"since": cells[1], "age": age, "city": cells[0], "other": [1]})
            )
        })
        .collect();
    let responses = lines(&folder, "--model m.rpo", &requests);
    assert_eq!(responses.len(), 40);
    let written = folder.ok("predict --data table.csv --model m.rpo --out-format jsonl");
    for (row, (line, response)) in written.lines().zip(&responses).enumerate() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            line,
            json!({"row": row, "prediction": response["predictions"][0]})
        );
    }
    let written =
        folder.ok("predict --data table.csv --id label_a --model m.rpo --out-format jsonl --top-k 1");
    assert!(
        written.starts_with("{\"label_a\":\"0\",\"prediction\":["),
        "{written}"
    );
    assert!(
        written.contains("\"prediction\":[{\"output\":\"label_"),
        "{written}"
    );
    for (response, line) in responses.iter().zip(expected.lines().skip(1)) {
        let found = &response["predictions"][0];
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!([number(found, "label_a"), number(found, "label_b")], cells[..]);
    }
}

/// The parts of dates in a converted file are numbers: nothing but their names tells that they were dates.
#[test]
fn a_converted_file_is_served_as_it_is() {
    let folder = Folder::new();
    trained(&folder);
    folder.ok("convert --data table.csv --targets label_* --out parts.csv");
    let head = folder.read("parts.csv").lines().next().unwrap().to_owned();
    assert_eq!(
        head,
        "city,since[days],since[month],since[weekday],age,label_a,label_b"
    );
    folder.ok("train --data parts.csv --targets label_* --trees 10 --seed 1 --model parts.rpo");
    let row = json!({"city": "Oslo", "since[days]": 19725, "since[month]": 1, "since[weekday]": 3, "age": 7});
    let of_parts = lines(&folder, "--model parts.rpo", &format!("{row}\n"));
    let row = json!({"city": "Oslo", "since": "2024-01-03", "age": 7});
    let of_dates = lines(&folder, "--model m.rpo", &format!("{row}\n"));
    assert!(of_parts[0]["predictions"].is_array(), "{}", of_parts[0]);
    assert_eq!(of_parts, of_dates);
    let expected = folder.ok("predict --data table.csv --model m.rpo");
    // The model of the dates takes them as they are or converted, that of the numbers only numbers.
    for model in ["m.rpo", "parts.rpo"] {
        let found = folder.ok(&format!("predict --data parts.csv --model {model}"));
        assert_eq!(found, expected, "{model}");
    }
    let message = folder.fail("predict --data table.csv --model parts.rpo");
    assert!(
        message.contains("the data has no feature \"since[days]\" (it has \"since\"), \"since[month]\""),
        "{message}"
    );
}

#[test]
fn a_bad_row_ends_nothing() {
    let folder = Folder::new();
    trained(&folder);
    let good = json!({"city": "Bern", "since": "2024-05-01", "age": null});
    let with = |key: &str, value: Value| {
        let mut row = good.clone();
        row[key] = value;
        row
    };
    let mut lacking = good.clone();
    lacking.as_object_mut().unwrap().remove("age");
    let requests = [
        json!({"rows": [good, with("age", json!("old"))], "id": 7}),
        json!([good, good, with("since", json!("soon"))]),
        lacking,
        with("age", json!([3])),
        with("age", json!(1e300)),
        json!({"rows": [good], "top_k": 1, "id": "x"}),
        json!({"rows": [good], "decide": true}),
        with("city", json!("Rome")),
        json!([]),
        json!([3]),
        json!({"rows": good, "id": 8}),
        json!({"rows": [good], "top_k": 0, "id": 9}),
        with("city", json!(["Bern"])),
        with("since", json!({"year": 2024})),
    ];
    let mut input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    input += "{\"rows\": [{\"age\": 3, \"city\": \"Bern\", \"age\": 4}]}\n";
    input += &format!("{{\"city\"\n\n{}\n\u{1}\n{good}", "x".repeat(3000));
    let found = lines(&folder, "--model m.rpo --max-bytes 2000", &input);
    let error = |i: usize, kind: &str, row: Value, column: Value, message: &str| {
        let error = &found[i]["error"];
        assert_eq!(
            (&error["kind"], &error["row"], &error["column"]),
            (&json!(kind), &row, &column),
            "{error}"
        );
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
    };
    error(0, "row", json!(1), json!("age"), "\"old\" is not a number");
    assert_eq!(found[0]["id"], 7);
    error(1, "row", json!(2), json!("since"), "\"soon\" is not a date");
    error(2, "row", json!(0), json!("age"), "use null for a missing value");
    error(3, "row", json!(0), json!("age"), "must be a number, got [3]");
    error(4, "row", json!(0), json!("age"), "too large");
    assert_eq!(
        found[5]["predictions"][0].as_array().unwrap().len(),
        1,
        "{}",
        found[5]
    );
    assert_eq!(found[5]["id"], "x");
    assert!(found[6]["predictions"][0].is_array());
    assert_eq!(found[7]["unseen"], 1);
    assert_eq!(found[8], json!({"predictions": []}));
    error(9, "row", json!(0), Value::Null, "a row is an object");
    error(
        10,
        "request",
        Value::Null,
        Value::Null,
        "rows must be a list of rows",
    );
    error(11, "request", Value::Null, Value::Null, "top_k must be");
    assert_eq!([&found[10]["id"], &found[11]["id"]], [&json!(8), &json!(9)]);
    let (city, since) = (json!("city"), json!("since"));
    error(
        12,
        "row",
        json!(0),
        city,
        "must be a text or a number, got [\"Bern\"]",
    );
    error(13, "row", json!(0), since, "must be a date as text");
    error(14, "request", Value::Null, Value::Null, "\"age\" is given twice");
    error(15, "json", Value::Null, Value::Null, "not JSON");
    error(16, "size", Value::Null, Value::Null, "longer than 2000 bytes");
    error(17, "json", Value::Null, Value::Null, "not JSON");
    assert!(found[18]["predictions"][0]["label_a"].is_number());
    assert_eq!(found.len(), 19);

    let rome = with("city", json!("Rome")).to_string();
    let found = lines(
        &folder,
        "--model m.rpo --unseen error --max-rows 1",
        &format!("{rome}\n[{rome},{rome}]"),
    );
    assert_eq!(found[0]["error"]["column"], "city", "{}", found[0]);
    assert_eq!(found[1]["error"]["kind"], "size");
}

/// As floating-point numbers, these identifiers would be one.
#[test]
fn identifiers_keep_their_digits() {
    let folder = Folder::new();
    let stores: Vec<u64> = (0..6).map(|k| 100_000_000_000_000_000 + k).collect();
    let row = |i: usize| format!("{},{},{}\n", stores[i % 6], i % 7, 10 * (i % 6));
    let rows: String = (0..120).map(row).collect();
    folder.write("t.csv", format!("store,x,y\n{rows}"));
    folder.ok("train --data t.csv --targets y --categorical store --trees 20 --seed 1 --model m.rpo");
    let request =
        |store: String| format!("{{\"rows\": [{{\"store\": {store}, \"x\": 0.5}}], \"id\": {store}}}\n");
    let of_stores = |quote: &str| -> String {
        let requests = stores
            .iter()
            .map(|store| request(format!("{quote}{store}{quote}")));
        requests.collect()
    };
    let predicted = |input: &str| -> Vec<f64> {
        let found = lines(&folder, "--model m.rpo", input);
        found
            .iter()
            .map(|response| number(&response["predictions"][0], "y"))
            .collect()
    };
    let of_numbers = predicted(&of_stores(""));
    assert_eq!(of_numbers, predicted(&of_stores("\"")));
    for pair in of_numbers.windows(2) {
        assert!(pair[1] > pair[0] + 5.0, "{of_numbers:?}");
    }
    let mut child = folder
        .command("serve --model m.rpo")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let large = "123456789012345678901234567890";
    let input = request(large.to_owned()) + &request("1e17".to_owned());
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let mut responses = output.lines();
    let unseen = responses.next().unwrap();
    assert!(
        unseen.contains(&format!("\"id\":{large}")) && unseen.contains("\"unseen\":1"),
        "{unseen}"
    );
    let refused: Value = serde_json::from_str(responses.next().unwrap()).unwrap();
    let error = &refused["error"];
    assert_eq!(
        (&error["kind"], &error["column"]),
        (&json!("row"), &json!("store"))
    );
    let message = error["message"].as_str().unwrap();
    assert!(
        message.ends_with("1e17: send it as a text, in quotes"),
        "{message}"
    );
}

#[test]
fn numbered_features_that_are_left_out_are_zero() {
    let folder = Folder::new();
    folder.write("train.svm", svmlight(40, 0));
    folder.write("one.svm", "1 1:0.25 3:0.5\n");
    folder.ok("train --data train.svm --trees 10 --model m.rpo");
    let expected = folder.ok("predict --data one.svm --model m.rpo");
    let found = lines(
        &folder,
        "--model m.rpo",
        "{\"2\": 0.5, \"0\": 0.25}\n{\"3\": 1}\n{\"0\": \"a\"}\n",
    );
    let scores: Vec<f64> = expected
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|s| s.parse().unwrap())
        .collect();
    let predicted = &found[0]["predictions"][0];
    assert_eq!(["0", "1", "2"].map(|name| number(predicted, name)), scores[..]);
    assert_eq!(found[1]["error"]["message"], "there is no feature \"3\"");
    assert_eq!(found[2]["error"]["column"], "0");
}

/// A server process, which is killed on drop.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
}

impl Server {
    pub(crate) fn start(folder: &Folder, options: &str) -> Self {
        Self::start_at("127.0.0.1:0", folder, options)
    }

    pub(crate) fn start_at(address: &str, folder: &Folder, options: &str) -> Self {
        Self::of(&mut folder.command(&format!("serve --http {address} {options}")))
    }

    /// The server that a command starts.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .unwrap()
            .to_owned();
        Self { child, address }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends a request, and returns the status and the body of its response.
    pub(crate) fn request(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        response(self.send(method, path, body))
    }

    /// Sends a request, and returns the stream of its response.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> TcpStream {
        let mut stream = self.connect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(body.as_bytes());
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn response(mut stream: TcpStream) -> (u16, String) {
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

#[test]
fn every_path_has_its_response() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo --max-bytes 500 --timeout 0.5");
    let json = |(status, body): (u16, String)| (status, serde_json::from_str::<Value>(&body).unwrap());
    let (status, health) = json(server.request("GET", "/health", ""));
    assert_eq!((status, &health["status"]), (200, &json!("ok")));
    let (status, schema) = json(server.request("GET", "/schema", ""));
    assert_eq!((status, &schema["task"]), (200, &json!("multi-label")));
    assert_eq!(schema["outputs"], json!(["label_a", "label_b"]));
    let features = json!([
        {"name": "age", "type": "number"},
        {"name": "city", "type": "category", "values": ["Bern", "Oslo"]},
        {"name": "since", "type": "date"},
    ]);
    assert_eq!(schema["features"], features);
    // Both identify the model and the server.
    let file = std::fs::read(folder.path("m.rpo")).unwrap();
    let checksum = health["model"]["checksum"].as_str().unwrap();
    let digits = format!(r#"{{\"checksum\":\"{checksum}\""#);
    assert!(
        file.windows(digits.len()).any(|bytes| bytes == digits.as_bytes()),
        "{health}"
    );
    assert_eq!((checksum.len(), &health["model"]["n_train"]), (8, &json!(40)));
    assert_eq!(
        health["model"]["software"],
        folder.json("inspect --model m.rpo")["software"]
    );
    assert_eq!(schema["model"], health["model"]);
    assert_eq!(schema["version"], health["version"]);
    let (status, page) = server.request("GET", "/", "");
    assert!(status == 200 && page.contains("fetch(\"predict\""));

    let row = json!({"city": "Oslo", "since": "2024-02-03", "age": 31});
    let (status, found) = json(server.request("POST", "/predict", &row.to_string()));
    assert_eq!(status, 200, "{found}");
    assert!(number(&found["predictions"][0], "label_a") > 0.5);
    for (method, path, body, expected) in [
        ("POST", "/predict", "{", 400),
        ("POST", "/predict", "[{}]", 422),
        ("GET", "/predict", "", 405),
        ("GET", "/nothing", "", 404),
        ("POST", "/predict", &*"x".repeat(501), 413),
    ] {
        let (status, found) = json(server.request(method, path, body));
        assert_eq!(status, expected, "{method} {path} {found}");
        assert!(found["error"]["message"].is_string());
    }
    // A body that never arrives, a body without a declared size that is too long, and a head without end.
    let mut stream = server.connect();
    stream
        .write_all(b"POST /predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\n{")
        .unwrap();
    assert_eq!(response(stream).0, 408);
    let mut stream = server.connect();
    let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
    stream
        .write_all(format!("POST /predict HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n{chunk}").as_bytes())
        .unwrap();
    assert_eq!(response(stream).0, 413);
    let mut stream = server.connect();
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n").unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
    assert_eq!(server.request("GET", "/health", "").0, 200);
}

#[test]
fn methods_that_a_path_takes_are_listed() {
    let folder = Folder::new();
    trained(&folder);
    let server = Server::start(&folder, "--model m.rpo");
    let head_and_body = |method: &str, path: &str| {
        let mut text = String::new();
        server.send(method, path, "").read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    };
    for (method, path, allowed) in [
        ("GET", "/predict", "post"),
        ("HEAD", "/predict", "post"),
        ("POST", "/health", "get, head"),
        ("DELETE", "/", "get, head"),
    ] {
        let (head, _) = head_and_body(method, path);
        assert!(head.starts_with("http/1.1 405"), "{head}");
        assert!(
            head.contains(&format!("allow: {allowed}")),
            "{method} {path}: {head}"
        );
    }
    let is_size = |line: &&str| line.starts_with("content-length");
    for path in ["/", "/health", "/schema"] {
        let (of_get, body) = head_and_body("GET", path);
        let (of_head, nothing) = head_and_body("HEAD", path);
        assert!(of_head.starts_with("http/1.1 200"), "{of_head}");
        assert!(!body.is_empty() && nothing.is_empty(), "{path}: {nothing}");
        assert_eq!(of_head.lines().find(is_size), of_get.lines().find(is_size));
    }
}

#[cfg(unix)]
#[test]
fn requests_under_way_have_their_responses_before_the_end() {
    use crate::common::send;
    let folder = Folder::new();
    trained(&folder);
    let mut server = Server::start(&folder, "--model m.rpo");
    let row = json!({"city": "Oslo", "since": "2024-02-03", "age": 31}).to_string();
    let mut stream = server.connect();
    let head = format!(
        "POST /predict HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        row.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server has started reading the request when it asks for the body.
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).unwrap();
    assert_eq!(&interim, b"HTTP/1.1 100 Continue\r\n\r\n");
    send("-TERM", server.child.id());
    std::thread::sleep(Duration::from_millis(100));
    stream.write_all(row.as_bytes()).unwrap();
    let (status, body) = response(stream);
    assert!(status == 200 && body.contains("predictions"), "{body}");
    assert!(server.child.wait().unwrap().success());
}

/// Trains a model whose explanations take long, and returns the options to serve it and to make requests for some rows.
pub(crate) fn slow(folder: &Folder) -> (&'static str, impl Fn(usize) -> String) {
    let random = |i: usize, j: usize| (i * 7919 + 1) * (j * 104_729 + 13) % 1009;
    let row = |i: usize| {
        (0..9)
            .map(|j| random(i, j).to_string())
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    let rows: String = (0..500).map(row).collect();
    folder.write("slow.csv", format!("a,b,c,d,e,f,g,h,y\n{rows}"));
    folder.ok("train --data slow.csv --targets y --method extra-trees --trees 100 --model slow.rpo");
    let request = move |n: usize| {
        let row = |i: usize| {
            let values = "abcdefgh".chars().enumerate();
            let values = values.map(|(j, name)| (name.to_string(), json!(random(i, j) + 3)));
            Value::Object(values.collect())
        };
        json!({"rows": (0..n).map(row).collect::<Vec<_>>(), "explain": 2}).to_string()
    };
    ("--model slow.rpo --background slow.csv", request)
}

#[cfg(unix)]
#[test]
fn a_signal_lets_the_line_in_progress_be_answered() {
    use crate::common::send;
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    let (options, request) = slow(&folder);
    // Starts a server, which has answered a line and then gets another one.
    let start = |then: &str| {
        let mut command = folder.command(&format!("serve {options} --threads 1"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("[]\n{then}").as_bytes()).unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        assert_eq!(line, "{\"predictions\":[]}\n");
        std::thread::sleep(Duration::from_millis(300));
        (child, input, out)
    };
    let ended = |(mut child, input, mut out): (Child, _, BufReader<_>)| {
        let (mut rest, mut errors) = (String::new(), String::new());
        out.read_to_string(&mut rest).unwrap();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        // The end of the input would end the server, too.
        let status = child.wait().unwrap();
        drop::<std::process::ChildStdin>(input);
        (status, rest, errors)
    };
    let line = format!("{}\n", request(500));
    let served = start(&format!("{line}[]\n"));
    send("-TERM", served.0.id());
    let (status, rest, errors) = ended(served);
    assert_eq!(status.code(), Some(130), "{errors}");
    assert!(rest.starts_with("{\"predictions\":[{") && rest.ends_with("]}\n"));
    assert_eq!(rest.lines().count(), 1);
    assert!(errors.contains("interrupt again to end at once"), "{errors}");
    // A second signal ends it at once, as the first does where no request is in progress.
    let served = start(&line);
    send("-TERM", served.0.id());
    std::thread::sleep(Duration::from_millis(100));
    send("-TERM", served.0.id());
    let (status, rest, _) = ended(served);
    assert_eq!((status.signal(), rest.as_str()), (Some(15), ""));
    let served = start("");
    send("-TERM", served.0.id());
    let (status, rest, _) = ended(served);
    assert_eq!((status.signal(), rest.as_str()), (Some(15), ""));
}

/// A prediction that takes longer than the timeout is waited for, unless there is a second signal.
#[cfg(unix)]
#[test]
fn long_predictions_are_whole_before_the_end() {
    use crate::common::send;
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    let (options, request) = slow(&folder);
    let start = || Server::start(&folder, &format!("{options} --timeout 0.2"));
    let mut server = start();
    let stream = server.send("POST", "/predict", &request(400));
    std::thread::sleep(Duration::from_millis(300));
    send("-TERM", server.child.id());
    let (status, body) = response(stream);
    assert!(status == 200 && body.ends_with("]}"), "{status}");
    assert!(server.child.wait().unwrap().success());
    let mut server = start();
    let stream = server.send("POST", "/predict", &request(1000));
    std::thread::sleep(Duration::from_millis(300));
    send("-TERM", server.child.id());
    std::thread::sleep(Duration::from_millis(300));
    send("-TERM", server.child.id());
    assert_eq!(server.child.wait().unwrap().signal(), Some(15));
    drop(stream);
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    let folder = Folder::new();
    folder.write("numbers.csv", csv(20, 0));
    folder.ok("train --data numbers.csv --n-targets 2 --trees 2 --model m.rpo");
    let message = folder.fail("serve --model m.rpo --http 192.0.2.1:1");
    assert!(message.contains("cannot serve at 192.0.2.1:1"), "{message}");
    let run = folder.run("serve --model m.rpo --timeout 3");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    let found = lines(&folder, "--model m.rpo", "{\"rows\": [], \"top_k\": 1}\n");
    assert_eq!(found[0]["error"]["kind"], "request");
    for option in ["--max-rows", "--max-bytes"] {
        let run = folder.run(&format!("serve --model m.rpo {option} 0"));
        assert!(
            run.code == Some(2) && run.stderr.contains(option),
            "{option}: {}",
            run.stderr
        );
    }
}

/// A request does not have all samples, on which such a model decides jointly; scores are of each sample.
#[test]
fn models_that_decide_on_all_samples_at_once_serve_scores_alone() {
    let folder = Folder::new();
    folder.write("table.csv", table());
    let train = "train --data table.csv --targets label_* --trees 10 --model m.rpo";
    let row = json!({"city": "Bern", "since": "2024-05-01", "age": 3});
    let requests = [
        json!([row]),
        json!({"rows": [row], "top_k": 1}),
        json!({"rows": [row], "decide": true, "id": 7}),
    ];
    let requests = requests.map(|request| request.to_string() + "\n").concat();
    folder.ok(&format!("{train} --thresholds macro-f"));
    let by_thresholds = lines(&folder, "--model m.rpo", &requests);
    assert!(
        by_thresholds[2]["predictions"][0].is_array(),
        "{}",
        by_thresholds[2]
    );
    folder.ok(&format!("{train} --decide f1"));
    let jointly = lines(&folder, "--model m.rpo", &requests);
    assert_eq!(jointly[..2], by_thresholds[..2]);
    let message = jointly[2]["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("by their expected F1 over all samples at once")
            && message.contains("--thresholds macro-f"),
        "{message}"
    );
    assert_eq!(
        (&jointly[2]["error"]["kind"], &jointly[2]["id"]),
        (&json!("request"), &json!(7))
    );
}

/// A feature may have the same name as a key of requests.
#[test]
fn a_feature_may_be_named_rows() {
    let folder = Folder::new();
    folder.write("t.csv", "rows,y\n1,2\n2,4\n3,6\n4,8\n");
    folder.ok("train --data t.csv --targets y --method ridge --model m.rpo");
    let found = lines(
        &folder,
        "--model m.rpo",
        "{\"rows\": 2}\n{\"rows\": [{\"rows\": 2}]}\n",
    );
    assert!(found[0]["predictions"][0]["y"].is_number(), "{}", found[0]);
    assert_eq!(found[0], found[1]);
}
