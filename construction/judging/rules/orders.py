"""The orders in a demand: "extract the names, save them in a.csv" are two, each to be checked.

A demand is cut where a new clause begins with a verb of its own. Brackets and quotations are left
whole, and so is a clause of a word or two. What only leads over to a demand ("Please help me:",
"Give me two files") is no demand of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from construction.judging import lexicon
from construction.judging.lexicon import table
from data.text.scripts import count_han

_WHOLE = re.compile(
    r"\([^()]*\)|（[^（）]*）|\"\"?[^\"]+\"\"?|“[^”]*”|「[^」]*」|`[^`]*`|'[^']{2,60}'(?!\w)"
)
_CUT_EN = re.compile(
    r"(?P<sign>[,;])?\s+(?:and\s+)?(?:(?:then|also|finally)\s+)?(?=(?P<verb>[a-z]+)\s+(?P<after>\S+))"
)
_CUT_ZH = re.compile(
    "[，；](?=(?:然后|接着|最后|同时|再|并且?)?(?:把|将|用|请|给|为|保存|存|生成|起草|创建|写|输出|列出"
    "|统计|计算|发送|提取|整理|做))"
)
_OPENS_ZH = re.compile(
    r"(?:请|用|把|将|查|列|写|做|读|阅读|整理|提取|汇总|生成|创建|收集|比较|对比)"
)
_NOT_CUT = re.compile(  # a condition needs what follows it, a negation covers it
    r"(?i)^\W*(?:if|when|once|before|after|unless|note|where|for|in)\b|^(?:如果|若|注意|当|对|在)"
    r"|\b(?:not|don't|never|avoid|without|should|must)\b|不要|不得|应"
)
_PLAIN = frozenset(
    ("save", "send", "split", "store", "put", "append", "move", "convert", "calculate")
)
_AFTER_COMMA = frozenset(("email", "mail", "rename"))
_QUESTIONS = frozenset(("what", "which", "who", "how", "scan", "identify"))
_OBJECTS = lexicon.OBJECTS | {"it", "them", "each", "his", "her"}
_LEAST = 3  # words of an order
_MUCH = 14  # words of a demand that asks for more than one thing
_MUCH_HAN = 24  # the Han characters that say as much
_MOST_WORDS = 60  # a longer demand is a description, and is quoted as it stands


def orders_of(demand: str) -> list[str]:
    """The orders in one demand, in order; the demand itself where it gives one order only."""
    if _words(demand) > _MOST_WORDS or not _opens_with_order(demand):
        return [demand]
    hidden = _WHOLE.sub(lambda part: "\0" * len(part[0]), demand)
    cuts = [cut for cut in _CUT_EN.finditer(hidden) if _begins_order(cut)]
    cuts += list(_CUT_ZH.finditer(hidden))
    pieces, start = [], 0
    for cut in sorted(cuts, key=lambda match: match.start()):
        piece, rest = demand[start : cut.start()], demand[cut.end() :]
        last = re.split("[,;，；]", hidden[start : cut.start()])[-1]
        is_order = min(_words(piece), _words(rest), _words(last)) >= _LEAST
        if is_order and not _NOT_CUT.search(hidden[start : cut.start()].strip()):
            pieces.append(piece.strip())
            start = cut.end()
    return [*pieces, demand[start:].strip()]


def _opens_with_order(demand: str) -> bool:
    if _OPENS_ZH.match(demand):
        return True
    words = [word for word in re.findall(r"[a-z]+", demand.lower()) if word not in lexicon.LEAD_INS]
    verbs = lexicon.VERBS | lexicon.DOUBTFUL_VERBS | _PLAIN | _AFTER_COMMA
    return bool(words) and words[0] in verbs | _QUESTIONS


def _begins_order(cut: re.Match[str]) -> bool:
    """Does a verb follow? Words that are nouns as often need an object behind them."""
    verb, after = cut["verb"], cut["after"].lower()
    if cut["sign"] is None and " and " not in cut[0]:
        return False
    if verb in _AFTER_COMMA:
        is_object = after in _OBJECTS or "." in after[:-1]
        return is_object or (cut["sign"] is not None and after not in lexicon.NOUN_AFTER)
    if verb in lexicon.DOUBTFUL_VERBS and verb not in _PLAIN:
        return after in _OBJECTS
    return (verb in lexicon.VERBS or verb in _PLAIN) and after not in lexicon.NOUN_AFTER


def parts_of(demand: str) -> int:
    """In how many ways an answer to a demand can be wrong, by its clauses and its length."""
    clauses = [part for part in re.split("[,，;；:：。]", demand) if _words(part) >= _LEAST]
    han = count_han(demand)
    is_much = han >= _MUCH_HAN if han else _words(demand) >= _MUCH
    return max(len(clauses), 2 if is_much else 1)


def leads_over(demand: str) -> bool:
    """Is there nothing in it to be checked: only politeness, or that files are to be given?"""
    return _leading().fullmatch(demand.lower().strip(" .:：。,，;；!！*")) is not None


@cache
def _leading() -> re.Pattern[str]:
    return re.compile("|".join(table("grading")["demands"]["leading"]))


def _words(text: str) -> int:
    return len(text.split()) + (count_han(text) + 1) // 3


def grouped(demands: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """The demands in `most` groups of neighbours at most."""
    count = min(len(demands), most)
    edges = [round(number * len(demands) / count) for number in range(count + 1)]
    yield from (demands[start:end] for start, end in pairwise(edges))
