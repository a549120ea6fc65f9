"""TLS: certificates are verified against the name, although an address is connected to."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from construction.sessions.gates.network import Cause, NetworkConfig, ProbeResult
from construction.sessions.network.probe import Captures, probe_urls
from tests.construction.sessions.network.servers import PUBLIC, LocalServer, respond
from tests.construction.sessions.network.wires import AT_ONCE, TRUST

NOW = datetime.now(UTC)


def certificate(folder: Path, name: str, until: datetime) -> Path:
    """A self-signed certificate for `name` with its key, as one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=30))
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "server.pem"
    path.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return path


def probe(pem: Path, trust: ssl.SSLContext) -> tuple[ProbeResult, list[str | None]]:
    names: list[str | None] = []

    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(respond())

    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(pem)
    serving.sni_callback = lambda connection, name, context: names.append(name)
    with LocalServer(page, serving) as server:
        results = probe_urls(
            ["https://a.example/x"], NetworkConfig(), AT_ONCE, Captures(), wire=server.wire(trust)
        )
        assert set(server.addresses) == {PUBLIC}
    return results["https://a.example/x"], names


def trusting(pem: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(pem))


def test_a_valid_certificate_for_the_name_is_accepted(tmp_path: Path) -> None:
    pem = certificate(tmp_path, "a.example", NOW + timedelta(days=1))
    assert probe(pem, trusting(pem)) == (
        ProbeResult("https://a.example/x", None, 200),
        ["a.example"],
    )


@pytest.mark.parametrize(
    ("name", "days", "trusted"),
    [("b.example", 1, True), ("a.example", -1, True), ("a.example", 1, False)],
    ids=["wrong name", "expired", "unknown issuer"],
)
def test_an_invalid_certificate_is_unreachable_at_once(
    name: str, days: int, trusted: bool, tmp_path: Path
) -> None:
    pem = certificate(tmp_path, name, NOW + timedelta(days=days))
    result, names = probe(pem, trusting(pem) if trusted else TRUST)
    assert result == ProbeResult("https://a.example/x", Cause.TLS)
    assert names == ["a.example"]


def test_plain_http_where_tls_is_expected_is_unreachable() -> None:
    async def page(method: str, target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(respond())

    with LocalServer(page) as server:
        config = NetworkConfig(attempts=1, connect_timeout=1)
        results = probe_urls(
            ["https://a.example/x"], config, AT_ONCE, Captures(), wire=server.wire()
        )
    assert results["https://a.example/x"].reason == "network.unreachable"
