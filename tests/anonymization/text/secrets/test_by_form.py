"""Secrets that their form alone reveals."""

from __future__ import annotations

import random
import string

import pytest

from anonymization.text.secrets.by_form import find_prefixed


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
