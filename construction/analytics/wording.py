"""Does the question say what its steps do, and nothing that they do not do?

What is looked for are the words of the declaration (metrics, policies, names) and those of
`words.toml` (statistics, order, comparisons), in the language of the question. `signs_of` says
which entries of `said` in `words.toml` a programme needs in its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from construction.analytics import steps as s
from construction.analytics.contracts import Language
from construction.analytics.environment.declaration import Declaration, Metric, PolicyText
from construction.analytics.origins import columns_read, origin, placed_by
from construction.analytics.templates import words_table
from data.text.folding import fold_width
from data.text.numbers import NUMBER_WORDS
from data.text.scripts import SMALL_LETTERS

_OF_CLAUSE = {"quotes", "where", "rate"}
_ABOVE_OR_BELOW = {">": "above", ">=": "above", "<": "below", "<=": "below"}


def signs_of(program: s.Program, declaration: Declaration) -> set[str]:
    """The entries of `said` in `words.toml` for what the steps do."""
    signs = {sign for step in program for sign in _signs_of_step(step)}
    for step in program:
        for condition in getattr(step, "where", ()):
            signs.add(_ABOVE_OR_BELOW.get(condition.test, ""))
            if condition.test == "known":
                signs.add("reported")
            if _is_of_all(program, condition.value):
                signs.add("over_all")
    if any(
        declaration.is_in(column, "entities", "place")
        for column in placed_by(_without_policy_joins(program))
    ):
        signs.add("seat")
    if _averages_counts(program):
        signs.add("some")
    return signs & set(words_table()["said"])


def _without_policy_joins(program: s.Program) -> s.Program:
    """The programme without the joins that only bring what policies test: whose place counts for
    these, their documents say."""
    tested = {
        condition.column
        for step in program
        if isinstance(step, s.Policy)
        for clause in step.clauses
        for condition in clause.where
    }
    return tuple(
        s.Filter(source=step.source, where=step.where)
        if isinstance(step, s.Join) and tested and tested.issuperset(step.take)
        else step
        for step in program
    )


def _signs_of_step(step: s.StepOf) -> Iterator[str]:
    if isinstance(step, s.Statistic):
        yield step.function
    elif isinstance(step, s.Aggregate):
        yield from (function for function, _ in step.measures.values())
    elif isinstance(step, s.Correlate):
        yield step.method
    elif isinstance(step, s.Regress):
        yield "slope"
    elif isinstance(step, s.Rank):
        yield "high" if step.descending else "low"
    elif isinstance(step, s.Score):
        yield from _signs_of_score(step)
    elif isinstance(step, s.PolicyCount) and step.terms:
        yield "title"
    elif isinstance(step, s.Compare):
        yield step.result
    elif isinstance(step, s.Convert):
        yield {"over": "ratio", "percent_of": "percent"}.get(step.how, step.how)


def _signs_of_score(step: s.Score) -> Iterator[str]:
    for criterion in step.criteria:
        yield criterion.how
        if criterion.how == "min_max":
            yield "ends"
        if criterion.reverse:
            yield "reverse"


def _is_of_all(program: s.Program, value: object) -> bool:
    """Is a value a statistic of a whole table?"""
    number = s.step_number(value)
    step = program[number - 1] if number is not None and number <= len(program) else None
    return isinstance(step, s.Statistic) and not step.where and step.source[:1] != "$"


def _averages_counts(program: s.Program) -> bool:
    """Is a mean made of counts per group, which leave out groups with none?"""
    counted = {
        f"${number}"
        for number, step in enumerate(program, 1)
        if isinstance(step, s.PolicyCount) and step.by is not None
    }
    return any(
        isinstance(step, s.Statistic)
        and step.function in ("mean", "median", "min", "std")
        and step.source in counted
        for step in program
    )


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_ALWAYS = frozenset({0.0, 1.0, 100.0})  # ends of a scale, a whole in per cent
_SMALL = 12  # up to which a number may be a word


@dataclass(frozen=True, slots=True)
class Said:
    """A question taken apart: the metrics and policies that it names, and what else it says.

    `rest`: the question without the labels of metrics and policies and without the declared words
    that hold numbers.
    """

    language: Language
    question: str
    metrics: frozenset[str]
    policies: frozenset[str]
    names: Mapping[str, frozenset[str]]  # as written: the values that have that name
    rest: str

    @property
    def numbers(self) -> set[float]:
        """Numbers in digits."""
        return {float(text.replace(",", "")) for text in NUMBER.findall(self.rest)}

    @property
    def spelled(self) -> set[float]:
        """Small numbers in words."""
        if self.language == "en":
            words = SMALL_LETTERS.findall(self.rest.casefold())
            return {float(NUMBER_WORDS[w]) for w in words if NUMBER_WORDS.get(w, 99) <= _SMALL}
        digits = words_table()["ordinal"]["zh"]
        return {float(n) for n, word in digits.items() if word in self.rest}

    @property
    def ranks(self) -> set[float]:
        """The ordinals: 2 for “second-largest”."""
        table = words_table()["rank_words"][self.language]
        words = re.findall(table["pattern"], self.rest.casefold())
        return {float(table["numbers"].get(word, word)) for word in words}

    @property
    def tops(self) -> set[float]:
        """How many of the first are asked for: 3 for “the three provinces with the highest …”."""
        table = words_table()["tops"][self.language]
        words = (
            word for pair in re.findall(table["pattern"], self.rest.casefold()) for word in pair
        )
        return {float(table["numbers"].get(word, word)) for word in words if word}

    def has(self, words: Sequence[str]) -> bool:
        return any(says(word, self.rest) for word in words)


def says(phrase: str, text: str) -> bool:
    """Does a text say what a pattern describes, in small letters or in capitals?"""
    return re.search(phrase, text, re.I) is not None


def said_in(question: str, declaration: Declaration, language: Language) -> Said:
    """Take a question apart; the longest labels first, so that none is found inside another."""
    rest, named = fold_width(question), set[str]()
    metrics = {fold_width(metric.label[language]) for metric in declaration.metrics}
    policies = {fold_width(policy.label[language]) for policy in declaration.policies}
    for label in sorted(metrics | policies, key=lambda text: (-len(text), text)):
        shorter = re.sub(re.escape(label), " ¦ ", rest, flags=re.I)
        if shorter != rest:
            named.add(label)
        rest = shorter
    for key in {*declaration.words, *words_table()["words"]}:
        word = fold_width(declaration.says(key, language))
        if word and (any(map(str.isdecimal, word)) or key in ("money", "per_foreign")):
            rest = rest.replace(word, " ¦ ")
    return Said(
        language,
        fold_width(question),
        frozenset(m.name for m in declaration.metrics if fold_width(m.label[language]) in named),
        frozenset(p.name for p in declaration.policies if fold_width(p.label[language]) in named),
        _names(rest, declaration, language),
        rest,
    )


def _names(rest: str, declaration: Declaration, language: Language) -> dict[str, frozenset[str]]:
    """The declared names that stand in a text, and the values that they may mean."""
    at, values = (0 if language == "en" else 1), dict[str, set[str]]()
    for names in declaration.names.values():
        for value, pair in names.items():
            values.setdefault(fold_width(pair[at]), set()).add(value)
    if not values:
        return {}
    longest_first = "|".join(map(re.escape, sorted(values, key=lambda name: -len(name))))
    pattern = rf"(?<!\w)(?:{longest_first})(?!\w)" if language == "en" else longest_first
    return {name: frozenset(values[name]) for name in re.findall(pattern, rest)}


def unsaid(program: s.Program, said: Said, declaration: Declaration) -> Iterator[str]:
    """What the steps do and the question does not say: something else would fit its words."""
    for metric in _metrics_read(_without_dues(program), declaration):
        others = [m.name for m in declaration.metrics if _of(m) == _of(metric)]
        if not said.metrics.intersection(others):
            yield f"the metric {metric.name} is not in the question"
    for step in program:
        if isinstance(step, s.Policy):
            fitting = [p.name for p in declaration.policies if _is_of(step, p)]
            if not fitting:
                yield "a policy that nobody declared"
            elif not said.policies.intersection(fitting):
                yield f"the policy {fitting[0]} is not in the question"
        elif isinstance(step, s.PolicyCount):
            yield from (f"{t} is not in the question" for t in step.terms if t not in said.rest)
    known = said.numbers | said.spelled | said.ranks | _ALWAYS
    for number in sorted(numbers_of(program) - known):
        yield f"{number:g} is not in the question"
    yield from _years_unsaid(program, said, declaration)
    if said.has(words_table()["vague"][said.language]):
        yield "the question leaves open which ones it means"
    for name in _words_needed(program, declaration):
        words = fold_width(declaration.says(name, said.language).partition("{")[0].strip())
        if words and words.casefold() not in said.question.casefold():
            yield f"{words!r} is not in the question"
    for sign in sorted(signs_of(program, declaration)):
        words = words_table()["said"][sign]
        if not said.has(words[said.language]):
            yield f"the question does not say {words[said.language][0]!r} or the like"


def _without_dues(program: s.Program) -> s.Program:
    """The programme without what is due at the rate of a policy: that goes by a figure of its own,
    which stands in its documents."""
    return tuple(
        s.Filter(source=step.source)
        if isinstance(step, s.Convert) and step.by == "rate" and not step.by_value
        else step
        for step in program
    )


def other_question(program: s.Program, said: Said, declaration: Declaration) -> Iterator[str]:
    """What the question says and no step does."""
    read = {_of(metric) for metric in _metrics_read(program, declaration)}
    for metric in declaration.metrics:
        if metric.name in said.metrics and _of(metric) not in read:
            yield f"no step reads {metric.name}"
    texts = set(_texts_of(program))
    for name, values in sorted(said.names.items()):
        if not values & texts:
            yield f"no step uses the name {name}"
    applied = [step for step in program if isinstance(step, s.Policy)]
    for policy in declaration.policies:
        if policy.name in said.policies and not any(_is_of(step, policy) for step in applied):
            yield f"no step applies {policy.name}"
    for number in sorted(said.numbers - numbers_of(program) - _ALWAYS):
        yield f"no step uses the number {number:g}"
    for rank in sorted(said.ranks - _ranks_of(program)):
        yield f"no step takes rank {rank:g}"
    for top in sorted(said.tops - _ranks_of(program)):
        yield f"no step takes the first {top:g}"
    signs = signs_of(program, declaration)
    for sign, words in words_table()["said"].items():
        only = words.get(f"only_{said.language}", ())
        if sign not in signs and only and said.has(only):
            yield f"no step makes what {only[0]!r} or the like asks for"
    scales = words_table()["scales"][said.language]
    if said.has(scales):
        yield "the question names another scale than the guidelines"


def _is_of(step: s.Policy, policy: PolicyText) -> bool:
    """Are the clauses of a step those of a policy in some period?"""
    right = (clause for clause in policy.clauses if not clause.only)
    declared = [clause.model_dump(include=_OF_CLAUSE) for clause in right]
    # Who is left undecided, and nobody else: rates are all or nothing then.
    opened = [each | {"rate": rate} for each in declared for rate in (None, s.COVERED)]
    rates = {clause.rate for clause in step.clauses}
    declared += opened if rates <= {None, s.COVERED} else []
    return all(clause.model_dump(include=_OF_CLAUSE) in declared for clause in step.clauses)


def _words_needed(program: s.Program, declaration: Declaration) -> Iterator[str]:
    """The declared words for what the steps read, by their key in the declaration."""
    if any(isinstance(step, s.PolicyCount) for step in program):
        yield "notices"
    if _of_role(program, declaration, "entities"):
        yield "period"
    tables = s.tables_of(program)
    divides = any(isinstance(step, s.Compare) and _plain(step.second) for step in program)
    if divides and "abroad" in declaration.roles and declaration.roles["abroad"].table in tables:
        yield "per_foreign"


def _of(metric: Metric) -> tuple[str, str]:
    return metric.table, metric.column


def _metrics_read(program: s.Program, declaration: Declaration) -> list[Metric]:
    read = columns_read(program)
    return [metric for metric in declaration.metrics if _of(metric) in read]


def _texts_of(program: s.Program) -> Iterator[str]:
    for step in program:
        for condition in getattr(step, "where", ()):
            value = condition.value
            yield from (value if isinstance(value, tuple) else (str(value),))
        yield from getattr(step, "terms", ())


def _ranks_of(program: s.Program) -> set[float]:
    """The ranks up to which, or at which, rows are taken."""
    taken = {float(step.take) for step in program if isinstance(step, s.Rank)}
    conditions = (c for step in program for c in getattr(step, "where", ()))
    return taken | {float(c.value) for c in conditions if c.column == "rank" and _plain(c.value)}


def _plain(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers_of(program: s.Program) -> set[float]:
    """All numbers that steps name."""
    return _numbers_of(program) | _compared(program)


def _compared(program: s.Program) -> set[float]:
    """The numbers that rows are compared with."""
    return {
        float(c.value) for step in program for c in getattr(step, "where", ()) if _plain(c.value)
    }


def _years_unsaid(program: s.Program, said: Said, declaration: Declaration) -> Iterator[str]:
    """A year of policies has to stand beside the words for it, and leaves no year of accounts."""
    words = fold_width(declaration.says("notice_year", said.language))
    entities = _of_role(program, declaration, "entities")
    others_in_time = _of_role(program, declaration, "series", "abroad", "plans", "places")
    rest = said.rest
    conditions = [(step, c) for step in program for c in getattr(step, "where", ())]
    for step, condition in conditions if words else ():
        if isinstance(step, s.PolicyCount) and _plain(condition.value):
            phrase = rf"{re.escape(words)}\s*{condition.value}"
            if not re.search(phrase, rest):
                yield f"the year {condition.value} of the policies is not in the question"
            rest = re.sub(phrase, " ¦ ", rest)
    others = {float(text.replace(",", "")) for text in NUMBER.findall(rest)}
    for value in sorted(entities - others):
        yield f"the period {value:g} is not in the question"
    both = words_table()["both_periods"][said.language]
    for year in sorted(entities & others_in_time):
        mentions = len(re.findall(rf"(?<!\d){year:g}(?!\d)", rest))
        if mentions < 2 and not said.has(both):
            yield f"the period {year:g} stands there for something else"


def _of_role(program: s.Program, declaration: Declaration, *roles: str) -> set[float]:
    """The periods by which rows of tables in these roles are chosen."""
    return {
        float(c.value)
        for step in program
        if not isinstance(step, s.Compare)
        for c in step.where
        for role in roles
        if isinstance(c.value, int | float)
        and declaration.is_in(origin(program, step.source, c.column), role, "period")
    }


def _numbers_of(program: s.Program) -> set[float]:
    """The numbers in steps that the question has to state, but those of conditions on rows."""
    values: list[object] = []
    for step in program:
        if isinstance(step, s.Rank):
            values.append(step.take)
        elif isinstance(step, s.WhatIf):
            values.append(step.percent)
        elif isinstance(step, s.Compare):
            values += [step.first, step.second]
        elif isinstance(step, s.Convert) and step.by_value:
            values.append(step.by)
        elif isinstance(step, s.Score):
            values += [value for c in step.criteria for value in (c.weight, c.at)]
        values += [c.value for c in getattr(step, "where", ()) if c.column == "rank"]
    return {abs(float(value)) for value in values if _plain(value)}  # type: ignore[arg-type]
