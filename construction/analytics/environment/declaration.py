"""The declaration of an environment: its files, the clean tables made of them, and their words.

One TOML file says which files there are, how each is read, what its columns mean, and which noise
they carry. All three variants, the inventory of noise and the questions follow from it. Questions
are made of its metrics, policies and conventions, and of the values that these vary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from construction.analytics.contracts import Background, Category, Difficulty, Filing, Language
from construction.analytics.steps import COVERED
from construction.analytics.steps import Clause as Rule
from data.configuration import read_toml, validated
from data.contracts import Count, Disclosure, Share, StageConfig
from data.text.lexicon import load_table


def _kind(kind: str) -> str:
    kinds = load_table("construction.analytics", "words.toml")["kinds"]
    if kind not in kinds:
        raise ValueError(f"expected one of {', '.join(kinds)}")
    return kind


# No line breaks or control characters, which a question would carry into terminals and prompts.
PlainText = Annotated[
    str,
    Field(
        min_length=1, max_length=4_000, pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]+$"
    ),
]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
Words = Annotated[Mapping[Language, PlainText], Field(min_length=1)]


class Metric(StageConfig):
    """A figure that questions ask about: its column, its words, how an answer writes it.

    `kind` is a kind of answer of `words.toml`. `year`: the reference year of a figure that has only
    one. `study`: what somebody works on who compares by it. `families`: for what it serves, all if
    it names none: `size` (may be added up, never negative), `base` (may be divided by), `rank`
    (places may be compared by it), `same` (abroad: in the unit of the entities). `of`: the metric
    that it is a part of (the revenue of which a profit remains), or that a target is set for.
    """

    name: Name
    table: Name
    column: Name
    label: Words
    kind: Annotated[str, AfterValidator(_kind)]
    decimals: Annotated[int, Field(ge=0, le=6)] = 0
    year: int | None = None
    study: Words | None = None
    families: tuple[str, ...] = ()
    of: Name | None = None


class Role(StageConfig):
    """A table in a role that templates ask for, with the columns that make it fit.

    `key`: what a row is about; `name`: how an answer calls it; `kind` and `branch`: a group and a
    wider group of it. `only`: the cells of rows that count, such as the total of all industries.
    """

    table: Name
    key: str = ""
    name: str = ""
    period: str = ""
    place: str = ""
    kind: str = ""
    branch: str = ""
    title: str = ""
    text: str = ""
    only: Mapping[Name, str] = Field(default_factory=dict)

    @property
    def columns(self) -> dict[str, str]:
        """The columns that are declared, by what they are."""
        parts = ("key", "name", "period", "place", "kind", "branch", "title", "text")
        return {part: column for part in parts if (column := getattr(self, part))}


# The columns that a table needs in each role. Entities have measures by period; a register has a
# row for each entity, places one for each place, series one for each place and period; counts are
# by place and branch; notices have a title, a place and a period; abroad are other places by
# period; plans have targets by place; texts are documents.
ROLES: Mapping[str, tuple[str, ...]] = {
    "entities": ("key", "period", "place"),
    "register": ("key",),
    "places": ("place",),
    "series": ("place", "period"),
    "counts": ("place", "branch"),
    "notices": ("place", "title", "period"),
    "abroad": ("place", "period"),
    "plans": ("place",),
    "texts": ("key", "text"),
}


class Clause(Rule):
    """A clause of a policy, in force in the periods from `since` to `until`.

    `overlooked`: careless readings that pass it over; `only`: those that see it where none is.
    `open`: the papers leave undecided what applies to whom it fits.
    """

    since: int | None = None
    until: int | None = None
    overlooked: tuple[Name, ...] = ()
    only: tuple[Name, ...] = ()
    open: bool = False

    def is_in_force(self, period: int, reading: str = "") -> bool:
        """Does it stand in a period, for a careful reader or in a careless reading?"""
        if (self.only and reading not in self.only) or reading in self.overlooked:
            return False
        return (self.since is None or period >= self.since) and (
            self.until is None or period <= self.until
        )


class PolicyText(StageConfig):
    """What documents say about entities, as clauses of which the last that fits decides.

    `use`: `cover` or, where clauses set a percentage of a metric, `levy`. `measure`: that metric,
    or the one by which it mainly covers. Each careless reading that its clauses name has to change
    the answer of a task.
    Conditions are on columns of the entities, and of the places to which they belong.
    """

    name: Name
    use: Literal["cover", "levy"]
    label: Words
    measure: Name
    clauses: Annotated[tuple[Clause, ...], Field(min_length=1)]
    background: tuple[Background, ...] = ()

    @property
    def careless(self) -> list[str]:
        """The careless readings that its clauses name."""
        names = (name for clause in self.clauses for name in (*clause.overlooked, *clause.only))
        return sorted(set(names))

    def in_force(
        self, period: int, reading: str = "", *, is_open: bool = False
    ) -> list[dict[str, Any]]:
        """The clauses of a period, as a step takes them; of a careless reading, if it is named.

        `is_open`: those that cover whom the papers leave undecided, and nobody else.
        """
        own = self.clauses_of(period, reading, is_open=is_open)
        return [
            clause.model_dump(mode="json", include={"quotes", "where", "rate"}) for clause in own
        ]

    def clauses_of(self, period: int, reading: str, *, is_open: bool) -> tuple[Clause, ...]:
        """The same as they are declared."""
        own = (clause for clause in self.clauses if clause.is_in_force(period, reading))
        return tuple(
            each.model_copy(update={"rate": COVERED if each.open else None}) if is_open else each
            for each in own
        )


class Slots(StageConfig):
    """Values that templates draw: written by hand, or taken from a column of a clean table.

    `beside`: for a value that was drawn before, such as a region, those that go with it; if none of
    the values drawn before is named there, nothing is drawn.
    """

    values: tuple[str | int | float, ...] = ()
    table: Name | None = None
    column: Name | None = None
    least_rows: Annotated[int, Field(ge=1)] = 1  # how many rows a value must have
    beside: Mapping[str, tuple[str | int, ...]] = Field(default_factory=dict)
    names: str = ""  # the table of `[names]` with the words; if empty, that of the slot

    @model_validator(mode="after")
    def _either(self) -> Self:
        if bool(self.values) == (self.table is not None and self.column is not None):
            raise ValueError("either values, or table and column")
        return self


class Convention(StageConfig):
    """Words for the guidelines of tasks that read one of these (`table` or `table.column`).

    `of`: only of tasks that select by one of these values.
    """

    reads: tuple[str, ...]
    of: tuple[str, ...] = ()
    words: Words


RANK, LAST_RANK = "nth", 10  # the slot of ranks, and the last that has a word


def _not_zero(factor: float) -> float:
    if factor == 0:
        raise ValueError("found 0, which leaves nothing of a number")
    return factor


Factor = Annotated[float, AfterValidator(_not_zero)]


class Domain(StrEnum):
    ENTERPRISE = "enterprise"
    INDUSTRY = "industry"
    POLICY = "policy"
    INTERNATIONAL = "international"
    IRRELEVANT = "irrelevant"


class Noise(StrEnum):
    """Kinds of native noise. Those in `IGNORABLE` can be left as they are by a careless reader."""

    MISSING = "missing"  # cells without a value, or with a mark for none
    UNITS = "units"  # another unit than the clean table's
    ALIASES = "aliases"  # another name of the same thing
    YEARS = "years"  # a lag: the year that a record is about, and the one it seems to be about
    REPEATS = "repeats"  # several records of the same thing
    SCOPE = "scope"  # another file that seems to say the same
    LANGUAGES = "languages"
    ENCODINGS = "encodings"
    IRRELEVANT = "irrelevant"


_DOCUMENT = re.compile(r"[\w-]{1,80}")  # an id that names a file
IGNORABLE = (
    Noise.MISSING,
    Noise.UNITS,
    Noise.ALIASES,
    Noise.YEARS,
    Noise.REPEATS,
    Noise.SCOPE,
)


class File(StageConfig):
    """A file as it is published. `header`: the line (from 0) with the names of the columns; of the
    lines up to `data_from`, the others are notes. `terms`: have its terms of use been read?

    Of an anonymized file less may leave than there is. `keep`: only rows whose cell in that column
    begins with one of these texts. `least`: only rows whose value in that column has so many rows,
    since small groups hide nobody. `cut`: so many characters of each cell, such as 7 of a date.
    `filed`: where each document is filed, if they are papers of an archive. `unlinked`: pseudonyms
    are new for each period, which are the first four characters of that column, or for a file of
    one period that year itself; nothing joins an entity over periods.
    """

    path: str
    domain: Domain
    disclosure: Disclosure = Disclosure.PUBLIC
    terms: Literal["read", "unread"] = "read"
    licence: str = ""
    encoding: Literal["utf-8", "cp932"] = "utf-8"
    language: str = "en"
    header: Annotated[int, Field(ge=0)] = 0
    data_from: Annotated[int, Field(ge=1)] = 1
    about: str = ""
    texts: Mapping[str, str] = Field(default_factory=dict)  # documents: id -> path of a text file
    filed: Mapping[str, Filing] = Field(default_factory=dict)
    keep: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    least: Mapping[str, Annotated[int, Field(ge=2)]] = Field(default_factory=dict)
    cut: Mapping[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    unlinked: str = ""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.disclosure is not Disclosure.ANONYMIZED and (self.keep or self.least or self.cut):
            raise ValueError("keep, least and cut are for anonymized files")
        if odd := next((key for key in self.texts if not _DOCUMENT.fullmatch(key)), None):
            raise ValueError(f"texts: {odd[:60]!r}: expected letters, digits, _ and -")
        if self.filed and self.filed.keys() != self.texts.keys():
            raise ValueError("filed: expected a folder for each of texts")
        if self.data_from <= self.header:
            raise ValueError(f"data_from: expected a line after the header ({self.header})")
        return self


class Column(StageConfig):
    """A column of a clean table: where it comes from and what is to be done with its cells.

    `factor`: what a number is multiplied with to be in `unit`. `recorded`: the unit in which the
    file holds it, which agents are told; needed where `factor` is not 1. `missing`: marks that
    stand for no value. `aliases`: the table of `[aliases]` with other names. `lag`: the column that
    a careless reader takes a year from.
    """

    name: Name
    source: str
    type: Literal["text", "number", "year"] = "text"
    unit: str = ""
    factor: Factor = 1.0
    recorded: str = ""
    missing: tuple[str, ...] = ()
    aliases: str = ""
    lag: str = ""
    about: str = ""

    @model_validator(mode="after")
    def _unit_is_known(self) -> Self:
        if self.factor != 1 and not self.recorded:
            raise ValueError(
                f"column {self.name}: found a factor of {self.factor:g} and no `recorded`;"
                " say in which unit the file records it, since agents see the file"
            )
        return self

    @property
    def recorded_unit(self) -> str:
        return self.recorded or self.unit


class Table(StageConfig):
    """A clean table made of one file.

    `unpivot`: columns of the file by the value that they become in the column `into`; the cells
    become `value`. `drop`, `keep`: rows to leave out, or all that are kept, by column of the file
    and its cells. Of rows with the same `key` the one with the last `latest` is kept.
    `stands_for`: another release, which a careless reader takes for that table.
    """

    name: Name
    file: str
    columns: Annotated[tuple[Column, ...], Field(min_length=1)]
    key: Annotated[tuple[Name, ...], Field(min_length=1)]
    latest: str = ""
    unpivot: Mapping[str, str] = Field(default_factory=dict)
    into: Name = "item"
    drop: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    keep: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    stands_for: Name | None = None
    about: str = ""

    @model_validator(mode="after")
    def _named(self) -> Self:
        names = self.names
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two columns have the name {twice}")
        if unknown := next((name for name in self.key if name not in names), None):
            raise ValueError(f"key: no column {unknown}")
        if self.stands_for == self.name:
            raise ValueError("stands_for: found the table itself; expected another")
        return self

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]


class Limits(StageConfig):
    """What a task must keep to."""

    max_per_template: Annotated[int, Field(ge=1)] = 12
    knife_edge: Share = 0.005  # relative distance that a comparison, rank or threshold needs
    least_rows: Annotated[int, Field(ge=1)] = 3  # behind a statistic
    max_missing: Share = 0.35  # of the cells that a step uses
    max_unreported: Share = 0.2  # of the size of what is added up, that reports nothing
    closed_book: Share = 0.1  # by which a guesser may beat chance
    widest_share: Share = 1.0  # of a whole that a threshold may let pass, or leave out
    least_choice: Annotated[int, Field(ge=1)] = 1  # rows per row that a ranking takes
    tries: Annotated[int, Field(ge=1, le=1_000)] = 60  # per template and family


class Declaration(StageConfig):
    """An environment. `anonymize` is a section `tables` as `benchmint privacy perturb` reads it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    money_scale: Annotated[int, Field(gt=0)] = 1_000_000  # of the unit in `words.money`
    languages: Annotated[tuple[Language, ...], Field(min_length=1)] = ("en", "zh")
    words: Mapping[str, Words] = Field(default_factory=dict)
    files: Mapping[Name, File]
    tables: tuple[Table, ...]
    aliases: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    names: Mapping[str, Mapping[str, tuple[PlainText, ...]]] = Field(default_factory=dict)
    prominence: Mapping[str, str] = Field(default_factory=dict)  # kind of name: metric
    metrics: tuple[Metric, ...] = ()
    roles: Mapping[str, Role] = Field(default_factory=dict)
    policies: tuple[PolicyText, ...] = ()
    conventions: tuple[Convention, ...] = ()
    slots: Mapping[Name, Slots] = Field(default_factory=dict)
    quotas: Mapping[Category, Mapping[Difficulty, Count]] = Field(default_factory=dict)
    readings: tuple[Literal["first_record"], ...] = ()  # other defensible readings of the noise
    anonymize: Mapping[str, Any] = Field(default_factory=dict)
    limits: Limits = Limits()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        names = {table.name for table in self.tables}
        problems = [
            *(f"table {t.name}: no file {t.file}" for t in self.tables if t.file not in self.files),
            *(
                f"table {t.name} stands for no table {t.stands_for}"
                for t in self.tables
                if t.stands_for is not None and t.stands_for not in names
            ),
            *self._lost_columns(),
            *self._odd_metrics(),
            *self._odd_ranks(),
            *self._odd_roles(),
            *self._odd_policies(),
            *self._unsaid(),
            *(
                f"prominence of {kind}: no metric {metric}"
                for kind, metric in self.prominence.items()
                if metric not in {each.name for each in self.metrics}
            ),
            *(
                f"table {t.name}: no aliases {c.aliases}"
                for t in self.tables
                for c in t.columns
                if c.aliases and c.aliases not in self.aliases
            ),
        ]
        problems += self._clashing_files()
        if len(names) != len(self.tables):
            problems.append("two tables have one name")
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _clashing_files(self) -> Iterator[str]:
        """Files that would have one path in the raw variant, which keeps domain and name."""
        seen: dict[tuple[str, str], str] = {}
        for name, file in self.files.items():
            base = file.path.rpartition("/")[2].removesuffix(".gz")
            if file.disclosure is Disclosure.ANONYMIZED:
                base = f"{base.rpartition('.')[0] or name}.csv"
            for released in [f"{key}.txt" for key in file.texts] or [base]:
                domain_and_name = (file.domain, f"documents/{released}" if file.texts else released)
                if (other := seen.setdefault(domain_and_name, name)) != name:
                    yield f"files {other} and {name}: both are {released} of {file.domain}"

    def _lost_columns(self) -> Iterator[str]:
        """What asks for a table or a column that is not declared."""
        columns = {table.name: table.names for table in self.tables}
        needs: list[tuple[str, str | None, str | None]] = [
            *((f"metric {each.name}", each.table, each.column) for each in self.metrics),
            *((f"slots {name}", each.table, each.column) for name, each in self.slots.items()),
        ]
        for what, table, column in needs:
            if table is not None and table not in columns:
                yield f"{what}: no table {table}"
            elif table is not None and column not in columns[table]:
                yield f"{what}: no column {column} in {table}"

    def _odd_metrics(self) -> Iterator[str]:
        """Metrics of one name, and those that are no numbers."""
        names = [metric.name for metric in self.metrics]
        yield from (
            f"two metrics have the name {n}" for n in dict.fromkeys(names) if names.count(n) > 1
        )
        types = {(t.name, column.name): column.type for t in self.tables for column in t.columns}
        for metric in self.metrics:
            if (kind := types.get((metric.table, metric.column), "number")) != "number":
                yield f"metric {metric.name}: {metric.column} is a {kind}, no number"

        for metric in self.metrics:
            if metric.of is not None and metric.of not in names:
                yield f"metric {metric.name}: no metric {metric.of} that it is a part of"

    def _odd_roles(self) -> Iterator[str]:
        """Roles that there are not, and columns that a role needs or names and its table lacks."""
        columns = {table.name: table.names for table in self.tables}
        for name, role in self.roles.items():
            if name not in ROLES:
                yield f"roles: found {name}; expected one of {', '.join(ROLES)}"
            elif role.table not in columns:
                yield f"roles.{name}: no table {role.table}"
            else:
                yield from (
                    f"roles.{name}: no {part}; expected a column of {role.table}"
                    for part in ROLES[name]
                    if part not in role.columns
                )
                yield from (
                    f"roles.{name}.{part}: no column {column} in {role.table}"
                    for part, column in [*role.columns.items(), *((c, c) for c in role.only)]
                    if column not in columns[role.table]
                )

    def _odd_policies(self) -> Iterator[str]:
        """Clauses over what neither entities nor places have, and words of no document."""
        known = {"entities": set[str](), "places": set[str]()}
        for name in known.keys() & self.roles.keys():
            tables = (t for t in self.tables if t.name == self.roles[name].table)
            known[name] = {column for table in tables for column in table.names}
        metrics = {metric.name for metric in self.metrics}
        for policy in self.policies:
            if "entities" not in self.roles or "texts" not in self.roles:
                yield f"policy {policy.name}: expected the roles entities and texts"
            if policy.measure not in metrics:
                yield f"policy {policy.name}: no metric {policy.measure}"
            for clause in policy.clauses:
                said = " ".join(quote.says for quote in clause.quotes).casefold()
                # What is signed late in a year may hold from the next period.
                years = () if clause.since is None else (clause.since, clause.since - 1)
                if years and not any(str(year) in said for year in years):
                    yield f"policy {policy.name}: found no {clause.since} in the words quoted"
                for condition in clause.where:
                    column, value = condition.column, condition.value
                    if column not in known["entities"] | known["places"]:
                        yield f"policy {policy.name}: no column {column} of entities or places"
                    for member in value if isinstance(value, tuple) else (value,):
                        if isinstance(member, str) and not self._is_named(member, said):
                            yield f"policy {policy.name}: found no {member!r} in the words quoted"

    def _is_named(self, value: str, text: str) -> bool:
        """Does a text name a value, by itself or by one of its declared names?"""
        names = [value, *(name for of in self.names.values() for name in of.get(value, ()))]
        return any(name.casefold() in text for name in names)

    def _unsaid(self) -> Iterator[str]:
        """What has no words in one of the languages."""
        groups = [(f"words.{name}", words) for name, words in self.words.items()]
        for metric in self.metrics:
            groups += [(f"metric {metric.name}: label", metric.label)]
            groups += [(f"metric {metric.name}: study", metric.study)] if metric.study else []
        groups += [(f"policy {policy.name}: label", policy.label) for policy in self.policies]
        groups += [("conventions", convention.words) for convention in self.conventions]
        wanted = 2 if "zh" in self.languages else 1
        for kind, names in self.names.items():
            for value, called in names.items():
                if len(called) < wanted:
                    yield f"names.{kind}.{value}: found {len(called)} names; expected {wanted}"
        for name, words in groups:
            for language in self.languages:
                if language not in words:
                    yield f"{name}: no words in {language}"

    def _odd_ranks(self) -> Iterator[str]:
        """Ranks that have no word."""
        ranks = self.slots[RANK].values if RANK in self.slots else ()
        for rank in ranks:
            if rank not in range(1, LAST_RANK + 1):
                yield f"slots {RANK}: found {rank}; expected ranks from 1 to {LAST_RANK}"

    def column(self, role: str, part: str) -> str | None:
        """The column that is `part` of a role, such as the period of the entities."""
        return self.roles[role].columns.get(part) if role in self.roles else None

    def column_of(self, metric: Metric, kind: str) -> str:
        """The column beside a metric with the names of a kind, such as places."""
        role = self.role_of(metric.table)
        return (role and self.column(role, kind)) or kind

    def role_of(self, table: str) -> str | None:
        """The role in which a table serves."""
        return next((name for name, role in self.roles.items() if role.table == table), None)

    def is_in(self, column: tuple[str, str] | None, role: str, *parts: str) -> bool:
        """Is a column of a table one of these parts of a role?"""
        if column is None or role not in self.roles or self.roles[role].table != column[0]:
            return False
        return column[1] in [self.column(role, part) for part in parts]

    def says(self, key: str, language: Language) -> str:
        """A declared word, or the usual one."""
        usual = load_table("construction.analytics", "words.toml")["words"].get(key, {})
        return str(self.words.get(key, usual).get(language, ""))

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)

    @property
    def core(self) -> tuple[Table, ...]:
        """The tables that tasks are made of; the others stand for one of them."""
        return tuple(table for table in self.tables if table.stands_for is None)

    def file_of(self, table: str) -> str:
        return self.table(table).file


def read_declaration(path: Path) -> Declaration:
    """The declaration in a TOML file. Raises ConfigError naming each wrong key."""
    return validated(Declaration, read_toml(path), path)
