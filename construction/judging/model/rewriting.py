"""What a model rewrote: one prompt that says what the person's messages said, and no more."""

from __future__ import annotations

from collections.abc import Sequence

from construction.judging.contracts import Case
from construction.judging.language import leading_language
from construction.judging.model.block import HIDDEN
from construction.judging.model.contracts import Fault, JudgeReason, PromptedConfig
from construction.judging.rules.facts import FactKind, Found, find_facts
from construction.judging.rules.faithfulness import check_faithfulness
from data.snapshot.neutralise import visible

_CORRECTED = frozenset({FactKind.NUMBER, FactKind.DATE})


def shown(rewritten: str) -> str:
    """A rewritten prompt as a reader sees it: hidden characters have no business in a task."""
    return visible(HIDDEN.sub("", rewritten)).strip()


def check_rewrite(rewritten: str, case: Case, config: PromptedConfig) -> Fault | None:
    """What is wrong with a rewritten prompt: length, language, inventions, losses by name."""
    if not rewritten.strip():
        return Fault(JudgeReason.EMPTY)
    if len(rewritten) > config.rewrite_chars:
        return Fault(JudgeReason.TOO_LONG, f"{len(rewritten)} characters")
    language = leading_language(rewritten)
    if language != leading_language(case.request):
        return Fault(JudgeReason.OTHER_LANGUAGE, language)
    found = check_faithfulness(rewritten, case)
    if found.inventions:
        return Fault(JudgeReason.INVENTION, _named(found.inventions))
    lost = _without_corrected(found.losses, rewritten, case) if found.losses else ()
    return Fault(JudgeReason.LOSS, _named(lost)) if lost else None


def _without_corrected(losses: Sequence[Found], rewritten: str, case: Case) -> tuple[Found, ...]:
    """The losses but for numbers and dates in whose place a later paragraph put others.

    "Make it 6 copies" takes the 5 before it back, if the rewrite has the 6.
    """
    kept = {(fact.kind, fact.value) for fact in find_facts(rewritten)}
    excused: set[tuple[FactKind, str]] = set()
    corrected: set[FactKind] = set()
    for paragraph in reversed(case.request.split("\n\n")):
        facts = [fact for fact in find_facts(paragraph) if fact.kind in _CORRECTED]
        excused |= {(fact.kind, fact.value) for fact in facts if fact.kind in corrected}
        corrected |= {fact.kind for fact in facts if (fact.kind, fact.value) in kept}
    return tuple(fact for fact in losses if (fact.kind, fact.value) not in excused)


def _named(facts: Sequence[Found]) -> str:
    return ", ".join(sorted(fact.text for fact in facts))
