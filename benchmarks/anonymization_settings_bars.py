"""The sets of texts of the table of settings, and the bars that are measured on each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks import anonymization_secrets as secrets
from benchmarks.anonymization_engines import PEER, Run, Span, drawn
from benchmarks.anonymization_measures import (
    characters,
    direct,
    exact,
    flagged,
    macro_covered,
    masked,
    people_precision,
    whole,
)
from benchmarks.anonymization_text import SESSIONS_ONE_IN, plants
from benchmarks.anonymization_text_cases import (
    Case,
    read_chinese,
    read_named,
    read_synth,
    read_tab,
    session_strings,
)

READ, TOTALS, NOBODY = "read", "totals only", "no"
GERMAN_ONE_IN, PER_RULE = 4, 4
_CHECKSUMS = ("ID_CARD", "BANK_CARD", "USCC")
_TWEETS = {"WNUT17": ("en_wnut17", {"person"}), "BTC h": ("en_tweets_btc_h", {"PER"})}

Measure = Callable[[Sequence[Sequence[Span]]], float]


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of the table: who has read its texts, what is asked for, figures by setting."""

    name: str
    read: str
    wanted: str
    figures: Mapping[str, float]


@dataclass(slots=True)
class Part:
    """Texts, and the lines that are measured on what was found in them."""

    texts: list[str]
    lines: list[tuple[str, str, str, Measure]] = field(default_factory=list)
    raced: str = ""  # a kind of text whose speed is a bar: its name and what is asked for
    times: str = ""

    def add(self, name: str, read: str, wanted: str, measure: Measure) -> None:
        """One line more."""
        self.lines.append((name, read, wanted, measure))


def bars_of(part: Part, run: Run) -> Iterator[Bar]:
    """The lines of a part, from one run over its texts."""
    for name, read, wanted, measure in part.lines:
        yield Bar(name, read, wanted, {of: measure(spans) for of, spans in run.spans.items()})
    if part.raced:
        faster = {of: run.times_faster(of, run.processor) for of in run.spans if of != PEER}
        about = f"speed: {part.raced}, times Presidio's by CPU"
        yield Bar(about, "—", part.times, faster | {PEER: 1.0})


def parts(material: Path) -> Iterator[Part]:
    """All sets of the material; each is read when the one before it is done."""
    pii = material / "pii"
    yield _prose(read_synth(pii), read_tab(pii))
    yield _chat(pii / "ner")
    yield _chinese(read_chinese(pii))
    yield _japanese(read_named(pii / "ner" / "ja_wikipedia.jsonl.gz"))
    yield _german(read_named(pii / "ner" / "de_legal.jsonl.gz"))
    yield _sessions(material / "sessions")
    yield _planted(material / "sessions")
    yield from _secrets()


def _on(
    cases: Sequence[Case],
    keep: Callable[[Case], bool],
    measure: Callable[[Sequence[Case], Sequence[Sequence[Span]]], float],
) -> Measure:
    """A measure on some of the cases; findings come for all of them."""
    positions = [position for position, case in enumerate(cases) if keep(case)]

    def measured(spans: Sequence[Sequence[Span]]) -> float:
        return measure([cases[p] for p in positions], [spans[p] for p in positions])

    return measured


def _prose(synth: list[Case], tab: list[Case]) -> Part:
    cases = [*synth, *tab]
    part = Part([case.text for case in cases], raced="prose", times="≥ 3")
    sentences = {id(case) for case in synth}
    for half, read, is_dev in (("developed on", READ, True), ("other", TOTALS, False)):

        def of_synth(case: Case, is_dev: bool = is_dev) -> bool:
            return case.dev is is_dev and id(case) in sentences

        def of_tab(case: Case, is_dev: bool = is_dev) -> bool:
            return case.dev is is_dev and id(case) not in sentences

        name = f"English sentences, {half}"
        lines: tuple[tuple[str, str, Callable[..., float]], ...] = (
            ("exact F2", "≥ .85", lambda c, s: exact(c, s)["f2"]),
            ("characters, recall", "", lambda c, s: characters(c, s)[0]),
            ("characters, precision", "", lambda c, s: characters(c, s)[1]),
        )
        for what, wanted, measure in lines:
            part.add(f"{name}: {what}", read, wanted, _on(cases, of_synth, measure))
        name = f"court decisions (TAB), {half}"
        lines = (
            ("DIRECT entities", "≥ .98", lambda c, s: direct(c, s)[0]),
            ("the same, titles counted", "", lambda c, s: direct(c, s)[1]),
            ("DIRECT and QUASI characters, recall", "≥ .75", lambda c, s: characters(c, s)[0]),
            ("the same, precision", "≥ .60", lambda c, s: characters(c, s)[1]),
        )
        for what, wanted, measure in lines:
            part.add(f"{name}: {what}", read, wanted, _on(cases, of_tab, measure))
    recall = _on(cases, lambda _: True, lambda c, s: characters(c, s)[0])
    part.add("prose (both sets): characters, recall", READ, "≥ Presidio", recall)
    return part


