"""Hard rules that a program can compute from the request and the inputs of a task.

They are what tells work from a file that is merely there: lengths, columns, sheets and texts that
the request fixes; rows and columns that a change must leave in place; and the words of the task,
without which a file is about something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from construction.grading.file_look import word_form
from construction.grading.file_types import TYPES, FileType, extension_of
from construction.judging.choice_rules import of_choices
from construction.judging.contracts import Case, InputFile
from construction.judging.deliverables import ANSWER
from construction.judging.edit_rules import of_appends, of_conversions, of_edits
from construction.judging.edits import changed_inputs, moved_inputs
from construction.judging.inputs import named_inputs, terms_of
from construction.judging.lexicon import table
from construction.judging.request_bounds import Length, changes, fixed, is_choice, lengths
from construction.judging.rule_task import (
    TERMS,
    WITH_TABLES,
    Task,
    has_text,
    is_in_nothing,
    rule,
)
from construction.judging.sorting import is_in_order
from construction.mentions.extensions import tail
from data.contracts import Deliverable, Rule

_PAGED = {"slides": "pptx", "pages": "pdf"}
_PROSE = frozenset({"md", "txt", "docx", "pdf", "html"})
_NO_PROSE = frozenset({"srt", "vtt", "svg", "zip"})
_SHORT = frozenset({"eml", "ics", "json", "jsonl", "yaml"})
_REQUEST_TERMS = 80
_FLOOR = 5  # words; a stub has fewer
_FLOORS = {"eml": 6, "ics": 4}  # with the people and the times in them
_FEW, _MANY, _VERY_MANY = 3, 20, 100  # terms: with few of them a text need not use any
_TRANSLATED = 0.1  # of the words of what is translated, at least


def computed_rules(case: Case, deliverables: Sequence[Deliverable]) -> tuple[Rule, ...]:
    """The rules that follow from the request and the inputs, in a fixed order."""
    paths = [fixture.path for fixture in case.candidate.fixtures]
    names = {tail(path) for path in paths}
    outputs = [name for item in deliverables for name in item.name_hints if tail(name) not in names]
    task = Task(
        case.request,
        deliverables,
        case.inputs,
        named_inputs(case.request, paths),
        _delivered(changed_inputs(case.request, paths, outputs), deliverables),
        moved_inputs(case.request, paths),
    )
    rules = [
        *_of_lengths(task),
        *_of_names(task),
        *of_choices(task),
        *of_edits(task),
        *of_appends(task),
        *of_conversions(task),
        *_of_types(task, paths),
    ]
    return tuple({item.rule_id: item for item in rules}.values())


def _delivered(paths: Sequence[str], deliverables: Sequence[Deliverable]) -> tuple[str, ...]:
    names = {tail(name) for item in deliverables for name in item.name_hints}
    return tuple(path for path in paths if tail(path) in names)


def _types(task: Task) -> list[FileType]:
    return [TYPES[item.file_type] for item in task.deliverables if item.file_type in TYPES]


def _of_lengths(task: Task) -> Iterator[Rule]:
    for length in lengths(task.request):
        bounded = _bounded(length, task)
        if bounded is None:
            continue
        kind, where = bounded
        unit = "pages" if length.unit == "slides" else length.unit
        bounds = {"min": length.least, "max": length.most}
        params = {name: bound for name, bound in bounds.items() if bound is not None}
        said = " and ".join(
            f"at {'least' if k == 'min' else 'most'} {v}" for k, v in params.items()
        )
        yield rule(
            f"length.{kind.name}.{length.unit}",
            kind.extensions,
            f"The .{kind.name} file has {said} {length.unit}.",
            unit=unit,
            **params,
            **where,
        )


def _bounded(length: Length, task: Task) -> tuple[FileType, dict[str, list[str]]] | None:
    """The type of the file of which a length is said, and its name, if it is named beside it.

    None where it may be said of several files.
    """
    if (paged := _PAGED.get(length.unit)) is not None:
        fitting = [item for item in task.deliverables if item.file_type == paged]
    elif length.unit == "rows":
        fitting = [item for item in task.deliverables if item.file_type in WITH_TABLES]
    else:
        fitting = [item for item in task.deliverables if item.file_type in _PROSE]
    named = [
        (entry, name) for entry in fitting for name in entry.name_hints if name in length.sentence
    ]
    if len(named) == 1:
        return TYPES[named[0][0].file_type], {"names_of_files": [named[0][1]]}
    single = len(fitting) == 1 and fitting[0].count == 1
    return (TYPES[fitting[0].file_type], {}) if single else None


def _of_names(task: Task) -> Iterator[Rule]:
    """Columns, sheets and texts that the request names."""
    kinds = _types(task)
    tables = [kind for kind in kinds if kind.name in WITH_TABLES]
    texts = sorted({ext for kind in kinds if has_text(kind) for ext in kind.extensions})
    values: dict[str, dict[str, None]] = {"columns": {}, "sheets": {}, "holds": {}}
    for entry in fixed(task.request):
        values[entry.kind].update(dict.fromkeys(entry.values))
    extensions = sorted({ext for kind in tables for ext in kind.extensions})
    if values["columns"] and tables:
        names = list(values["columns"])
        yield rule(
            "columns.named", extensions, f"There are columns for: {', '.join(names)}.", names=names
        )
    if values["sheets"] and any(kind.name == "xlsx" for kind in kinds):
        names = list(values["sheets"])
        yield rule(
            "sheets.named",
            TYPES["xlsx"].extensions,
            f"There are sheets named: {', '.join(names)}.",
            names=names,
        )
    if values["holds"] and texts:
        held = list(values["holds"])
        yield rule("holds.named", texts, f"These texts are there: {'; '.join(held)}.", texts=held)


def _of_types(task: Task, paths: Sequence[str]) -> Iterator[Rule]:
    """For every type: no input saved anew, and the words of the task or at least some words."""
    for item in task.deliverables:
        kind = TYPES.get(item.file_type)
        if kind is None or not has_text(kind):
            continue
        same = [path for path in paths if extension_of(path) in kind.extensions]
        moved = [path for path in same if path in task.moved and path in task.inputs]
        if moved:
            text = f"The .{kind.name} output says what is said in: {', '.join(moved)}."
            keys = sorted({task.inputs[path].key for path in moved})
            yield rule(f"same.{kind.name}", kind.extensions, text, keys=keys)
            continue
        known = [task.inputs[path] for path in same if path in task.inputs]
        keys = sorted({item.key for item in known if not is_in_order(task.request, item.tables)})
        by_look = changes(task.request, "looks") and not set(same).isdisjoint(task.edited)
        if keys and not by_look:
            text = f"No .{kind.name} file says just what an input says."
            yield rule(f"changed.{kind.name}", kind.extensions, text, keys=keys)
        if not changes(task.request, "clears"):
            yield _of_subject(task, item, kind)


def _of_subject(task: Task, item: Deliverable, kind: FileType) -> Rule:
    is_answer = item.name_hints == (ANSWER,)
    readable = [task.inputs[path] for path in task.given if path in task.inputs]
    has_all = all(path in task.inputs and task.inputs[path].words for path in task.given)
    is_brief = kind.name in _PROSE and (is_answer or is_choice(task.request))
    is_short = is_brief or kind.name in _SHORT or kind.kind == "code"
    translates = changes(task.request, "translates")
    subject = _subject(task.request, readable, is_brief=is_brief)
    terms = [term for term in subject if not is_in_nothing(term, kind)]
    if kind.name in _NO_PROSE or translates or not has_all or len(terms) < _FEW:
        least = 1 if is_brief else _FLOORS.get(kind.name, _FLOOR)
        if translates and has_all and len(readable) == 1:
            least = max(least, round(readable[0].words * _TRANSLATED))
        text = f"Every .{kind.name} file has at least {least} word{'s' * (least > 1)}."
        return rule(f"length.{kind.name}", kind.extensions, text, unit="words", min=least)
    least = _least(terms, is_short=is_short, is_table=kind.name in WITH_TABLES)
    text = f"The .{kind.name} output uses words of the request or of the inputs."
    return rule(
        f"mentions.{kind.name}",
        kind.extensions,
        text,
        terms=terms,
        min=least,
        files=item.count,
        figures=is_answer,
    )


def _least(terms: Sequence[str], *, is_short: bool, is_table: bool) -> int:
    """How many of the terms a text has to use; of pairs of Han characters twice as many.

    A table may be small, and its header in another language.
    """
    several = 3 if is_table or len(terms) < _VERY_MANY else 5
    least = 1 if is_short or len(terms) < _MANY else several
    pairs = 0 if is_table else sum(" " in term for term in terms)
    return 2 * least if 2 * pairs > len(terms) else least


def _subject(request: str, inputs: Sequence[InputFile], *, is_brief: bool) -> list[str]:
    """The telling words of the request, then those of the inputs in turn."""
    terms = dict.fromkeys(terms_of(word_form(request), _REQUEST_TERMS))
    if is_brief and is_choice(request):
        terms.update(dict.fromkeys(table("grading")["terms"]["answers"]))
    share = TERMS // max(1, len(inputs))
    for known in inputs:
        terms.update(dict.fromkeys(known.terms[:share]))
    return list(terms)
