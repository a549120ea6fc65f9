"""The papers of an agency as records of an archive, and the reading that shows that a task can be
solved by searching in it.

The reading opens only papers that the gold rests on, and knows none of them before a search finds
it: it begins with the names in the question and goes on with those in the words that matter of the
papers that are open. What it asks for in all decides how many requests an agent gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from construction.analytics import steps as s
from construction.analytics.contracts import ArchiveUse, Filing
from construction.analytics.environment.declaration import Declaration, PolicyText
from construction.analytics.environment.papers import names_in
from construction.analytics.environment.variants import ID, TEXT
from construction.workflows.contracts import World
from construction.workflows.runs import InProcessClient, allowance_for, get, rows
from construction.workflows.world_file import ARCHIVE, PAPERS, ArchivedPaper, archive_world

LEAST_PAPERS = 60  # fewer are read whole by anybody
_ACTOR = "reader@agency.example"
_HEADING, _LONG_AGO = 200, "1900"


def archived_file(declaration: Declaration) -> str | None:
    """The file whose documents are papers of an archive; None where documents stay files."""
    names = (name for name, f in declaration.files.items() if len(f.filed) > LEAST_PAPERS)
    return next(names, None)


@dataclass(frozen=True)
class Reading:
    """What a reader asked for and opened; `missed`: the papers that no search led to."""

    requests: int
    papers: int
    missed: tuple[str, ...] = ()

    def use(self, answers: Iterable[str]) -> ArchiveUse:
        """With the number of requests that agents get, which is none of the answers."""
        allowance = allowance_for(self.requests)
        while str(allowance) in answers:
            allowance += 1
        return ArchiveUse(papers=self.papers, requests=self.requests, allowance=allowance)


@dataclass(frozen=True)
class Archive:
    """The papers of a file by their id, and where each is filed."""

    file: str
    texts: Mapping[str, str]
    filed: Mapping[str, Filing]

    @classmethod
    def of(cls, declaration: Declaration, files: Mapping[str, pl.DataFrame]) -> Archive | None:
        """The archive of an environment; None where its documents stay files."""
        name = archived_file(declaration)
        if name is None:
            return None
        return cls(name, dict(files[name].select(ID, TEXT).rows()), declaration.files[name].filed)

    def world(self, allowance: int | None = None) -> World:
        """Everything as it is at the end of the last year of which there is a paper."""
        last = max((each.day or _LONG_AGO)[:4] for each in self.filed.values())
        papers = [_paper(self.texts[name], self.filed[name]) for name in self._names]
        return archive_world(papers, f"{last}-12-31T12:00:00+00:00", _ACTOR, allowance)

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self.texts)

    @cached_property
    def _whole(self) -> World:
        return self.world()

    def read(self, text: str, needed: Mapping[str, Sequence[str]]) -> Reading:
        """Search from the names in a text until all papers that are needed are open.

        `needed`: by paper the words in it that matter; those of papers without a day are all of it.
        """
        client = InProcessClient(self._whole)
        names = dict(zip(self._whole.state[ARCHIVE][PAPERS], self._names, strict=True))
        searched, opened, texts = set[str](), set[str](), [text]
        while texts and len(opened) < len(needed):
            for query in names_in(texts.pop(0)):
                if query in searched or len(opened) == len(needed):
                    continue
                searched.add(query)
                for row in rows(client, ARCHIVE, PAPERS, query=query):
                    name = names[row["id"]]
                    if name in needed and name not in opened:
                        opened.add(name)
                        body = get(client, ARCHIVE, PAPERS, row["id"])["body"]
                        texts += needed[name] if self.filed[name].day else [body]
        missed = tuple(sorted(needed.keys() - opened))
        return Reading(len(client.audit), len(opened), missed)


def _paper(text: str, filed: Filing) -> ArchivedPaper:
    heading = filed.heading or text.strip().partition("\n")[0]
    return ArchivedPaper(heading[:_HEADING].strip(), text, filed.folder, filed.day)


def needed_for(
    program: s.Program, declaration: Declaration, periods: Iterable[int]
) -> dict[str, list[str]]:
    """The papers that the policies of a programme rest on, with the words in them that matter."""
    needed: dict[str, list[str]] = {}
    periods = list(periods)
    for step in program:
        if not isinstance(step, s.Policy):
            continue
        quotes = [quote for clause in step.clauses for quote in clause.quotes]
        for policy in declaration.policies:
            applied = [period for period in periods if _is_applied(step, policy, period)]
            for each in policy.background if applied else ():
                if not each.periods or set(each.periods).intersection(applied):
                    quotes += each.quotes
        for quote in quotes:
            needed.setdefault(quote.document, []).append(quote.says)
    return {name: list(dict.fromkeys(says)) for name, says in sorted(needed.items())}


def _is_applied(step: s.Policy, policy: PolicyText, period: int) -> bool:
    clauses = policy.clauses_of(period, "", is_open=False)
    return [c.quotes for c in clauses] == [c.quotes for c in step.clauses]
