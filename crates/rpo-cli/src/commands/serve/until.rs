//! Work that may be given up.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Returns the result of some work, or `None` if `end` comes first.
pub(super) async fn until<T>(end: impl Future<Output = ()>, work: impl Future<Output = T>) -> Option<T> {
    let (mut end, mut work) = (pin!(end), pin!(work));
    poll_fn(|context| match end.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => work.as_mut().poll(context).map(Some),
    })
    .await
}
