"""What a model's endpoint says of itself: names and ids that are stored and shown.

An endpoint can echo the key that it was sent, or hold text that no name has, in a field that ends
on a page. Such names are replaced by a digest, so that two of them stay apart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from data.canonical import digest

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,127}")
_NAMES = frozenset({"id", "model", "function", "tool_call_id", "completion_id"})
_SHORTEST_KEY = 8  # characters: shorter ones are words such as "none"
_DEEPEST = 60  # levels of a reply
_KEY_VARIABLE = re.compile(r"(?i)(^|_)(api_?key|key|token|secret|password)$")


def keys_in(environment: Mapping[str, str]) -> frozenset[str]:
    """The values of variables that are named as keys are (`OPENAI_API_KEY`, `HF_TOKEN`)."""
    values = (value.strip() for name, value in environment.items() if _KEY_VARIABLE.search(name))
    return frozenset(value for value in values if len(value) >= _SHORTEST_KEY)


def plain_name(text: str, keys: Collection[str]) -> str:
    """`text` if it is a plain name without a key in it, otherwise `replaced-` and a digest."""
    holds_key = any(key in text for key in keys if len(key) >= _SHORTEST_KEY)
    if not text or (_PLAIN.fullmatch(text) and not holds_key):
        return text
    return f"replaced-{digest(text.encode('utf-8', 'replace'))[:12]}"


def without_keys(reply: Any, keys: Collection[str], depth: int = 0) -> Any:
    """A reply, as JSON, with plain names and ids, and with `[key]` wherever it quotes a key."""
    if depth > _DEEPEST:
        return None
    if isinstance(reply, str):
        for key in keys:
            reply = reply.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else reply
        return reply
    if isinstance(reply, list):
        return [without_keys(item, keys, depth + 1) for item in reply]
    if isinstance(reply, dict):
        return {
            without_keys(name, keys): plain_name(value, keys)
            if name in _NAMES and isinstance(value, str)
            else without_keys(value, keys, depth + 1)
            for name, value in reply.items()
        }
    return reply
