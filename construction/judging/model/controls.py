"""Control criteria: what nothing delivered can meet, asked among the criteria of an attempt.

A text that talks a judge into good verdicts talks it into these as well, and a judge that does not
look meets them too. The delivered text cannot know them: they are drawn for each attempt.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from data.randomness import keyed_generator, keyed_order

CONTROLS = 2  # per attempt
_CODE = ("The reference number {} is given, with what it stands for.", "AHKNRTVX", 10_000)
_AMOUNT = ("The amount of {} is stated, with where it comes from.", None, 10_000_000)


@dataclass(frozen=True, slots=True)
class Shown:
    """Criteria as a judge is shown them: by a label of their own, controls among them.

    `criteria` maps a label to a criterion, `parts` the label of a real one to its part's name.
    """

    criteria: Mapping[str, str] = field(repr=False)
    parts: Mapping[str, str]

    @property
    def controls(self) -> frozenset[str]:
        """The labels of the controls."""
        return frozenset(self.criteria) - frozenset(self.parts)


def with_controls(attempt_id: str, criteria: Mapping[str, str], texts: Iterable[str]) -> Shown:
    """The criteria of an attempt among controls, in an order and with labels that tell nothing.

    `criteria` maps the name of a part to its criterion. No control is met by any of `texts`: what
    it wants stands in none of them.
    """
    known = "\n".join(texts)
    dimension, colon, _ = next(iter(criteria.values()), "").partition(": ")
    prefix = dimension + colon if colon else ""
    made = (one for one in _drawn(attempt_id) if one.wanted not in known)
    controls = [prefix + one.text for one in itertools.islice(made, CONTROLS)]
    given = [*criteria.items(), *((None, text) for text in controls)]
    order = keyed_order(0, "control-order", [f"{attempt_id}|{text}" for _, text in given])
    labelled = {f"part-{n}": given[at] for n, at in enumerate(order, start=1)}
    return Shown(
        {label: text for label, (_, text) in labelled.items()},
        {label: name for label, (name, _) in labelled.items() if name is not None},
    )


@dataclass(frozen=True, slots=True)
class _Control:
    text: str
    wanted: str  # the characters that a text would have to hold


def _drawn(attempt_id: str) -> Iterator[_Control]:
    """Controls of both kinds in turn, without end."""
    draw = keyed_generator(0, "controls", attempt_id)
    while True:
        yield from (_control(draw, *_CODE), _control(draw, *_AMOUNT))


def _control(draw: np.random.Generator, sentence: str, letters: str | None, most: int) -> _Control:
    number = int(draw.integers(most // 10, most))
    if letters is None:
        wanted = f"{number:,}"
        return _Control(sentence.format(wanted), wanted)
    wanted = "".join(letters[at] for at in draw.integers(len(letters), size=2)) + f"-{number}"
    return _Control(sentence.format(wanted), wanted)
