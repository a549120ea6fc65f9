"""Counts over the sentences of a request: how it begins, what it demands, what it wishes for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from construction.judging.reading import read
from construction.mentions.brought import brings_code


@dataclass(frozen=True, slots=True)
class Opening:
    """How a request begins, after small talk.

    `first_leaning` is the position of the first sentence that needs earlier messages (None: there
    is none); `replies` and `dangles` say what the first sentence does, and `answers` that it can
    only be an answer.
    """

    first_leaning: int | None = None
    replies: bool = False
    dangles: bool = False
    answers: bool = False

    def leans_within(self, count: int) -> bool:
        """Does one of the first `count` sentences need earlier messages?"""
        return self.first_leaning is not None and self.first_leaning < count

    def begins_midway(self, count: int, *, dangling: bool) -> bool:
        """Does it answer, lean within `count` sentences, or dangle where that counts?"""
        return self.leans_within(count) or self.answers or (self.dangles and dangling)


@dataclass(frozen=True, slots=True)
class Demands:
    """Directives and questions for the agent, and how many of them meet an obstacle.

    A demand is `met` if nothing prevents it. `live` ones need a system or a particular moment,
    `leaning` ones what was said or shown before; `opinions` ask for a view.
    """

    count: int
    live: int
    leaning: int
    opinions: int
    met: int


# A line that ends in a colon, and below it what it announces.
_ANNOUNCED = re.compile(r"[:：][ \t]*\n\s*(\S[\s\S]*)")


def words_brought(request: str) -> int:
    """The words of the text that a request brings along below a colon."""
    announced = _ANNOUNCED.search(request)
    return sum(item.words for item in read(announced[1])) if announced is not None else 0


# What a program printed: a traceback, errors of a compiler, a log.
_PASTED_OUTPUT = re.compile(
    r"^Traceback \(most recent call last\)|^[ \t]+at [\w.$<>]+ ?\([^()\n]{1,200}:\d+\)"
    r"|^\S[^\n:]{0,120}:\d+:\d+\b.{0,5}\berror\b"
    r"|^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d\S* .*\n\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d",
    re.MULTILINE,
)
# An order to repair the program, which its output does not hold; "how to fix it" asks for words.
_REPAIRS = re.compile(
    r"(?i)(?:^|[.;:,!?\n][ \t]*|\b(?:please|and|then|you|to me|just)\s+)"
    r"(?:fix|debug|patch|solve|resolve|repair|handle)\b|(?<!怎么)(?<!如何)(?:修复|解决|修一下|修好)(?!方法|方案|建议|办法)"
)


def brings_material(request: str) -> bool:
    """Does it bring code, or output of a program that it wants explained and not repaired?"""
    is_output = _PASTED_OUTPUT.search(request) is not None
    return brings_code(request) or (is_output and _REPAIRS.search(request) is None)


# A passage in quotation marks, and lines that are quoted as mail programs do.
_QUOTED = re.compile(
    r"\"[^\"]+\"|“[^“”]+”|„[^„“”]+[“”]|«[^«»]+»|「[^「」]+」|『[^『』]+』|(?m:^>[^\n]*$)"
)
_LEAST_QUOTED, _LEAST_BELOW = 12, 25  # words
# What is quoted is then a part of some work, whose rest is not there: "do this last part: …".
_PART_OF_WORK = re.compile(
    r"(?i)\b(?:do|finish|complete|handle|tackle|implement|execute|carry out|work on|go on with"
    r"|continue with) (?:(?:just|only) )?(?:this|the|that) (?:very )?"
    r"(?:last|final|next|remaining|rest|other|second|third|missing)\b"
    r"(?! (?:\w+ )?of (?:this|these|the following)\b)"
    r"|(?:做|完成|继续|处理|执行)(?:一下)?(?:这|最后|剩下|下一|其余)[^，。；\n]{0,4}(?:部分|步骤?|项|任务)"
)


def brings_text(request: str) -> bool:
    """Does a request bring the text along of which it speaks: quoted, announced, or below it?

    Then "the last part" is of that text, and not of an earlier talk, unless it is to be done. Below
    the request counts what asks for nothing.
    """
    if _PART_OF_WORK.search(request):
        return False
    quoted = sum(item.words for part in _QUOTED.findall(request) for item in read(part))
    if quoted >= _LEAST_QUOTED or words_brought(request) >= _LEAST_QUOTED:
        return True
    _, _, below = request.partition("\n\n")
    items = read(below)
    return (
        not any(item.demands for item in items)
        and sum(item.words for item in items) >= _LEAST_BELOW
    )


@dataclass(frozen=True, slots=True)
class Wishes:
    """All that is asked of anybody, however it is worded, and what prevents it.

    `count` is at least one where the request names an output file. `orders` are directives,
    `standing` asks how work stands, `live` needs a system or a moment, `pointing` points at
    material. `leaning`, `assuming` and `dangling` need earlier talk: by saying so, by assuming
    context, or by a pronoun; each wish counts for the first of them. `insiders`: one asks what
    "we" should do. `vague` leaves open what is wanted, `unjudged` asks for a feeling or a view.
    `words_beside` counts the words of the sentences that want nothing, and `brought` those below
    the line that announces a text ("The rules below:").
    """

    count: int
    orders: int
    standing: int
    live: int
    pointing: int
    leaning: int
    assuming: int
    dangling: int
    insiders: bool
    vague: int
    unjudged: int
    words_beside: int
    brought: int = 0
