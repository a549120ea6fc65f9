"""Writing by a model: the request as one message, the files to deliver, labels and difficulty.

The request is the model's, the frame around it is the project's. What a person said survives and
nothing is invented; an answer that breaks this goes back once, and what stays wrong falls back to
the person's own words, to the files that packaging expects, to the baseline's label.

Whether a request says what a person said is told by the facts of both, by their form: URLs, mail
addresses, dates, numbers, file names, quoted strings, identifiers such as "ORD-17", and names by
their capitals. A fact is told by a text that holds its words, or its value: 1,000 = 1k = 一千, 12
March 2026 = 2026-03-12. What a fact means is not looked at: a model that leaves one out says so,
with the words that it left out, and a later message may have replaced it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, lru_cache, partial
from typing import Annotated, Literal

from pydantic import Field

from construction.grading.file_types import extension_of, type_of
from construction.judging.baseline.label import skill_table
from construction.judging.contracts import (
    UNASSIGNED,
    Answer,
    Case,
    JudgeReason,
    ModelStagesConfig,
    Taxonomy,
    Written,
)
from construction.judging.evidence.shown import find_quote
from construction.judging.evidence.views import Evidence, Pictures
from construction.judging.model.asking import Checked, Faults, Stage
from construction.judging.model.prompt import (
    case_content,
    case_images,
    cleaned,
    load_prompt,
)
from construction.mentions.files import find_file_spans, tail
from construction.mentions.urls import find_urls
from construction.prompt_frame import ANSWER, with_released_paths
from construction.signals.codebook import default_crosswalk
from data.contracts import Deliverable, Label
from data.contracts.candidate import Confidence
from data.neutralise import HIDDEN, unmarked, visible
from data.text.dates import Moment, find_dates
from data.text.lexicon import load_table
from data.text.numbers import scan_numbers
from data.text.scripts import CJK, leading_language

_GAP = "⟨…⟩"
_SMALL = 100  # a number below this has to be said by a person
_MOST_FILES = 30
_OPEN_PART = re.compile(r"\*+|\?+|<[^<>/]*>|\{[^{}/]*\}|\[[^\[\]/]*\]|\.\.\.|…")
_PATH_START = re.compile(
    r"^(?:(?:\.{0,2}|/?(?:work|workspace|home|tmp|root|mnt/data))/)*(?:(?:in|out)puts?/)?"
)
_LABEL_SIGNS = re.compile(r"[^a-z0-9.]+")
_Text = Annotated[str, Field(max_length=300)]


class LeftOut(Answer):
    quote: Annotated[str, Field(max_length=2_000)]
    why: _Text


class Choice(Answer):
    """A label: why, which, and how sure."""

    reason: _Text
    label: Annotated[str, Field(max_length=120)]
    confidence: Confidence


class FileAnswer(Answer):
    path: Annotated[str, Field(max_length=200)]
    unchanged: bool
    what: _Text


class WriteAnswer(Answer):
    request: Annotated[str, Field(max_length=40_000)]
    left_out: Annotated[tuple[LeftOut, ...], Field(max_length=40)]
    deliverables: Annotated[tuple[FileAnswer, ...], Field(max_length=_MOST_FILES)]
    business_task: Annotated[str, Field(max_length=200)]
    role: Choice
    skill: Choice
    family: Choice
    difficulty_reason: Annotated[str, Field(max_length=400)]
    difficulty: Literal["easy", "medium", "hard"]


def write_stage(
    config: ModelStagesConfig,
    otherwise: Callable[[Case], Written],
    pictures: Pictures | None = None,
) -> Stage[Case, WriteAnswer, Written]:
    """The stage; `otherwise` writes what the model leaves wrong."""

    def check(case: Case, answer: WriteAnswer) -> Checked[Written] | Faults:
        draft = _Draft(case, answer, otherwise(case), config)
        if draft.faults:
            return Faults(tuple(draft.faults), draft.reason)
        return Checked(draft.written())

    def settled(case: Case, answer: WriteAnswer | None) -> Written:
        given = otherwise(case)
        return given if answer is None else _Draft(case, answer, given, config).written()

    tables = (
        f"{field}:\n" + "\n".join(f"- {label}: {table[label]}" for label in sorted(table))
        for field, table in _catalogue().items()
    )
    return Stage(
        prompt=load_prompt("write"),
        answer=WriteAnswer,
        item_id=lambda case: case.candidate.task_id,
        content=lambda case, cleaner: case_content(case, cleaner, config, pictures),
        check=check,
        settle=lambda case, answer, _faults: settled(case, answer),
        tables="\n\n".join(tables),
        images=lambda case: case_images(case, config, pictures),
    )


class _Draft:
    """An answer held against its case: `faults` to be mended, and the task without them."""

    def __init__(
        self, case: Case, answer: WriteAnswer, otherwise: Written, config: ModelStagesConfig
    ) -> None:
        self.case, self.answer, self.otherwise, self.config = case, answer, otherwise, config
        self.faults: list[str] = []
        self.reason = JudgeReason.WRONG_FORM
        people = [said.text for said in case.evidence.said if said.speaker != "agent"]
        self.messages = people or [case.request]
        # What the agent said and made is no source: the input files alone are one.
        self.inputs = Evidence(files=case.evidence.files)
        self.paths = self._paths()
        self.given = (*(fixture.path for fixture in case.candidate.fixtures), *self.paths)
        self.files = (*self.given, *case.evidence.wrote)
        self.request = self._request()
        self.taxonomy = self._taxonomy()

    def written(self) -> Written:
        """The task; the fields that are wrong are those of the baseline."""
        return Written(
            request=self.request or self.case.request,
            deliverables=_deliverables_of(list(self.paths)) or self.otherwise.deliverables,
            kept_types=tuple(
                item.file_type
                for item in _deliverables_of([p for p, is_kept in self.paths.items() if is_kept])
            ),
            taxonomy=self.taxonomy,
            difficulty=self.answer.difficulty,
            difficulty_reason=" ".join(self.answer.difficulty_reason.split()),
        )

    def _fault(self, reason: JudgeReason, sentence: str) -> None:
        self.reason = reason
        self.faults.append(sentence)

    def _request(self) -> str:
        """The rewritten request; empty where the person's own words are to stand."""
        said, config = self.case.request, self.config
        request = visible(HIDDEN.sub("", self._whole(self.answer.request))).strip()
        names = {tail(path) for path in self.paths}
        spans = find_file_spans(request, self.files)
        made = [span.path for span in spans if tail(span.path) in names]
        fixtures = self.case.candidate.fixtures
        request = with_released_paths(request, fixtures, made, of_machine=True)
        language = leading_language(said)
        if not request:
            if not self.answer.request.strip():
                self._fault(JudgeReason.EMPTY, "`request` is empty: write it")
        elif len(request) > config.rewrite_chars and len(request) > len(said) * 1.2:
            self._fault(JudgeReason.TOO_LONG, f"`request` has {len(request)} characters")
        elif leading_language(request) != language:
            wrong = f"has to be in the language {language}"
            self._fault(JudgeReason.OTHER_LANGUAGE, f"`request` {wrong}")
        elif self._is_faithful(request):
            return request
        return ""

    def _whole(self, request: str) -> str:
        """The request with each pasted passage put in whole: "first words ⟨…⟩ last words"."""
        lines = []
        for line in request.split("\n"):
            first, gap, last = (part.strip() for part in line.partition(_GAP))
            passages = list(dict.fromkeys(self._passages(first, last))) if gap else [line]
            if len(passages) != 1:
                ends = f"from “{first[:60]}” to “{last[:60]}”"
                wrong = f"several passages reach {ends}: copy more of their ends"
                wrong = wrong if passages else f"no message holds a passage {ends}"
                self._fault(JudgeReason.LOSS, wrong)
                return ""
            lines += passages
        return "\n".join(lines)

    def _passages(self, first: str, last: str) -> Iterator[str]:
        """What the messages hold from some words to others, as written, else as it was shown."""
        for message in self.messages:
            for text in (message, cleaned(message)):
                starts, ends = _places(first, text), _places(last, text)
                spans = [(a, b) for a in starts for b in ends if b >= a + len(first)]
                yield from (text[start : end + len(last)] for start, end in spans)
                if spans:
                    break

    def _is_faithful(self, request: str) -> bool:
        """Are the person's facts there, and none beside them? Soft ones may go, if they must."""
        quotes = [one.quote for one in self.answer.left_out]
        lost = _losses(request, self.messages, quotes, self.files)
        if lost:
            self._fault(
                JudgeReason.LOSS,
                f"`request` lost {_named(lost)}: put back what the work uses; quote in `left_out` "
                "the words of the messages that you leave out or replace",
            )
        # What it may repeat: the person's words, now and before, and names of files.
        before = [said.text for said in self.case.evidence.before if said.speaker != "agent"]
        sources = [*self.messages, *before, "\n".join(self.given), self.case.request]
        strange = _inventions(request, sources, self.files)
        new = [fact for fact in strange if not self._is_given(fact)]
        if new:
            self._fault(
                JudgeReason.INVENTION,
                f"`request` holds {_named(new)}, which neither the messages nor the files hold",
            )
        return not new and all(fact.kind in _SOFT for fact in lost)

    def _is_given(self, fact: _Fact) -> bool:
        """Does a fact stand in the input files? Small numbers stand there by chance."""
        digits = fact.text.replace(",", "")
        is_small = digits.isdigit() and int(digits) < _SMALL
        if fact.kind is FactKind.NUMBER and is_small:
            return False
        return find_quote(self.inputs, fact.text) is not None

    def _paths(self) -> dict[str, bool]:
        """The files to deliver, in plain paths below `outputs/`: are they inputs as they were?"""
        paths: dict[str, bool] = {}
        for file in self.answer.deliverables:
            path = _OPEN_PART.sub("*", plain_path(file.path))
            is_said = any(path.rpartition("/")[2] in message for message in self.messages)
            if not path or path.endswith("/"):
                todo = "write which files lie in the folder, by name or as folder/*.docx"
                self._fault(JudgeReason.WRONG_FORM, f"deliverable “{file.path[:80]}”: {todo}")
            elif not extension_of(path) and ("*" in path or not is_said):
                todo = f"give it the type that suits it, such as {path}.md"
                self._fault(JudgeReason.UNKNOWN_FILE_TYPE, f"deliverable “{path}”: {todo}")
            else:
                paths.setdefault(path, file.unchanged)
        if not self.answer.deliverables:
            self._fault(JudgeReason.EMPTY, f"no deliverable: an answer alone is {ANSWER}")
        return paths

    def _taxonomy(self) -> Taxonomy:
        answer, given = self.answer, self.otherwise.taxonomy
        role, skill = self._label("role", answer.role), self._label("skill", answer.skill)
        if role and skill and role.value not in (UNASSIGNED, skill.value.partition(".")[0]):
            reason = f"{skill.value} belongs to another role"
            skill = skill.model_copy(update={"value": UNASSIGNED, "reason": reason})
        family = self._label("family", answer.family)
        skill = skill or given.skill_subclass
        route = skill_table().get(skill.value, {}).get("route")
        chosen = None if family is None or family.value == UNASSIGNED else family
        return Taxonomy(
            business_task=" ".join(answer.business_task.split()) or given.business_task,
            role=role or given.role,
            skill_subclass=skill,
            skill_route=given.skill_route
            if route is None
            else skill.model_copy(update={"value": route, "reason": f"route of {skill.value}"}),
            task_family=self.case.candidate.task_family or chosen,
        )

    def _label(self, field: str, choice: Choice) -> Label | None:
        """The label of a choice; None, and a fault, for one that the catalogue does not hold."""
        table = _catalogue()[field]
        value = _known(choice.label, table)
        if value is None:
            near = ", ".join(sorted(table)) if len(table) <= 12 else "the catalogue"
            todo = f"take one of {near}, or {UNASSIGNED}"
            self._fault(JudgeReason.UNKNOWN_LABEL, f"{field} “{choice.label}” is no label; {todo}")
            return None
        return Label(
            value=value,
            confidence=round(choice.confidence, 9),
            reason=" ".join(choice.reason.split()),
            judge=self.config.judge,
        )


