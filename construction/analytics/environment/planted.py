"""Policies for an environment that has none: invented documents, and the clauses that they state.

Scope, limits, an exception, an exception to it, and a change at some date are drawn by key from the
data, so that each clause has an effect. What is drawn is written into sentences of several forms
(`policies.toml`), and each clause quotes the sentences that state it: the declaration refuses a
clause whose numbers and names do not stand in its quotes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from construction.analytics.environment.declaration import Declaration, Metric
from data.errors import ConfigError
from data.randomness import keyed_generator
from data.text.lexicon import load_table

FILE = "rules"
_CLEAR = 0.01  # relative distance of a limit from the next figure
_RATES = (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75)


@dataclass
class _Paper:
    """A document in the making."""

    name: str
    lines: list[str] = field(default_factory=list)

    def say(self, sentence: str, *more: str) -> dict[str, str]:
        """Add a numbered section; returns its first sentence as a quote."""
        self.lines.append(f"{len(self.lines) - 1}. {' '.join([sentence, *more])}")
        return {"document": self.name, "says": sentence}


@dataclass
class _Writer:
    """What is drawn for one policy: its forms, and figures of the environment."""

    declaration: Declaration
    tables: Mapping[str, pl.DataFrame]
    generator: np.random.Generator
    words: Mapping[str, Any]

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.generator.integers(len(choices)))]

    def metric(self, role: str, family: str) -> Metric:
        table = self.declaration.roles[role].table
        own = [m for m in self.declaration.metrics if m.table == table]
        fitting = [m for m in own if not m.families or family in m.families]
        if not fitting:
            raise ConfigError(
                f"{self.declaration.name}: found no {role} metric in the family {family}; "
                "expected one for planted policies. Declare it in [[metrics]]."
            )
        return self.pick(fitting)  # type: ignore[no-any-return]

    def limit(self, metric: Metric, low: float, high: float) -> float:
        """A round figure between two quantiles, with none of the figures near it."""
        cells = self._of_entities(metric)
        for digits in (1, 2, 3):
            for share in self.generator.uniform(low, high, 12):
                at = float(f"{float(cells.quantile(share) or 0):.{digits}g}")
                beyond = (cells < at).sum() / max(len(cells), 1)
                if low / 2 <= beyond <= high + 0.1 and not self._is_crowded(cells, at):
                    return at
        return float(f"{float(cells.quantile((low + high) / 2) or 0):.3g}")

    def _of_entities(self, metric: Metric) -> pl.Series:
        """The figures of a metric, of places once for each entity there."""
        own, column = self.declaration.roles["entities"], self.tables[metric.table][metric.column]
        if metric.table == own.table:
            return column.drop_nulls()
        shared = self.declaration.roles["places"].place
        there = self.tables[metric.table].select(shared, metric.column)
        rows = self.tables[own.table].select(pl.col(own.place).alias(shared))
        return rows.join(there, on=shared)[metric.column].drop_nulls()

    def _is_crowded(self, cells: pl.Series, at: float) -> bool:
        near = ((cells - at).abs() <= _CLEAR * max(abs(at), 1e-9)).sum()
        return near > min(_CLEAR * len(cells), 1)

    def amount(self, value: float, metric: Metric) -> str:
        written = f"{value:,.0f}" if value == int(value) else f"{value:g}"
        money = f" {self.declaration.says('money', 'en')}" if metric.kind == "money" else ""
        return f"{written}{money}"

    def kinds(self) -> list[str]:
        """Kinds of entities, the most frequent first."""
        role = self.declaration.roles["entities"]
        counts = self.tables[role.table][role.kind].drop_nulls().value_counts()
        ordered = counts.sort(["count", role.kind], descending=[True, False])
        return list(ordered[role.kind])

    def called(self, kind: str) -> str:
        return self.declaration.names.get("kind", {}).get(kind, (kind,))[0]


def planted_policies(
    declaration: Declaration, tables: Mapping[str, pl.DataFrame], n: int, seed: int
) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """Documents by their id, and the policies that they state, as a declaration has them.

    Raises ConfigError where the roles of entities with a kind, and of places, are not declared.
    """
    if declaration.column("entities", "kind") is None or "places" not in declaration.roles:
        raise ConfigError(
            f"{declaration.name}: roles: found no entity kind, or no places; expected both for "
            "planted policies. Declare them."
        )
    words = load_table(__package__, "policies.toml")
    texts, policies = dict[str, str](), list[dict[str, Any]]()
    for number in range(n):
        generator = keyed_generator(seed, "policies", f"{declaration.name}:{number}")
        writer = _Writer(declaration, tables, generator, words)
        scheme = words["schemes"][number % len(words["schemes"])]
        use = ("cover", "levy", "cover")[number % 3]
        rules, memo = _Paper(f"{scheme.lower()}_rules"), _Paper(f"{scheme.lower()}_memo")
        policies.append(_policy(writer, scheme, use, rules, memo))
        texts |= {paper.name: "\n\n".join(paper.lines) for paper in (rules, memo)}
    return texts, policies


def _policy(w: _Writer, scheme: str, use: str, rules: _Paper, memo: _Paper) -> dict[str, Any]:
    """One policy with its documents: rules with an exception to an exception, and a change."""
    size, measure = w.metric("entities", "size"), w.metric("places", "rank")
    kinds = w.kinds()
    chosen = sorted(kinds[: max(2, (len(kinds) * 2 + 2) // 3)])
    kind, years = chosen[int(w.generator.integers(len(chosen)))], _years(w)
    fields = {
        "scheme": scheme,
        "since": w.declaration.says("period", "en").replace("{year}", str(years[len(years) // 2])),
        "place": w.declaration.says("place", "en"),
        "entities": w.declaration.says("entities", "en"),
        "kinds": _listed([w.called(name) for name in chosen]),
        "kind": w.called(kind),
        "size": size.label["en"],
        "measure": measure.label["en"],
    }
    fields["Entities"] = fields["entities"][:1].upper() + fields["entities"][1:]
    title = w.words["titles"][use].format(**fields)
    rules.lines += [title, w.pick(w.words["open"]["forms"]).format(**fields)]
    memo.lines += [f"{scheme}: a change", "To all who keep the books of the scheme."]
    since = years[len(years) // 2]
    scheme_of = _Scheme(w, use, fields, size, measure, chosen, kind, since, rules, memo)
    labels = w.words["labels"]
    return {
        "name": f"{scheme.lower()}_{use}",
        "use": use,
        "label": {k: labels[k][use].format(**fields) for k in w.declaration.languages},
        "measure": size.name,
        "clauses": scheme_of.levy() if use == "levy" else scheme_of.cover(),
    }


def _years(w: _Writer) -> list[int]:
    role = w.declaration.roles["entities"]
    return sorted(w.tables[role.table][role.period].drop_nulls().unique().to_list())


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def _when(column: str, test: str, value: Any) -> dict[str, Any]:
    return {"column": column, "test": test, "value": value}


def _clause(
    quotes: list[dict[str, str]], *where: dict[str, Any], rate: float | None = None, **dates: int
) -> dict[str, Any]:
    set_rate = {} if rate is None else {"rate": rate}
    return {"quotes": quotes, "where": list(where), **set_rate, **dates}


@dataclass
class _Scheme:
    """A policy in the making: its papers, its two metrics, and what is drawn for its scope."""

    w: _Writer
    use: str
    fields: dict[str, str]
    size: Metric
    measure: Metric
    kinds: list[str]
    kind: str
    since: int
    rules: _Paper
    memo: _Paper

    def said(self, paper: _Paper, part: str, *, aside: bool = False, **values: str) -> Any:
        """Write a sentence of a form; returns it as a quote."""
        more = [self.w.pick(self.w.words["aside"]["forms"])] if aside else []
        form = self.w.pick(self.w.words[self.use][part])
        return paper.say(form.format(**{**self.fields, **values}), *more)

    def cover(self) -> list[dict[str, Any]]:
        """Who is taken in: kinds above a limit, not in large places, but the largest of a kind."""
        w, size, measure = self.w, self.size, self.measure
        first, large = w.limit(size, 0.15, 0.35), w.limit(size, 0.6, 0.8)
        later, bound = w.limit(size, 0.4, 0.55), w.limit(measure, 0.5, 0.75)
        base = self.said(self.rules, "base", limit=w.amount(first, size))
        places = self.said(self.rules, "places", aside=True, bound=w.amount(bound, measure))
        back = self.said(self.rules, "back", large=w.amount(large, size))
        raised = self.said(self.memo, "raised", aside=True, limit=w.amount(later, size))
        column, now = w.declaration.roles["entities"].kind, self.since
        kinds, kind = _when(column, "in", self.kinds), _when(column, "=", self.kind)
        at = partial(_when, size.column, ">=")
        return [
            _clause([base], kinds, at(first), rate=1.0, until=now - 1),
            _clause([base, raised], kinds, at(later), rate=1.0, since=now),
            _clause([places], _when(measure.column, ">", bound)),
            _clause([back], kind, at(large), rate=1.0),
        ]

    def levy(self) -> list[dict[str, Any]]:
        """Who owes what: kinds the full rate, less in small places, but one kind; not the small."""
        w, size, measure = self.w, self.size, self.measure
        bound, small = w.limit(measure, 0.3, 0.6), w.limit(size, 0.15, 0.35)
        low, rate, later = sorted(w.generator.choice(_RATES, 3, replace=False).tolist())
        base = self.said(self.rules, "base", rate=f"{rate:g}")
        places = self.said(self.rules, "places", bound=w.amount(bound, measure), low=f"{low:g}")
        back = self.said(self.rules, "back", aside=True)
        none = self.said(self.rules, "small", limit=w.amount(small, size))
        raised = self.said(self.memo, "raised", aside=True, rate=f"{later:g}")
        column, now = w.declaration.roles["entities"].kind, self.since
        kinds, kind = _when(column, "in", self.kinds), _when(column, "=", self.kind)
        return [
            _clause([base], kinds, rate=rate, until=now - 1),
            _clause([base, raised], kinds, rate=later, since=now),
            _clause([base, places], kinds, _when(measure.column, "<", bound), rate=low),
            _clause([back, base], kind, rate=rate, until=now - 1),
            _clause([back, raised], kind, rate=later, since=now),
            _clause([none], _when(size.column, "<", small)),
        ]
