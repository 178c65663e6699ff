//! The HTTP server.

use super::bodies::{Bodies, RequestBody};
use super::client::{Client, Phase};
use super::places::Places;
use super::problem::Problem;
use super::service::Service;
use super::stream::Stream;
use super::until::until;
use crate::error::CliError;
use crate::interrupt;
use crate::output::{note, print};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, EXPECT, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::GracefulShutdown;
use rpo::core::text::cut;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

/// The page that shows predictions.
const PAGE: &str = include_str!("page.html");

/// Largest size in bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;

/// Limits on the resources that clients may use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Largest size in bytes of a request.
    pub(super) bytes: usize,
    /// Largest number of concurrent connections.
    pub(super) connections: usize,
    /// Time limit for a request to arrive, for its wait for other requests, and for the client to go on reading.
    pub(super) time: Duration,
    /// Time limit for a connection without a request.
    pub(super) idle: Duration,
}

/// State that all connections share.
#[derive(Debug)]
struct Server {
    service: Service,
    limits: Limits,
    places: Arc<Places>,
    bodies: Bodies,
    /// A permit for each prediction that may run concurrently.
    turns: Semaphore,
}

/// Serves until the process is told to end, and then until requests in progress have their responses.
pub(super) fn serve(service: Service, address: &str, limits: Limits) -> Result<(), CliError> {
    let failed = |source| CliError::listen(address, source);
    let threads = rayon::current_num_threads();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads.min(4))
        .max_blocking_threads(threads)
        .enable_io()
        .enable_time()
        .build()
        .map_err(failed)?;
    let server = Arc::new(Server {
        service,
        limits,
        places: Arc::new(Places::new(limits.connections, limits.idle)),
        bodies: Bodies::new(limits.bytes, limits.time),
        turns: Semaphore::new(threads),
    });
    let ended = runtime.block_on(listen(server, address));
    // Predictions whose clients have gone are not waited for.
    runtime.shutdown_background();
    ended
}

