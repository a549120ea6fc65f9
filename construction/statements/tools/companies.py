"""Companies that fit a few words: by ticker, id, or name in any of its languages."""

from __future__ import annotations

import numpy as np

from construction.statements.tools.database import Database, Record
from construction.statements.tools.names import core, fold
from construction.statements.tools.results import Companies, CompanyHit, LookupLimits, Refusal
from construction.statements.tools.scores import Scores, closeness, similarity

_CUTOFF = 60.0
_BY_ID, _BY_NAME = 100.0, 99.9  # a ticker or id always stands before a name
_CORE = 0.9  # weight of the name without its legal form; the rest is the name as a whole


def discover_companies(
    database: Database,
    query: str,
    country: str | None = None,
    limit: int = 10,
    limits: LookupLimits | None = None,
) -> Companies | Refusal:
    """Companies by ticker, id or name, best first; exact tickers and ids before names.

    `country` keeps headquarters of one ISO 3166 alpha-2 code. Refused: a query without a letter
    or digit or longer than the limit, an unknown country, a limit out of range.
    """
    limits = limits or LookupLimits()
    if not 1 <= limit <= limits.companies:
        return Refusal(f"limit must be 1 to {limits.companies}.")
    refused = unreadable(query, limits)
    if refused:
        return refused
    known = sorted({record["country"] for record in database.companies if record["country"]})
    wanted = country.strip().upper() if country else None
    if wanted and wanted not in known:
        return Refusal(f"No company has its headquarters there. Known countries: {_listed(known)}.")
    scores = company_scores(database, query)
    kept = [
        place
        for place in np.flatnonzero(scores >= _CUTOFF).tolist()
        if wanted is None or database.companies[place]["country"] == wanted
    ]
    kept.sort(key=lambda place: (-scores[place], place))
    hits = tuple(_hit(database.companies[i], float(scores[i])) for i in kept[:limit])
    note = None if hits else _note(nearest_companies(database, query, limits.suggestions))
    return Companies(hits, len(kept), note)


def company_scores(database: Database, query: str) -> Scores:
    """0 to 100 for every company, in order of id."""
    scores = np.zeros(len(database.companies))
    bare = similarity(core(query), [key.core for key in database.names])
    full = closeness(fold(query), [key.folded for key in database.names])
    blended = (_CORE * bare + (1 - _CORE) * full).round(1)
    np.maximum.at(scores, [key.owner for key in database.names], np.minimum(blended, _BY_NAME))
    for place in database.exact.get(fold(query), ()):
        scores[place] = _BY_ID
    return scores


def nearest_companies(database: Database, query: str, limit: int) -> tuple[str, ...]:
    """The nearest companies by name or id as `id (name)`, however far they are."""
    ids = [fold(record["company_id"]) for record in database.companies]
    scores = np.maximum(company_scores(database, query), similarity(fold(query), ids))
    order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    chosen = (database.companies[place] for place in order[:limit])
    return tuple(f"{record['company_id']} ({record['name']})" for record in chosen)


def unreadable(query: str, limits: LookupLimits) -> Refusal | None:
    """A refusal of a query that is too long or says nothing."""
    if len(query) <= limits.query_chars and fold(query):
        return None
    return Refusal(
        f"query must have 1 to {limits.query_chars} characters, letters or digits in it."
    )


def _hit(record: Record, score: float) -> CompanyHit:
    fields = [name for name in CompanyHit.__dataclass_fields__ if name != "score"]
    return CompanyHit(**{name: record[name] for name in fields}, score=score)


def _note(near: tuple[str, ...]) -> str:
    return f"Nothing fits. Nearest: {'; '.join(near)}." if near else "There are no companies."


def _listed(names: list[str]) -> str:
    return ", ".join(names) or "none"
