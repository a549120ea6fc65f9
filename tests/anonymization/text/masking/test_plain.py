"""How edits of two origins are put together."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.masking.plain import joined


def edit(start: int, end: int, text: str) -> Edit:
    return Edit(start, end, text, EntityType.PERSON, "test", 1.0)


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 6)), max_size=8)


def apart(spans: list[tuple[int, int]], text: str) -> list[Edit]:
    """Edits that do not overlap each other."""
    kept: list[Edit] = []
    for start, length in sorted(spans):
        if not kept or kept[-1].end <= start:
            kept.append(edit(start, start + length, text))
    return kept


def test_an_edit_behind_all_others_and_one_that_only_touches_are_kept() -> None:
    assert joined([edit(2, 4, "a")], [edit(6, 8, "b")]) == [edit(2, 4, "a"), edit(6, 8, "b")]
    assert joined([edit(2, 4, "a")], [edit(4, 5, "b")]) == [edit(2, 4, "a"), edit(4, 5, "b")]
    assert joined([edit(2, 4, "a")], [edit(1, 2, "b")]) == [edit(1, 2, "b"), edit(2, 4, "a")]


def test_the_first_take_precedence_or_the_others_if_so_asked() -> None:
    assert joined([edit(2, 4, "a")], [edit(3, 6, "b")]) == [edit(2, 4, "a")]
    assert joined([edit(2, 4, "a")], [edit(3, 6, "b")], first=True) == [edit(3, 6, "b")]


@given(SPANS, SPANS)
def test_what_takes_precedence_is_whole_and_nothing_overlaps(
    first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    edits, more = apart(first, "a"), apart(second, "b")
    result = joined(edits, more)
    assert set(edits) <= set(result) <= {*edits, *more}
    assert all(one.end <= following.start for one, following in pairwise(result))
    dropped = set(more) - set(result)
    assert all(any(b.start < a.end and a.start < b.end for a in edits) for b in dropped)
