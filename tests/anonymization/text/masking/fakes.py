"""A detector that needs no model, and sessions made up from its values."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from anonymization.text.contracts import EntityType, Finding, Mode
from anonymization.text.masking.masker import Masker

KEY = bytes(range(32))
_KINDS = {
    EntityType.EMAIL: r"[a-z0-9.]{1,40}@[a-z0-9.]{1,30}\.[a-z]{2,6}",
    EntityType.SECRET: r"ghp_[A-Za-z0-9]{36}",
    EntityType.PERSON: r"(?:Margaret|Ulrich|Wilhelmina) (?:Thornquist|Vandermeer)|陈思远|欧阳明月",
    EntityType.ORGANIZATION: r"Quillfeather Robotics Inc\.|杭州云栖智能科技有限公司",
    EntityType.DATE: r"\d{4}-\d{2}-\d{2}|\d{4}年\d{1,2}月\d{1,2}日",
    EntityType.PHONE: r"(?<!\d)1[3-9]\d{9}(?!\d)|\+1 \(\d{3}\) \d{3}-\d{4}",
    EntityType.USER_PATH: r"(?<=/home/)[a-z]+",
}


class PatternDetector:
    """Finds a few fixed shapes; counts how many texts it was asked about."""

    def __init__(self) -> None:
        self.asked = 0

    def find(self, texts: Sequence[str]) -> list[list[Finding]]:
        self.asked += len(texts)
        return [_actual(text) for text in texts]


def _actual(text: str) -> list[Finding]:
    result: list[Finding] = []
    for kind, pattern in _KINDS.items():
        for match in re.finditer(pattern, text):
            if all(match.end() <= o.start or o.end <= match.start() for o in result):
                result.append(Finding(match.start(), match.end(), kind, "fake", 0.9))
    return sorted(result)


def masker(mode: Mode = Mode.SURROGATE, scope: str = "session", key: bytes = KEY) -> Masker:
    return Masker(PatternDetector(), key, mode, scope)


VALUES = (
    "Margaret Thornquist",
    "Ulrich Vandermeer",
    "陈思远",
    "欧阳明月",
    "m.thornquist@quillfeather.com",
    "siyuan@yunqi.cn",
    "13812345678",
    "+1 (415) 555-2671",
    "Quillfeather Robotics Inc.",
    "杭州云栖智能科技有限公司",
    "2024-03-05",
    "2024年3月5日",
    "/home/ulrich/x.py",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
)
_FILLER = (
    "see",
    "the file",
    "请看",
    "é\u0301",
    "😀",
    "\u2028",
    "\t",
    "\n",
    '"',
    "\\",
    "<PERSON_1>",
    "Noel",
    "%41",
    "a" * 30,
)


def session(rng: random.Random) -> bytes:
    """JSONL with nested JSON strings, escapes, odd numbers, doubled keys, broken lines."""
    lines = [_line(rng) for _ in range(rng.randint(1, 6))]
    data = rng.choice(("\n", "\r\n")).join(lines).encode("utf-8", "surrogatepass")
    return data + rng.choice((b"", b"\n", b'\n{"cut": "of', b"\n\xff\xfe plain", b"\n\n"))


def _line(rng: random.Random) -> str:
    value = _value(rng, 0)
    spaced = rng.choice(((",", ":"), (", ", ": "), (" ,", " : ")))
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=spaced)
    if rng.random() < 0.2 and text.startswith("{") and text != "{}":
        text = "{" + f'"n":1.50e+3,"n":-0,"\\u006e":"{rng.choice(VALUES[:2])}",' + text[1:]
    return text.encode("utf-8", "replace").decode("utf-8").replace("\n", " ")


def _value(rng: random.Random, depth: int) -> Any:
    if depth > 3 or rng.random() < 0.3:
        return rng.choice((_text(rng), _text(rng), 1e300, 13812345678, True, None, "\ud83d"))
    if rng.random() < 0.3:
        return [_value(rng, depth + 1) for _ in range(rng.randint(0, 3))]
    made = {_key(rng): _value(rng, depth + 1) for _ in range(rng.randint(1, 4))}
    return json.dumps(made) if rng.random() < 0.2 else made


def _key(rng: random.Random) -> str:
    return rng.choice(
        ("phone", "text", "thinking", "author", "陈思远", VALUES[4], "k" + str(rng.random()))
    )


def _text(rng: random.Random) -> str:
    return " ".join(rng.choice((*VALUES, *_FILLER)) for _ in range(rng.randint(1, 6)))
