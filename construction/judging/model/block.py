"""Session content as data: cleaned, bounded, and inside one fence that it cannot close.

The block is JSON, so that no text in it starts a line of its own. Its fence is a digest of that
JSON: content would have to hold its own digest to forge it, and the brackets of the fence are
taken out of it besides. Tokens with which chat templates mark turns are defaced, for some servers
read them wherever they stand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

from data.canonical import digest
from data.snapshot.neutralise import visible

# Characters without a look: zero width, joiners, fillers, variation selectors, tag characters.
# Those that turn or end lines, and controls, are named by `visible` instead.
HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
CHAT_TOKEN = re.compile(
    r"<[|｜][^|｜<>\n]{0,40}[|｜]>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>"
    r"|</?(?:s|bos|eos|pad|unk|mask|think|tool_call|tool_response|start_of_turn|end_of_turn"
    r"|im_start|im_end)>",
    re.IGNORECASE,
)
_DEFACED = str.maketrans({"<": "‹", ">": "›", "[": "［", "]": "］"})
_BRACKETS = str.maketrans({"⟦": "[", "⟧": "]", "〚": "[", "〛": "]"})
_CUT = "⟨{} characters left out⟩"


@dataclass(frozen=True, slots=True)
class Block:
    """Cleaned content as JSON, and the code of the fence around it."""

    text: str = field(repr=False)
    fence: str


@dataclass(slots=True)
class Cleaner:
    """Cleans the strings of one block and notes what it did: counts and places, never text."""

    notes: list[str] = field(default_factory=list)

    def text(self, text: str, most: int, place: str) -> str:
        """`text` without hidden characters, of at most `most` characters plus a mark."""
        bare, hidden = HIDDEN.subn("", text)
        shown = visible(bare).translate(_BRACKETS)
        shown, tokens = CHAT_TOKEN.subn(lambda found: found[0].translate(_DEFACED), shown)
        if hidden:
            self.notes.append(f"{place}: {hidden} characters that cannot be seen taken out")
        if tokens:
            self.notes.append(f"{place}: {tokens} marks of chat templates defaced")
        if len(shown) <= most:
            return shown
        self.notes.append(f"{place}: {len(shown) - most} characters left out in the middle")
        head = most - most // 3
        tail = shown[len(shown) - most // 3 :] if most // 3 else ""
        return f"{shown[:head]}{_CUT.format(len(shown) - most)}{tail}"


def data_block(content: Mapping[str, Any], notes: list[str]) -> Block:
    """The block of a request; `content` holds strings that a `Cleaner` has cleaned."""
    everything = {**content, "notes": notes} if notes else dict(content)
    text = indented(everything)
    return Block(text, digest(text.encode())[:32])


def indented(value: Any, margin: str = "\n") -> str:
    """As `json.dumps(value, ensure_ascii=False, indent=1)` of what has text keys, but fast."""
    if isinstance(value, str):
        return encode_basestring(value)
    inner = f"{margin} "
    if isinstance(value, dict) and value:
        pairs = (f"{inner}{encode_basestring(key)}: {indented(value[key], inner)}" for key in value)
        return f"{{{','.join(pairs)}{margin}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{','.join(f'{inner}{indented(part, inner)}' for part in value)}{margin}]"
    return json.dumps(value)