def _places(words: str, text: str) -> list[int]:
    """Where some words begin in a text, at most twice."""
    first = text.find(words) if words else -1
    second = text.find(words, first + 1) if first >= 0 else -1
    return [at for at in (first, second) if at >= 0]


def plain_path(path: str) -> str:
    """A path below `outputs/` in its plain form; "" for one that leads out of it."""
    plain = " ".join(path.split()).replace("\\", "/").strip("`'\"“” ")
    plain = _PATH_START.sub("", plain)
    parts = plain.split("/")
    return "" if ".." in parts or not plain else "/".join(part for part in parts if part != ".")


def _known(label: str, table: Mapping[str, str]) -> str | None:
    """The label of a table that is meant, however it is spelt; a skill also without its role."""
    wanted = _LABEL_SIGNS.sub("_", label.strip().lower()).strip("_")
    if wanted in ("", "none", "null", "n_a", UNASSIGNED):
        return UNASSIGNED
    if wanted in table:
        return wanted
    same = [
        name
        for name in table
        if name.partition(".")[2] == wanted or name.replace(".", "_") == wanted
    ]
    return same[0] if len(same) == 1 else None


def _deliverables_of(paths: Sequence[str]) -> tuple[Deliverable, ...]:
    """Files to deliver as the candidate holds them, by type; a name without a type is its own."""
    by_type: dict[str, list[str]] = {}
    for path in paths:
        known = type_of(path)
        kind = known.name if known else extension_of(path) or tail(path)
        by_type.setdefault(kind, []).append(path)
    return tuple(
        Deliverable(
            file_type=kind,
            count=len(own),
            name_hints=tuple(path for path in own if "*" not in path),
            patterns=tuple(path for path in own if "*" in path),
        )
        for kind, own in sorted(by_type.items())
    )


