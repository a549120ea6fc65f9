"""xBRL-JSON documents to the one model of statements: European, UK and other filers.

Facts go through the same steps as those of the SEC's data sets. A package's presentation, where it
is given beside the document, places and names the rows; without it the concept's own name does, and
for a filer's own concept the statement that its neighbours in the document share.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polars as pl

from construction.statements.conventions import DaysKnown, NamingEvidence
from construction.statements.labels import label_of, statement_of
from construction.statements.model import (
    CODES,
    COMPANIES,
    CONVENTIONS,
    SEPARATOR,
    LabelMethod,
    Statement,
    Statements,
)
from construction.statements.readers.sec.contracts import SecConfig
from construction.statements.readers.sec.points import (
    Context,
    judged_facts,
    points_of,
    series_of,
    series_table,
    tag_table,
    with_series,
)
from construction.statements.readers.sec.read import (
    judged_rows,
    rows_of,
    tag_rows_in_filings,
    tag_rows_of_companies,
)
from construction.statements.readers.sec.source import SecTable, empty_table
from construction.statements.readers.xbrl.source import (
    STAGE,
    Document,
    Fact,
    UnusableError,
    XbrlConfig,
    XbrlReason,
    contents,
    find_documents,
    read_document,
)
from data.contracts import LedgerRow, Outcome, StageKind, StageTally
from data.ledger import close
from data.text.folding import fold_words
from data.text.lexicon import load_table

_COUNTRIES: Mapping[str, str] = load_table("construction.statements", "concepts.toml")["countries"]
_NAMES = (
    "NameOfReportingEntityOrOtherMeansOfIdentification",
    "EntityCurrentLegalOrRegisteredName",
    "EntityRegistrantName",
    "FullRegisteredNameOfCompany",  # South Africa
    "NameOfReportingEntity",  # Denmark
    "LegalEntityName",  # the Netherlands
    "DatiAnagraficiDenominazione",  # Italy
    "NameOfUltimateParentOfGroup",
)
_COUNTRY = ("CountryOfIncorporation", "DomicileOfEntity", "EntityAddressCountry",
            "AddressOfRegisteredOfficeOfEntity", "PrincipalPlaceOfBusiness")  # fmt: skip
_WINDOW = 12  # facts: how far a neighbour may be that says in which statement a fact stands
_YEAR = 12
_DECEMBER = "12-31"


@dataclass(frozen=True, slots=True)
class _Filing:
    """The facts of one entity in one document."""

    name: str
    entity: str
    document: Document
    facts: Sequence[Fact]
    end: date


def read_xbrl(paths: Sequence[Path], config: XbrlConfig) -> Statements:
    """Read xBRL-JSON documents: files, folders and zips that hold them, in any order.

    Labels are the package's English ones, else the concept's name in words; a filer's own concept
    in another language has none. Everything read is in the ledger. Raises InputError as
    `find_documents`.
    """
    documents, file_rows = _read(paths, config)
    filings = _filings(documents)
    filed = _filing_frame(filings, config)
    tags = tag_table(_tag_frame(filings))
    rows = judged_rows(_row_frame(filings), filed)
    settings = SecConfig(source=config.source, disclosure=config.disclosure)
    facts = judged_facts(_fact_frame(filings).drop("start"), filed, tags)
    sound = facts.filter(pl.col("reason").is_null()).with_row_index("fact")
    series = series_of(sound, tag_rows_of_companies(rows), tags, settings)
    numbered = with_series(sound, series)
    points = points_of(numbered, Context(series, filed, tag_rows_in_filings(rows)))
    kept = series.filter(pl.col("sid").is_in(points.sids.implode()))
    unusable = facts.filter(pl.col("reason").is_not_null())
    lost = pl.concat([unusable.select(pl.col("adsh").cast(pl.String), "reason"), points.rejected])
    ledger, tallies = _ledger(file_rows, documents, filings, points.points, lost)
    starts = _true_starts(filings)
    return Statements(
        companies=_companies(filings, config),
        series=_with_own_labels(series_table(kept), filings, config),
        points=points.points.pipe(_started, starts),
        history=points.history.pipe(_started, starts),
        rows=rows_of(rows, numbered, kept, tags),
        conventions=_conventions(filings, config),
        ledger=ledger,
        tallies=tallies,
    )


def _read(paths: Sequence[Path], config: XbrlConfig) -> tuple[list[Document], list[LedgerRow]]:
    documents: dict[str, Document] = {}
    rows: list[LedgerRow] = []
    for path in find_documents(paths):
        matches = 0
        try:
            for name, content, sidecar in contents(path, config):
                matches += 1
                document = read_document(name, content, sidecar, config)
                if document.digest in documents:
                    rows.append(_unused(name, XbrlReason.REPEATED, "a second copy", "one"))
                    continue
                documents[document.digest] = document
                rows.append(LedgerRow(STAGE, "file", name, Outcome.KEPT))
            if not matches:
                raise UnusableError(XbrlReason.NOT_XBRL_JSON, "no JSON", "an xBRL-JSON document")
        except (UnusableError, OSError) as error:
            reason = getattr(error, "reason", XbrlReason.UNREADABLE)
            actual = getattr(error, "actual", type(error).__name__)
            rows.append(_unused(path.name, reason, actual, getattr(error, "expected", "a file")))
    ordered = sorted(documents.values(), key=lambda document: document.digest)
    return ordered, sorted(rows, key=lambda row: row.item_id)


def _unused(name: str, reason: XbrlReason, actual: str, expected: str) -> LedgerRow:
    is_other = reason in (XbrlReason.NOT_XBRL_JSON, XbrlReason.REPEATED)
    outcome = Outcome.REJECTED if is_other else Outcome.ERRORED
    evidence = {"source_path": name, "found": actual, "expected": expected}
    return LedgerRow(STAGE, "file", name, outcome, reason=reason, evidence=evidence)


def _filings(documents: Sequence[Document]) -> list[_Filing]:
    """The entities of the documents, by day of filing, then the last day of their flows."""
    filings = []
    for document in documents:
        by_entity: dict[str, list[Fact]] = defaultdict(list)
        for fact in document.facts:
            by_entity[fact.entity].append(fact)
        for entity, facts in by_entity.items():
            flows = [fact.end for fact in facts if fact.months]
            end = max(flows or [fact.end for fact in facts])
            name = f"{entity}-{end}-{document.digest[:8]}"
            filings.append(_Filing(name, entity, document, facts, end))
    return sorted(filings, key=lambda f: (f.document.filed or date.min, f.end, f.name))


def _filing_frame(filings: Sequence[_Filing], config: XbrlConfig) -> pl.DataFrame:
    """The filings with the columns that the SEC's steps join with."""
    names = [filing.name for filing in filings]
    return pl.DataFrame(
        {
            "adsh": pl.Series(names, dtype=pl.Categorical),
            "nth": pl.Series(range(len(names)), dtype=pl.Int32),
            "company_id": pl.Series(
                [f"{config.source}:{f.entity}" for f in filings], dtype=pl.Categorical
            ),
            "filed": pl.Series([f.document.filed for f in filings], dtype=pl.Date),
            "superseded": pl.Series([False] * len(names), dtype=pl.Boolean),
            "by_name": pl.Series(names, dtype=pl.String).rank("dense"),
        }
    )