async fn listen(server: Arc<Server>, address: &str) -> Result<(), CliError> {
    let failed = |source| CliError::listen(address, source);
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let stop = Arc::new(Notify::new());
    let stopper = Arc::clone(&stop);
    interrupt::instead(move || stopper.notify_one());
    print(&format!(
        "listening on http://{}\n",
        listener.local_addr().map_err(failed)?
    ))?;
    let graceful = GracefulShutdown::new();
    let mut stopped = pin!(stop.notified());
    while let Some((stream, place)) = until(stopped.as_mut(), server.places.next(&listener))
        .await
        .flatten()
    {
        let connection = graceful.watch(connection(Arc::clone(&server), stream));
        tokio::spawn(async move {
            // A client that disconnected is not an error of the server.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    // A prediction may take any time; a second signal ends the process at once.
    let mut ended = pin!(graceful.shutdown());
    if timeout(Duration::from_secs(1), ended.as_mut()).await.is_err() {
        note("waiting for requests in progress; interrupt again to end at once");
        ended.await;
    }
    Ok(())
}

fn connection(
    server: Arc<Server>,
    stream: TcpStream,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // Responses are small and should be sent without delay.
    let _ = stream.set_nodelay(true);
    let client = Arc::new(Client::new(stream));
    let stream = Stream::new(
        Arc::clone(&client),
        Arc::clone(&server.places),
        server.limits.time,
    );
    let handle = move |request| {
        let (server, client) = (Arc::clone(&server), Arc::clone(&client));
        async move {
            client.set_phase(Phase::Busy);
            let mut response = Arc::clone(&server).handle(request, &client).await;
            client.set_phase(Phase::Idle);
            if server.places.are_wanted() {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            Ok::<_, Infallible>(response)
        }
    };
    let mut builder = http1::Builder::new();
    builder
        // The stream limits it, apart from the time between requests.
        .header_read_timeout(None)
        // Clients may close their side after the request, as `nc -N` does.
        .half_close(true)
        .max_buf_size(MAX_HEAD);
    builder.serve_connection(TokioIo::new(stream), service_fn(handle))
}

impl Server {
    async fn handle(self: Arc<Self>, request: Request<Incoming>, client: &Client) -> Response<Full<Bytes>> {
        let (head, mut body) = request.into_parts();
        let problem = match Arc::clone(&self).respond(&head, &mut body, client).await {
            Ok(response) => return response,
            Err(problem) => problem,
        };
        // What did not arrive in time is not waited for again, and a client that expects to be asked for it sends nothing.
        if !matches!(problem, Problem::Late) && !head.headers.contains_key(EXPECT) {
            self.discard(body).await;
        }
        let mut response = response(problem.status(), "application/json", problem.response(None));
        if let Problem::Method { allowed, .. } = problem {
            let allowed = HeaderValue::from_static(allowed);
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }

    /// Reads the rest of a request that is refused, up to a limit: many clients send all of it before they read the
    /// response, and would find their connection closed.
    async fn discard(&self, body: Incoming) {
        let most = self.limits.bytes.saturating_mul(4);
        if body.size_hint().lower() > most as u64 {
            return;
        }
        let mut body = Limited::new(body, most);
        let all = async { while let Some(Ok(_)) = body.frame().await {} };
        let _ = timeout(self.limits.time, all).await;
    }

    async fn respond(
        self: Arc<Self>,
        head: &Parts,
        body: &mut Incoming,
        client: &Client,
    ) -> Result<Response<Full<Bytes>>, Problem> {
        let json = "application/json";
        // A response to HEAD is sent without a body.
        match (&head.method, head.uri.path()) {
            (&Method::GET | &Method::HEAD, "/") => Ok(response(200, "text/html; charset=utf-8", PAGE)),
            (&Method::GET | &Method::HEAD, "/health") => {
                Ok(response(200, json, self.service.health().to_string()))
            }
            (&Method::GET | &Method::HEAD, "/schema") => {
                Ok(response(200, json, self.service.schema().to_owned()))
            }
            (&Method::POST, "/predict") => {
                check_encoding(&head.headers)?;
                let body = self.bodies.read(body, client).await?;
                let (status, text) = self.predict(body, client).await?;
                Ok(response(status, json, text))
            }
            (method, path) => Err(match path {
                "/" | "/health" | "/schema" => Problem::method(method.as_str(), "GET, HEAD"),
                "/predict" => Problem::method(method.as_str(), "POST"),
                _ => Problem::Path(cut(path)),
            }),
        }
    }

    async fn predict(self: Arc<Self>, body: RequestBody, client: &Client) -> Result<(u16, String), Problem> {
        let turn = timeout(self.limits.time, self.turns.acquire());
        // Nobody gets a response on a connection that was reset meanwhile.
        let turn = until(client.reset(), turn).await.ok_or(Problem::GivenUp)?;
        let _turn = turn.map_err(|_| Problem::Busy)?.map_err(|_| Problem::Internal)?;
        let server = Arc::clone(&self);
        let is_given_up = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_given_up);
        let work = move || server.service.respond(&body.text, &flag);
        let mut work = pin!(tokio::task::spawn_blocking(work));
        let done = match until(client.gone(self.limits.time), work.as_mut()).await {
            Some(done) => done,
            None => {
                is_given_up.store(true, Ordering::Relaxed);
                work.await
            }
        };
        done.map_err(|_| Problem::Internal)
    }
}

/// Refuses bodies that are compressed, which would be taken for damaged JSON.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let encodings = headers.get_all(CONTENT_ENCODING).into_iter();
    let other = encodings
        .map(|encoding| String::from_utf8_lossy(encoding.as_bytes()).into_owned())
        .find(|encoding| !encoding.eq_ignore_ascii_case("identity"));
    other.map_or(Ok(()), |encoding| Err(Problem::Encoding(cut(&encoding))))
}

fn response(status: u16, kind: &'static str, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}