@cache
def _catalogue() -> Mapping[str, Mapping[str, str]]:
    """The permitted labels of each field with their definitions; skills as `role.skill`."""
    roles = load_table("construction.judging", "tables", "roles.toml")
    skills = skill_table().items()
    return {
        "role": {role: entry["definition"] for role, entry in roles.items()},
        "skill": {name: f"{entry['name']}: {entry['definition']}" for name, entry in skills},
        "family": default_crosswalk().task_families,
    }


_MAIL = re.compile(r"(?a)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,10}\b")
_CODE = re.compile(
    r"(?a)(?<![\w-])(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[A-Za-z])[A-Za-z][\w-]{1,40}(?![\w-])"
)
_QUOTED = re.compile(r"[“\"「『《]([^“”\"「」『』《》\n]{1,80})[”\"」』》]")
_LIST_MARK = re.compile(
    r"(?m)^[ \t>#*-]*[(（]?\d{1,2}[.)）、:：](?!\d)|(?<=[\s(（])\d{1,2}[)）、](?!\d)"
)
_NAME = re.compile(
    r"(?<![\w@'’-])[A-Z][a-zÀ-ÿ]+(?:[-'’][A-Z]?[a-zÀ-ÿ]+)?(?:[ ][A-Z][a-zÀ-ÿ]+){0,3}"
)
_OPENING = re.compile(r"(?:^|[.!?:;\n\"“(•。！？：；—-]|\d[.)])[\s\"'“*#>(-]*$")
_SIGNS = re.compile(rf"[^\w{CJK}]+")
_LOOK_BACK = 12
_MOST = 400  # facts of one text; pasted tables have thousands of numbers


