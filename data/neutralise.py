"""Making hostile text harmless where it is shown: terminals, Markdown, CSV, HTML scripts.

Text that its medium escapes (JSON, HTML through autoescape) needs none of this, except for lone
surrogates, which a UTF-8 file cannot hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from data.canonical import canonical_json

if TYPE_CHECKING:
    from data.contracts import Scalar

# C0 and C1 controls except tab and line feed, bidirectional embeddings, overrides and isolates,
# line and paragraph separators, interlinear marks, the byte order mark, U+FFFE and U+FFFF (which
# XML refuses), tag characters (text that a model reads and a person does not see), and lone
# surrogates. Directional marks (U+200E, U+200F), joiners and variation selectors occur in ordinary
# writing and stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
# Invisible characters of ordinary writing: zero width, joiners, fillers, variation selectors; and
# tag characters. `visible` leaves the former; a model is shown texts without any of them.
HIDDEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
# What terminals take as colours and places of the cursor, the escape before it shown or lost.
_SEQUENCE = re.compile(
    r"(?:(?:\x1b|⟨U\+001B⟩)\[|\x9b|⟨U\+009B⟩)[0-?]*[ -/]*[@-~]|\[\d{1,3}(?:;\d{1,3})*m(?!\])"
)
SHOWN = re.compile("⟨U\\+[0-9A-F]{4,6}⟩")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|#~$"})
# Numbers, and words as code names them; neither file names nor addresses fit.
_NUMBER = re.compile(r"-?\d{1,19}(\.\d{1,17})?(e[+-]?\d{1,3})?", re.IGNORECASE)
_CODE_WORD = re.compile(r"[a-z]+([_|:=/][a-z0-9]+){0,9}", re.IGNORECASE)
_LONGEST_WORD = 64
_FORMULA_START = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%")
_BIGGEST = 2**63


def _name_it(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match.group()):04X}⟩"


def visible(text: str) -> str:
    """`text` with every control, override and hidden character shown as `⟨U+001B⟩`.

    Line ends become line feeds; tabs and line feeds stay. Idempotent.
    """
    return _UNSEEN.sub(_name_it, text.replace("\r\n", "\n").replace("\r", "\n"))


def unmarked(text: str, instead: str = " ") -> str:
    """`text` with a blank for every such character, and for what `visible` shows in its place.

    Sequences that control a terminal go whole: "⟨U+001B⟩[31;1mred" is "red".

    To compare a text with one that was read as `visible` shows it, without `HIDDEN` characters.
    """
    return SHOWN.sub(instead, visible(_SEQUENCE.sub(instead, HIDDEN.sub("", text))))


def one_line(text: str) -> str:
    """As `visible`, with line feeds and tabs as single blanks: for messages and table cells."""
    return visible(text).replace("\n", " ").replace("\t", " ")


def markdown(text: str) -> str:
    """`text` escaped: inline Markdown shows it literally (no link, emphasis, cell or tag)."""
    return one_line(text).translate(_MARKDOWN)


def csv_cell(value: Scalar) -> Scalar:
    """A cell that no spreadsheet interprets as a formula: such texts get a leading apostrophe."""
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA_START) else shown


def storable(value: Scalar) -> Scalar:
    """`value` as UTF-8 and 64-bit integers can hold it: surrogates named, huge integers as text."""
    if isinstance(value, str):
        return _SURROGATE.sub(_name_it, value)
    if isinstance(value, int) and not -_BIGGEST <= value < _BIGGEST:
        return f"integer of {value.bit_length()} bits"
    return value


def storable_tree(value: Any) -> Any:
    """`storable` applied to every key and value of nested dicts and lists."""
    if isinstance(value, dict):
        return {storable(key): storable_tree(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_tree(item) for item in value]
    return storable(value)


def public_text(value: str | None) -> str | None:
    """A scalar of the ledger as the public half may show it (law 8).

    Numbers and code words stay; any other text is replaced by its length.
    """
    if value is None or _NUMBER.fullmatch(value):
        return value
    if len(value) <= _LONGEST_WORD and _CODE_WORD.fullmatch(value):
        return value
    return f"text, {len(value)} characters"


def script_json(value: Any) -> str:
    """JSON for use inside a `<script>` element: it contains no `<`, `>` or `&`."""
    text = canonical_json(value).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
