"""The screens of the patterns lose no match."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anonymization.text.detect import positions, strict
from anonymization.text.detect.rules import load_rules
from data.text.screened import Screened

_PATTERNS = (
    *positions._ACCOUNTS,
    *positions._NAME_PLACES,
    *positions._LOGINS,
    *positions._SAID_PASSWORD,
    *strict._MARKED,
    positions._RECORD,
    positions._RECORD_PATH,
    # Without what their entries declare, which decides more than the pattern does.
    *(Screened(rule.pattern.pattern.pattern) for rule in load_rules()),
)


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("screen", _PATTERNS, ids=range(len(_PATTERNS)))
def test_no_match_is_screened_out(screen: Screened) -> None:
    """Of texts that Hypothesis makes of each pattern, every one that matches is let through."""

    # Many patterns look around themselves, which Hypothesis meets by trying again.
    @settings(suppress_health_check=list(HealthCheck), max_examples=30, derandomize=True)
    @given(st.from_regex(screen.pattern))
    def every_match_passes(text: str) -> None:
        assert screen.may_match(text)

    every_match_passes()
