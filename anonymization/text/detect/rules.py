"""The pattern rules: read from data/*.toml, run over folded text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect import checks, wording
from anonymization.text.detect.prose import MachineLines
from data.text.dates import MONTH_ABBREVIATIONS, MONTHS
from data.text.folding import lower_in_place
from data.text.lexicon import load_table
from data.text.scripts import AFTER, BEFORE, CAPITALS, LETTER

_BOOST = 0.4


def _written(month: str) -> str:
    """A month with or without its capital; march and may in lower case are verbs."""
    return month if month in ("March", "May") else f"[{month[0]}{month[0].lower()}]{month[1:]}"


_CHECKS = {**checks.CHECKS, **wording.CHECKS}
_MACROS = {
    "%L": "(?<![A-Za-z0-9_])",
    "%R": "(?![A-Za-z0-9_])",
    "%DL": r"(?<!\d)",
    "%DR": r"(?!\d)",
    "%MONTH": rf"(?:{'|'.join(map(_written, MONTHS))}|(?:{'|'.join(MONTH_ABBREVIATIONS)})\b\.?)",
    "%CAP": rf"[{CAPITALS}](?:{LETTER}|-(?={LETTER})|'(?!s(?![a-z]))(?={LETTER})){{1,24}}",
    "%LINK": "[!#$%&*+./0-9:;=?@A-Z_a-z~,-]",
    "%B": BEFORE,
    "%E": AFTER,
    "%LETTER": LETTER,
    "%UP": f"[{CAPITALS}]",
    "%ANY": rf"{LETTER}(?:{LETTER}|['-](?={LETTER})){{1,24}}",
}


@dataclass(frozen=True, slots=True)
class Context:
    """Words searched for around a value, in lower case."""

    words: tuple[str, ...]
    before: int
    after: int
    of_value: bool

    def holds(self, lowered: str, start: int, end: int) -> bool:
        if self.of_value:
            return lowered[start:end] in self.words
        near = lowered[max(0, start - self.before) : start]
        behind = lowered[end : end + self.after]
        return any(word in near or word in behind for word in self.words)


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern; data/rules.toml explains the fields."""

    name: str
    type: EntityType
    score: float
    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    check: str
    context: Context | None
    required: bool
    against: Context | None
    trim: tuple[str, ...]
    prose: bool


@cache
def load_rules() -> tuple[Rule, ...]:
    """The rules of this package, in declared order."""
    contexts = load_table(__package__, "data", "contexts.toml")
    return tuple(
        _rule(entry, contexts)
        for table in ("rules.toml", "english.toml")
        for entry in load_table(__package__, "data", table)["rule"]
    )


def own_rules(patterns: tuple[str, ...]) -> tuple[Rule, ...]:
    """Rules for the organisation's own person numbers."""
    entry: dict[str, Any] = {"type": "PERSON_NUMBER", "score": 0.9}
    return tuple(
        _rule(entry | {"name": f"person_number_{number}", "pattern": pattern}, {})
        for number, pattern in enumerate(patterns)
    )


def scan(rules: tuple[Rule, ...], folded: str, lines: MachineLines) -> Iterator[Finding]:
    """Findings of all rules, overlapping and in no order. `lines` separates prose from code."""
    lowered = lower_in_place(folded)
    has_digit = re.search(r"\d", lowered) is not None
    for rule in rules:
        if rule.needs and not _wanted(rule.needs, lowered, has_digit):
            continue
        for match in rule.pattern.finditer(folded):
            finding = _judge(rule, match, lowered)
            if finding is not None and not (rule.prose and lines.machine_at(finding.start)):
                yield finding


def _wanted(needs: tuple[str, ...], lowered: str, has_digit: bool) -> bool:
    return has_digit if needs == ("0",) else any(need in lowered for need in needs)


def _judge(rule: Rule, match: re.Match[str], lowered: str) -> Finding | None:
    start, end = _span(match)
    for lead in rule.trim:
        if lowered.startswith(lead, start):
            start += len(lead)
    value = match.string[start:end]
    if not value or (rule.check and not _CHECKS[rule.check](value)):
        return None
    score = rule.score
    if rule.context is not None:
        if rule.context.holds(lowered, start, end):
            score = min(1.0, score + _BOOST)
        elif rule.required:
            return None
    if rule.against is not None and score <= 0.9 and rule.against.holds(lowered, start, end):
        return None
    return Finding(start, end, rule.type, rule.name, round(score, 3))


def _span(match: re.Match[str]) -> tuple[int, int]:
    for name in ("v", "v2", "v3"):
        if name in match.re.groupindex and match.start(name) >= 0:
            return match.span(name)
    return match.span()


def _rule(entry: Mapping[str, Any], contexts: Mapping[str, Any]) -> Rule:
    pattern = entry["pattern"]
    for name, meaning in _MACROS.items():
        pattern = re.sub(f"{name}(?![A-Z])", meaning.replace("\\", r"\\"), pattern)
    return Rule(
        name=entry["name"],
        type=EntityType(entry["type"]),
        score=float(entry["score"]),
        pattern=re.compile(pattern),
        needs=tuple(entry.get("needs", ())),
        check=entry.get("check", ""),
        context=_context(contexts, entry.get("context")),
        required=entry.get("required", False),
        against=_context(contexts, entry.get("against")),
        trim=tuple(contexts[entry["trim"]]["trim"]) if "trim" in entry else (),
        prose=entry.get("prose", False),
    )


def _context(contexts: Mapping[str, Any], name: str | None) -> Context | None:
    if name is None:
        return None
    entry = contexts[name]
    return Context(
        words=tuple(entry["words"]),
        before=entry.get("before", 0),
        after=entry.get("after", 0),
        of_value=entry.get("value", False),
    )
