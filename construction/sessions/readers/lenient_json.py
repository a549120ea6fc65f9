"""JSON as harnesses write it: strict, but for emoji that were cut in half."""

from __future__ import annotations

import re
from typing import Any

import orjson

# Every escape is consumed, so that the `\ud83d` of an escaped backslash is never taken for one.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)


def loads(raw: bytes) -> Any:
    """JSON, with half surrogate pairs read as U+FFFD.

    Harnesses cut long output between the halves of an emoji, and orjson refuses the rest.

    Raises:
        orjson.JSONDecodeError: not JSON, or nested more than 1,024 deep.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if b"\\ud" not in raw and b"\\uD" not in raw:
            raise
    return orjson.loads(_ESCAPE.sub(lambda m: rb"\ufffd" if m[1] else m[0], raw))
