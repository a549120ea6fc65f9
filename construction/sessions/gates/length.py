"""The length gate: did a person type enough to be a task, and no more than one can be?

The lower limit is EnterpriseClawBench's (app. B.1). The upper one keeps what is no message of a
person, such as a file of 50 MB in its place, from masking, which takes minutes for each megabyte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from unicodedata import category

import regex

from data.contracts import Bound, Count, Gate, GateReason, Limit, StageConfig, TaskInstance
from data.text.lexicon import pattern_of
from data.text.scripts import HAN, UNIFIED_HAN


class LengthReason(GateReason):
    TOO_SHORT = "length.too_short", "A person typed too little to describe a task."
    TOO_LONG = "length.too_long", "The messages are too long for a task."


class LengthConfig(StageConfig):
    """`min_user_chars` counts effective characters over all user turns.

    `max_chars` counts all message characters that gates and masking read: the user turns, up to
    three earlier ones, and the agent's last reply.
    """

    min_user_chars: Count = 10
    max_chars: Count = 500_000


@dataclass(frozen=True, slots=True)
class Length:
    """Effective characters that a person typed, and all characters of the messages."""

    typed: int
    chars: int


# Blocks in which every character is one grapheme cluster by itself (UAX #29) and visible:
# Latin, Greek, Cyrillic, punctuation, symbols, CJK, kana, Hangul syllables, full-width forms.
_SIMPLE = (
    r" -~¡-¬®-˿Ͱ-ͷͺ-Ϳ΄-ΊΌΎ-ΡΣ-҂Ҋ-ԯ‐-‧‰-⁞₠-⃀℀-↋←-⏿①-⟿⤀-⯿⺀-⿕"
    r"\u3001-\u3029\u3030-\u303dぁ-ゖ゛-ヿㄅ-ㄯ㇀-㇣ㇰ-㋿㌀-㏿가-힣！-ﾝ" + UNIFIED_HAN
)
_ALL_SIMPLE = pattern_of(f"[{_SIMPLE}]*")
# Only around other characters can a cluster hold more than one.
_NOT_SIMPLE = pattern_of(f"[^{_SIMPLE}]+(?:[{_SIMPLE}][^{_SIMPLE}]+)*")
_CLUSTERS = regex.compile(r"\X")
# Cc control, Cf format (zero-width), Cs lone surrogate, Mn/Me mark without a base: no width.
_NO_WIDTH = frozenset({"Cc", "Cf", "Cs", "Mn", "Me"})
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # fillers: letters that show nothing

# What a client adds around the words. A file reference such as `@src/app.py` is content.
_MESSAGE_ID = pattern_of(r"\[message_id:[^\]\n]{0,80}\]|\bom_[0-9a-zA-Z]{16,64}\b")
_MENTION = pattern_of(
    r"<at\b[^>\n]{0,200}>[^<\n]{0,80}</at>"
    r"|<@[!&]?[0-9A-Za-z_|.\-]{1,80}>"
    r"|(?<![\w.+\-])[@＠](?:"
    r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,63}(?![\w/\\])"  # @alex, @data-team
    rf"|[{HAN}][\w·]{{0,11}}(?=\s)"  # @张三 followed by the space a client adds
    rf"|[{HAN}·]{{2,3}}"  # @张三请看: typed by hand; a name has two or three characters
    r")"
)
_FILE_TAIL = pattern_of(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")


def effective_chars(said: str) -> int:
    """Characters as a reader counts them (extended grapheme clusters).

    A run of white space counts one and none at the ends; control and zero-width characters,
    @mentions and message ids count nothing.
    """
    if "@" in said or "＠" in said or "<at" in said:
        said = _MENTION.sub(_keep_files, said)
    if "om_" in said or "[message_id:" in said:
        said = _MESSAGE_ID.sub(" ", said)
    text = said.strip()
    if "  " in text or not text.isprintable():
        text = " ".join(text.split())
    if (text.isascii() and text.isprintable()) or _ALL_SIMPLE.fullmatch(text):
        return len(text)
    length = len(text)
    for match in _NOT_SIMPLE.finditer(text):
        start, end = max(match.start() - 1, 0), min(match.end() + 1, len(text))
        length += _clusters(text, start, end) - (end - start)
    return length


def _keep_files(match: re.Match[str]) -> str:
    return match.group() if _FILE_TAIL.search(match.group()) else " "


def _clusters(text: str, start: int, end: int) -> int:
    """Visible clusters in a part of a stripped text; not white space at the text's ends."""
    count, after_space = 0, start == 0
    for cluster in _CLUSTERS.findall(text, start, end):
        is_space = cluster[0].isspace()
        if (is_space and after_space) or not any(map(_is_visible, cluster)):
            continue
        count += 1
        after_space = is_space
    return count - (after_space and count > 0 and end == len(text))


def _is_visible(char: str) -> bool:
    return category(char) not in _NO_WIDTH and char not in _BLANK


def measure(instance: TaskInstance) -> Length:
    """What a person typed in the instance, and how long all that later stages read of it is."""
    turns = instance.user_turns
    texts = (*(turn.text for turn in turns), *instance.said_before, instance.reply)
    return Length(sum(effective_chars(turn.said) for turn in turns), sum(map(len, texts)))


GATE = Gate(
    name="length",
    stage="gates",
    section="sessions.length",
    meaning="Did a person type enough to describe a task, and no more than a task needs?",
    config=LengthConfig,
    reasons=LengthReason,
    measure=measure,
    headline="min_user_chars",
    limits=(
        Limit(
            "min_user_chars",
            Bound.MIN,
            "characters",
            "A person typed at least this many effective characters.",
            LengthReason.TOO_SHORT,
            lambda seen: seen["typed"],
        ),
        Limit(
            "max_chars",
            Bound.MAX,
            "characters",
            "The messages have no more than this many characters in total.",
            LengthReason.TOO_LONG,
            lambda seen: seen["chars"],
        ),
    ),
)
