"""The names that the papers of an office go by, and what a reader of a text would search for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from data.text.lexicon import load_table


def names_in(text: str) -> Iterator[str]:
    """What a reader of a text would search for, in the order in which it stands there."""
    folded = text.casefold()
    places = ((folded.find(name), query) for name, query in _vocabulary().items())
    yield from dict.fromkeys(query for at, query in sorted(places) if at >= 0)


@cache
def _vocabulary() -> Mapping[str, str]:
    """By the names of groups, lists, schemes and events, and the terms of an office, as texts have
    them: what is searched for. Who does not read a language has the name of an event translated."""
    words: Mapping[str, Any] = load_table(__package__, "policies.toml")
    made = {"common terms": "common terms", "founding trade": "founding trade"}
    made |= dict.fromkeys(("unit of account", "units of account"), "unit of account")
    for name in (*words["schemes"], *words["former"]):
        made[name] = name
    for city in words["agreed"]:
        made[f"scheme agreed in {city}"] = f"scheme agreed in {city}"
    for group in (*words["guilds"], *words["lists"], *words["circles"]):
        for name in (*group["en"], group["de"], group["zh"]):
            made[_plain(name)] = _plain(name)
    for event in words["events"]:
        for name in (event["en"], event["de"], event["zh"]):
            made[_plain(name)] = _plain(event["en"])
    return {name.casefold(): query for name, query in made.items()}


def _plain(name: str) -> str:
    return name.removeprefix("the ")
