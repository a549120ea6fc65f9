"""Tokens that are put together of several strings, or broken at the end of a line."""

from __future__ import annotations

import pytest

from anonymization.text.secrets.find_secrets import find_secrets


@pytest.mark.parametrize(
    "joint", ['" + "', "' + '", '"\n     "', '" \\\n    "', '" . "', "\n"], ids=repr
)
def test_a_token_in_two_parts_is_found_in_both(joint: str) -> None:
    head, tail = "ghp_" + "Ab3d" * 4, "Ef6h" * 5
    text = f'key = "{head}{joint}{tail}"'
    assert {text[f.start : f.end] for f in find_secrets(text)} == {head, tail}


def test_a_whole_token_does_not_go_on_in_the_next_line() -> None:
    token = "ghp_" + "Ab3dX9kQ" * 4 + "Zz8y"
    text = f"{token}\nrunning the tests now"
    assert [text[f.start : f.end] for f in find_secrets(text)] == [token]
