"""The verdict on lists: the ways in which a text can be a list, and the items compared.

Imports nothing but the standard library, text utilities and the reader of
`construction.grading.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from construction.grading.answers.lexicon import AnswerReason, Verdict, wording
from construction.grading.answers.markup import take_tables
from construction.grading.answers.numbers import compare_number, is_refusal
from construction.grading.answers.words import is_any, is_qualified, loose, only_states
from construction.grading.spec import AnswerSpec
from data.text.folding import fold_case, fold_width
from data.text.lexicon import pattern_of
from data.text.numbers import read_integer

_MAX_ITEMS = 1000  # of a list; more are cut off, and count as extra items
_MAX_LIST = 100_000  # characters of a list that are read
_MAX_SENTENCE = 2000  # characters of a list that may be part of a sentence

_SEPARATORS = (
    r"\n+",
    r"[;；]",
    r"、",
    r",(?![0-9]{3}(?![0-9]))|,(?=\s)|，",
    r"\s*(?:-+>|=+>|[→⇒＞>≻»])\s*",
    r"\s*[<＜≺]\s*",
    r"\s*\|\s*",
    r"\s*[/／]\s*",
    r"\s*[・·]\s*",
    r"\s+[&+]\s+",
)
_LEAD = pattern_of(
    r"^(?:(?:and|then|next|finally|lastly|last|first(?:ly)?|second(?:ly)?|third(?:ly)?|both|"
    r"followed by|及び|および|ならびに|以及|其次|最后是?)[\s:,]+"
    r"|(?:次いで|続いて|及び|および|ならびに|以及))+",
    re.I,
)
_JOINED = pattern_of(r"\s+and\s+|\s+&\s+|及び|および|ならびに|以及|[和与與及と]")
_INTRODUCTION = pattern_of(
    r"^[^\n]{0,200}?(?::|：|\b(?:are|is|was|were|by|namely|includes?|included|lists?|listed)\b"
    r"|为|是|は|に、)\s*"
)
_EXCLUDED = pattern_of(
    r"\b(?:not|never|no|neither|nor|except|excluding|excludes?|without|unlike|than|instead|but"
    r"|two of)\b|n['’]t\b|不是|并非|除|以外|ではな|ない|非",
    re.I,
)
_ENDING = pattern_of(r"(?:の順)?(?:です|でした|である|だ|となる|となります)?[\s。.]*\Z")
_CONNECTED = pattern_of(
    r"(?:[:：]|\b(?:are|is|was|were|by|namely|both|includes?|included|lists?|listed"
    r"|in|on|at|for|from|with|comprises?|comprised|(?:consists?|consisted) of)"
    r"|[はが為为是由に有在于於了][、,]?)\s*\Z",
    re.I,
)
_LAST_WORD = pattern_of(r"\b[a-z]+(?:ed|d|t|s)\Z")
_BESIDE = pattern_of(r"\s*(?:[,、;/&|<>→，；・-]|and\b|or\b|plus\b|with\b|followed\b|[和与及と或])")
_EDGE = " .\"'“”「」[]。"

_OFFERS_ANOTHER = pattern_of(
    r"\b(?:or|alternatively|either)\b|也可能|也许|或者|或是|还是|還是|または|又は|もしくは|あるいは|それとも",
)
_NEGATED = pattern_of(r"\b(?:no|not|never|without)\b|n['’]t\b|[没沒未無无]|な[いか]|せん", re.I)
_HONORIFIC = pattern_of(r"(?<=..)(?:氏|さん|様|先生|女士)\Z")

_RANK: tuple[AnswerReason | None, ...] = (
    None,
    AnswerReason.WRONG_ORDER,
    AnswerReason.MISSING_ITEMS,
    AnswerReason.EXTRA_ITEMS,
    AnswerReason.WRONG_VALUE,
    AnswerReason.MISSING,
)


def compare_list(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A list, in order if the specification asks for it."""
    text = text[:_MAX_LIST]
    golds = [_gold_items(value) for value in (spec.value, *spec.aliases)]
    if is_refusal(text) and not text.lstrip().startswith("["):
        return Verdict(AnswerReason.REFUSED)
    verdicts = [
        _list_verdict(spec, gold, given, question)
        for gold in golds
        for variant in _variants(text, gold, question)
        for given in _readings(variant)
    ]
    best = min(verdicts, key=lambda verdict: _RANK.index(verdict.reason))
    if best.reason is None:
        return best
    folded = fold_case(text)
    n_mentioned = sum(fold_case(item) in folded for item in golds[0])
    is_repeated = any(item and folded.count(fold_case(item)) > 1 for item in golds[0])
    if is_repeated and n_mentioned == len(golds[0]) and _OFFERS_ANOTHER.search(folded):
        return Verdict(AnswerReason.AMBIGUOUS, best.reading)
    return best


