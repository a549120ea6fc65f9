"""What an answer can be held against where no model wrote a rubric: hard rules from plain names.

Rules hold of the files that the request names, of new column headings that it lists in quotes, and
of words: a file about the task uses one of its own or of its inputs, where all of these are text.
These `WORD_RULES` read language: they stand in for a judge, and go where a model lays down the
rubric. The rest is for a judge: the rubric has one criterion per dimension and needs a model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from construction.grading.attacks import LOREM, holding, shell, stub
from construction.grading.file_look import RuleLimits, holds_traceback, look, word_form
from construction.grading.file_types import TYPES, FileType
from construction.grading.hard_rules import uses
from construction.judging.contracts import Case, Graded
from construction.judging.evidence.shown import plain_text
from construction.prompt_frame import ANSWER
from data.contracts import Criterion, Deliverable, Evidence, Rubric, Rule
from data.text.scripts import has_han, leading_language

_NO_PROSE = frozenset({"srt", "vtt", "svg", "zip"})
WORD_RULES = frozenset({"columns", "mentions"})
_FEW_TERMS, _MOST_TERMS = 3, 300  # with few of them a text need not use any
_LONG_WORD = 5  # letters; shorter ones say little of what a text is about
_CHARS = 20_000  # of a text that are read
_TABLES = frozenset({"csv", "tsv", "xlsx"})
_VISUAL = frozenset({"pptx", "html", "png", "jpg", "svg", "pdf", "gif", "webp"})
# Only quoted names behind the word itself: "columns `a`, `b`". Others may be rows or sheets.
_COLUMNS = re.compile(
    r"(?i)(?:\bcolumns?(?: headers?| names?)?(?: are| named| called)?|列(?:名|标题)?为?)"
    r"\s*[:：]?\s*"
    r"((?:[`\"“「'][^`\"”」'\n]{1,40}[`\"”」'](?:\s*(?:,|、|，|and|和|及)\s*){0,2}){1,20})"
)
_QUOTED = re.compile(r"[`\"“「']([^`\"”」'\n]{1,40})[`\"”」']")
_WEIGHTS = {
    "grounded_accuracy": 0.375,
    "task_relevance": 0.25,
    "substantive_depth": 0.125,
    "practical_utility": 0.125,
    "communication_quality": 0.125,
}
_TEXTS = {  # in the order of the weights
    "en": (
        "Every figure, name and date agrees with the input files and the request.",
        "All that the request asks for is done, and nothing else.",
        "What the files hold on the question is used in full, exceptions included.",
        "Who asked can use what is delivered as it is.",
        "It is clear and in the language and form that were asked for.",
    ),
    "zh": (
        "所有数字、名称和日期都与输入文件和任务一致。",
        "任务要求的都已完成，没有多余的内容。",
        "充分使用了文件中与任务有关的内容，包括例外情况。",
        "提出任务的人可以直接使用交付的成果。",
        "表达清楚，语言和格式符合要求。",
    ),
}


def grade(case: Case) -> Graded:
    """The hard rules of a case, and a rubric that needs a model."""
    items = case.candidate.deliverables
    known = {rule.rule_id: rule for rule in case.candidate.rules}
    material = "\n".join([case.request, *map(plain_text, case.evidence.files)])
    for rule in (*_hard_rules(items, material), *_columns(case), *_subjects(case)):
        known.setdefault(rule.rule_id, rule)
    texts = _TEXTS["zh" if leading_language(case.request) == "zh" else "en"]
    criteria = tuple(
        Criterion(dimension=name, weight=weight, text=text)
        for (name, weight), text in zip(_WEIGHTS.items(), texts, strict=True)
    )
    kinds = {TYPES[item.file_type].kind for item in items if item.file_type in TYPES}
    is_visual = any(item.file_type in _VISUAL for item in items)
    return Graded(
        rubric=Rubric(route="visual" if is_visual else "text", criteria=criteria, needs_model=True),
        rules=tuple(known.values()),
        evidence=Evidence(
            retrieval=bool(case.candidate.fixtures),
            accuracy="data" in kinds,
            action="code" in kinds,
            semantic=not kinds or "document" in kinds,
        ),
        why="no model was asked",
    )


def _subjects(case: Case) -> Iterator[Rule]:
    """For each type with text: it uses a word of the request or of the inputs, if all have words.

    What a picture or a scan says is known to nobody here, nor how an answer puts it.
    """
    if not all(map(plain_text, case.evidence.files)):
        return
    for item in case.candidate.deliverables:
        kind = TYPES.get(item.file_type)
        if kind is None or kind.opener in (None, "image", "zip") or kind.name in _NO_PROSE:
            continue
        terms = [term for term in _terms(case) if not _is_in_nothing(term, kind.extensions[0])]
        if len(terms) >= _FEW_TERMS:
            is_answer = item.name_hints == (ANSWER,)
            own = {"terms": terms, "min": 1, "files": item.count, "figures": is_answer}
            text = f"The .{kind.name} output uses words of the request or of the inputs."
            yield _rule(f"mentions.{kind.name}", list(kind.extensions), text, **own)


def _terms(case: Case) -> list[str]:
    """Long words and figures of the request and of what its inputs show, each once; of Chinese,
    pairs of characters."""
    texts = [case.request]
    for view in case.evidence.files:
        rows = [row for sheet in view.sheets for row in sheet.head]
        texts += [" ".join(cell for row in rows for cell in row), *(p.text for p in view.parts)]
    terms: dict[str, None] = {}
    for text in texts:
        words = word_form(text[:_CHARS]).split()
        for word, after in zip(words, [*words[1:], ""], strict=False):
            if has_han(word):
                if has_han(after):
                    terms.setdefault(f"{word} {after}")
            elif len(word) >= (2 if word.isdigit() else _LONG_WORD):
                terms.setdefault(word)
        if len(terms) >= _MOST_TERMS:
            break
    return list(terms)[:_MOST_TERMS]


def _is_in_nothing(term: str, extension: str) -> bool:
    """Does a file that has no work in it use the term: a shell, a stub, or filler?"""
    return any(uses(text, term) for text in _texts_of_nothing(extension))


@cache
def _texts_of_nothing(extension: str) -> tuple[str, ...]:
    kind = next(kind for kind in TYPES.values() if extension in kind.extensions)
    files = (shell(extension), stub(extension), holding(extension, LOREM))
    return tuple(look(data, kind, RuleLimits()).text for data in files if data is not None)


def _columns(case: Case) -> Iterator[Rule]:
    """A rule on headings, where one table is delivered and one list of them stands in quotes."""
    tables = [item for item in case.candidate.deliverables if item.file_type in _TABLES]
    lists = _COLUMNS.findall(case.request)
    if len(tables) != 1 or tables[0].count != 1 or len(lists) != 1:
        return
    names = [name.strip() for name in _QUOTED.findall(lists[0])]
    sheets = [sheet for view in case.evidence.files for sheet in view.sheets]
    known = {column.name.casefold() for sheet in sheets for column in sheet.columns}
    if not known.isdisjoint(name.casefold() for name in names):
        return  # they may be what goes
    kind, text = tables[0].file_type, f"A table has the columns {', '.join(names)}."
    yield _rule(f"columns.{kind}", list(TYPES[kind].extensions), text, names=names)


def _hard_rules(deliverables: Sequence[Deliverable], material: str) -> tuple[Rule, ...]:
    """The rules that any good output satisfies, whatever its content, in a fixed order.

    `material` is all that the task gives, in words. Where that holds a traceback, a deliverable may
    quote it, and there is no rule against one.
    """
    rules: list[Rule] = []
    for deliverable in deliverables:
        rules += _rules_of_type(deliverable)
    known = [TYPES[item.file_type] for item in deliverables if item.file_type in TYPES]
    everything = _extensions(known) or [item.file_type for item in deliverables]
    rules.append(_rule("non_empty", everything, "No deliverable is empty."))
    readable = _extensions([kind for kind in known if kind.opener])
    if readable and not holds_traceback(material) and "traceback" not in material.lower():
        text = "No deliverable contains a traceback instead of content."
        rules.append(_rule("no_traceback", readable, text))
    return tuple(rules)


def _rules_of_type(deliverable: Deliverable) -> Iterator[Rule]:
    name, count, names = deliverable.file_type, deliverable.count, list(deliverable.name_hints)
    kind = TYPES.get(name)
    extensions = list(kind.extensions) if kind else [name]
    text = f"There is .{name} output, and its content is of that type."
    yield _rule(f"file_type.{name}", extensions, text)
    yield _rule(f"count.{name}", extensions, f"At least {count} .{name} file(s).", min=count)
    if deliverable.source != "produced" and names:
        text = f"Named as requested: {', '.join(names)}."
        yield _rule(f"named.{name}", extensions, text, names=names)
    if kind is not None and kind.opener:
        yield _rule(f"opens.{name}", extensions, f"Every .{name} file opens with its own library.")


def same_rule(file_type: str, forms: Sequence[int]) -> Rule:
    """The rule that an input is delivered as it was; with it a copy counts as work."""
    text = f"Some .{file_type} file is an input as it was."
    extensions = list(TYPES[file_type].extensions)
    return _rule(f"same.{file_type}", extensions, text, forms=sorted(forms))


def _rule(rule_id: str, extensions: list[str], text: str, **params: object) -> Rule:
    kind = rule_id.partition(".")[0]
    return Rule(rule_id=rule_id, kind=kind, params={"extensions": extensions, **params}, text=text)


def _extensions(kinds: Sequence[FileType]) -> list[str]:
    return sorted({extension for kind in kinds for extension in kind.extensions})
