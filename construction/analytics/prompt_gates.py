"""Gates over what a solver reads: does it give the answer away, or the data; does it fit?

What is first in a question has to be first in its steps (`_turned`): ratios, growth, groups.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from construction.analytics import steps as s
from construction.analytics.answers import beyond_guidelines, guideline_faults
from construction.analytics.candidates import PLACEHOLDER, Bench, Draft, Judged
from construction.analytics.environment.declaration import Declaration
from construction.analytics.origins import behind, columns_read, origin
from construction.analytics.scope import scope_faults
from construction.analytics.templates import read_templates, words_table
from construction.analytics.wording import (
    NUMBER,
    Said,
    numbers_of,
    other_question,
    said_in,
    says,
    signs_of,
    unsaid,
)
from data.contracts import Answer
from data.text.folding import fold_width
from data.text.scripts import SMALL_LETTERS

# A question with one of these names what is divided before what it is divided by.
_DIVIDED = {
    "en": re.compile(r"\bdivid|\bas a percentage of\b", re.I),
    "zh": re.compile(r"除以|占[^。]*百分比"),
}
_ONCE = re.compile(r"\bonce\b|weight 1\b|权重(?:为)?1(?!\d)")


def _turned(draft: Draft, said: Said, declaration: Declaration) -> Iterator[str]:
    """The steps that take two things the other way round than the question."""
    for number, step in enumerate(draft.program, 1):
        if isinstance(step, s.Compare):
            if step.result in ("ratio", "percent"):
                pair = (_columns(draft.program, v) for v in (step.first, step.second))
                is_turned = _is_divided_otherwise(draft, declaration, *pair)
            elif step.result == "growth":
                is_turned = _is_later_first(draft.program, step, declaration)
            else:
                is_turned = _is_other_group(draft.program, step) or (
                    step.result == "difference" and _is_named_later(draft.program, step, said)
                )
        elif isinstance(step, s.Convert) and step.how in ("over", "percent_of"):
            own = [origin(draft.program, step.source, str(c)) for c in (step.of, step.by)]
            pair = ({each} if each else set() for each in own)
            is_turned = _is_divided_otherwise(draft, declaration, *pair)
        elif isinstance(step, s.Score):
            is_turned = _is_weighted_otherwise(draft, step, declaration)
        else:
            continue
        if is_turned:
            yield f"step {number} takes it the other way round"


def _columns(program: s.Program, operand: s.Operand) -> set[tuple[str, str]]:
    number = s.step_number(operand)
    return columns_read(behind(program, number)) if number is not None else set()


def _at(draft: Draft, declaration: Declaration, column: tuple[str, str] | None) -> int:
    """Where the question names the metric of a column; -1 where it does not."""
    question = fold_width(draft.question).casefold()
    named = [m.label for m in declaration.metrics if (m.table, m.column) == column]
    labels = [fold_width(label[draft.language]).casefold() for label in named]
    return max((question.find(label) for label in labels), default=-1)


def _is_divided_otherwise(
    draft: Draft,
    declaration: Declaration,
    first: set[tuple[str, str]],
    second: set[tuple[str, str]],
) -> bool:
    if not _DIVIDED[draft.language].search(fold_width(draft.question)):
        return False
    mine = {at for c in first - second if (at := _at(draft, declaration, c)) >= 0}
    other = {at for c in second - first if (at := _at(draft, declaration, c)) >= 0}
    return len(mine) == len(other) == 1 and min(mine) > min(other)


def _years(program: s.Program, operand: s.Operand, declaration: Declaration) -> list[float]:
    """The years by which the steps behind an operand select rows."""
    number = s.step_number(operand)
    steps = behind(program, number) if number is not None else ()
    conditions = [c for step in steps for c in getattr(step, "where", ())]
    periods = {role.period for role in declaration.roles.values() if role.period}
    return [float(c.value) for c in conditions if c.column in periods]


def _is_later_first(program: s.Program, step: s.Compare, declaration: Declaration) -> bool:
    first, second = (_years(program, value, declaration) for value in (step.first, step.second))
    return bool(first and second) and max(first) < max(second)


def _is_other_group(program: s.Program, step: s.Compare) -> bool:
    """Is the first number that of the rows below what the second lies above?"""
    sides = []
    for operand in (step.first, step.second):
        number = s.step_number(operand)
        conditions = getattr(program[number - 1], "where", ()) if number is not None else ()
        sides.append({(c.column, str(c.value)): c.test[0] for c in conditions})
    first, second = sides
    return any(first[k] == "<" and second[k] == ">" for k in first.keys() & second.keys())


def _is_named_later(program: s.Program, step: s.Compare, said: Said) -> bool:
    """Is the second number of a difference of what the question names first?"""
    first, second = (
        {name for name, values in said.names.items() if values & texts}
        for texts in (_texts_behind(program, v) for v in (step.first, step.second))
    )
    mine, other = first - second, second - first
    if not mine or not other:
        return False
    return min(map(said.rest.find, mine)) > min(map(said.rest.find, other))


def _texts_behind(program: s.Program, operand: s.Operand) -> set[str]:
    """The texts by which the steps behind an operand select rows; none for a number."""
    number = s.step_number(operand)
    if number is None or not 1 <= number <= len(program):
        return set()
    conditions = [c for step in behind(program, number) for c in getattr(step, "where", ())]
    return {c.value for c in conditions if isinstance(c.value, str)}


def _is_weighted_otherwise(draft: Draft, step: s.Score, declaration: Declaration) -> bool:
    """Has the metric that the question weights first another weight in the steps?"""
    named = []
    for criterion in step.criteria:
        column = _counted(draft.program, step.source, criterion.column)
        at = _at(draft, declaration, column)
        if at >= 0:
            named.append((at, criterion.weight))
    if len(named) != 2:
        return False
    (_, first), (_, second) = sorted(named)
    question = fold_width(draft.question)
    heavy = next((w for w in (first, second) if w != 1), None)
    if heavy is None or first == second:
        return False
    weight = re.search(rf"(?<![\d.,]){heavy:g}(?![\d.,]\d|\d)", question)
    once = _ONCE.search(question)
    if weight is None:
        return False
    is_first_heavy = once is None or weight.start() < once.start()
    return (first == heavy) != is_first_heavy


def _counted(program: s.Program, source: str, column: str) -> tuple[str, str] | None:
    """The table and column behind a column, also behind a measure of groups."""
    number = s.step_number(source)
    while number is not None and 1 <= number <= len(program):
        step = program[number - 1]
        if isinstance(step, s.Aggregate) and column in step.measures:
            return origin(program[: number - 1], step.source, step.measures[column][1])
        if isinstance(step, s.Join) and column in step.take:
            return _counted(program[: number - 1], step.other, column)
        if isinstance(step, s.Compare):
            return None
        source = step.source
        number = s.step_number(source)
    return source, column


_CODE = re.compile(
    r"\b[A-Z]{1,2}\d{4,}\b|\b[a-z]+(?:_[a-z0-9]+)+\b|\b\w+\.(?:csv|parquet|txt|gz)\b"
)
_SENTENCE = re.compile(r"(?<=[.?!])\s+|(?<=[。？！；?!;])")
_NEAR = 0.05  # relative distance of a number that is the answer, only less exactly written
_EXACT = 0.001  # relative distance of a number that is what a step makes
_SCALES = (1.0, 1e-9, 1e-6, 1e-3, 1e-2, 1e2, 1e3, 1e6, 1e9)


def in_prompt(judged: Judged, bench: Bench) -> Iterator[str]:
    """An answer in the question or in what guidelines add, exactly or nearly."""
    draft = judged.draft
    more = beyond_guidelines(
        bench.declaration, draft.guidelines, draft.parts, draft.program, draft.language
    )
    prompt = fold_width(f"{draft.question} {more}")
    for pattern in words_table()["tells"][draft.language]:
        if says(pattern, prompt):
            yield "words that tell the answer"
    numbers = bench.said(draft).numbers | _numbers_in(more)
    unused = numbers - numbers_of(draft.program)
    for step, result in enumerate(judged.results, 1):
        if isinstance(result, bool) or not isinstance(result, int | float):
            continue
        if any(_is_near(number, float(result), _EXACT) for number in unused):
            yield f"the result of step {step}"
    for answer in judged.answers:
        if answer.type == "boolean":
            continue
        if any(_stands_in(form, prompt) for form in _forms(answer)) or _nearly(answer, unused):
            yield answer.part


def _numbers_in(text: str) -> set[float]:
    """Numbers in digits."""
    return {float(n.replace(",", "")) for n in NUMBER.findall(fold_width(text))}


def _forms(answer: Answer) -> list[str]:
    """How the answer may be written; of a list, all its members together."""
    if answer.type == "list":
        return ["\0".join(map(str, json.loads(answer.value)))]
    return [answer.value, *answer.aliases]


def _stands_in(form: str, text: str) -> bool:
    if re.fullmatch(r"-?[\d.]+", form):
        plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
        shown = (re.escape(number) for number in {form, _without_zeros(form)})
        return re.search(rf"(?<![\d.])(?:{'|'.join(shown)})(?!\d|\.\d)", plain) is not None
    return all(member.casefold() in text.casefold() for member in form.split("\0"))


def _without_zeros(form: str) -> str:
    return form.rstrip("0").rstrip(".") if "." in form else form


def _nearly(answer: Answer, numbers: set[float]) -> bool:
    """Is a number that no step uses the answer in other units, or rounded?"""
    if answer.type != "number":
        return False
    value = float(answer.value)
    return any(_is_near(number * scale, value, _NEAR) for number in numbers for scale in _SCALES)


def _is_near(number: float, value: float, distance: float) -> bool:
    return value != 0 and abs(number - abs(value)) <= distance * abs(value)


def leak(judged: Judged, bench: Bench) -> Iterator[str]:
    """A question that names a file, a column or noise."""
    draft = judged.draft
    more = beyond_guidelines(
        bench.declaration, draft.guidelines, draft.parts, draft.program, draft.language
    )
    for text in (draft.question, more):
        yield from _leaks(text, draft, bench.declaration)
    for sentence in _SENTENCE.split(fold_width(draft.question)):
        if sentence.strip() and not _is_needed(sentence.strip(), draft, bench.declaration):
            yield f"a sentence of {len(sentence)} characters that no step needs"


def _is_needed(sentence: str, draft: Draft, declaration: Declaration) -> bool:
    """Does a sentence ask, say something that steps use, or stand in a template?"""
    if sentence[-1] in "?？" or _is_of_template(sentence):
        return True
    said = said_in(sentence, declaration, draft.language)
    if said.metrics or said.policies or said.names or said.numbers:
        return True
    words = words_table()["said"]
    used = (words[sign][draft.language] for sign in signs_of(draft.program, declaration))
    return any(map(said.has, used)) or said.has(words_table()["asides"][draft.language])


def _is_of_template(sentence: str) -> bool:
    return any(pattern.fullmatch(sentence) for pattern in _template_sentences())


@lru_cache(maxsize=1)
def _template_sentences() -> tuple[re.Pattern[str], ...]:
    """The sentences of the templates, with anything short where they have a placeholder."""
    wordings = {fold_width(w) for t in read_templates() for w in (*t.en, *t.zh)}
    sentences = {part.strip() for w in wordings for part in _SENTENCE.split(w)} - {""}
    escaped = (re.escape(PLACEHOLDER.sub("\0", text)) for text in sorted(sentences))
    return tuple(re.compile(text.replace("\0", ".{1,80}")) for text in escaped)


def _leaks(text: str, draft: Draft, declaration: Declaration) -> Iterator[str]:
    code = _CODE.search(text)
    if code is not None:
        yield f"{len(code[0])} characters that look like a column or file"
    for name in _file_names(declaration):
        if name in text.casefold():
            yield "a file"
    names, usual = _column_names(declaration), _usual_words(declaration)
    for name in sorted(names):
        own = re.escape(name)
        is_ordinary = name.casefold() in usual
        form = rf"[(\"'`“‘「『]{own}[)\"'`”’」』]" if is_ordinary else rf"(?<!\w){own}(?!\w)"
        if re.search(form, fold_width(text), 0 if is_ordinary else re.I | re.A):
            yield "a column"
    for word in undeclared(words_table()["leaks"][draft.language], declaration):
        if says(rf"(?<!\w)(?:{word})s?(?!\w)" if word.isascii() else word, text):
            yield f"the word {word}"


def undeclared(patterns: Sequence[str], declaration: Declaration) -> list[str]:
    """The patterns of words that the environment does not use for its own things."""
    own = "\n".join(sorted(_usual_words(declaration, joined=True)))
    return [pattern for pattern in patterns if not says(pattern, own)]


def _file_names(declaration: Declaration) -> set[str]:
    """Names of files that are no ordinary words: those with digits or joined words."""
    names = {file.path.rpartition("/")[2].casefold() for file in declaration.files.values()}
    stems = {name.partition(".")[0] for name in names}
    joined = {name.replace("_", " ") for name in stems if "_" in name}
    return {
        name for name in names | stems if any(char.isdecimal() or char in "_.-" for char in name)
    } | joined


@lru_cache(maxsize=4)
def _ordinary_words() -> frozenset[str]:
    """The words of the templates, in lower case."""
    wordings = " ".join(w for t in read_templates() for w in (*t.en, *t.zh))
    return frozenset(SMALL_LETTERS.findall(wordings.casefold()))


def _column_names(declaration: Declaration) -> set[str]:
    """Names of columns, in files or tables."""
    return {
        name
        for table in declaration.tables
        for column in table.columns
        for name in (column.source, column.name)
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]+", name)
    }


def _usual_words(declaration: Declaration, *, joined: bool = False) -> set[str]:
    """The words of questions, in lower case: columns of that name tell nothing unless quoted."""
    words = {word for pair in declaration.words.values() for word in pair.values()}
    words |= {m.label[language] for m in declaration.metrics for language in m.label}
    words |= {p.label[language] for p in declaration.policies for language in p.label}
    words |= {name for of in declaration.names.values() for pair in of.values() for name in pair}
    if joined:
        return words
    return {*_ordinary_words(), *SMALL_LETTERS.findall(" ".join(words).casefold())}


def mismatch(judged: Judged, bench: Bench) -> Iterator[str]:
    """Guidelines that do not follow from the parts of the answer."""
    draft = judged.draft
    yield from guideline_faults(
        bench.declaration,
        draft.guidelines,
        draft.parts,
        judged.answers,
        draft.program,
        draft.language,
    )


def other_words(judged: Judged, bench: Bench) -> Iterator[str]:
    """A question that says what no step does."""
    draft = judged.draft
    said, terms = (
        bench.said(draft),
        [t for step in draft.program for t in getattr(step, "terms", ())],
    )
    yield from other_question(draft.program, said, bench.declaration)
    yield from _turned(draft, said, bench.declaration)
    for word in bench.vocabulary.unknown(draft.question, draft.language, terms):
        yield f"{word!r} is not a word of the environment"


def unsaid_words(judged: Judged, bench: Bench) -> Iterator[str]:
    """A question that leaves out what its steps do, so that something else fits it too."""
    draft = judged.draft
    yield from unsaid(draft.program, bench.said(draft), bench.declaration)
    yield from scope_faults(draft.program, draft.question, bench.declaration, draft.language)
