"""URLs that act when opened, and those that only look like it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from construction.sessions.network.probe import _acts_when_opened


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/unsubscribe",
        "https://news.a.example/u/unsubscribe.php?id=3",
        "https://a.example/?unsubscribe=1",
        "https://a.example/opt-out",
        "https://a.example/reset-password?token=abc",
        "https://a.example/password/reset/abcdef",
        "https://a.example/users/password/edit?reset_password_token=ab",
        "https://a.example/resetPassword",
        "https://a.example/confirm",
        "https://a.example/confirm_subscription?k=1",
        "https://a.example/?action=confirm&id=2",
        "https://a.example/verify-email?code=123",
        "https://a.example/verify?token=abc",
        "https://a.example/account/activate/Mjk1-5a8b0c1d2e3f4a5b",
        "https://a.example/auth/magic-link/8fK2pQ",
        "https://a.example/login?token=abc",
        "https://a.example/one-click/approve",
        "https://a.example/accept-invite/ab",
        "https://a.example/invite/0a1b2c3d4e5f60718293",
        "https://docs.a.example/unsubscribe?token=1",
        "https://a.example/%E9%80%80%E8%AE%A2",
    ],
)
def test_urls_that_act(url: str) -> None:
    assert _acts_when_opened(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/",
        "https://a.example/css/reset.css",
        "https://a.example/docs/reset",
        "https://docs.a.example/reset",
        "https://a.example/blog/how-to-reset-a-router",
        "https://a.example/unsubscribe-best-practices",
        "https://a.example/confirmed-cases",
        "https://a.example/guide/confirmation-bias",
        "https://a.example/login",
        "https://a.example/verify",
        "https://a.example/report.pdf?token=abc",
        "https://a.example/search?q=unsubscribe",
        "https://a.example/wiki/Confirm",
        "https://a.example/products/new",
        "https://a.example/magic/tricks",
        "ftp://a.example/unsubscribe",
    ],
)
def test_urls_that_are_only_read(url: str) -> None:
    assert not _acts_when_opened(url)


@given(st.text())
def test_any_path_is_taken(text: str) -> None:
    assert _acts_when_opened(f"https://a.example/{text}") in (True, False)
