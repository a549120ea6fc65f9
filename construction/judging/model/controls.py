"""Control criteria: what nothing delivered can meet, asked among the criteria of an attempt.

A text that talks a judge into good verdicts talks it into these as well, and a judge that does not
look meets them too. The delivered text cannot know them: they are composed and drawn for each
attempt with a private key (`controls.toml` has the words). A twin is a control about one criterion:
whoever takes that point for settled, without looking for the thing itself, meets its twin too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from data.randomness import Key, keyed_generator, keyed_order
from data.text.lexicon import load_table

CONTROLS = 2  # per attempt, beside the twins
_LETTERS = "AHKNRTVX"


@dataclass(frozen=True, slots=True)
class Shown:
    """Criteria as a judge is shown them: by a label of their own, controls among them.

    `criteria` maps a label to a criterion, `parts` the label of a real one to its part's name,
    `controls` that of a control to the part whose twin it is, or to nothing.
    """

    criteria: Mapping[str, str] = field(repr=False)
    parts: Mapping[str, str]
    controls: Mapping[str, str]


def with_controls(
    key: Key, attempt_id: str, criteria: Mapping[str, str], texts: Iterable[str]
) -> Shown:
    """The criteria of an attempt among controls, in an order and with labels that tell nothing.

    `criteria` maps the name of a part to its criterion. No control is met by any of `texts`: the
    value that it wants stands in none of them.
    """
    draw = keyed_generator(key, "controls", attempt_id)
    dimension, colon, _ = _any_of(draw, list(criteria.values())).partition(": ")
    prefix = dimension + colon if colon else ""
    drawn = itertools.islice(_details(draw, texts), CONTROLS)
    form = load_table(__package__, "controls.toml")["sentences"]
    controls = [("", prefix + _any_of(draw, form).format(**detail)) for detail in drawn]
    return _shuffled(key, f"controls|{attempt_id}", criteria, controls)


def with_twins(
    key: Key, attempt_id: str, criteria: Mapping[str, str], texts: Iterable[str]
) -> Shown:
    """The same with one control about each criterion instead."""
    draw = keyed_generator(key, "twins", attempt_id)
    form = load_table(__package__, "controls.toml")["twins"]
    controls = [
        (part, _any_of(draw, form).format(criterion=text, **detail))
        for (part, text), detail in zip(criteria.items(), _details(draw, texts), strict=False)
    ]
    return _shuffled(key, f"twins|{attempt_id}", criteria, controls)


def _details(draw: np.random.Generator, texts: Iterable[str]) -> Iterator[dict[str, str]]:
    """Things with values that stand in none of the texts, without end."""
    table, known = load_table(__package__, "controls.toml"), "\n".join(texts)
    while True:
        thing, pattern = table["things"][int(draw.integers(len(table["things"])))]
        value = "".join(_character(draw, mark) for mark in pattern)
        if not any(word in known for word in value.split() if any(map(str.isdigit, word))):
            yield {"thing": thing, "value": value, "tail": _any_of(draw, table["tails"])}


def _character(draw: np.random.Generator, mark: str) -> str:
    if mark == "A":
        return _any_of(draw, _LETTERS)
    return str(draw.integers(int(mark == "9"), 10)) if mark in "09" else mark


def _any_of(draw: np.random.Generator, choices: Sequence[str]) -> str:
    return choices[int(draw.integers(len(choices)))] if choices else ""


def _shuffled(
    key: Key, entity: str, criteria: Mapping[str, str], controls: Sequence[tuple[str, str]]
) -> Shown:
    given = [(name, text, True) for name, text in criteria.items()]
    given += [(name, text, False) for name, text in controls]
    order = keyed_order(key, "control-order", [f"{entity}|{text}" for _, text, _ in given])
    labelled = {f"part-{n}": given[at] for n, at in enumerate(order, start=1)}
    return Shown(
        criteria={label: text for label, (_, text, _) in labelled.items()},
        parts={label: name for label, (name, _, is_real) in labelled.items() if is_real},
        controls={label: name for label, (name, _, is_real) in labelled.items() if not is_real},
    )