def _variants(text: str, gold: Sequence[str], question: str) -> Iterator[str]:
    """The text, without what introduces the list, and without a sentence around it."""
    yield text
    introduced = _INTRODUCTION.match(text)
    if introduced and not _EXCLUDED.search(introduced[0]):
        yield text[introduced.end() :]
    inner = _inside_sentence(fold_width(text), gold, question)
    if inner is not None:
        yield inner


def _inside_sentence(text: str, gold: Sequence[str], question: str) -> str | None:
    """From the first gold item to the last, if the words around only state the list."""
    folded = fold_case(text)
    if len(text) > _MAX_SENTENCE or len(folded) != len(text):
        return None
    places = [(folded.find(item), item) for item in map(fold_case, gold) if item]
    spans = [(at, at + len(item)) for at, item in places if at >= 0]
    if len(spans) < 2 or len(spans) < len(places):
        return None
    low, high = min(at for at, _ in spans), max(end for _, end in spans)
    before, after = text[:low].strip(" \"'“「"), text[high:]
    words = wording(question)
    if _NEGATED.search(question) and len(before.split()) > 1:
        return None  # "paid dividends in …", where the years without one are asked for
    verb = _LAST_WORD.search(before)
    introduced = (
        not before
        or _CONNECTED.search(before) is not None
        or (verb is not None and words.lower_case().has(verb[0]))
    )
    if not introduced or _BESIDE.match(after) or not only_states(f"{before} {after}", words):
        return None
    return text[low:high]


def _list_verdict(
    spec: AnswerSpec, gold: Sequence[str], given: Sequence[str], question: str
) -> Verdict:
    if not given:
        return Verdict(None if not gold else AnswerReason.MISSING)
    free, matched = list(range(len(given))), []
    for item in gold:
        is_equal = _item_test(spec, item, question)
        at = next((at for at in free if is_equal(given[at])), None)
        if at is not None:
            free.remove(at)
            matched.append(at)
    reading = "; ".join(given[:20])
    missing = len(gold) - len(matched)
    if missing or free:
        reason = AnswerReason.MISSING_ITEMS if not free else AnswerReason.EXTRA_ITEMS
        both = missing and free
        return Verdict(AnswerReason.WRONG_VALUE if both else reason, reading)
    in_order = matched == sorted(matched) or not spec.ordered
    return Verdict(None if in_order else AnswerReason.WRONG_ORDER, reading)


def _item_test(spec: AnswerSpec, gold: str, question: str) -> Callable[[str], bool]:
    """Whether an item equals a gold item: as a number if the gold item is one, else as text."""
    kind = "number" if _as_number(gold) else "text"
    item_spec = replace(spec, type=kind, value=gold, aliases=(), decimals=None)
    golds = [loose(gold)]
    if kind == "text":
        return lambda item: any(
            is_any(loose(form), golds)
            for form in (item, _without_note(item), _HONORIFIC.sub("", item))
        )
    return lambda item: compare_number(item_spec, item, question).reason is None


def _without_note(item: str) -> str:
    """Without a rank or figure at its end: "Japan (1st)", "Japan – 412 MW"."""
    note = _RANK_NOTE.search(item)
    return item if note is None or is_qualified(note[0]) else item[: note.start()]


def _as_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def _gold_items(value: str) -> list[str]:
    """The items of a gold list; a value that is no JSON array is one item."""
    loaded = _json_items(value)
    return [value] if loaded is None else loaded


def _json_items(text: str) -> list[str] | None:
    try:
        loaded = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    if not isinstance(loaded, list):
        return None
    return ["" if item is None else str(item) for item in loaded[: _MAX_ITEMS + 1]]


def _items(text: str) -> list[str]:
    """The items of a JSON array, of a table, of lines, or of a text with separators."""
    loaded = _json_items(text.strip()) if text.lstrip().startswith("[") else None
    if loaded is not None:
        return loaded
    listed = _column(text) or _numbered_items(text)
    if listed:
        return _bare(listed)
    for separator in _SEPARATORS:
        parts = _bare(re.split(separator, text)[: _MAX_ITEMS + 1])
        if len(parts) > 1:
            return parts
    return _bare([text])


def _bare(parts: Sequence[str]) -> list[str]:
    """The parts without bullets, conjunctions and marks; none that are empty."""
    bare = (
        _LEAD.sub("", _BULLET.sub("", part.strip())).strip(_EDGE + ",;、；，\n") for part in parts
    )
    return [part for part in bare if part]


