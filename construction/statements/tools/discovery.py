"""The two discovery tools: companies that match a query, and series of one company."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from construction.statements.model import SEPARATOR
from construction.statements.tools.database import (
    QUERY_CHARS,
    SUGGESTIONS,
    Companies,
    CompanyHit,
    Database,
    Record,
    Refusal,
    Scores,
    SeriesHit,
    SeriesList,
    closeness,
    core,
    fiscal_text,
    fold_concept,
    in_katakana,
    similarity,
)
from data.text.folding import fold_words

_CUTOFF = 60.0
_BY_ID, _BY_NAME = 100.0, 99.9  # a ticker or id always ranks before a name
_CORE = 0.9  # weight of the name without its legal form; the rest is the name as a whole
_EXACT = 100.0


def discover_companies(
    database: Database,
    query: str,
    country: str | None = None,
    limit: int = 10,
) -> Companies | Refusal:
    """Companies by ticker, id or name, best first; exact tickers and ids before names.

    `country` keeps headquarters in one country (ISO 3166 alpha-2). Refused: a query without a
    letter or digit or longer than the limit, an unknown country.
    """
    refused = _unreadable(query)
    if refused:
        return refused
    known = sorted({record["country"] for record in database.companies if record["country"]})
    wanted = country.strip().upper() if country else None
    if wanted and wanted not in known:
        return Refusal(f"No company has its headquarters there. Known countries: {_listed(known)}.")
    scores = _company_scores(database, query)
    kept = [
        position
        for position in np.flatnonzero(scores >= _CUTOFF).tolist()
        if wanted is None or database.companies[position]["country"] == wanted
    ]
    kept.sort(key=lambda position: (-scores[position], position))
    hits = tuple(_company_hit(database.companies[i], float(scores[i])) for i in kept[:limit])
    note = None if hits else _note(_nearest_companies(database, query))
    return Companies(hits, len(kept), note)


def _company_scores(database: Database, query: str) -> Scores:
    """0 to 100 for every company, in order of id; names in hiragana are also read as katakana."""
    kana = in_katakana(query)
    scores = _name_scores(database, query)
    return scores if kana == query else np.maximum(scores, _name_scores(database, kana))


def _name_scores(database: Database, query: str) -> Scores:
    scores = np.zeros(len(database.companies))
    bare = similarity(core(query), [key.core for key in database.names])
    full = closeness(fold_words(query), [key.folded for key in database.names])
    blended = (_CORE * bare + (1 - _CORE) * full).round(1)
    np.maximum.at(scores, [key.owner for key in database.names], np.minimum(blended, _BY_NAME))
    for position in database.exact.get(fold_words(query), ()):
        scores[position] = _BY_ID
    return scores


def _nearest_companies(database: Database, query: str) -> tuple[str, ...]:
    """The nearest companies by name or id as `id (name)`, however distant they are."""
    ids = [fold_words(record["company_id"]) for record in database.companies]
    scores = np.maximum(_company_scores(database, query), similarity(fold_words(query), ids))
    order = sorted(range(len(scores)), key=lambda position: (-scores[position], position))
    chosen = (database.companies[position] for position in order[:SUGGESTIONS])
    return tuple(f"{record['company_id']} ({record['name']})" for record in chosen)


def _unreadable(query: str) -> Refusal | None:
    """A refusal of a query that is too long or has no letters or digits; else None."""
    if len(query) <= QUERY_CHARS and fold_words(query):
        return None
    return Refusal(f"query must have 1 to {QUERY_CHARS} characters, letters or digits in it.")


def _company_hit(record: Record, score: float) -> CompanyHit:
    fields = [name for name in CompanyHit.__dataclass_fields__ if name != "score"]
    return CompanyHit(**{name: record[name] for name in fields}, score=score)


def _note(near: tuple[str, ...]) -> str:
    return f"Nothing fits. Nearest: {'; '.join(near)}." if near else "There are no companies."


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"


def discover_company_series(
    database: Database,
    company_id: str,
    query: str | None = None,
    category: str | None = None,
    limit: int = 50,
) -> SeriesList | Refusal:
    """Series of a company by name, label or tag, best first; all of them without a query.

    `category` keeps one of the categories. Refused: an unknown company or category (with the
    nearest ones), a query that is too long or empty.
    """
    company_id, hint = named_company(database, company_id)
    refused = unknown_company(database, company_id)
    if refused is None and query is not None:
        refused = _unreadable(query)
    if refused:
        return refused
    series = database.series_of(company_id)
    if category is not None:
        known = sorted(series["category"].drop_nulls().unique())
        fitting = [name for name in known if fold_words(name) == fold_words(category)]
        if not fitting:
            return Refusal(f"This company has no such category. It has: {', '.join(known) or '-'}.")
        series = series.filter(pl.col("category") == fitting[0])
    listed = _series_list(database, company_id, series.to_dicts(), query, limit)
    return replace(listed, note=" ".join(note for note in (hint, listed.note) if note) or None)


def named_company(database: Database, company_id: str) -> tuple[str, str | None]:
    """The company_id that is meant, and a hint if a ticker or a register number was given."""
    if database.company(company_id) is None:
        fitting = database.exact.get(fold_words(company_id), ())
        if len(fitting) == 1:
            meant = database.companies[fitting[0]]["company_id"]
            return meant, f"Read as company_id {meant}; use that from now on."
    return company_id, None


def unknown_company(database: Database, company_id: str) -> Refusal | None:
    """A refusal with the nearest ids if there is no such company."""
    if database.company(company_id) is not None:
        return None
    if len(company_id) > QUERY_CHARS or not fold_words(company_id):
        return Refusal("No such company_id. Call discover_companies to find it.")
    near = _nearest_companies(database, company_id)
    return Refusal("No such company_id. Call discover_companies to find it.", near)


def local_label(record: Record) -> str:
    """The last component of the name as filed; empty if the filing is in English."""
    return str(record["name_local"] or "").split(SEPARATOR)[-1]


def series_scores(series: Sequence[Record], query: str) -> Scores:
    """0 to 100 for each series, by its full name, its label, the filed label, or its tag."""
    folded = fold_words(query)
    forms = (
        [fold_words(record["name"]) for record in series],
        [fold_words(record["label"]) for record in series],
        [fold_words(local_label(record)) for record in series],
        [fold_concept(record["concept"]) for record in series],
    )
    scores = np.maximum.reduce([similarity(folded, form) for form in forms])
    exact = [query in (record["series_id"], record["name"]) for record in series]
    best: Scores = np.where(exact, _EXACT, np.minimum(scores, _EXACT - 0.1))
    return best


def _series_list(
    database: Database,
    company_id: str,
    series: Sequence[Record],
    query: str | None,
    limit: int,
) -> SeriesList:
    scores = None if query is None else series_scores(series, query)
    order = list(range(len(series)))
    kept, note = order, None
    if scores is not None:
        order.sort(key=lambda position: (-scores[position], position))
        kept = [position for position in order if scores[position] >= _CUTOFF]
        near = [str(series[position]["name"]) for position in order[:SUGGESTIONS]]
        note = None if kept else f"Nothing fits. Nearest: {'; '.join(near) or 'none'}."
    spans = _spans(database.points_of(company_id))
    hits = tuple(
        _series_hit(series[position], spans, None if scores is None else float(scores[position]))
        for position in kept[:limit]
    )
    return SeriesList(company_id, hits, len(kept), note)


def _spans(points: pl.DataFrame) -> Mapping[str, Record]:
    """Number of values, lengths, oldest and newest period of each series of a company."""
    grouped = points.group_by("series_id", maintain_order=True).agg(
        pl.len().alias("n"),
        pl.col("period_type").unique().sort().alias("types"),
        pl.struct("fiscal_year", "fiscal_period").first().alias("newest"),
        pl.struct("fiscal_year", "fiscal_period").last().alias("oldest"),
    )
    return {record["series_id"]: record for record in grouped.iter_rows(named=True)}


def _series_hit(record: Record, spans: Mapping[str, Record], score: float | None) -> SeriesHit:
    span: Mapping[str, Any] = spans.get(record["series_id"], {})
    return SeriesHit(
        series_id=record["series_id"],
        name=record["name"],
        name_local=record["name_local"],
        statement=record["statement"],
        category=record["category"],
        unit=record["unit"],
        dimensions=record["dimensions"],
        values=span.get("n", 0),
        period_types=tuple(kind for kind in span.get("types", ()) if kind is not None),
        first_period=fiscal_text(span.get("oldest")),
        last_period=fiscal_text(span.get("newest")),
        score=score,
    )
