"""What a request asks for, demand by demand, in its own words and all of it.

Headings, background and what introduces a list are no demands. The items of a list that is asked
for are, however they are worded; items of a word or two are read together with what introduces
them. Lines that were wrapped are one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

from construction.judging.contracts import Case
from construction.judging.lexicon import table
from construction.judging.reading import Ask, Reading, orders_in_passing, read
from construction.judging.rules.orders import leads_over, orders_of
from construction.judging.rules.rewriting import without_lead_ins
from construction.judging.rules.sentences import is_noise
from data.text.scripts import count_han, has_han
from data.text.wrapping import begins_item

_PATH = re.compile(r"(?<![\w.])[\w.~-]*/[A-Za-z\d_./~-]*")
_FENCED = re.compile(r"^```[^\n]*\n(?:(?!```)[^\n]*\n)*```[^\n]*$", re.MULTILINE)
_MARK = re.compile(r"^\s*(?:[-*•·+>]\s|[(（]?\d{1,2}[.)）、](?!\d)\s*|[a-z]\)\s)")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s|\*\*[^*]{1,60}\*\*\s*[:：]?\s*$|【[^】]{1,20}】\s*$)")
_MARKUP = re.compile(r"^[\s#*【]+|[\s#*】]+$")
_ENDS = re.compile(r"[.!?;。！？；][\"'”’)\]*`]*\s*$")
_INTRODUCES = re.compile(r"[:：]\**\s*$")
_LOCATED = re.compile(  # "In the second sheet list …"
    r"(?i)in (?:the|each|every) [^,.;]{1,40}?\b(?:section|sheet|part|tab|file|report|column)s?,? "
    r"|for (?:each|every) [^,.;]{1,40}, |for the (?:top|first|last|best|worst) \w+,? "
    r"|(?:first|second|third|then|finally|also),? "
    r"|在[^，。；]{1,20}?[里中内]，?\s?"
)
_INLINE = re.compile(
    r"(?<=[:,;.：；，。])[ ]?(?:[(（]?[1-9]\)|[（(][1-9]）|[1-9][.、](?!\d))\s*(?=[^\s\d])"
)
# A stop in a quotation ends no sentence of the request; it is kept under another sign.
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|「[^」\n]{1,300}」")
_SHORTENED = re.compile(
    r"\b(?:[A-Za-z]\.){2,}(?=[ -]+(?!(?:The|This|That|These|It|I|We|You|Use|Please|Do|If|For|In"
    r"|Then|Also|Each|All|Save|List|Write|Include|Give|Make|Keep|Add|Sort)\b)[A-Za-z\d])"
    r"|\b(?:[Nn][or]|[Ff]ig|[Ss]ec|[Aa]rt|[Vv]ol|[Ee]q|[Cc]h|pp?)\.(?= ?\d)"
    r"|\b(?:Inc|Ltd|Co|Corp|Dept|Jr|Sr|vs|approx|no|incl|etc|al|max|min)\.(?=,| (?:[a-z\d(]|vs\b))"
    r"|\b(?:Dr|Mrs?|Ms|Prof|St|Mt)\.(?= [A-Z])"
)
_HIDDEN = str.maketrans(".!?。！？", "\ue000\ue001\ue002\ue003\ue004\ue005")
_SEEN = {new: old for old, new in _HIDDEN.items()}
_ABBREVIATED = re.compile(r"(?:\b[A-Za-z]\.){2,}\s*$")
_ORDINAL = re.compile(
    r"(?i)(?:first|second|third|fourth|fifth|sixth|seventh|last|finally)(?:ly)?, "
    r"|第[一二三四五六七八九十]，"
)
_LIST = 3  # items in a line that make it a list
_WIDE = 45  # columns; a text with such lines was wrapped
_SAVING_WORDS = 8
_ADDED_WORDS = 25
_ITEM_WORDS = 3  # a longer item says what to do by itself
_HEAD_WORDS = 4


@dataclass
class _Block:
    """A paragraph or a list item as one line; `items` stand below it, `under` is its heading."""

    text: str
    under: str
    part: int
    items: list[str] = field(default_factory=list)
    indent: int = 0  # of its first item
    nests: bool = False  # are items set further in, below the last item?


def demands_of(case: Case) -> list[str]:
    """The demands of a request in order, each once; none if nothing reads as one."""
    named = [name for item in case.candidate.deliverables for name in item.name_hints]
    demands: list[str] = []
    for block in _blocks(case.request):
        demands += _of_block(block, named, has_inputs=bool(case.candidate.fixtures))
    plain = [" ".join(text.split()) for text in demands]
    orders = list(dict.fromkeys(order for text in plain for order in _orders(text, named)))
    return [order for order in orders if not _is("reading", order)] or orders


def _orders(demand: str, named: Sequence[str]) -> Iterator[str]:
    """The orders of a demand, without those that only say where to save, or lead over."""
    orders = _with_reading(orders_of(demand))
    for order in orders:
        nameless = _PATH.sub("", order)
        for name in named:
            nameless = nameless.replace(name, "")
        is_setup = len(orders) > 1 and _is("setup", order)
        if is_setup or (_is("aside", order) and not any(name in order for name in named)):
            continue
        if not leads_over(" ".join(nameless.replace("`", " ").split())):
            yield order


def _with_reading(orders: Sequence[str]) -> list[str]:
    """The orders, of which one that only reads what is at hand is put before the next one."""
    joined: list[str] = []
    for order in orders:
        if joined and _is("reading", joined[-1]):
            joined[-1] += f"{'，' if has_han(order) else ', '}{order}"
        else:
            joined.append(order)
    return joined


def _of_block(block: _Block, named: Sequence[str], *, has_inputs: bool) -> Iterator[str]:
    is_background = _is("background", block.under)
    readings = read(block.text)
    sentences = [sentence for sentence in readings if not is_noise(sentence)]
    wanted = [
        sentence
        for sentence in sentences
        if not _only_saves(sentence, named)
        and not (_is("setup", sentence.text) and len(orders_of(sentence.text)) == 1)
        and (
            _names(sentence, named)
            or _is_demand(sentence, block, alone=len(sentences) == 1, has_inputs=has_inputs)
        )
        and not (is_background and sentence.ask is not Ask.DIRECTIVE)
        and not _is("of_people", sentence.text.replace("’", "'"))
    ]
    texts = [_shown(text) for text in _whole(readings, wanted)]
    if not block.items:
        yield from texts
        return
    last = sentences[-1].text if sentences else block.text
    leads = bool(wanted) and wanted[-1].text == last
    is_head = bool(wanted) and _words(last) <= _HEAD_WORDS and not _is("telling", last)
    is_asked = leads or is_head or _is("asking", last) or _is("asking", block.under)
    yield from (text for text in texts if text != _shown(last))
    yield from _of_items(block.items, last, is_asked=is_asked, leads=leads)


def _whole(sentences: Sequence[Reading], wanted: Sequence[Reading]) -> Iterator[str]:
    """The wanted sentences with what follows them behind a semicolon.

    Of "First, …; second, …" all are wanted where two are: they count up what is.
    """
    counted = [item for item in sentences if _ORDINAL.match(item.text)]
    starts = {item.start for item in wanted}
    if len(counted) > 1 and wanted:
        starts |= {item.start for item in counted}
    parts: list[str] = []
    for item in sentences:
        if item.start in starts or (parts and parts[-1].endswith((";", "；"))):
            parts.append(item.text)
        if parts and not item.text.endswith((";", "；")):
            yield " ".join(parts)
            parts = []
    if parts:
        yield " ".join(parts)


def _of_items(items: Sequence[str], last: str, *, is_asked: bool, leads: bool) -> Iterator[str]:
    """The items of a list: together if they are words, one by one if they are sentences."""
    if not is_asked:
        readings = [sentence for item in items for sentence in read(item)]
        yield from (
            _shown(sentence.text) for sentence in readings if sentence.demands or sentence.requires
        )
        return
    if all(_words(item) <= _ITEM_WORDS for item in items):
        yield f"{_shown(last)} {'; '.join(items)}"
        return
    if leads and not _is("frame", last):
        yield _shown(last).rstrip(":： ")
    yield from map(_shown, items)


def _shown(text: str) -> str:
    return without_lead_ins(_MARK.sub("", text.strip())).strip().translate(_SEEN)


def _words(text: str) -> int:
    return len(text.split()) + (count_han(text) + 1) // 3


def _is_demand(sentence: Reading, block: _Block, *, alone: bool, has_inputs: bool) -> bool:
    """A short sentence that was added later is a requirement, unless it tells of something."""
    if (
        _MARK.sub("", sentence.text).rstrip().endswith((":", "："))
        and _words(sentence.text) <= _HEAD_WORDS
    ):
        return bool(block.items) and sentence.ask is Ask.DIRECTIVE
    if sentence.demands:
        return True
    if _is("obliging", sentence.text):
        return not _is("people", sentence.text)
    if sentence.requires:
        return not _is("telling", sentence.text)
    if _is("orders", sentence.text):
        return True
    located = _LOCATED.match(sentence.text)
    if located is not None and any(rest.demands for rest in read(sentence.text[located.end() :])):
        return True
    if has_inputs and orders_in_passing(sentence.text):
        return True
    added = block.part > 0 and alone and sentence.ask is Ask.NONE and sentence.words <= _ADDED_WORDS
    added = added and "inputs/" not in sentence.text
    return added and not _is("telling", sentence.text) and not _INTRODUCES.search(sentence.text)


def _only_saves(sentence: Reading, named: Sequence[str]) -> bool:
    """ "Save it as report.docx" is left to the hard rules."""
    return (
        sentence.words <= _SAVING_WORDS and _names(sentence, named) and _is("saving", sentence.text)
    )


def _names(sentence: Reading, named: Sequence[str]) -> bool:
    return any(name in sentence.text for name in named)


def _is(key: str, text: str) -> bool:
    return bool(text) and _pattern(key).search(text.lower().strip()) is not None


@cache
def _pattern(key: str) -> re.Pattern[str]:
    return re.compile("|".join(table("grading")["demands"][key]))


def _blocks(request: str) -> Iterator[_Block]:
    """The paragraphs and lists of a request, each with the heading above it."""
    under, block = "", None
    text = _FENCED.sub("", request)
    for pattern in (_QUOTED, _SHORTENED):
        text = pattern.sub(lambda part: part.group().translate(_HIDDEN), text)
    for part, paragraph in enumerate(_with_items(text).split("\n\n")):
        follows = block is not None and _INTRODUCES.search(block.text) is not None
        for number, line in enumerate(_joined(paragraph.split("\n"))):
            is_item = _MARK.match(line) is not None
            if _HEADING.match(line):
                under, block = _MARKUP.sub("", line), None
            elif is_item and block is not None and (number or follows or block.items):
                _add_item(block, line)
            else:
                if block is not None:
                    yield block
                text = _MARK.sub("", line) if is_item else line
                block = _Block(text.strip(), under, part)
        if block is not None and not (block.items or _INTRODUCES.search(block.text)):
            yield block
            block = None
    if block is not None:
        yield block


def _add_item(block: _Block, line: str) -> None:
    """Add an item, or add to the one above it what is set further in below its colon."""
    indent = len(line) - len(line.lstrip())
    text = _MARK.sub("", line).strip().rstrip(",;，；")
    if not block.items:
        block.indent = indent
    is_open = bool(block.items) and _INTRODUCES.search(block.items[-1]) is not None
    block.nests = indent > block.indent and (block.nests or is_open)
    if block.nests:
        block.items[-1] += f"{' ' if is_open else '; '}{text}"
    else:
        block.items.append(text)


def _with_items(text: str) -> str:
    """The text with a list that stands in a line, "1. one, 2. two, 3. three", as lines."""
    head, *items = _INLINE.split(text)
    if len(items) < _LIST:
        return text
    last, *rest = re.split(r"(?<=[.。])\s+", items[-1], maxsplit=1)
    return "\n- ".join([head, *items[:-1], last]) + "".join(f"\n{more}" for more in rest)


def _joined(lines: Sequence[str]) -> list[str]:
    """The lines of a paragraph, with those that were wrapped put together again."""
    wrapped = any(len(line) + count_han(line) >= _WIDE for line in lines)
    joined = list(lines[:1])
    for before, line in pairwise(lines):
        starts = begins_item(line) or _MARK.match(line) or _HEADING.match(line)
        is_path = bool(_INTRODUCES.search(before)) and " " not in line.strip()
        is_open = not _ENDS.search(before) or (_ABBREVIATED.search(before) and line[:1].islower())
        goes_on = wrapped and is_open and not _INTRODUCES.search(before)
        if starts or not (goes_on or is_path or line.startswith("  ")):
            joined.append(line)
        else:
            tight = has_han(before[-1:]) and has_han(line.strip()[:1])
            joined[-1] = joined[-1].rstrip() + ("" if tight else " ") + line.strip()
    return [line for line in joined if any(map(str.isalnum, line))]
