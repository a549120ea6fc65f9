"""The criteria of a rubric, made from the demands of a request and from what its inputs hold.

Each quotes a demand of the request, or what an input says of one: a row, a sum, a line, an event.
No demand is quoted twice, and a dimension to which neither has anything to say stays empty. A
length that a hard rule checks is no criterion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from construction.grading.file_types import type_of
from construction.judging.contracts import Case
from construction.judging.edits import changed_inputs
from construction.judging.inputs import inputs_spoken_of
from construction.judging.lexicon import table
from construction.judging.reference import whole_table
from construction.judging.reference_profiles import has_entries, profiles_of
from construction.judging.reference_texts import references_of
from construction.judging.removed_rows import removals_of
from construction.judging.request_bounds import changes, lengths
from construction.judging.request_counts import brings_material, words_brought
from construction.judging.rule_task import is_own
from construction.judging.rules.form import bounds_of, looks_of, purposes_of
from construction.judging.rules.mails import is_mailbox, mails_of
from construction.judging.rules.orders import grouped, parts_of
from construction.judging.rules.scope import (
    altered_inputs,
    files_meant,
    leaves_out,
    wants_all_rows,
)
from construction.judging.rules.stated import stated
from construction.judging.rules.tables import gaps_of, largest, repeats_of
from construction.mentions.extensions import tail
from data.contracts import Count, Deliverable, Rule, StageConfig
from data.text.scripts import leading_language

_JOIN = {"en": ", ", "zh": "、"}
_READ = frozenset({"md", "txt", "docx", "pdf", "html", "eml", "pptx"})  # by people, as prose
_BROUGHT = 40  # words of a text in the request from which it is material
_FEW = 2  # demands whose answer needs no order
_COUNTS = re.compile(
    r"\b(?:totals?|sum|average|mean|count|how many|how much|(?:all|each|every) (?:\w+ )?rows?)\b"
    r"|合计|总[和数计]|平均|统计|多少"
)


class GradingConfig(StageConfig):
    """The largest size of a rubric: demands and bounds as criteria, named facts and files,
    and what the inputs say of them.

    Further demands share a criterion with their neighbours: none is left out. With fewer than
    `min_usable` demands, facts and rules of its own, a rubric needs a model.
    """

    max_demands: Count = 16
    max_bounds: Count = 2
    max_facts: Count = 8
    max_files: Count = 6
    max_references: Count = 6
    max_chars: Count = 600  # of a demand that is quoted
    min_usable: Count = 2


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
        """What comes from the inputs, from URLs, and, without any, from the request."""
        if self._cleared:
            for path in self._cleared:
                yield self._words["accuracy_cleared"].format(file=path), self._pointers(path)
            return
        given, quoted = self._given(), list(self._quoted())
        yield from ((text, self._pointers(*paths)) for text, paths in quoted)
        known = {path for _, paths in quoted for path in paths} - self._edited
        for key, paths in self._by_kind([path for path in given if path not in known]):
            shown = self._list(paths[: self.config.max_files])
            is_long = key == "accuracy_files" and len(paths) > self.config.max_files
            known_whole = self._whole(paths) if key == "accuracy_kept" else ""
            key = "accuracy_many" if is_long else "accuracy_kept_from" if known_whole else key
            text = self._words[key].format(files=shown, number=len(paths), text=known_whole)
            yield text, self._pointers(*paths)
        if urls := self.case.candidate.network.urls:
            shown = self._list(urls[: self.config.max_files])
            yield self._words["accuracy_urls"].format(urls=shown), tuple(urls)
        if given or self._is_moved:
            return
        facts = stated(self.demands)[: self.config.max_facts]
        if facts:
            yield self._words["accuracy_facts"].format(facts=self._list(facts)), ()
        elif not self._paths and not quoted:
            yield self._words[self._material()], ()

    def _material(self) -> str:
        """What is held against an answer where there is no file: code, a text, or the request."""
        if brings_material(self.case.request):
            return "accuracy_code"
        return "accuracy_brought" if self._is_brought else "accuracy_plain"

    def _quoted(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """What the inputs say, with their files: references, rows that go, and whole tables."""
        case, words, given = self.case, self._words, self._given()
        references = self.references()[: self.config.max_references]
        yield from references
        known = {path: case.inputs[path] for path in given if path in case.inputs}
        edited = {path: known[path] for path in known if path in self._edited}
        yield from removals_of(edited, case.request, words)
        done = {path for _, paths in references for path in paths} | self._edited
        done |= altered_inputs(case.request, given)
        rest = [path for path in known if path not in done and not self._is_moved]
        for path in rest[: self.config.max_files]:
            yield from (
                (text, (path,)) for text in profiles_of(known[path], path, case.request, words)
            )

    def _whole(self, paths: Sequence[str]) -> str:
        """The table of a single file, if it is small and nothing of it goes."""
        stays = not altered_inputs(self.case.request, paths)
        known = self.case.inputs.get(paths[0]) if len(paths) == 1 and stays else None
        return whole_table(known.tables) if known is not None else ""

    def _by_kind(self, paths: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        """Files of which nothing is quoted, by what is held against them."""
        kept = [path for path in paths if path in self._edited]
        seen = [path for path in paths if path not in kept and self._is_picture(path)]
        rest = [path for path in paths if path not in kept and path not in seen]
        kinds = (("accuracy_kept", kept), ("accuracy_pictures", seen), ("accuracy_files", rest))
        yield from (kind for kind in kinds if kind[1] and not self._is_moved)

    def references(self) -> list[tuple[str, tuple[str, ...]]]:
        """What the inputs say of what is asked, each with its files and once.

        Nothing of an input that is to become something else: it speaks of the state before.
        """
        given = self._given()
        altered = {*altered_inputs(self.case.request, given), *self._edited}
        if self._is_moved:
            return []
        paths = [path for path in given if path not in altered]
        return references_of(self.case, paths, self.demands, self._words, few=self.config.max_files)

    def relevance(self) -> Iterator[Text]:
        """All the demands, each pointing at the files that it speaks of, or at the only one."""
        given = self._given()
        for group in grouped(self.demands, self.config.max_demands):
            shown = "; ".join(f"“{self._clipped(demand)}”" for demand in group)
            named = inputs_spoken_of(" ".join(group), given)
            yield self._words["relevance"].format(demand=shown), self._pointers(*named)

    def depth(self) -> Iterator[Text]:
        """Whether all of the material was used, and what is odd in it was dealt with."""
        if self._cleared:
            return
        words, given = self._words, self._given()
        known = {path: self.case.inputs[path] for path in given if path in self.case.inputs}
        counts_rows = _COUNTS.search(self._request) is not None
        for path, gaps in gaps_of(known, self.case.request):
            shown = self._list([f"{column} ({number})" for column, number in gaps.items()])
            yield words["depth_gaps"].format(file=path, gaps=shown), self._pointers(path)
        for path, repeats in repeats_of(known) if counts_rows else ():
            yield words["depth_repeats"].format(file=path, number=repeats), self._pointers(path)
        meant = files_meant(self.case.request, given or self._paths)
        if len(meant) > 1:
            pointers = self._pointers(*meant)
            shown = self._list(meant[: self.config.max_files])
            key = "depth_files" if len(meant) <= self.config.max_files else "depth_many"
            yield words[key].format(number=len(meant), files=shown), pointers
        for path, sheet in list(largest(known))[:1] if len(given) == 1 else ():
            is_whole = is_mailbox(sheet) and not leaves_out(self.case.request)
            if is_whole or wants_all_rows(self.case.request, sheet):
                yield words["depth_rows"].format(number=sheet.rows, file=path), self._pointers(path)

    def utility(self) -> Iterator[Text]:
        """Whether what is delivered serves the purpose that the request states."""
        for purpose in purposes_of(self.case.request)[:1]:
            yield self._words["utility"].format(demand=self._clipped(purpose)), ()

    def communication(self) -> Iterator[Text]:
        """The form asked for, the look of what is looked at, and the language."""
        bounds = [clause for clause in bounds_of(self.demands) if not self._is_rule(clause)]
        for clause in bounds[: self.config.max_bounds]:
            yield self._words["bounds"].format(demand=self._clipped(clause)), ()
        if self._is_moved:
            return
        for key, names in looks_of(self.deliverables, self.case.request, self._paths):
            yield self._words[key].format(file=self._list(names)), ()
        prose = {item.file_type for item in self.deliverables} & _READ
        if prose and not changes(self.case.request, "translates"):
            key = "language" if len(self.demands) > _FEW else "language_short"
            yield self._words[key], ()

    def usable(self) -> int:
        """How many criteria and rules hold an answer against the request or the inputs.

        A demand is one or several, by its clauses; so is each fact of the inputs, each rule that
        was computed for this task, each of several mails, a mailbox, entries that are quoted one by
        one where nothing else is, and a text that the request brings along.
        """
        own = [rule for rule in self.rules if is_own(rule)]
        given = self._given()
        known = {path: self.case.inputs[path] for path in given if path in self.case.inputs}
        mails = len(mails_of(given)) + sum(is_mailbox(sheet) for _, sheet in largest(known))
        listed = any(has_entries(known[path], self.case.request) for path in known)
        own_parts = sum(map(parts_of, self.demands)) + len(own) + int(self._is_brought)
        own_parts += len(self._cleared)
        references = len(self.references())
        return own_parts + mails + (references or int(listed and not self._edited))

    def _is_rule(self, clause: str) -> bool:
        """Does a hard rule check the length that a clause states?"""
        checked = {rule.rule_id.rpartition(".")[2] for rule in self.rules if rule.kind == "length"}
        return any(length.unit in checked for length in lengths(clause))

    @property
    def _edited(self) -> frozenset[str]:
        """The inputs that are changed where they lie, and so are delivered."""
        names = {name for item in self.deliverables for name in item.name_hints}
        outputs = [name for name in names if name not in set(map(tail, self._paths))]
        changed = changed_inputs(self.case.request, self._paths, outputs)
        return frozenset(path for path in changed if tail(path) in names)

    def _is_picture(self, path: str) -> bool:
        kind = type_of(path)
        return kind is not None and kind.kind == "image"

    @property
    def _is_moved(self) -> bool:
        """Is all that is delivered an input as it was, under another name or in another place?"""
        return any(rule.kind == "same" for rule in self.rules)

    def _given(self) -> tuple[str, ...]:
        """The input files that the request speaks of, or the only one."""
        return inputs_spoken_of(self.case.request, self._paths)

    @property
    def _cleared(self) -> list[str]:
        """The inputs of which nothing is to be left but the file."""
        return sorted(self._edited) if changes(self.case.request, "clears") else []

    @property
    def _is_brought(self) -> bool:
        """Is the material pasted code, or a text below a line of the request that announces it?"""
        request = self.case.request
        is_text = words_brought(request) >= _BROUGHT
        return not self._paths and (is_text or brings_material(request))

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