class FactKind(StrEnum):
    URL = "address"
    MAIL = "mail address"
    FILE = "file name"
    DATE = "date"
    CODE = "identifier"
    NUMBER = "number"
    QUOTED = "quoted text"
    NAME = "name"


_SOFT = frozenset({FactKind.NAME, FactKind.FILE})  # may go: greetings, files that are not used


@dataclass(frozen=True, slots=True)
class _Fact:
    """A fact as it is written, and its value; `told_only`: nobody has to repeat it."""

    kind: FactKind
    text: str
    value: object = field(compare=False)
    told_only: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class _Told:
    """The facts of a text, and its words in plain form."""

    facts: tuple[_Fact, ...]
    words: str

    @property
    def required(self) -> Iterator[_Fact]:
        return (fact for fact in self.facts if not fact.told_only)

    def tells(self, fact: _Fact) -> bool:
        """Does the text hold the words of a fact, or another with its value?"""
        if fact.kind is not FactKind.NUMBER and _holds(self.words, fact.text):
            return True
        same = (own for own in self.facts if own.kind is fact.kind)
        if isinstance(fact.value, Moment):
            return any(isinstance(o.value, Moment) and o.value.covers(fact.value) for o in same)
        if fact.kind is FactKind.NUMBER:
            return any(own.value == fact.value for own in same) or _holds(self.words, fact.text)
        return any(own.value == fact.value for own in same)


def _plain(text: str) -> str:
    """Words and numbers in one case and width, a blank for every other sign."""
    folded = unicodedata.normalize("NFKC", unmarked(text)).casefold()
    return f" {_SIGNS.sub(' ', folded).strip()} "


@lru_cache(maxsize=256)
def _told_by(text: str, files: tuple[str, ...] = ()) -> _Told:
    """The facts of a text; no part of it belongs to two. `files` are names that it may hold."""
    rest = unicodedata.normalize("NFKC", unmarked(text)).replace("’", "'")
    facts: list[_Fact] = []
    for finder in (
        _urls,
        _mails,
        partial(_files, files),
        _dates,
        _codes,
        _numbers,
        _quoted,
        _names,
    ):
        finds = list(finder(rest))
        facts += [fact for _, _, fact in finds]
        rest = _without(rest, [(start, end) for start, end, _ in finds])
    return _Told(tuple(dict.fromkeys(facts))[: len(FactKind) * _MOST], _plain(text))


