"""What an author wants to know of a document: does it make drafts, and do they pass the screening?

`check_lines` says so line by line, with what to mend. Beside the screening it looks at what one
draft alone cannot show: answers that are the same in every draft, and sentences that the document
shares with another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from construction.workflows.contracts import Draft, Scenario
from construction.workflows.documents.contracts import Document, DocumentFault, read_document
from construction.workflows.documents.scenario import documents, scenario_of
from construction.workflows.runs import graded, perform, spec_of_draft
from construction.workflows.screening import Screened, ScreeningConfig, ScreenReason, screened
from construction.workflows.trials import mutants_of

DRAFTS, SEED = 3, 11
_MOST_WORDS = 8  # that a sentence may have which two documents share
_WORD = re.compile(r"[\w'’]+")


def check_lines(path: Path, config: ScreeningConfig, drafts: int = DRAFTS) -> Iterator[str]:
    """What is wrong with the document in a file, and a line for each draft."""
    try:
        document = read_document(path)
        yield from document_lines(document, config, drafts)
    except DocumentFault as fault:
        yield from (f"fault: {line}" for line in str(fault).splitlines())


def document_lines(
    document: Document, config: ScreeningConfig, drafts: int = DRAFTS, seed: int = SEED
) -> Iterator[str]:
    """A line for each draft; those that begin with "fault: " say what to mend."""
    scenario = scenario_of(document)
    made = [scenario.build(number, seed) for number in range(1, drafts + 1)]
    yield from (f"fault: {line}" for line in faults_across(document, made))
    for seen in screened(made, {document.name: scenario}, config):
        yield ("fault: " if seen.reason else "") + _line(seen)
        yield from (f"fault: {detail}" for detail in _details(seen, document, scenario, config))


def faults_across(document: Document, drafts: Sequence[Draft]) -> Iterator[str]:
    """What several drafts, or several documents, show."""
    answers = [draft.answers for draft in drafts]
    for at, part in enumerate(document.wanted.answers):
        if len(drafts) > 1 and len({each[at].value for each in answers if each}) == 1:
            yield f"answers.{part.part}: the same in all {len(drafts)} drafts"
    mine = sentences_of(document)
    for other in documents():
        if other.name != document.name and (shared := mine & sentences_of(other)):
            yield f"a sentence stands in {other.name} too: {min(shared)[:80]}"


def sentences_of(document: Document) -> set[str]:
    """Its sentences of more than eight words, without differences of case and punctuation."""
    sentences = set()
    for text in _texts(document.model_dump(mode="json", exclude={"views", "wanted", "traps"})):
        for sentence in re.split(r"[.!?\n。！？]+", text):
            words = _WORD.findall(sentence.lower())
            if len(words) > _MOST_WORDS:
                sentences.add(" ".join(words))
    return sentences


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if name not in ("sql", "of", "select", "only"):
                yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _line(seen: Screened) -> str:
    state = seen.draft.world.state
    count = sum(len(records) for rooms in state.values() for records in rooms.values())
    acts = sum(c.kind not in ("records_returned", "unchanged") for c in seen.draft.checks)
    return (
        f"draft {seen.draft.number}: {seen.reason or 'passes the screening'}; {count} records, "
        f"{len(state)} services, {acts} wanted changes, {len(seen.run.requests)} calls"
    )


def _details(
    seen: Screened, document: Document, scenario: Scenario, config: ScreeningConfig
) -> Iterator[str]:
    """What is behind a reason."""
    draft, run, threshold = seen.draft, seen.run, config.pass_threshold
    yield from draft.faults
    spec = spec_of_draft(draft)
    if seen.reason == ScreenReason.ORACLE_FAILED or run.failure:
        yield f"the reference ended with {run.failure or 'a wrong result'}"
        for part in graded(spec, run.submission(), threshold).parts:
            if part.value != 1:
                yield f"{part.name}: {part.reason} {part.detail or ''}"[:300]
    elif seen.reason == ScreenReason.MUTANT_SURVIVED:
        for mutant in mutants_of(draft, run):
            score = graded(spec, mutant.submission, threshold)
            if score.passed is not False and score.overall == 1:
                yield f"{mutant.violates}: {mutant.title} loses nothing"
    elif seen.reason == ScreenReason.SOURCE_UNNEEDED:
        yield f"one of {', '.join(scenario.services)} decides nothing"
    elif seen.reason == ScreenReason.PASSED_BY_SIBLING:
        for name, trap in zip((t.name for t in document.traps), scenario.traps, strict=True):
            tried = perform(draft, replace(scenario, solve=trap)).submission()
            if graded(spec, tried, threshold).passed is not False:
                yield f"traps.{name}: passes; do `reads` presuppose what it leaves out?"
