"""What an author wants to know of a document: does it make drafts, and do they pass the screening?

`check_lines` says so line by line, with what to mend. Beside the screening it looks at what one
draft alone cannot show: answers that are the same in every draft, and sentences that the document
shares with another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from construction.grading.actions import fits
from construction.workflows.contracts import Draft, Scenario
from construction.workflows.documents.contracts import Document, DocumentFault, read_document
from construction.workflows.documents.gold import uneven_fields
from construction.workflows.documents.scenario import (
    UNFORESEEN,
    build,
    known_to_readers,
    named,
    readable_documents,
    scenario_of,
)
from construction.workflows.runs import (
    FAILURES,
    InProcessClient,
    Run,
    forgetting,
    graded,
    perform,
    spec_of_draft,
)
from construction.workflows.screening import Screened, ScreeningConfig, ScreenReason, screened
from construction.workflows.trials import destructive, mutants_of
from construction.workflows.world_file import world_faults

DRAFTS, SEED = 3, 11
NO_SECOND = (
    "second: there is none; expected [second] with `answers`, `acts` and `views` by somebody who "
    "derived the result from the prose alone"
)
_MOST_NAMED = 6
_SILENT = {"views", "wanted", "traps", "second"}  # parts without prose
_MOST_WORDS = 8  # that a sentence may have which two documents share
_WORD = re.compile(r"[\w'’]+")


def check_lines(
    path: Path, config: ScreeningConfig, drafts: int = DRAFTS, *, screens: bool = True
) -> Iterator[str]:
    """What is wrong with the document in a file, and a line for each draft.

    Without `screens` the drafts are built and both derivations compared, which takes seconds.
    """
    try:
        document = read_document(path)
    except DocumentFault as fault:
        yield from (f"fault: {line}" for line in str(fault).splitlines())
        return
    if document.second is None:
        yield f"fault: {NO_SECOND}"
    made = drafts_of(document, drafts, SEED)
    yield from document_lines(document, made, config, screens=screens)


def drafts_of(document: Document, drafts: int, seed: int) -> list[Draft]:
    """The first drafts, each of them derived twice."""
    return [build(document, number, seed) for number in range(1, drafts + 1)]


def document_lines(
    document: Document, made: Sequence[Draft], config: ScreeningConfig, *, screens: bool = True
) -> Iterator[str]:
    """A line for each draft; those that begin with "fault: " say what to mend."""
    whole = [draft for draft in made if not draft.faults]
    for fault in dict.fromkeys(fault for draft in made for fault in draft.faults):
        having = ", ".join(str(draft.number) for draft in made if fault in draft.faults)
        yield f"fault: draft {having}: {fault}"
    yield from (f"fault: {line}" for line in _faults_across(document, whole))
    scenario = scenario_of(document)
    try:
        for draft in whole[:1]:
            facts = known_to_readers(document, draft)
            yield from (f"fault: {it}" for it in uneven_fields(document, draft.world.state, facts))
        if not screens:
            yield from (f"draft {draft.number}: built; {_size(draft)}" for draft in whole)
            return
        for seen in screened(whole, scenario, config):
            yield ("fault: " if seen.reason else "") + _line(seen)
            yield from (f"fault: {detail}" for detail in _details(seen, document, scenario, config))
    except UNFORESEEN as error:
        yield f"fault: the screening stopped: {named(error)}"


def _faults_across(document: Document, drafts: Sequence[Draft]) -> Iterator[str]:
    """What several drafts, or several documents, show."""
    answers = [draft.answers for draft in drafts]
    for at, part in enumerate(document.wanted.answers):
        if len(drafts) > 1 and len({each[at].value for each in answers if each}) == 1:
            yield f"answers.{part.part}: the same in all {len(drafts)} drafts"
    mine = _sentences_of(document)
    for other in readable_documents():
        if other.name != document.name and (shared := mine & _sentences_of(other)):
            yield f"a sentence also occurs in {other.name}: {min(shared)[:80]}"


def _sentences_of(document: Document) -> set[str]:
    """Its sentences of more than eight words."""
    return long_sentences(_texts(document.model_dump(mode="json", exclude=_SILENT)))


def long_sentences(texts: Iterable[str]) -> set[str]:
    """Sentences of more than eight words, without differences of case and punctuation."""
    sentences = set()
    for text in texts:
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
    reason = seen.reason or "passes the screening"
    named_too = f" ({seen.tried.named})" if seen.reason and seen.tried.named else ""
    return (
        f"draft {seen.draft.number}: {reason}{named_too}; {_size(seen.draft)}, "
        f"{len(seen.run.requests)} calls"
    )


def _size(draft: Draft) -> str:
    state = draft.world.state
    count = sum(len(records) for rooms in state.values() for records in rooms.values())
    acts = sum(c.kind not in ("records_returned", "unchanged") for c in draft.checks)
    return f"{count} records, {len(state)} services, {acts} wanted changes"


def _details(
    seen: Screened, document: Document, scenario: Scenario, config: ScreeningConfig
) -> Iterator[str]:
    """What is behind a reason."""
    draft, run, threshold = seen.draft, seen.run, config.pass_threshold
    spec = spec_of_draft(draft)
    if run.failure:
        yield f"the reference ended with {_why(draft, scenario)}"
    elif world := world_faults(draft.world):
        yield from world[:_MOST_NAMED]
    elif seen.reason == ScreenReason.ORACLE_FAILED:
        yield "the reference, which knows only the records in `reads`, gives a different result"
        parts = graded(spec, run.submission(), threshold).parts
        missed = [part for part in parts if part.value != 1]
        for part in missed[:_MOST_NAMED]:
            differs = difference(draft, run, part.name.removeprefix("check."))
            yield f"{part.name}: {differs or part.reason} {part.detail or ''}"[:300]
    elif seen.reason == ScreenReason.MUTANT_SURVIVED:
        for mutant in mutants_of(draft, run):
            score = graded(spec, mutant.submission, threshold)
            if score.passed is not False and score.overall == 1:
                yield f"{mutant.violates}: {mutant.title} loses no points"
    elif seen.reason == ScreenReason.SOURCE_UNNEEDED:
        for name in scenario.services:
            blind = perform(draft, scenario, partial(forgetting, service=name)).submission()
            if graded(spec, blind, threshold).passed is not False:
                yield f"{name}: the reference passes without it, so its content makes no difference"
    elif seen.reason == ScreenReason.PASSED_BY_DESTRUCTIVE:
        for request, submission in destructive(draft, run):
            if graded(spec, submission, threshold).passed is not False:
                given = ", ".join(f"{name}={v!s:.30}" for name, v in request.arguments.items())
                yield (
                    f"{request.service}.{request.operation}({given}), which nobody asked for, "
                    "passes after the reference; absent and `loose` fields are not compared"
                )
    elif seen.reason == ScreenReason.PASSED_BY_SIBLING:
        for name, trap in zip((t.name for t in document.traps), scenario.traps, strict=True):
            tried = perform(draft, replace(scenario, solve=trap)).submission()
            if graded(spec, tried, threshold).passed is not False:
                yield f"traps.{name}: passes"


def difference(draft: Draft, run: Run, check_id: str) -> str | None:
    """What a wanted record has after the reference, and what it should have, by its first field."""
    check = next((check for check in draft.checks if check.check_id == check_id), None)
    wanted = check.params.get("where") if check else None
    if check is None or not isinstance(wanted, Mapping):
        return None
    made = check.kind == "record_created"
    for change in run.submission().changes:
        about = change.before is None if made else change.record == check.params.get("record")
        after = change.after or {}
        wrong = [name for name in wanted if not fits(after, {name: wanted[name]})]
        if about and wrong and (not made or len(wrong) < len(wanted)):
            name = wrong[0]
            actual, expected = after.get(name), wanted[name]
            return f"{change.record}: {name}: found {actual!r:.60}; expected {expected!r:.80}"
    return f"{check.params.get('record', 'no record made')}: unchanged; expected {wanted!r:.120}"


def _why(draft: Draft, scenario: Scenario) -> str:
    """What ends the reference, and its last request."""
    client = InProcessClient(draft.world)
    try:
        scenario.solve(client, draft.params)
    except FAILURES as error:
        last = client.audit[-1] if client.audit else None
        where = f" {last.service}.{last.operation}({', '.join(last.arguments)})" if last else ""
        return f"{named(error)}{where}"
    return "nothing, this time"
