from __future__ import annotations

import pytest

from construction.sessions.network.public_urls import host_of, is_restorable, without_scheme


@pytest.mark.parametrize(
    "url",
    ["https://docs.example.com/a", "http://8.8.8.8/x", "https://例子.中国/x", "https://a.io:8443/"],
)
def test_public(url: str) -> None:
    assert is_restorable(url)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example.com/x",
        "http://wiki/page",
        "http://localhost:8080/",
        "http://build.corp/x",
        "http://nas.local/x",
        "http://10.1.2.3/x",
        "http://169.254.169.254/latest",
        "http://2130706433/x",
        "http://0x7f.1/x",
        "http://[::1]/x",
        "https://me:pw@a.example.com/x",
        "https://a.example.com/x?token=abc",
        "https://a.example.com/x?a=1&X-Amz-Signature=abc",
    ],
)
def test_private_or_secret(url: str) -> None:
    assert not is_restorable(url)


def test_host_in_lower_case_with_port() -> None:
    assert host_of("https://Docs.Example.com:8080/a") == "docs.example.com:8080"
    assert host_of("docs.example.com") == "docs.example.com"
    assert host_of("https://me@a.example.com/") is None
    assert without_scheme("HTTP://a.example/x") == "a.example/x"