def _chat(folder: Path) -> Part:
    sets = {
        name: (read_named(folder / f"{file}.jsonl.gz"), kinds)
        for name, (file, kinds) in _TWEETS.items()
    }
    cases = [case for tweets, _ in sets.values() for case in tweets]
    part = Part([case.text for case in cases], raced="chat", times="≥ 3")
    for name, (tweets, kinds) in sets.items():
        own = {id(case) for case in tweets}
        for half, read, halves in (
            ("all", READ, (True, False)),
            ("second half", TOTALS, (False,)),
        ):

            def keep(case: Case, own: set[int] = own, halves: tuple[bool, ...] = halves) -> bool:
                return id(case) in own and case.dev in halves

            about = f"chat ({name}), {half}: persons"
            _add_people(part, cases, keep, about, read, "≥ Presidio", kinds)
    return part


def _add_people(
    part: Part,
    cases: Sequence[Case],
    keep: Callable[[Case], bool],
    about: str,
    read: str,
    wanted: str,
    kinds: set[str],
) -> None:
    recall = _on(cases, keep, lambda c, s: whole(c, s, kinds))
    precision = _on(cases, keep, lambda c, s: people_precision(c, s, kinds))
    part.add(f"{about}, recall", read, wanted, recall)
    part.add(f"{about}, precision", read, wanted, precision)


def _chinese(cases: list[Case]) -> Part:
    part = Part([case.text for case in cases])
    for kind in (*_CHECKSUMS, "NAME", "COMPANY", "ADDRESS", "PHONE"):
        wanted = "≥ .99" if kind in _CHECKSUMS else "≥ .85" if kind in ("NAME", "COMPANY") else ""
        measure = _on(cases, lambda _: True, partial(whole, kinds={kind}))
        part.add(f"Chinese sentences: {kind}", READ, wanted, measure)
    clean = _on(cases, lambda case: not case.labels, lambda _, s: flagged(s))
    part.add("Chinese clean sentences flagged", READ, "≤ .02", clean)
    return part


def _japanese(cases: list[Case]) -> Part:
    part = Part([case.text for case in cases])
    for half, read, is_dev in (("first half", READ, True), ("second half", TOTALS, False)):

        def keep(case: Case, is_dev: bool = is_dev) -> bool:
            return case.dev is is_dev

        about = f"Japanese Wikipedia, {half}: persons"
        _add_people(part, cases, keep, about, read, "", {"人名"})
    return part


def _german(cases: list[Case]) -> Part:
    kept = [case for case in cases if drawn(case.text, GERMAN_ONE_IN)]
    part = Part([case.text for case in kept])
    about = "German court decisions (not supported): persons"
    _add_people(part, kept, lambda _: True, about, NOBODY, "", {"PER"})
    return part


def _sessions(folder: Path) -> Part:
    """The speed on session strings, and how much of them is masked, which is what it costs."""
    texts = list(session_strings(folder, SESSIONS_ONE_IN))
    part = Part(texts, raced="session strings", times="≥ 8")
    about = "session strings: share of characters masked (the cost)"
    part.add(about, READ, "", lambda spans: masked(texts, spans))
    return part


def _planted(folder: Path) -> Part:
    cases = plants(list(session_strings(folder)))
    part = Part([case.text for case in cases])
    recall = _on(cases, lambda _: True, lambda c, s: characters(c, s)[0])
    part.add("planted in sessions: characters, recall", READ, "≥ Presidio", recall)
    return part


def _secrets() -> Iterator[Part]:
    rules = secrets.cases()
    rows = [
        (rule, case)
        for rule, cases in rules.items()
        for case in _few([c for c in cases if c["kind"] == "tp" and c["secrets"]])
    ]
    names = [rule for rule, _ in rows]
    cases = [_labelled(case["text"], case["secrets"][0]) for _, case in rows]
    part = Part([case.text for case in cases])
    recall = _on(cases, lambda _: True, lambda c, s: macro_covered(names, c, s))
    part.add("secrets: whole ones, macro recall", READ, "≥ .98", recall)
    yield part
    plain = [c["text"] for cases_ in rules.values() for c in cases_ if c["kind"] != "tp"]
    part = Part(plain)
    part.add("secrets: negatives flagged as a secret", READ, "≤ .05", lambda s: flagged(s, _SECRET))
    part.add("secrets: negatives with anything masked", READ, "", flagged)
    yield part
    values = list(dict.fromkeys((rule, secrets.trimmed(c["secrets"][0])) for rule, c in rows))
    for name, sentences in secrets.SENTENCES.items():
        said = [(rule, _labelled(s.format(v), v)) for rule, v in values for s in sentences]
        spoken, cases = [rule for rule, _ in said], [case for _, case in said]
        part = Part([case.text for case in cases])
        recall = _on(cases, lambda _: True, partial(macro_covered, spoken))
        part.add(f"secrets: bare in prose, {name}, macro recall", READ, "≥ .97", recall)
        yield part


_SECRET = frozenset({"SECRET"})


def _few(cases: list[secrets.Case]) -> list[secrets.Case]:
    """At most so many cases of a rule, by digest."""
    digest = lambda case: hashlib.sha256(case["text"].encode()).digest()  # noqa: E731
    return sorted(cases, key=digest)[:PER_RULE]


def _labelled(text: str, secret: str) -> Case:
    """A text with every occurrence of its secret."""
    labels, start = [], text.find(secret)
    while start >= 0:
        labels.append((start, start + len(secret), "SECRET", "", ""))
        start = text.find(secret, start + 1)
    return Case(secret, text, tuple(labels), True)
