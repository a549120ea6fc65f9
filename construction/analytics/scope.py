"""Does the question say of each figure whose it is: the scope of numerators, wholes and limits?

And does it say each limit beside its metric, each weight, and the rank of a figure?
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from construction.analytics import steps as s
from construction.analytics.contracts import Language
from construction.analytics.environment.declaration import Declaration, Metric, PolicyText
from construction.analytics.origins import behind, origin
from construction.analytics.templates import words_table
from construction.analytics.wording import says
from data.text.folding import fold_width

# Characters before a limit in which its metric stands, and up to it.
_BEFORE_LIMIT, _BESIDE_LIMIT = 160, 30
_NEAR, _AFTER = 24, 12  # characters before and behind a limit in which its words stand


def _limits_unsaid(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """A limit stands beside its metric, and its words say whether it belongs to what passes."""
    words = words_table()["limits"][language]
    for step in program:
        if isinstance(step, s.Compare):
            continue
        for condition in step.where:
            test, value = condition.test, condition.value
            if test not in words or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            column = origin(program, step.source, condition.column)
            labels = [
                fold_width(m.label[language])
                for m in declaration.metrics
                if (m.table, m.column) == column
            ]
            around = list(_around(text, value))
            if not around:
                continue
            if labels and not any(_ends_near(b, label) for label in labels for b, _ in around):
                yield f"the limit {value:g} does not stand beside its metric"
            said = [f"{before[-_NEAR:]}¦{after}" for before, after in around]
            if all(
                any(says(words[other], phrase) for other in words if other != test)
                and not says(words[test], phrase)
                for phrase in said
            ):
                yield f"the question says otherwise what passes the limit {value:g}"


def _ends_near(text: str, label: str) -> bool:
    """Does a label stand so near the end of a text that they belong together?"""
    at = text.casefold().rfind(label.casefold())
    return at >= 0 and len(text) - at - len(label) <= _BESIDE_LIMIT


def _weights_unsaid(program: s.Program, text: str, language: Language) -> Iterator[str]:
    """Each weight of a score is said, and of which rank a figure is."""
    words = words_table()
    for step in program:
        if isinstance(step, s.Score):
            weights = [criterion.weight for criterion in step.criteria]
            for weight in sorted(set(weights) - {1.0}):
                if len(list(_around(text, weight))) < weights.count(weight):
                    yield f"the weight {weight:g} is not said of each criterion"
            is_weighted = 1.0 in weights and says(words["weights"][language], text)
            if is_weighted and not says(words["weight_1"][language], text):
                yield "the weight 1 is not said"
        elif isinstance(step, s.Lookup):
            ranks = [c.value for c in step.where if c.column == "rank" and c.test == "="]
            for rank in ranks:
                forms = [
                    w for w, n in words["rank_words"][language]["numbers"].items() if n == rank
                ]
                forms = [rf"\b{w}\b" if language == "en" else f"第{w}" for w in forms]
                if rank != 1 and forms and not says("|".join(forms), text):
                    yield f"the rank {rank} is not said"


def _around(text: str, value: float) -> Iterator[tuple[str, str]]:
    """The text before and after each mention of a number in digits."""
    written = {f"{value:g}", f"{value:,.0f}"} if value == int(value) else {f"{value:g}"}
    for form in sorted(written):
        for match in re.finditer(rf"(?<![\d.,]){re.escape(form)}(?![\d]|[.,]\d)", text):
            before = text[max(0, match.start() - _BEFORE_LIMIT) : match.start()]
            yield before, text[match.end() : match.end() + _AFTER]


_CLAUSE = {"en": re.compile(r"(?<=[.?!;])\s+"), "zh": re.compile(r"(?<=[。?!;:])")}
_FIGURE = "§"  # stands for the label of a figure of companies
_BESIDE = 30  # characters between the name of a place abroad and its figure


def scope_faults(
    program: s.Program, question: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """What is narrower or wider in the steps than in the words."""
    text = fold_width(question)
    yield from _other_tables(program, text, declaration, language)
    yield from _places(program, text, declaration, language)
    yield from _states(program, text, declaration, language)
    yield from _weights_unsaid(program, text, language)
    yield from _limits_unsaid(program, text, declaration, language)
    accounts = _table_of(declaration, "entities")
    figures = {fold_width(m.label[language]) for m in declaration.metrics if m.table == accounts}
    for words in _phrases(declaration, language):  # “companies” in them is no mention of any
        text = text.replace(words, _FIGURE if words in figures else "¦")
    yield from _companies(program, text, declaration, language)
    yield from _seats(program, text, declaration, language)
    yield from _known(program, text, declaration, language)
    yield from _wholes(program, text, declaration, language)


def _phrases(declaration: Declaration, language: Language) -> list[str]:
    """Labels, studies and declared words but that for companies, longest first."""
    named: list[Metric | PolicyText] = [*declaration.metrics, *declaration.policies]
    words = [n.label[language] for n in named]
    words += [m.study[language] for m in declaration.metrics if m.study]
    words += [w[language] for key, w in declaration.words.items() if not key.startswith("entit")]
    return sorted({fold_width(w) for w in words}, key=lambda w: (-len(w), w))


def _spoken(value: str, declaration: Declaration, language: Language) -> str:
    """The name of a value in the language, as in declared names; the value itself without one."""
    at = 0 if language == "en" else 1
    pairs = (names[value] for names in declaration.names.values() if value in names)
    return fold_width(next((pair[at] for pair in pairs), value))


def _table_of(declaration: Declaration, role: str) -> str | None:
    return declaration.roles[role].table if role in declaration.roles else None


def _kinds_of(program: s.Program, declaration: Declaration, role: str) -> set[str]:
    """The kinds or branches by which rows of the table in a role are selected."""
    return {
        condition.value
        for step in program
        if not isinstance(step, s.Compare)
        for condition in step.where
        if condition.test == "="
        and isinstance(condition.value, str)
        and s.step_number(condition.value) is None
        and declaration.is_in(
            origin(program, step.source, condition.column), role, "kind", "branch"
        )
    }


def _other_tables(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """Counts of another table than that of companies are said to be of their kind themselves."""
    table = _table_of(declaration, "counts")
    labels = [fold_width(m.label[language]) for m in declaration.metrics if m.table == table]
    for value in sorted(_kinds_of(program, declaration, "counts")):
        name, head = re.escape(_spoken(value, declaration, language)), _any_of(labels)
        phrase = (
            rf"{head}\W+(?:in|of)\W+(?:the\W+)?{name}|{name}\W+{head}"
            if language == "en"
            else rf"{name}(?:行业)?的?.{{0,4}}{head}"
        )
        if not says(phrase, text):
            yield f"the question does not say of which kind the {table} are"


def _places(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """The figure of one place is said to be its figure, not that of all places."""
    own = words_table()["own_place"][language]
    for step in program:
        if not isinstance(step, s.Lookup) or s.step_number(step.source) is not None:
            continue
        for condition in step.where:
            if step.source != _table_of(declaration, "places") or condition.test != "=":
                continue
            if not isinstance(condition.value, str):
                continue
            labels = [
                fold_width(m.label[language])
                for m in declaration.metrics
                if (m.table, m.column) == (step.source, step.column)
            ]
            name = re.escape(_spoken(condition.value, declaration, language))
            word = fold_width(declaration.says("place", language))
            own_place = own.replace("PLACE", re.escape(word))
            phrases = [rf"(?:{own_place}|{name}(?:'s)?)\W*的?\W*{re.escape(b)}" for b in labels]
            phrases += [rf"{re.escape(b)}\W+(?:of|in)\W+(?:{name}|there)" for b in labels]
            if labels and not any(says(phrase, text) for phrase in phrases):
                yield f"the question does not say whose {step.column} is meant"


def _states(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """The figure of a place abroad stands beside its name."""
    table = _table_of(declaration, "abroad")
    labels = [fold_width(m.label[language]) for m in declaration.metrics if m.table == table]
    label = _any_of(labels)
    for step in program:
        if not isinstance(step, s.Lookup) or step.source != table or not labels:
            continue
        for condition in (
            c for c in step.where if c.column == declaration.column("abroad", "place")
        ):
            name = re.escape(_spoken(str(condition.value), declaration, language))
            form = rf"{name}.{{0,{_BESIDE}}}{label}|{label}\b[^.,;]{{1,{_BESIDE}}}{name}"
            if not says(form, text):
                yield f"the question does not say whose {step.column} is meant"


def _any_of(labels: list[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, labels))})"


def _heads(declaration: Declaration, language: Language) -> str:
    """What entities are called, as a pattern."""
    own = [fold_width(declaration.says(key, language)) for key in ("entities", "entity")]
    usual = [words_table()["heads_of_companies"][language]] if "compan" in own[0] else []
    end = r"\b(?!'s)" if language == "en" else ""
    return f"(?:{'|'.join([*(re.escape(word) + end for word in own), *usual])})"


def _mentions(
    text: str, name: str, declaration: Declaration, language: Language
) -> Iterator[tuple[int, bool]]:
    """Where companies are mentioned, and whether they are said to be of the kind `name`."""
    for match in re.finditer(_heads(declaration, language), text, re.I):
        before, after = text[: match.start()], text[match.end() :]
        if language == "en":
            is_own = says(rf"^\W+in\W+(?:the\W+)?{re.escape(name)}\b", after)
            is_own = is_own or says(rf"{re.escape(name)}\W*$", before)
        else:
            is_own = re.search(rf"{re.escape(name)}(?:行业)?的?$", before) is not None
        yield match.start(), is_own


def _companies(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """Where companies of one kind are meant throughout, each clause about their figures says so."""
    kinds = _kinds_of(program, declaration, "entities")
    if len(kinds) != 1 or _is_of_some_only(program, declaration):
        return
    name = _spoken(next(iter(kinds)), declaration, language)
    words = words_table()["heads_of_companies"]
    figures = rf"{words[f'figures_{language}']}|{_FIGURE}"
    hypothesis = re.search(words[f"hypothesis_{language}"], text, re.I)
    is_for_all = hypothesis is not None and name.casefold() in hypothesis[0].casefold()
    for clause in () if is_for_all else _CLAUSE[language].split(text):
        is_meant = False
        for at, is_own in _mentions(clause, name, declaration, language):
            is_meant = is_meant or is_own
            is_other = says(words[f"these_{language}"], clause[:at])
            if not (is_meant or is_other) and says(figures, clause):
                yield "companies are mentioned and not said to be of their kind"
                return


def _seats(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """Companies of one place are said to be based there where they are mentioned."""
    is_of_place = any(
        declaration.is_in((str(step.source), condition.column), "entities", "place")
        and condition.test == "="
        and s.step_number(condition.value) is None
        for step in program
        if not isinstance(step, s.Compare)
        for condition in step.where
    )
    seat = words_table()["heads_of_companies"][f"seat_{language}"]
    seat = seat.replace("HEAD", _heads(declaration, language))
    if is_of_place and not says(seat, text):
        yield "the companies are not said to be based in the place"


def _known(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """A whole that leaves out companies without a place says so."""
    for step in program:
        if not (isinstance(step, s.Compare) and step.result == "percent"):
            continue
        number = s.step_number(step.second)
        if number not in _measures(program, declaration):
            continue
        behind_it = behind(program, number)
        is_joined = any(isinstance(other, s.Join) for other in behind_it)
        tested = any(
            c.column == declaration.column("entities", "place") and c.test == "known"
            for other in behind_it
            for c in getattr(other, "where", ())
        )
        if (is_joined or tested) and not says(words_table()["known"][language], text):
            yield "the whole is not said to be of companies with a known place"


def _is_of_some_only(program: s.Program, declaration: Declaration) -> bool:
    """Do some of the figures of companies look at one kind, and others at all?"""
    sides = [_is_of_kind(program, n, declaration) for n in _measures(program, declaration)]
    return any(sides) and not all(sides)


def _measures(program: s.Program, declaration: Declaration) -> list[int]:
    """The steps that make figures of the entities."""
    table, period = _table_of(declaration, "entities"), declaration.column("entities", "period")
    return [
        number
        for number, step in enumerate(program, 1)
        if isinstance(step, s.Statistic | s.Aggregate)
        and table in {t for other in behind(program, number) for t in s.reads_tables(other)}
        and (origin(program, step.source, period or "") or ("",))[0] == table
    ]


def _is_of_kind(program: s.Program, number: int, declaration: Declaration) -> bool:
    return bool(_kinds_of(_only_behind(program, number), declaration, "entities"))


def _only_behind(program: s.Program, number: int) -> s.Program:
    """Step `number` and those behind it in their places; other steps select nothing."""
    needed = {id(step) for step in behind(program, number)}
    return tuple(
        step
        if id(step) in needed or isinstance(step, s.Compare)
        else step.model_copy(update={"where": ()})
        for step in program
    )


def _wholes(
    program: s.Program, text: str, declaration: Declaration, language: Language
) -> Iterator[str]:
    """A share of companies of a kind in those of every kind has to say so, and the reverse."""
    kinds = _kinds_of(program, declaration, "entities")
    for step in program:
        if not (isinstance(step, s.Compare) and step.result in ("percent", "ratio")):
            continue
        first, second = (s.step_number(value) for value in (step.first, step.second))
        measures = _measures(program, declaration)
        if first not in measures or second not in measures or len(kinds) != 1:
            continue
        if _is_of_kind(program, first, declaration) == _is_of_kind(program, second, declaration):
            continue
        name = _spoken(next(iter(kinds)), declaration, language)
        mentions = [is_own for _, is_own in _mentions(text, name, declaration, language)]
        if all(mentions):
            yield "part and whole are of the same companies in the question, and not in the steps"
