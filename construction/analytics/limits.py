"""Does the question say each limit beside its metric, each weight, and the rank of a figure?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.analytics import steps as s
from construction.analytics.contracts import Language
from construction.analytics.drawing import words_table
from construction.analytics.environment.declaration import Declaration
from construction.analytics.origins import origin
from data.text.folding import fold_width

_BEFORE, _BESIDE = 160, 30  # characters before a limit in which its metric stands, and up to it
_NEAR, _AFTER = 24, 12  # characters before and behind a limit in which its words stand


def limits_unsaid(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """A limit stands beside its metric, and its words say whether it belongs to what passes."""
    words = words_table()["limits"][language]
    for step in program:
        if isinstance(step, s.Compare):
            continue
        for condition in step.where:
            test, value = condition.test, condition.value
            if test not in words or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            column = origin(program, step.source, condition.column)
            labels = [
                fold_width(m.label[language])
                for m in declaration.metrics
                if (m.table, m.column) == column
            ]
            around = list(_around(text, value))
            if not around:
                continue
            if labels and not any(_ends_near(b, label) for label in labels for b, _ in around):
                yield f"the limit {value:g} does not stand beside its metric"
            said = [f"{before[-_NEAR:]}¦{after}" for before, after in around]
            if all(
                any(re.search(words[other], phrase, re.I) for other in words if other != test)
                and not re.search(words[test], phrase, re.I)
                for phrase in said
            ):
                yield f"the question says otherwise what passes the limit {value:g}"


def _ends_near(text: str, label: str) -> bool:
    """Does a label stand so near the end of a text that they belong together?"""
    at = text.casefold().rfind(label.casefold())
    return at >= 0 and len(text) - at - len(label) <= _BESIDE


def weights_unsaid(program: s.Program, text: str, language: Language) -> Iterator[str]:
    """Each weight of a score is said, and of which rank a figure is."""
    words = words_table()
    for step in program:
        if isinstance(step, s.Score):
            weights = [criterion.weight for criterion in step.criteria]
            for weight in sorted(set(weights) - {1.0}):
                if len(list(_around(text, weight))) < weights.count(weight):
                    yield f"the weight {weight:g} is not said of each criterion"
            is_weighted = 1.0 in weights and re.search(words["weights"][language], text, re.I)
            if is_weighted and not re.search(words["weight_1"][language], text, re.I):
                yield "the weight 1 is not said"
        elif isinstance(step, s.Lookup):
            ranks = [c.value for c in step.where if c.column == "rank" and c.test == "="]
            for rank in ranks:
                forms = [
                    w for w, n in words["rank_words"][language]["numbers"].items() if n == rank
                ]
                forms = [rf"\b{w}\b" if language == "en" else f"第{w}" for w in forms]
                if rank != 1 and forms and not re.search("|".join(forms), text, re.I):
                    yield f"the rank {rank} is not said"


def _around(text: str, value: float) -> Iterator[tuple[str, str]]:
    """The text before and after each mention of a number in digits."""
    written = {f"{value:g}", f"{value:,.0f}"} if value == int(value) else {f"{value:g}"}
    for form in sorted(written):
        for match in re.finditer(rf"(?<![\d.,]){re.escape(form)}(?![\d]|[.,]\d)", text):
            before = text[max(0, match.start() - _BEFORE) : match.start()]
            yield before, text[match.end() : match.end() + _AFTER]
