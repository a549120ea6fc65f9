"""Does a rewritten prompt tell what its sources tell, no more and no less?

Files, URLs, dates, numbers and names are compared in one form each. What the rewrite holds and no
source does is an invention; what the request holds and the rewrite does not is a loss. A guard
against wrong figures and forgotten files, for rewrites by rules and by models alike; it does not
understand either text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from construction.judging.contracts import Case
from construction.judging.reading import read
from construction.judging.rules.facts import FactKind, Found, find_facts, plain_text
from construction.judging.rules.named import is_exchange
from construction.judging.rules.noise import is_noise
from construction.judging.rules.words import table
from construction.sessions.prompts.prompt import tail

_SPEAKER = re.compile(r"(?m)^([^:\n]{1,40}): ")
_ODD = re.compile(r"[^\w./\\ -]")
_SIGNS = re.compile(r"[\W_]+")  # what neither is a letter nor a figure


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """What a rewrite says that no source says, and what it forgets; empty if it is faithful."""

    inventions: tuple[Found, ...]
    losses: tuple[Found, ...]

    @property
    def faithful(self) -> bool:
        return not self.inventions and not self.losses


def check_faithfulness(rewrite: str, case: Case) -> Faithfulness:
    """Compare a rewrite with request, background, file names and deliverables of its case.

    Greetings, thanks and the like need not be kept; every input file must be named.
    """
    return compare(rewrite, sources_of(case))


@dataclass(frozen=True, slots=True)
class Sources:
    """What a rewrite of one case may tell and has to tell."""

    told: _Told
    allowed: frozenset[tuple[FactKind, str]]
    required: tuple[Found, ...]


def sources_of(case: Case) -> Sources:
    """The sources of a case, for callers that compare several rewrites with them."""
    told = _Told.of("\n\n".join([case.request, *case.background, *_given(case)]))
    return Sources(told, _allowed(case), _required(case))


def compare(rewrite: str, sources: Sources) -> Faithfulness:
    """As `check_faithfulness`."""
    told = _Told.of(rewrite)
    inventions = tuple(
        fact
        for fact in told.facts
        if not sources.told.tells(fact) and (fact.kind, fact.value) not in sources.allowed
    )
    losses = tuple(fact for fact in sources.required if not told.tells(fact))
    return Faithfulness(inventions, losses)


@dataclass(frozen=True, slots=True)
class _Told:
    """The facts of a text, ready to be looked up."""

    facts: tuple[Found, ...]
    values: frozenset[tuple[FactKind, str]]
    words: str

    @classmethod
    def of(cls, text: str) -> _Told:
        facts = find_facts(text)
        return cls(facts, frozenset((one.kind, one.value) for one in facts), _words(text))

    def tells(self, fact: Found) -> bool:
        if (fact.kind, fact.value) in self.values:
            return True
        if fact.moment is not None:
            moments = (one.moment for one in self.facts if one.moment is not None)
            return any(moment.covers(fact.moment) for moment in moments)
        if fact.kind is FactKind.FILE:
            return any(
                _same_odd(fact.value, value) for kind, value in self.values if kind == "file"
            )
        return fact.kind is FactKind.ENTITY and _holds(self.words, fact.value)


def _same_odd(one: str, other: str) -> bool:
    """A name with quotes or control signs may be read with more or less before it."""
    longer, shorter = sorted((one, other), key=len, reverse=True)
    return _ODD.search(longer) is not None and longer.endswith(shorter)


def _words(text: str) -> str:
    """The text in lower case with every sign as a space, so that whole words can be found."""
    return f" {_SIGNS.sub(' ', plain_text(text).lower()).strip(' ')} "


def _holds(words: str, name: str) -> bool:
    wanted = _words(name)
    return wanted in words if wanted.isascii() else wanted.strip() in words


def _given(case: Case) -> Iterator[str]:
    for fixture in case.candidate.fixtures:
        yield f"\n`{fixture.path}`\n"
        yield f"`{tail(fixture.path)}`"
    for item in case.candidate.deliverables:
        yield from (f"`{name}`" for name in item.name_hints)
    yield from case.candidate.network.urls
    if is_exchange(case):
        yield from _SPEAKER.findall(case.candidate.prompt)


def _allowed(case: Case) -> frozenset[tuple[FactKind, str]]:
    """What the frame of a prompt may add: counts and formats of its deliverables, file names."""
    deliverables = case.candidate.deliverables
    counts = {str(item.count) for item in deliverables}
    words = {word for path in _given(case) for word in _words(path).split()}
    names = {tail(fixture.path) for fixture in case.candidate.fixtures}
    names |= {tail(name) for item in deliverables for name in item.name_hints}
    return frozenset(
        [(FactKind.NUMBER, count) for count in counts]
        + [(FactKind.ENTITY, word) for word in words | set(table("faithfulness")["formats"])]
        + [(FactKind.FILE, name) for name in names]
    )


def _required(case: Case) -> tuple[Found, ...]:
    """The facts of the request's sentences that say something, and the names of its files."""
    content = "\n".join(_content(case.request))
    files = [
        Found(FactKind.FILE, fixture.path, tail(fixture.path))
        for fixture in case.candidate.fixtures
    ]
    facts = _unlike(find_facts(content), {fact.value for fact in files})
    return tuple(sorted([*facts, *files], key=lambda fact: (fact.kind, fact.value)))


def _unlike(facts: Iterable[Found], known: set[str]) -> Iterator[Found]:
    return (fact for fact in facts if fact.value not in known)


def _content(text: str) -> Iterator[str]:
    """The text without the sentences that are mere noise."""
    position = 0
    for sentence in read(text):
        if is_noise(sentence) and sentence.start >= position:
            yield text[position : sentence.start]
            position = sentence.start + len(sentence.text)
    yield text[position:]
