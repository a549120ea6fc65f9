"""Secrets that their form alone reveals."""

from __future__ import annotations

import random
import string

import pytest

from anonymization.text.secrets.by_form import find_prefixed
from anonymization.text.secrets.find_secrets import find_secrets


def _drawn(count: int, letters: str) -> str:
    return "".join(random.Random(1).choices(letters, k=count))


@pytest.mark.parametrize(
    "token",
    ["GOOG1E" + _drawn(20, string.ascii_uppercase), "sbp_v0_" + _drawn(40, "0123456789abcdef")],
)
def test_of_forms_that_both_fit_only_the_one_with_the_longer_prefix_counts(token: str) -> None:
    finding, *others = find_prefixed(token, token.lower())
    assert (finding.start, finding.end) == (0, len(token))
    assert not others


def test_a_prefix_inside_of_a_token_begins_no_other() -> None:
    token = "00-BSA" + _drawn(36, string.ascii_letters)
    inner = token[3:]
    assert [finding.start for finding in find_prefixed(inner, inner.lower())] == [0]
    assert [finding.start for finding in find_prefixed(token, token.lower())] == [0]


@pytest.mark.parametrize(("password", "count"), [("S3cr3t", 1), ("S3cr3", 0)])
def test_a_password_of_a_command_has_six_characters_or_more(password: str, count: int) -> None:
    assert len(find_secrets(f"curl -u admin:{password} https://x.example/")) == count