def _frame(table: SecTable, rows: Sequence[Mapping[str, object]], *more: str) -> pl.DataFrame:
    """Rows of text as a table of a data set."""
    schema = dict(empty_table(table).schema) | dict.fromkeys(more, pl.Date)
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _fact_frame(filings: Sequence[_Filing]) -> pl.DataFrame:
    rows = [
        {
            "adsh": filing.name,
            "tag": fact.concept,
            "version": "xbrl",
            "ddate": f"{fact.end:%Y%m%d}",
            "qtrs": str(fact.months // 3),
            "uom": fact.unit,
            "value": fact.value,
            "segments": fact.dimensions or None,
            "start": fact.start,
        }
        for filing in filings
        for fact in filing.facts
    ]
    return _frame(SecTable.NUM, rows, "start")


def _tag_frame(filings: Sequence[_Filing]) -> pl.DataFrame:
    """The English label of each concept: the package's, of the newest document that has one."""
    labels: dict[str, str] = {}
    for filing in filings:
        for fact in filing.facts:
            labels.setdefault(fact.concept, label_of(fact.concept.rpartition(":")[2]))
        for concept, texts in filing.document.labels.items():
            if english := _in_language(texts, "en"):
                labels[concept] = english
    balances = {c: b[:1].upper() for f in filings for c, b in f.document.balance.items()}
    rows = [
        {"tag": concept, "version": "xbrl", "tlabel": label, "crdr": balances.get(concept)}
        for concept, label in labels.items()
    ]
    return _frame(SecTable.TAG, rows)


def _in_language(texts: Mapping[str, str], language: str) -> str | None:
    fitting = sorted(one for one in texts if one[:2].lower() == language)
    return texts[fitting[0]] if fitting else None


def _row_frame(filings: Sequence[_Filing]) -> pl.DataFrame:
    """The rows of the statements: as presented, else in the order of the document's facts."""
    rows = []
    for filing in filings:
        lines: Counter[str] = Counter()
        shown = _presented(filing) or _ordered(filing)
        for statement, concept, negated, label in shown:
            code = CODES[str(statement)]
            rows.append(
                {
                    "adsh": filing.name,
                    "report": str(1 + list(CODES).index(str(statement))),
                    "line": str(lines[code]),
                    "stmt": code,
                    "tag": concept,
                    "version": "xbrl",
                    "plabel": label,
                    "negating": "1" if negated else "0",
                }
            )
            lines[code] += 1
    return _frame(SecTable.PRE, rows)


_Shown = tuple[Statement, str, bool, str | None]


def _presented(filing: _Filing) -> list[_Shown]:
    """The presented rows of roles whose concepts mostly stand in one statement."""
    instants = {fact.concept: not fact.months for fact in filing.facts}
    roles: dict[str, Counter[Statement]] = defaultdict(Counter)
    for row in filing.document.rows:
        known = row.concept in instants
        statement = statement_of(row.concept, instant=instants[row.concept]) if known else None
        if statement is not None:
            roles[row.statement][statement] += 1
    of_role = {role: votes.most_common(1)[0][0] for role, votes in sorted(roles.items())}
    seen: set[tuple[Statement, str]] = set()
    rows: list[_Shown] = []
    for row in filing.document.rows:
        statement = of_role.get(row.statement)
        if statement is None or row.concept not in instants or (statement, row.concept) in seen:
            continue
        seen.add((statement, row.concept))
        rows.append((statement, row.concept, row.negated, row.label))
    return rows


def _ordered(filing: _Filing) -> list[_Shown]:
    """The concepts in the order of the document, each in the statement that its name or, for a
    filer's own, the nearest facts on both sides tell."""
    statements = [statement_of(fact.concept, instant=not fact.months) for fact in filing.facts]
    placed: dict[str, Statement] = {}
    for at, (fact, known) in enumerate(zip(filing.facts, statements, strict=True)):
        before = next((one for one in reversed(statements[max(0, at - _WINDOW) : at]) if one), None)
        after = next((one for one in statements[at + 1 : at + 1 + _WINDOW] if one), None)
        statement = known or (before if before is after else None)
        if statement is not None:
            placed.setdefault(fact.concept, statement)
    language = filing.document.language
    labels = filing.document.labels
    return [
        (statement, concept, False, _in_language(labels.get(concept, {}), language))
        for concept, statement in placed.items()
    ]


def _true_starts(filings: Sequence[_Filing]) -> pl.DataFrame:
    """The first day of each period as filed; the steps of the SEC know month ends only."""
    rows = {
        (filing.name, fact.end, fact.months): fact.start
        for filing in filings
        for fact in filing.facts
        if fact.start is not None
    }
    return pl.DataFrame(
        [(*key, start) for key, start in rows.items()],
        schema={"document": pl.String, "period_end": pl.Date, "months": pl.Int64, "true": pl.Date},
        orient="row",
    )


def _started(points: pl.DataFrame, starts: pl.DataFrame) -> pl.DataFrame:
    joined = points.join(
        starts, on=["document", "period_end", "months"], how="left", maintain_order="left"
    )
    return joined.with_columns(period_start=pl.coalesce("true", "period_start")).drop("true")


def _companies(filings: Sequence[_Filing], config: XbrlConfig) -> pl.DataFrame:
    """COMPANIES: names, country and year end from the texts of the newest document."""
    newest = {filing.entity: filing for filing in filings}
    rows = []
    for entity, filing in newest.items():
        document, given = filing.document, filing.document.company
        name = given.get("name") or document.text(*_NAMES)
        is_english = document.language == "en"
        exchange = document.text("SecurityExchangeName") or None
        rows.append(
            {
                "company_id": f"{config.source}:{entity}",
                "source": config.source,
                "disclosure": config.disclosure.value,
                "ticker": given.get("ticker") or document.text("TradingSymbol"),
                "name": name,
                "name_local": None if is_english else name,
                "name_kana": None,
                "country": given.get("country") or _country(document),
                "exchange": exchange,
                "us": (exchange or "").upper() in ("NYSE", "NASDAQ"),
                "industry": given.get("industry"),
                "fiscal_year_end": _year_end(filing.facts),
                "language": document.language,
            }
        )
    return pl.DataFrame(rows, schema=COMPANIES.schema).sort("company_id")


def _country(document: Document) -> str | None:
    """The country that the document names, as a code, or the one in which it was filed, or whose
    register numbers the company."""
    for concept in _COUNTRY:
        text = (document.text(concept) or "").casefold()
        words = f" {fold_words(text)} "
        matches = [code for name, code in _COUNTRIES.items() if f" {name} " in words]
        if len(text) == 2 and text.isalpha():
            return text.upper()
        if matches:
            return matches[-1]
    # filings.xbrl.org names its documents so: LEI-2022-03-31-ESEF-GB-0.json
    *_, code, _ = ["", *document.label.split("-")] if "-" in document.label else ["", "", ""]
    return code if len(code) == 2 and code.isupper() else document.register


def _year_end(facts: Sequence[Fact]) -> str | None:
    """MM-DD of the last whole year, or of the last balance sheet."""
    years = [fact.end for fact in facts if fact.months == _YEAR]
    days = years or [fact.end for fact in facts if not fact.months]
    if not days:
        return None
    day = f"{max(days):%m-%d}"
    return "02-28" if day == "02-29" else day


def _conventions(filings: Sequence[_Filing], config: XbrlConfig) -> pl.DataFrame:
    """CONVENTIONS: days are the true ones; only calendar years have a name that all share."""
    rows = []
    for company_id, year_end in (
        _companies(filings, config).select("company_id", "fiscal_year_end").iter_rows()
    ):
        rows.append(
            {
                "company_id": company_id,
                "named_by": None,
                "evidence": NamingEvidence.CALENDAR if year_end == _DECEMBER else None,
                "agreeing": 0,
                "disagreeing": 0,
                "example": None,
                "term_offset": None,
                "days": DaysKnown.STATED,
            }
        )
    return pl.DataFrame(rows, schema=CONVENTIONS.schema)


def _with_own_labels(
    series: pl.DataFrame, filings: Sequence[_Filing], config: XbrlConfig
) -> pl.DataFrame:
    """The series with the labels in the filer's language, and `untranslated` where a filer's own
    concept has no English label and its name need not be English."""
    local: dict[tuple[str, str], str] = {}
    unknown: set[tuple[str, str]] = set()
    for filing in filings:
        document, company = filing.document, f"{config.source}:{filing.entity}"
        if document.language == "en":
            continue
        for concept in {fact.concept for fact in filing.facts}:
            texts = document.labels.get(concept, {})
            if own := _in_language(texts, document.language):
                local[company, concept] = own
            if ":" in concept and _in_language(texts, "en") is None:
                unknown.add((company, concept))
    names, methods = [], []
    for company, concept, statement, method in series.select(
        "company_id", "concept", "statement", "label_method"
    ).iter_rows():
        own = local.get((company, concept))
        names.append(None if own is None else f"{statement}{SEPARATOR}{own}")
        is_unknown = (company, concept) in unknown
        methods.append(str(LabelMethod.UNTRANSLATED) if is_unknown else method)
    return series.with_columns(
        name_local=pl.Series(names, dtype=pl.String),
        label_method=pl.Series(methods, dtype=pl.String),
    )


def _ledger(
    file_rows: Sequence[LedgerRow],
    documents: Sequence[Document],
    filings: Sequence[_Filing],
    points: pl.DataFrame,
    lost: pl.DataFrame,
) -> tuple[list[LedgerRow], list[StageTally]]:
    """Rows and tallies of files, filings and facts; facts share a row per filing and reason."""
    rows = [*file_rows, *(LedgerRow(STAGE, "filing", f.name, Outcome.KEPT) for f in filings)]
    counted: Counter[tuple[str, str | None]] = Counter()
    for document in documents:
        for (entity, why), n in document.lost.items():
            counted[f"{entity or 'unknown'}-{document.digest[:8]}", str(why)] += n
    for name, reason in lost.iter_rows():
        counted[name, reason.replace("sec.", "xbrl.", 1)] += 1
    for name, n in points.group_by("document").len().iter_rows():
        counted[name, None] += n
    outcomes: Counter[Outcome] = Counter()
    for (name, reason), n in sorted(
        counted.items(), key=lambda item: (item[0][0], str(item[0][1]))
    ):
        outcome = Outcome.KEPT if reason is None else Outcome.REJECTED
        outcomes[outcome] += n
        rows.append(
            LedgerRow(STAGE, "fact", f"{name}:{reason or 'kept'}", outcome, reason=reason, n=n)
        )
    by_file = Counter(row.outcome for row in file_rows)
    kept = {Outcome.KEPT: len(filings)}
    return rows, [
        close(STAGE, StageKind.FILTER, "file", len(file_rows), by_file),
        close(STAGE, StageKind.FILTER, "filing", len(filings), kept),
        close(STAGE, StageKind.FILTER, "fact", sum(d.size for d in documents), outcomes),
    ]
