"""The criteria of a rubric, made from the demands of a request and from what its inputs hold.

Each quotes a sentence of the request, or names a file, its columns, or a number that was counted
in it, so that a judge can look it up. A length that a hard rule checks is no criterion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from construction.judging.contracts import Case, InputFile, InputTable
from construction.judging.deliverables import ANSWER
from construction.judging.inputs import inputs_spoken_of
from construction.judging.lexicon import table
from construction.judging.reference import of_table, of_text
from construction.judging.request_bounds import lengths
from construction.judging.rules.facts import FactKind, find_facts
from construction.judging.rules.labels import spaced
from data.contracts import Count, Deliverable, Rule, StageConfig
from data.text.lexicon import any_of, has_any
from data.text.scripts import HAN, leading_language

# Own cut: a criterion quotes the clause, so the text keeps its form and figures such as 1,000 stay
# whole; `data.text.sentences` makes a form in which phrases are sought.
_CLAUSE = re.compile(rf"[,，;；:：。.](?=\s|[{HAN}]|$)")
_JOIN = {"en": ", ", "zh": "、"}
_ACRONYM = re.compile(r"[A-Z]{2,5}s?")
_LEAST_NUMBER = 1000  # smaller ones count things ("three sections"): their demand quotes them
_READ = frozenset({"md", "txt", "docx", "pdf", "html", "eml", "pptx"})  # by people, as prose
_COLUMNS = 8  # that a criterion names


class GradingConfig(StageConfig):
    """The largest size of a rubric: demands and bounds as criteria, named facts and files,
    and what the inputs say of them.

    Further demands share a criterion with their neighbours: none is left out.
    """

    max_demands: Count = 12
    max_bounds: Count = 2
    max_facts: Count = 8
    max_files: Count = 6
    max_references: Count = 6
    max_chars: Count = 240  # of a demand that is quoted


Text = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the criteria of one case; `demands` is never empty."""

    case: Case
    demands: Sequence[str]
    deliverables: Sequence[Deliverable]
    rules: Sequence[Rule]
    config: GradingConfig

    def accuracy(self) -> Iterator[Text]:
        """What comes from the inputs, from URLs, and from the request."""
        given = self._given()
        references = dict(self._references(given))
        for path in given[: self.config.max_files]:
            if path not in references.values():
                yield self._of_input(path), self._pointers(path)
        for text, path in list(references.items())[: self.config.max_references]:
            yield text, self._pointers(path)
        if rest := given[self.config.max_files :]:
            pointers = tuple(pointer for path in rest for pointer in self._pointers(path))
            yield self._words["accuracy_files"].format(files=self._list(rest)), pointers
        if urls := self.case.candidate.network.urls:
            shown = self._list(urls[: self.config.max_files])
            yield self._words["accuracy_urls"].format(urls=shown), tuple(urls)
        if self._paths and not given:
            yield self._words["accuracy_inputs"], ()
        facts = self._facts()
        if facts:
            yield self._words["accuracy_facts"].format(facts=self._list(facts)), ()
        elif not self._paths:
            yield self._words["accuracy_plain"].format(demand=self._clipped(self.demands[0])), ()

    def _references(self, given: Sequence[str]) -> Iterator[tuple[str, str]]:
        """What the inputs say of what is asked, each with its file."""
        for path in given:
            known = self.case.inputs.get(path)
            sheets = known.tables if known is not None else ()
            texts = [
                text
                for sheet in sheets
                for text in of_table(sheet, path, self.case.request, self._words)
            ]
            if not sheets and len(given) <= self.config.max_files:
                texts = list(of_text(self.case.excerpts.get(path, ""), path, self._words))
            yield from ((text, path) for text in texts)

    def relevance(self) -> Iterator[Text]:
        """The demands, all of them: neighbours share a criterion where there are very many.

        Each points at the files that it speaks of, or at the only one that the request speaks of.
        """
        given = self._given()
        for group in _grouped(self.demands, self.config.max_demands):
            shown = "; ".join(f"“{self._clipped(demand)}”" for demand in group)
            named = inputs_spoken_of(" ".join(group), given)
            pointers = tuple(pointer for path in named for pointer in self._pointers(path))
            yield self._words["relevance"].format(demand=shown), pointers

    def depth(self) -> Iterator[Text]:
        """Whether all of the material was used, and what is odd in it was dealt with."""
        words, given = self._words, self._given()
        known = {path: self.case.inputs[path] for path in given if path in self.case.inputs}
        for path, gaps in _gaps(known):
            shown = self._list([f"{column} ({number})" for column, number in gaps.items()])
            yield words["depth_gaps"].format(file=path, gaps=shown), self._pointers(path)
        for path, repeats in _repeats(known):
            yield words["depth_repeats"].format(file=path, number=repeats), self._pointers(path)
        if len(given) > 1:
            pointers = tuple(pointer for path in given for pointer in self._pointers(path))
            shown = self._list(given[: self.config.max_files])
            yield words["depth_files"].format(number=len(given), files=shown), pointers
        elif sized := [(path, sheet) for path, sheet in _largest(known) if sheet.rows > 1]:
            path, sheet = sized[0]
            yield words["depth_rows"].format(number=sheet.rows, file=path), self._pointers(path)
        else:
            demand = self._clipped(max(self.demands, key=self._substance))
            yield words["depth"].format(demand=demand), self._pointers(*given)

    def utility(self) -> Iterator[Text]:
        """Whether what is delivered can be used as it is."""
        words, first = self._words, self._clipped(self._main)
        if all(item.name_hints == (ANSWER,) for item in self.deliverables):
            yield words["utility_answer"].format(demand=first), ()
            return
        names = [
            name
            for item in self.deliverables
            for name in (item.name_hints or (f".{item.file_type}",))
        ]
        shown = self._list(names[: self.config.max_files])
        yield words["utility"].format(files=shown, demand=first), ()

    def communication(self) -> Iterator[Text]:
        """The form asked for, the look of what is looked at, and the language."""
        clauses = [clause.strip() for demand in self.demands for clause in _CLAUSE.split(demand)]
        whole = {demand.rstrip(".。;；") for demand in self.demands}
        bounds = [
            clause
            for clause in clauses
            if has_any(spaced(clause), _bounds())
            and clause.rstrip(".。;；") not in whole
            and not self._is_rule(clause)
        ]
        for clause in bounds[: self.config.max_bounds]:
            yield self._words["bounds"].format(demand=self._clipped(clause)), ()
        looks = table("grading")["look"]
        looked = [item for item in self.deliverables if item.file_type in looks]
        for item in looked:
            shown = self._list(item.name_hints or (f".{item.file_type}",))
            yield self._words[looks[item.file_type]].format(file=shown), ()
        other = re.search("|".join(table("grading")["changes"]["translates"]), self._request)
        prose = {item.file_type for item in self.deliverables} & _READ
        if prose and other is None:
            yield self._words["language"], ()
        elif prose and other is not None and not bounds:
            yield self._words["bounds"].format(demand=self._clipped(self._sentence(other))), ()
        elif not prose and not looked:
            names = [name for item in self.deliverables for name in item.name_hints]
            names = names or [f".{item.file_type}" for item in self.deliverables]
            yield self._words["form"].format(files=self._list(names)), ()

    def _substance(self, demand: str) -> tuple[bool, int]:
        """Demands that do not say where to save it come first, then long ones."""
        names = [name for item in self.deliverables for name in item.name_hints]
        return not any(name in demand for name in names), len(demand)

    @property
    def _main(self) -> str:
        """The first demand that does not forbid."""
        negations = re.compile("|".join(table("grading")["fixed"]["negations"]))
        wanted = (demand for demand in self.demands if not negations.search(demand.lower()))
        return next(wanted, self.demands[0])

    def _sentence(self, match: re.Match[str]) -> str:
        """The demand that holds a match in the request, else the first."""
        return next((text for text in self.demands if match[0] in text.lower()), self.demands[0])

    def _is_rule(self, clause: str) -> bool:
        """Does a hard rule check the length that a clause states?"""
        checked = {rule.rule_id.rpartition(".")[2] for rule in self.rules if rule.kind == "length"}
        return any(length.unit in checked for length in lengths(clause))

    def _of_input(self, path: str) -> str:
        known = self.case.inputs.get(path)
        matched = next(_largest({path: known}), None) if known is not None else None
        if matched is None:
            return self._words["accuracy_file"].format(file=path)
        sheet = matched[1]
        columns = self._list([name for name in sheet.columns if name][:_COLUMNS])
        return self._words["accuracy_table"].format(file=path, number=sheet.rows, columns=columns)

    def _facts(self) -> list[str]:
        """Dates, figures and names in the demands, as they are written there."""
        kinds = (FactKind.DATE, FactKind.NUMBER, FactKind.ENTITY)
        terms = table("grading")["terms"]
        none = frozenset([*terms["common"], *terms["answers"], *terms["no_facts"]])
        matched = [
            fact
            for fact in find_facts("\n".join(self.demands))
            if fact.kind in kinds and not none.issuperset(fact.text.lower().split())
        ]
        shown = [fact.text for fact in matched if _is_telling(fact.kind, fact.text, fact.value)]
        return shown[: self.config.max_facts]

    def _given(self) -> tuple[str, ...]:
        """The input files that the request speaks of, or the only one."""
        return inputs_spoken_of(self.case.request, self._paths)

    @property
    def _paths(self) -> list[str]:
        return [fixture.path for fixture in self.case.candidate.fixtures]

    def _pointers(self, *paths: str) -> tuple[str, ...]:
        """The files, or their parts (`path#sheet`) where they are known."""
        pointers: list[str] = []
        for path in paths:
            known = self.case.inputs.get(path)
            parts = sorted(key for key in self.case.excerpts if key.startswith(f"{path}#"))
            sheets = (
                [sheet.name for sheet in known.tables if sheet.name] if known is not None else []
            )
            pointers += parts or [f"{path}#{name}" for name in sheets] or [path]
        return tuple(pointers)

    @property
    def _request(self) -> str:
        return self.case.request.lower()

    @property
    def _language(self) -> str:
        return "zh" if leading_language(self.case.request) == "zh" else "en"

    @property
    def _words(self) -> dict[str, str]:
        words: dict[str, str] = table("grading")[self._language]
        return words

    def _list(self, items: Sequence[str]) -> str:
        return _JOIN[self._language].join(items)

    def _clipped(self, text: str) -> str:
        most = self.config.max_chars
        return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


