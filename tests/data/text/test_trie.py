from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from data.text.lexicon import _shortest_pattern, trie_pattern

LITERALS = st.lists(st.text("ab|.中", min_size=1, max_size=4), min_size=1, max_size=8)
TEXT = st.text("ab|.中", max_size=12)


@given(LITERALS, TEXT)
def test_the_longest_or_shortest_literal_at_each_place_is_found(
    literals: list[str], text: str
) -> None:
    longest, shortest = re.compile(trie_pattern(literals)), re.compile(_shortest_pattern(literals))
    for position in range(len(text)):
        lengths = [len(one) for one in literals if text.startswith(one, position)]
        for pattern, wanted in (
            (longest, max(lengths, default=0)),
            (shortest, min(lengths, default=0)),
        ):
            match = pattern.match(text, position)
            assert (len(match.group()) if match else 0) == wanted


@given(LITERALS)
def test_order_and_repetition_of_literals_do_not_matter(literals: list[str]) -> None:
    again = [*reversed(literals), literals[0]]
    assert trie_pattern(again) == trie_pattern(literals)
    assert _shortest_pattern(again) == _shortest_pattern(literals)
