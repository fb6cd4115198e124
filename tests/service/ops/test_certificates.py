"""Given servers that prove themselves by certificates, when the exporter asks, then it tells when those expire."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

from workers.local.servers import HOST
from workers.metrics import certificates
from workers.metrics.certificates import Certificates, Endpoint, endpoints, expires_at
from workers.settings import Settings

EXPIRES = datetime.now(UTC).replace(microsecond=0) + timedelta(days=20)


def make_certificate(folder: Path, name: str, expires: datetime) -> tuple[Path, Path]:
    """Signed by itself: the file is what its clients trust, too. And its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(expires - timedelta(days=90))
        .not_valid_after(expires)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    found, private = folder / f"{name}.pem", folder / f"{name}.key"
    found.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found, private


class TlsServer:
    """Shakes hands with everybody, one after another, and says nothing. `asked`: how often."""

    def __init__(self, certificate: Path, key: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._context = context
        self._socket = socket.create_server((HOST, 0))
        self.port = int(self._socket.getsockname()[1])
        self.asked = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.asked += 1
            with connection, contextlib.suppress(OSError), self._context.wrap_socket(connection, server_side=True):
                continue

    def close(self) -> None:
        with contextlib.suppress(OSError):  # closed already
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(timeout=120)


Make = Callable[[str, datetime], tuple[TlsServer, Path]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Make]:
    made: list[TlsServer] = []

    def make(name: str, expires: datetime) -> tuple[TlsServer, Path]:
        certificate, key = make_certificate(tmp_path, name, expires)
        made.append(TlsServer(certificate, key))
        return made[-1], certificate

    yield make
    for server in made:
        server.close()


def test_the_time_of_expiry_is_read_from_the_handshake(serve: Make) -> None:
    """To the second."""
    server, certificate = serve("redis", EXPIRES)
    assert expires_at(Endpoint("redis", HOST, server.port, str(certificate))) == EXPIRES.timestamp()


def test_a_server_that_is_not_trusted_is_a_fault(serve: Make) -> None:
    """As it is for whoever connects to work with it: another's certificate, an expired one, no TLS, nobody there."""
    server, _ = serve("redis", EXPIRES)
    _, others = serve("other", EXPIRES)
    expired, own = serve("expired", datetime.now(UTC) - timedelta(days=1))
    with socket.create_server((HOST, 0)) as plain:
        port = int(plain.getsockname()[1])
    for endpoint in (
        Endpoint("redis", HOST, server.port, str(others)),
        Endpoint("redis", HOST, server.port, None),
        Endpoint("redis", HOST, expired.port, str(own)),
        Endpoint("redis", HOST, port, None),
    ):
        with pytest.raises(OSError, match=r".+"):
            expires_at(endpoint)


def test_servers_are_asked_once_an_hour(serve: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at each scrape; one that does not answer is left out, and keeps what it last said."""
    server, certificate = serve("redis", EXPIRES)
    with socket.create_server((HOST, 0)) as plain:
        nobody = int(plain.getsockname()[1])
    asked = Certificates(
        [Endpoint("redis", HOST, server.port, str(certificate)), Endpoint("store", HOST, nobody, None)]
    )
    assert dict(asked()) == dict(asked()) == {"redis": EXPIRES.timestamp()}
    assert server.asked == 1
    monkeypatch.setattr(certificates, "_KEPT_S", -1.0)
    assert dict(asked()) == {"redis": EXPIRES.timestamp()}
    assert server.asked == 2
    server.close()
    assert dict(asked()) == {"redis": EXPIRES.timestamp()}


def test_what_is_reached_over_tls_comes_from_the_settings(tmp_path: Path) -> None:
    """Redis and the store, with the authorities that their clients trust; nothing without TLS."""
    settings = Settings(
        redis_url=SecretStr("rediss://:secret@redis.example/0"),
        redis_ca_file=tmp_path / "redis.pem",
        s3_endpoint="https://s3.example:8443/",
    )
    assert endpoints(settings) == [
        Endpoint("redis", "redis.example", 6379, str(tmp_path / "redis.pem")),
        Endpoint("store", "s3.example", 8443, None),
    ]
    assert endpoints(Settings(s3_endpoint="http://s3.example")) == []
