//! `rpo serve`.

mod bodies;
mod client;
mod http;
mod json;
mod lines;
mod places;
mod problem;
mod request;
mod rows;
mod service;
mod stream;
mod until;

use crate::error::CliError;
use crate::options::{BackgroundOptions, BeamOptions, ThreadOptions, UnseenOptions, parse_count};
use clap::Args;
use http::Limits;
use rpo::Model;
use service::{RequestLimits, Service};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

const MAX_BYTES: NonZeroUsize = NonZeroUsize::new(16 << 20).expect("not 0");
const MAX_ROWS: NonZeroUsize = NonZeroUsize::new(10_000).expect("not 0");
/// Some 20 to 40 MB of JSON.
const MAX_VALUES: NonZeroUsize = NonZeroUsize::new(2_000_000).expect("not 0");
/// Longer than the 60 seconds for which proxies keep their connections: one that the server ends first may lose a
/// request.
const IDLE: Duration = Duration::from_secs(75);
/// The machine on which addresses without a host are.
const THIS_MACHINE: &str = "127.0.0.1";

/// Load a model once and predict for JSON rows: line by line from standard input, or over HTTP.
///
/// A request is a row, {"width": 2.5, "colour": "red"}, a list of rows, or {"rows": [...]} with optional "top_k": K,
/// "decide": true, "values": true or "intervals": true as in `rpo predict`, and an "id" that the response repeats. With
/// --background, "explain": N adds "explanations": for each row a list of the predicted scores with the N features that
/// contribute most, as `rpo explain` writes them. Every named feature must be present, null if it is missing; numbered
/// features that are left out are 0. The response is {"predictions": [...]}, for each row an object of outputs, or a
/// list of {"output", "score"} for picked labels; or {"error": {"kind", "message", "row", "column"}}. With --http: POST
/// /predict, GET /health, GET /schema, and a page that shows predictions at /. Ctrl-C, SIGTERM and SIGHUP end the
/// server when requests in progress have their responses, a second signal at once.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The model. With --decide f1 it decides on all samples jointly, and requests get its scores: "decide": true is
    /// refused.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Serve HTTP at this address instead of standard input: numbers, or the name of a host; 127.0.0.1 for :PORT. Port 0
    /// selects any free port; the address is printed. 127.0.0.1 is only reachable from this machine; at another
    /// address, anyone who can connect may use the model.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8080",
        value_parser = parse_address
    )]
    http: Option<String>,

    /// Largest size of a request in bytes. By HTTP, the requests of all clients together take at most eight times this
    /// memory, and 256 KiB for each connection; larger ones wait for it up to --timeout. Responses come on top.
    #[arg(long, value_name = "BYTES", default_value_t = MAX_BYTES, value_parser = parse_count)]
    max_bytes: NonZeroUsize,

    /// Largest number of rows of a request.
    #[arg(long, value_name = "N", default_value_t = MAX_ROWS, value_parser = parse_count)]
    max_rows: NonZeroUsize,

    /// Largest number of values of a response: rows times outputs, or times K with "top_k": K, or the labels that are
    /// decided on.
    #[arg(long, value_name = "N", default_value_t = MAX_VALUES, value_parser = parse_count)]
    max_values: NonZeroUsize,

    /// Largest number of scores that a request may have explained: rows times outputs, or times K with "top_k": K, or the
    /// labels that are decided on. [default: 1000]
    #[arg(long, value_name = "N", requires = "background", value_parser = parse_count)]
    max_explained: Option<NonZeroUsize>,

    /// Largest number of concurrent connections. While clients wait for one, connections are closed after their next
    /// response, or when they are idle. [default: 256]
    #[arg(long, value_name = "N", requires = "http", value_parser = parse_count)]
    max_connections: Option<NonZeroUsize>,

    /// Timeout in seconds for a request to arrive, for its wait for earlier requests, and for a client that stops
    /// reading its response, each by itself. Explanations end this long after their client has disconnected. [default:
    /// 10]
    #[arg(long, value_name = "SECONDS", requires = "http", value_parser = parse_seconds)]
    timeout: Option<Duration>,

    /// Seconds after which an idle connection is closed; after one second while clients wait for a connection. Proxies
    /// should keep their connections for less, or requests may be lost. [default: 75]
    #[arg(long, value_name = "SECONDS", requires = "http", value_parser = parse_seconds)]
    idle_timeout: Option<Duration>,

    #[command(flatten)]
    background: BackgroundOptions,

    #[command(flatten)]
    beam: BeamOptions,

    #[command(flatten)]
    unseen: UnseenOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

/// Checks that an address has a port; the host is looked up later. IPv6 addresses are in brackets.
fn parse_address(text: &str) -> Result<String, String> {
    let expected = || format!("ADDRESS:PORT is expected, such as {THIS_MACHINE}:8080 or localhost:8080");
    let (host, port) = text.rsplit_once(':').ok_or_else(expected)?;
    let port: u16 = port.parse().map_err(|_| expected())?;
    let is_bare_ipv6 = host.contains(':') && !(host.starts_with('[') && host.ends_with(']'));
    match host {
        "" => Ok(format!("{THIS_MACHINE}:{port}")),
        _ if is_bare_ipv6 => Err(expected()),
        host => Ok(format!("{host}:{port}")),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text
        .parse()
        .map_err(|_| "a number of seconds is expected".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() && seconds <= 86_400.0 => Ok(duration),
        _ => Err("more than 0 and at most a day is expected".to_owned()),
    }
}

impl Serve {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        let limits = RequestLimits {
            rows: self.max_rows.get(),
            values: self.max_values.get(),
            explained: self.max_explained.map_or(1000, NonZeroUsize::get),
        };
        let (model, checksum) = Model::load_with_checksum(&self.model)?;
        let loaded = (self.beam.apply(model)?, checksum);
        let background = self.background.load(loaded.0.schema())?;
        let service = Service::new(loaded, background, limits, self.unseen.refuses())?;
        match &self.http {
            None => lines::serve(&service, self.max_bytes.get()),
            Some(address) => {
                let limits = Limits {
                    bytes: self.max_bytes.get(),
                    connections: self.max_connections.map_or(256, NonZeroUsize::get),
                    time: self.timeout.unwrap_or(Duration::from_secs(10)),
                    idle: self.idle_timeout.unwrap_or(IDLE),
                };
                http::serve(service, address, limits)
            }
        }
    }
}