@cache
def _bounds() -> re.Pattern[str]:
    return any_of(table("grading")["evidence"]["bounds"])


def _is_telling(kind: FactKind, text: str, value: str) -> bool:
    """Is it a fact that a result can get wrong? Acronyms and small counts are not."""
    if kind is FactKind.ENTITY:
        return _ACRONYM.fullmatch(text) is None
    if kind is FactKind.NUMBER:
        whole = value.rstrip("%")
        return value != whole or "." in whole or len(whole) >= len(str(_LEAST_NUMBER))
    return True


def _grouped(demands: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """The demands in `most` groups of neighbours at most."""
    count = min(len(demands), most)
    edges = [round(number * len(demands) / count) for number in range(count + 1)]
    yield from (demands[start:end] for start, end in pairwise(edges))


def _largest(inputs: dict[str, InputFile]) -> Iterator[tuple[str, InputTable]]:
    """The longest table of each file that has one."""
    for path, known in inputs.items():
        if known.tables:
            yield path, max(known.tables, key=lambda sheet: sheet.rows * len(sheet.columns))


def _gaps(inputs: dict[str, InputFile]) -> Iterator[tuple[str, dict[str, int]]]:
    for path, sheet in _largest(inputs):
        few = {column: number for column, number in sheet.blanks.items() if 2 * number < sheet.rows}
        if few:
            yield path, few


def _repeats(inputs: dict[str, InputFile]) -> Iterator[tuple[str, int]]:
    yield from ((path, sheet.repeats) for path, sheet in _largest(inputs) if sheet.repeats)
