"""The values of a Kubernetes Secret, whose names say nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.values import is_placeholder

_SCORE = 0.9
_KIND = re.compile(r"kind\\{0,3}[\"']?\s{0,3}:\s{0,3}\\{0,3}[\"']?secret(?![a-z])")
_DATA = re.compile(r"(?<![\w.-])(?:string)?data\\{0,3}[\"']?\s{0,3}:\s")
_ENTRY = re.compile(
    r"[\s{,]{1,40}(?:#[^\n]{0,200}\n\s{0,40})?\\{0,3}[\"']?[\w.\-]{1,80}\\{0,3}[\"']?\s{0,3}:"
    r"[ \t]{0,3}(?:[|>][+-]?\s{1,40})?\\{0,3}[\"']?(?P<value>[A-Za-z0-9+/=]{10,8000})"
)
_REACH = 4_000


def find_kubernetes(text: str, folded: str) -> Iterator[Finding]:
    """What stands under `data:` near `kind: Secret`."""
    done = 0
    for kind in _KIND.finditer(folded):
        start = max(done, kind.start() - _REACH)
        for data in _DATA.finditer(folded, start, kind.end() + _REACH):
            if data.start() < done:
                continue
            done = data.end()
            for value in _values(text, data.end() - 1):
                done = value.end("value")
                if not is_placeholder(value["value"]):
                    yield Finding(
                        *value.span("value"), EntityType.SECRET, "secret.kubernetes", _SCORE
                    )


def _values(text: str, start: int) -> Iterator[re.Match[str]]:
    """The entries that follow one another from `start`."""
    entry = _ENTRY.match(text, start)
    while entry:
        yield entry
        end = entry.end() + (text[entry.end() : entry.end() + 1] in ("'", '"'))
        entry = _ENTRY.match(text, end)