def _readings(text: str) -> list[list[str]]:
    """The items, also without です at the end, and with the two sides of an "and" in the last one
    ("A, B and C") as items."""
    items = _items(text)
    if not items:
        return [items]
    readings = [items]
    for last in dict.fromkeys((items[-1], _ENDING.sub("", items[-1]))):
        pieces = [piece.strip(_EDGE) for piece in _JOINED.split(last)]
        readings += [[*items[:-1], last]]
        is_pair = len(pieces) == 2 or (len(items) == 1 and len(pieces) > 2)
        readings += [[*items[:-1], *pieces]] if is_pair and all(pieces) else []
    return readings


_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_MOST_MARKS = 500
_LETTERS = "abcdefghijklmnopqrst"
_HAN = "一二三四五六七八九十"
_RANKED = (
    rf"[(（](?P<inner>[0-9]{{1,2}}|[{_HAN}]{{1,2}}|[a-t])[)）]"
    r"|(?P<nth>[0-9]{1,2})(?:st|nd|rd|th|位|番目)\s*(?:[.):：、．-]|(?=\s))"
    rf"|第(?P<di>[{_HAN}]{{1,2}}|[0-9]{{1,2}})(?:位|名|大)?(?:\s*[:：、,，]|(?<=位)\s+)"
    r"|(?:no\.?|#)\s?(?P<no>[0-9]{1,2})\s*[:：.)]?"
    rf"|(?P<plain>[0-9]{{1,2}}|[{_HAN}]{{1,2}}|[a-t])(?:[.)．）](?![0-9])|[、:：](?=\s|[^\s0-9]))"
)
_MARK = pattern_of(rf"(?:(?<=^)|(?<=[\s,;、；，:：。]))(?:{_RANKED})\s*", re.I | re.M)
_CIRCLED_MARK = pattern_of(rf"(?P<circled>[{_CIRCLED}])\s*")
_LINE_NUMBER = pattern_of(r"^[ \t>]*([0-9]{1,2})[.)．）][ \t]*(?=[^\s0-9])", re.M)
_BULLET = pattern_of(rf"^\s*(?:[-*•·・▪◦–]\s+|・|(?:{_RANKED})\s*)", re.I)
_RANK_NOTE = pattern_of(
    r"\s*(?:[(（](?=[^()（）]*[0-9])[^()（）]{1,40}[)）]"
    r"|(?:\s[–—-]|[:：])\s*[$€£¥]?[0-9][0-9.,]*\s?[^\W\d_]{0,12}%?)\s*\Z"
)
_BARE_FIGURE = pattern_of(r"[-+(]?[$€£¥]?\s?[0-9][0-9,.\s]*[)%]?[^\W\d_]{0,8}\.?")


def with_plain_marks(text: str) -> str:
    """Circled numbers, and those at the start of lines, as (1): the form that cleaning keeps."""
    text = _CIRCLED_MARK.sub(lambda mark: f" ({_CIRCLED.index(mark['circled']) + 1}) ", text)
    return _LINE_NUMBER.sub(r"(\1) ", text)


def _numbered_items(text: str) -> list[str]:
    """The items behind the marks 1 to n, at least two, in the order of their numbers.

    Empty if the text is not numbered throughout: what stands before the first mark has to end with
    a colon or a line.
    """
    marks = list(_MARK.finditer(text))[:_MOST_MARKS]
    numbers = [_number(mark) for mark in marks]
    if len(marks) < 2 or sorted(numbers) != list(range(1, len(marks) + 1)):
        return []
    before = text[: marks[0].start()].strip(" ")
    if before and before[-1] not in ":：\n":
        return []
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    items = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
    return [items[numbers.index(number)] for number in sorted(numbers)]


def _number(mark: re.Match[str]) -> int:
    written = next(group for group in mark.groupdict().values() if group)
    if written.lower() in _LETTERS:
        return _LETTERS.index(written.lower()) + 1
    return read_integer(fold_width(written)) or 0


def _column(text: str) -> list[str]:
    """The only column of a text's only table that holds words, in the order of the rank column.

    Empty if there is no such table, or other text beside it than a title.
    """
    rest, tables = take_tables(text)
    if len(tables) != 1 or "\n" in rest.strip():
        return []
    rows = [row for row in tables[0].rows[1:] if row]
    width = min((len(row) for row in rows), default=0)
    columns = [[row[at].strip() for row in rows] for at in range(width)]
    worded = [cells for cells in columns if not all(map(_BARE_FIGURE.fullmatch, cells))]
    if len(worded) != 1:
        return []
    ranks = next((cells for cells in columns if _are_ranks(cells)), None)
    if ranks is None:
        return worded[0]
    return [cell for _, cell in sorted(zip(map(int, ranks), worded[0], strict=True))]


def _are_ranks(cells: list[str]) -> bool:
    numbers = [int(cell) for cell in cells if cell.isascii() and cell.isdigit()]
    return len(numbers) == len(cells) and sorted(numbers) == list(range(1, len(cells) + 1))
