"""The verdict on texts, yes or no, and dates.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from construction.grading.answer_numbers import MAX_TEXT, AnswerReason, Verdict, is_refusal
from construction.grading.spec import AnswerSpec
from construction.statements.answers import lexicon
from data.text.dates import Moment, find_dates, read_date
from data.text.folding import fold_case, fold_spaces, fold_width

_MARKS = re.compile(r"[\s.,;:!?'\"“”‘’`´「」『』()\[\]_/\-–—。、・]+")
_FRAME = re.compile(
    r"(?:(?:the|my|final|correct|short) )*(?:answer|result|value) (?:is |was )?"
    r"|(?:it|this|that) (?:is|was) |(?:it|that) s |(?:答案|答え|回答)(?:是|は|为|為)? ?|the "
)
_POLITE = re.compile(r" ?(?:です|でした|である|だ|となります)\Z")
_COPULA = re.compile(r"(?:\b(?:is|was|are|were|equals|namely) (?:the )?|[はが是为為] ?)\Z")
_VERB = re.compile(r"(?: (?:is|was|are|were|has|had|shows|recorded|reported)\b| ?[はが是为為])")
_OTHERS = re.compile(
    r"\b(?:not|never|neither|nor|or|either|and|but|while|rather|instead|except|than|versus|vs)\b"
    r"|n t\b|不是|并非|並非|而不|或|または|もしくは|ではな|じゃな|しかし|但"
)


def compare_text(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A text or one of its aliases, perhaps framed by a sentence that names nothing else."""
    del question
    plain = loose(text[:MAX_TEXT])
    golds = [loose(gold) for gold in (spec.value, *spec.aliases)]
    if is_any(plain, golds):
        return Verdict(None, plain)
    if not plain:
        return Verdict(AnswerReason.MISSING)
    mentions = [gold for gold in golds if gold and _mention(gold).search(plain)]
    if is_refusal(text):
        return Verdict(AnswerReason.REFUSED, plain)
    if any(_states(plain, gold) for gold in mentions):
        return Verdict(None, plain)
    return Verdict(AnswerReason.AMBIGUOUS if mentions else AnswerReason.WRONG_VALUE, plain)


def loose(text: str) -> str:
    """Width, case, white space and punctuation do not count; other symbols (C++, %) do."""
    return _MARKS.sub(" ", fold_case(text)).strip()


def is_any(plain: str, golds: Sequence[str]) -> bool:
    """Is the text one of the golds, perhaps framed as "the answer is …"?"""
    bare = _POLITE.sub("", plain)
    frame = _FRAME.match(bare)
    forms = {plain, bare, bare[frame.end() :] if frame else bare}
    forms |= {form.removeprefix("the ") for form in forms}
    return any(gold in forms or gold.removeprefix("the ") in forms for gold in golds if gold)


def _mention(gold: str) -> re.Pattern[str]:
    """A pattern that finds the gold text whole."""
    before = r"(?<!\w)" if gold[0].isascii() else ""
    after = r"(?!\w)" if gold[-1].isascii() else ""
    return re.compile(before + re.escape(gold) + after)


def _states(plain: str, gold: str) -> bool:
    """Does one sentence say that the gold text is it, and name nothing else as an alternative?"""
    bare = _POLITE.sub("", plain)
    rest = _mention(gold).sub(" ", bare)
    if _OTHERS.search(rest) or lexicon.GUESS.search(rest):
        return False
    if bare.endswith(gold) and _COPULA.search(bare[: len(bare) - len(gold)]):
        return True
    return bare.startswith(gold) and _VERB.match(bare, len(gold)) is not None


# Yes or no

_YES = (
    *(
        "yes",
        "y",
        "true",
        "correct",
        "right",
        "affirmative",
        "はい",
        "そうです",
        "そうだ",
        "正しい",
    ),
    *("真", "是", "是的", "对", "對", "正确", "正確"),
)
_NO = (
    *("no", "n", "false", "incorrect", "wrong", "negative", "いいえ", "違う", "違います", "誤り"),
    *("偽", "正しくない", "不是", "否", "假", "不对", "不對", "错", "错误", "錯", "錯誤", "不正确"),
    *("不正確", "没有", "没", "非"),
)
_BOOLEAN = {
    fold_case(word): value for words, value in ((_YES, True), (_NO, False)) for word in words
}
_LEAD = re.compile(
    r"(?P<word>yes|no|true|false|correct|incorrect|right|wrong|はい|いいえ|是的|是|不是|对|對|不对|不對|"
    r"正确|正確|不正确|不正確|错误|错|否)(?=\s*(?:[,.;:!、。(\n—–-]|\Z))"
)
_SPOKEN = re.compile(
    r"(?P<no>\b(?:not|n't) (?:true|correct|right)\b)|\b(?:true|false|correct|incorrect|yes|no)\b"
)


