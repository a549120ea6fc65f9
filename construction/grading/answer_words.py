"""The verdict on texts and dates.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from construction.grading.answer_frames import has_no_other_figure, is_qualified, only_states
from construction.grading.answer_numbers import MAX_TEXT, is_doubtful, is_refusal
from construction.grading.answer_reasons import AnswerReason, Verdict
from construction.grading.spec import AnswerSpec
from construction.statements.answers import lexicon
from construction.statements.answers.wording import Wording, wording
from data.text.dates import Moment, find_dates, read_date
from data.text.folding import fold_case, fold_width
from data.text.scripts import HAN_KANA

_MARKS = re.compile(r"[\s.,;:!?'\"“”‘’`´「」『』()\[\]_/\-–—。、・]+")
_AND_SIGN = re.compile(r"\s&\s")
_HAN_GAP = re.compile(f"(?<=[{HAN_KANA}]) +(?=[{HAN_KANA}])")
_COMMA = re.compile(r"[,;/|、\n，；]")
_VERB_WORD = re.compile(r"\b(?:is|was|were|are|by|acted|served)\b|[はが为為是由]")
_EDGE = " \n*_`\"'」”）)"
_LAST_FIRST = re.compile(r"([^\W\d_][\w'’-]*), ([^\W\d_][\w.'’ -]{0,40})")
_NOTE = re.compile(r"\s*\((?=[^()]*[0-9])[^()]{1,60}\)[\s.。]*\Z")
_FRAME = re.compile(
    r"(?:(?:the|my|final|correct|short) )*(?:answer|result|value) (?:is |was )?"
    r"|(?:it|this|that) (?:is|was) |(?:it|that) s |(?:答案|答え|回答)(?:是|は|为|為)? ?|the "
)
_POLITE = re.compile(r" ?(?:です|でした|である|だ|となります)\Z")
_COPULA = re.compile(r"(?:\b(?:is|was|are|were|equals|namely) (?:the )?|[はが是为為] ?)\Z")
_OTHERS = re.compile(
    r"\b(?:not|never|neither|nor|or|either|and|but|while|rather|instead|except|than|versus|vs"
    r"|some|say|said|former|old|previous|rival|competitor|predecessor|successor|deputy|vice)\b"
    r"|n t\b|不是|并非|並非|而不|或|または|もしくは|ではな|じゃな|しかし|但"
)


def compare_text(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A text or one of its aliases, perhaps framed by a sentence that names nothing else."""
    plain = loose(text[:MAX_TEXT])
    golds = [loose(gold) for gold in (spec.value, *spec.aliases)]
    forms = (text, _without_note(text[:MAX_TEXT]), _turned(text[:MAX_TEXT]))
    asks = text.rstrip(_EDGE).endswith(("?", "？")) and not spec.value.endswith(("?", "？"))
    if any(is_any(loose(form[:MAX_TEXT]), golds) for form in forms):
        return Verdict(AnswerReason.AMBIGUOUS if asks else None, plain)
    if not plain:
        return Verdict(AnswerReason.MISSING)
    mentions = [gold for gold in golds if gold and _mention(gold).search(plain)]
    if is_refusal(text):
        return Verdict(AnswerReason.REFUSED, plain)
    is_listed = _listed(text[:MAX_TEXT], mentions)
    if not asks and any(_states(plain, gold, wording(question), is_listed) for gold in mentions):
        return Verdict(None, plain)
    return Verdict(AnswerReason.AMBIGUOUS if mentions else AnswerReason.WRONG_VALUE, plain)


def loose(text: str) -> str:
    """Width, case, white space and punctuation do not count; other symbols (C++, %) do."""
    plain = _MARKS.sub(" ", _AND_SIGN.sub(" and ", fold_case(html.unescape(text)))).strip()
    return _HAN_GAP.sub("", plain)


def is_any(plain: str, golds: Sequence[str]) -> bool:
    """Is the text one of the golds, perhaps framed as "the answer is …"?"""
    forms = set(_forms(plain))
    forms |= {form.removeprefix("the ") for form in forms}
    return any(gold in forms or gold.removeprefix("the ") in forms for gold in golds if gold)


def unframed(text: str) -> Sequence[str]:
    """The text in the form of `loose`, as it is, and without "the answer is" or です."""
    return _forms(loose(text))


def _forms(plain: str) -> Sequence[str]:
    bare = _POLITE.sub("", plain)
    frame = _FRAME.match(bare)
    return (plain, bare, bare[frame.end() :] if frame else bare)


def _without_note(text: str) -> str:
    """Without one remark in brackets at the end that has a figure: "Acme (held 51.2%)"."""
    note = _NOTE.search(fold_width(text))
    return text if note is None or is_qualified(note[0]) else fold_width(text)[: note.start()]


def _turned(text: str) -> str:
    """A name with the last name first, as it is spoken: "Strand, Helena"."""
    name = _LAST_FIRST.fullmatch(text.strip())
    return text if name is None else f"{name[2]} {name[1]}"


def _mention(gold: str) -> re.Pattern[str]:
    """A pattern that finds the gold text whole."""
    before = r"(?<!\w)" if gold[0].isascii() else ""
    after = r"(?!\w)" if gold[-1].isascii() else ""
    return re.compile(before + re.escape(gold) + after)


def _listed(text: str, golds: Sequence[str]) -> bool:
    """Does a comma, slash or line stand beside one of these texts, as between items of a list?"""
    marked = _MARKS.sub(
        " ", _COMMA.sub("§", _AND_SIGN.sub(" and ", fold_case(html.unescape(text))))
    )
    named = "|".join("[ §]+".join(map(re.escape, gold.split())) for gold in golds)
    return (
        bool(golds) and re.search(rf"§ ?(?:{named})|(?:{named}) ?§", marked.strip(" §")) is not None
    )


def _states(plain: str, gold: str, words: Wording, is_listed: bool) -> bool:
    """Does one sentence say that the gold text is it, and name nothing else as an alternative?"""
    bare = _POLITE.sub("", plain)
    rest = _mention(gold).sub(" ", bare)
    if only_states(rest, words) and (not is_listed or _VERB_WORD.search(rest)):
        return True
    if _OTHERS.search(rest) or is_doubtful(rest) or not has_no_other_figure(rest, words):
        return False
    return bare.endswith(gold) and _COPULA.search(bare[: len(bare) - len(gold)]) is not None


# Dates

_ERA = re.compile(r"(令和|平成|昭和)\s?([0-9]{1,2}|元)\s?年")
_ERA_STARTS = {"令和": 2018, "平成": 1988, "昭和": 1925}
_JOINED = re.compile(r"(?<=[0-9])-(?=[A-Za-z]{3})|(?<=[A-Za-z]{3})-(?=[0-9]{4})")
_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_MAY = re.compile(r"\bMay\b")
_BOUND = re.compile(
    r"\b(?:before|after|until|till|prior to|no later than|by (?=[0-9A-Z]))|[?？]\s*\Z"
    r"|以前|以后|以降|より前|より後|之前|之后|までに?"
)
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
    deviation = _date_deviation(given[0], known)
    is_open = deviation is None and (_BOUND.search(text) or is_doubtful(_MAY.sub(" ", text)))
    return Verdict(AnswerReason.AMBIGUOUS if is_open else deviation, reading)


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
