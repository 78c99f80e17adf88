//! Connections whose other end is gone without a word.

use std::{any::Any, time::Duration};

/// Gives a connection up when what was sent is not acknowledged for a while, so that a stream to
/// nowhere ends.
///
/// A keep-alive comment is written each `keep_alive`; a peer that vanished is noticed within three
/// of them (RFC 5482). For an `HttpServer` of your own:
///
/// ```no_run
/// use std::time::Duration;
///
/// use actix_web::{App, HttpServer};
///
/// let server = HttpServer::new(App::new).on_connect(|connection, _| {
///     mcp_http_actix::give_up_after(connection, Duration::from_secs(15));
/// });
/// ```
pub fn give_up_after(connection: &dyn Any, keep_alive: Duration) {
    #[cfg(any(target_os = "android", target_os = "linux"))]
    if let Some(stream) = connection.downcast_ref::<actix_web::rt::net::TcpStream>() {
        let limit = keep_alive.mul_f64(1.5);
        let set = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(limit));
        if let Err(error) = set {
            tracing::debug!(%error, "a connection has no limit on silence");
        }
    }
    #[cfg(not(any(target_os = "android", target_os = "linux")))]
    let _ = (connection, keep_alive);
}
