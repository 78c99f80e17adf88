use std::{sync::Arc, time::Duration};

use hyper::{HeaderMap, header::HeaderName};
use rustls::{
    RootCertStore, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;

use super::{Address, FetchError, Fetched, Fetcher, fresh_for, tls};

#[test]
fn reads_how_long_an_answer_is_fresh() {
    let check = |headers: &[(&'static str, &str)], seconds: Option<u64>| {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        let wanted = seconds.map(Duration::from_secs);
        assert_eq!(fresh_for(&map), wanted, "{headers:?}");
    };
    let cache = "cache-control";
    check(&[], None);
    check(&[(cache, "public")], None);
    check(&[(cache, "public, max-age=15")], Some(15));
    check(&[(cache, "Max-Age=\"15\"")], Some(15));
    check(&[(cache, "max-age=x")], None);
    check(&[(cache, "max-age=60, no-store")], Some(0));
    check(&[(cache, "no-cache")], Some(0));
    check(&[(cache, "public"), (cache, "max-age=9")], Some(9));
    check(&[(cache, "max-age=60"), ("age", "20")], Some(40));
    check(&[(cache, "max-age=60"), ("age", "99")], Some(0));
    check(&[(cache, "max-age=99999999999999999999")], None);
}

/// Asks a TLS server whose certificate is for 127.0.0.1 by the authority of the tests.
async fn over_tls(host: &str, trusted: &[&'static [u8]]) -> Result<Fetched, FetchError> {
    let key = include_bytes!("../../tests/keys/tls-key.der").to_vec();
    let certificate = include_bytes!("../../tests/keys/tls-cert.der").to_vec();
    let config = ServerConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from(certificate)],
            PrivateKeyDer::try_from(key).unwrap(),
        )
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut roots = RootCertStore::empty();
    for root in trusted {
        roots.add(CertificateDer::from(*root)).unwrap();
    }
    let tls = tls().unwrap().with_root_certificates(roots);
    let fetcher = Fetcher::trusting(tls.with_no_client_auth(), Duration::from_secs(5));
    let address = Address::parse("it", &format!("https://{host}:{port}/keys")).unwrap();
    let server = async {
        let (socket, _) = listener.accept().await.unwrap();
        // The client may hang up instead.
        let mut socket = acceptor.accept(socket).await.ok()?;
        let _ = socket.read(&mut [0; 1024]).await;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        socket.write_all(answer).await.ok()?;
        socket.shutdown().await.ok()
    };
    tokio::join!(fetcher.get(&address), server).0
}

const AUTHORITY: &[u8] = include_bytes!("../../tests/keys/tls-ca.der");

#[tokio::test]
async fn a_server_is_believed_by_its_certificate() {
    let fetched = over_tls("127.0.0.1", &[AUTHORITY]).await.unwrap();
    assert_eq!(fetched.body, "{}");
}

#[tokio::test]
async fn a_server_that_nobody_vouches_for_is_not_believed() {
    for (host, trusted) in [("127.0.0.1", &[][..]), ("localhost", &[AUTHORITY][..])] {
        let error = over_tls(host, trusted).await.unwrap_err().to_string();
        assert!(error.contains("certificate"), "{host}: {error}");
    }
}