def _holds(words: str, text: str) -> bool:
    wanted = _plain(text)
    return wanted in words if wanted.isascii() else wanted.strip() in words


def _losses(
    rewrite: str,
    messages: Sequence[str],
    left_out: Iterable[str] = (),
    files: tuple[str, ...] = (),
) -> list[_Fact]:
    """The facts of a person's messages that a rewrite does not tell.

    Not those in the words that `left_out` names, nor a number or date of a message whose place a
    later message's took: "make it 6 copies" after 5, if the rewrite tells the 6.
    """
    own, excused = _told_by(rewrite, files), [_plain(words) for words in left_out]
    lost: list[_Fact] = []
    for at, message in enumerate(messages):
        later = [_told_by(text, files) for text in messages[at + 1 :]]
        for fact in _told_by(message, files).required:
            if own.tells(fact) or any(_holds(words, fact.text) for words in excused):
                continue
            if not _is_replaced(fact, later, own):
                lost.append(fact)
    return list(dict.fromkeys(lost))


def _inventions(rewrite: str, sources: Sequence[str], files: tuple[str, ...] = ()) -> list[_Fact]:
    """The facts of a rewrite that no source tells; names are not looked at, nor small counts."""
    known = [_told_by(source, files) for source in sources]
    return [
        fact
        for fact in _told_by(rewrite, files).required
        if fact.kind is not FactKind.NAME and not any(one.tells(fact) for one in known)
    ]


def _named(facts: Iterable[_Fact]) -> str:
    """Facts as a list in words, each once."""
    return ", ".join(dict.fromkeys(f"{fact.kind} “{fact.text[:60]}”" for fact in facts))


def _is_replaced(fact: _Fact, later: Sequence[_Told], rewrite: _Told) -> bool:
    kinds = {FactKind.NUMBER, FactKind.DATE}
    same = kinds if fact.kind in kinds else {fact.kind}
    return any(own.kind in same and rewrite.tells(own) for one in later for own in one.facts)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            pieces += [text[at:start], "\x00" * (end - start)]
            at = end
    return "".join(pieces) + text[at:]


_Spans = Iterator[tuple[int, int, _Fact]]


def _urls(text: str) -> _Spans:
    for mention in find_urls(text):
        written = text[mention.start : mention.end]
        yield mention.start, mention.end, _Fact(FactKind.URL, written, mention.url)


def _mails(text: str) -> _Spans:
    for match in _MAIL.finditer(text):
        yield *match.span(), _Fact(FactKind.MAIL, match[0], match[0].lower())


def _files(known: tuple[str, ...], text: str) -> _Spans:
    for span in find_file_spans(text, known):
        if not span.doubtful:
            name = span.path.replace("\\", "/").rpartition("/")[2]
            yield span.start, span.end, _Fact(FactKind.FILE, span.path, name.casefold())


def _dates(text: str) -> _Spans:
    for start, end, moment in find_dates(text):
        yield start, end, _Fact(FactKind.DATE, text[start:end], moment)


def _codes(text: str) -> _Spans:
    for match in _CODE.finditer(text):
        yield *match.span(), _Fact(FactKind.CODE, match[0], match[0].lower())


def _numbers(text: str) -> _Spans:
    """Numbers in digits; those in words ("both", "two", 一个) tell, and need not be told."""
    marks = [match.span() for match in _LIST_MARK.finditer(text)]
    for number in scan_numbers(text):
        if not any(start <= number.start < end for start, end in marks):
            written = text[number.start : number.end].strip()
            fact = _Fact(FactKind.NUMBER, written, number.value, told_only=not number.digits)
            yield number.start, number.end, fact


def _quoted(text: str) -> _Spans:
    for match in _QUOTED.finditer(text):
        words = match[1].replace("\x00", "").strip()
        if len(words) > 1 and "\x00" not in match[1]:
            yield *match.span(), _Fact(FactKind.QUOTED, words, _plain(words))


def _names(text: str) -> _Spans:
    """Words with capitals inside a sentence; the first word of a sentence proves nothing."""
    for match in _NAME.finditer(text):
        name, start = match[0], match.start()
        if _OPENING.search(text[max(0, start - _LOOK_BACK) : start]) or not start:
            name = name.partition(" ")[2]
        if len(name) > 1:
            yield *match.span(), _Fact(FactKind.NAME, name, _plain(name))