def compare_boolean(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """Yes or no, in words of English, Chinese or Japanese."""
    del question
    gold = _BOOLEAN.get(loose(spec.value))
    given = _read_boolean(text[:MAX_TEXT])
    if isinstance(given, AnswerReason):
        return Verdict(given)
    return Verdict(None if given is gold else AnswerReason.WRONG_VALUE, str(given).lower())


def _read_boolean(text: str) -> bool | AnswerReason:
    plain = loose(text)
    bare = _POLITE.sub("", plain)
    frame = _FRAME.match(bare)
    for form in (plain, bare, bare[frame.end() :] if frame else bare):
        if form in _BOOLEAN:
            return _BOOLEAN[form]
    folded = fold_spaces(fold_case(text)).lstrip("*_\"'「“ ")
    lead = _LEAD.match(folded)
    if lead:
        return _BOOLEAN[lead["word"]]
    if is_refusal(text):
        return AnswerReason.REFUSED
    spoken = {False if match["no"] else _BOOLEAN[match[0]] for match in _SPOKEN.finditer(folded)}
    if len(spoken) == 1:
        return spoken.pop()
    return AnswerReason.AMBIGUOUS if spoken else AnswerReason.NO_VALUE


# Dates

_ERA = re.compile(r"(令和|平成|昭和)\s?([0-9]{1,2}|元)\s?年")
_ERA_STARTS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_JOINED = re.compile(r"(?<=[0-9])-(?=[A-Za-z]{3})|(?<=[A-Za-z]{3})-(?=[0-9]{4})")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_DIGITS = re.compile(r"[0-9]{8}")


def compare_date(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A date, as far as the gold value states one; as a text if that is not a date."""
    golds = [_moments(value) for value in (spec.value, *spec.aliases)]
    known = [moments[0] for moments in golds if len(moments) == 1]
    if not known:
        return compare_text(spec, text, question)
    if lexicon.GIVES_UP.search(fold_width(text[:MAX_TEXT])):
        return Verdict(AnswerReason.REFUSED)
    given = _moments(text[:MAX_TEXT])
    if not given:
        reason = AnswerReason.REFUSED if is_refusal(text) else AnswerReason.NO_VALUE
        return Verdict(reason)
    reading = ", ".join(map(str, given))
    if len(given) > 1:
        hit = any(_same_day(moment, gold) for moment in given for gold in known)
        return Verdict(AnswerReason.AMBIGUOUS if hit else AnswerReason.WRONG_VALUE, reading)
    return Verdict(_date_deviation(given[0], known), reading)


def _date_deviation(given: Moment, golds: Sequence[Moment]) -> AnswerReason | None:
    fitting = [gold for gold in golds if given.covers(gold)]
    if fitting:
        return AnswerReason.AMBIGUOUS if given.swapped and fitting[0].day else None
    partial = any(gold.covers(given) and given.year is not None for gold in golds)
    return AnswerReason.INCOMPLETE if partial else AnswerReason.WRONG_VALUE


def _same_day(given: Moment, gold: Moment) -> bool:
    return given.covers(gold) or gold.covers(given)


def _moments(text: str) -> list[Moment]:
    """The different dates of a text; a year alone counts where there is nothing else."""
    plain = _JOINED.sub(" ", _ERA.sub(_western, fold_width(text)))
    whole = read_date(_DIGITS.search(plain)[0] if _DIGITS.fullmatch(plain.strip()) else plain)  # type: ignore[index]
    if whole is not None:
        return [Moment(whole.year, whole.month, whole.day)]
    dated = [moment for _, _, moment in find_dates(plain) if moment.clock is None]
    if not dated:
        dated = [Moment(int(year)) for year in _YEAR.findall(plain)]
    return list(dict.fromkeys(dated))


def _western(match: re.Match[str]) -> str:
    count = 1 if match[2] == "元" else int(match[2])
    return f"{_ERA_STARTS[match[1]] + count}年"
