"""JSON: every string is visited, and every other byte stays unchanged.

It is read as tokens; long numbers under telling keys are visited too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymization.text.contracts import Edit, EntityType
from anonymization.text.detect.declared import can_be_declared
from anonymization.text.detect.said import is_label_of_value
from anonymization.text.detect.strict_fields import Field, field_of
from anonymization.text.detect.wording import SERVICE_LOGINS, words
from anonymization.text.masking.pieces import (
    MAX_DEPTH,
    FindingFilter,
    Look,
    Piece,
    Visit,
    carried,
    labelled,
    shifted,
)
from anonymization.text.masking.plain import (
    json_escape,
    json_literal,
    lines,
    literal_offsets,
    plain_edits,
)

_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_COLON = re.compile(r"\s*:")
_SCALAR = re.compile(r"true|false|null|-?\d[\d.eE+-]*")
_STRUCTURE = re.compile(r"[\s\ufeff\[\]{}:,]*")
# Degrees: two side by side, or one under a key that says so.
_DEGREES = re.compile(r"-?\d{1,3}\.\d{4,9}(?:\s*,\s*-?\d{1,3}\.\d{4,9})?(?![\w.])")
_DECIMAL = re.compile(r"[1-9]?\d{1,2}\.\d+")
_A_NUMBER = re.compile(r"[1-9][0-9]*(?:\.[0-9]+)?")
_LONG_NUMBER = re.compile(r"(?<![\w.+-])\d{7,19}(?![\w.])")
_SHORT_NUMBER = re.compile(r"(?<![\w.+-])\d{3,6}(?:\.\d{1,4})?(?![\w.])")
_SHORTEST_NUMBER = 7
_SHORT = 64  # characters up to which a value is looked at together with its key
# Keys that say what their value is; `name` alone also names tools and files.
_TELLING = re.compile(
    r"(?i:e-?mail|phone|mobile|tel$|^tel|fax|address|street|city|postcode|zip|birth|^dob$|passport"
    r"|licen[cs]e|card|iban|account|user_?name|login|owner|author|sender|customer|employee|patient"
    r"|passw|passphrase|pwd|secret|token|api_?key|access_?key|private_?key|credential|bearer"
    r"|(?:full|first|last|family|given|real|display|nick|contact|company)[ _-]?name|ssn"
    r"|wechat|^qq$|^(?:first|last|given|family|middle|sur)(?:name)?$|^(?:person|contact|client)$)"
    r"|timestamp|epoch|(?i:created|updated|deleted|modified|expires|started|ended|sent|received)"
    r"_?(?i:at|on|time)$"
    r"|姓名|名字|电话|手机|邮箱|地址|身份证|账号|帐号|卡号|护照|车牌|公司|单位|客户|联系|密码|密钥|微信|生日|出生"
)

_OPENS = re.compile(
    r"[\ufeff \t\r\n]*(?:\{|\[\s*(?:[\"\[{\]]|-?\d[\d.eE+-]*\s*[,\]]|(?:true|false|null)\b|\Z))"
)


def looks_like_json(text: str) -> bool:
    """Does it begin like an object or array, and not like a line of a log (`[10:02] …`)?"""
    return _OPENS.match(text) is not None


def jsonl_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of a text with one JSON document per line; other lines are read as plain text."""
    edits: list[Edit] = []
    offset = 0
    for line in lines(text):
        form = json_edits if looks_like_json(line) else plain_edits
        edits += shifted(form(line, visit), offset)
        offset += len(line)
    return edits


def json_edits(text: str, visit: Visit) -> list[Edit]:
    """Edits of a JSON text: strings, keys that carry values, long numbers under telling keys.

    Parts that are not JSON (a line that was cut off, say) are read as plain text.
    """
    ascii_only = text.isascii()
    edits: list[Edit] = []
    key, named, done = "", "", 0
    above: list[str] = []  # the keys of the objects that are open
    for match in _STRING.finditer(text):
        edits += _between(text, done, match.start(), key, visit)
        _follow(above, text[done : match.start()], key)
        done = match.end()
        is_key = _COLON.match(text, done) is not None
        if key.lower() in _NAMING:
            named = match[1]
        elif not is_key and key.lower() in _VALUES and is_label_of_value(named):
            key = named
        whose = _whose(above, text, match) if is_key else ""
        literal = _Literal(match[1], whose if is_key else key, is_key and not whose, ascii_only)
        if not is_key and key.lower() in _SPEAKERS and _SAYS.match(text, done):
            _show_speaker(match[1], visit.look)
        edits += shifted(_literal_edits(literal, visit), match.start(1))
        is_more = not is_key and _MORE.match(text, done) is not None
        key = match[1] if is_key else key if is_more else ""
    return edits + _between(text, done, len(text), key, visit)


_DEEPEST = 64  # open objects that are followed
_GROUPED = re.compile(r"(?=.*[-_ .@A-Z\W])[^{}\[\]]{3,64}")
_OPENED = re.compile(r"\s*:\s*[{\[]")


def _follow(above: list[str], gap: str, key: str) -> None:
    """Keep the keys of open objects: `gap` is what stands between two strings."""
    for char in gap:
        if char in "{[" and len(above) < _DEEPEST:
            above.append(key if char == "{" else "")
            key = ""
        elif char in "}]" and above:
            above.pop()


def _whose(above: list[str], text: str, match: re.Match[str]) -> str:
    """The key of several people or firms if this key is one of them: `{"tenants": {"a-b": {`."""
    label = above[-1] if above else ""
    is_group = label.endswith("s") and Field.NAMED in (field_of(label), field_of(label[:-1]))
    is_name = is_group and _GROUPED.fullmatch(match[1]) and _OPENED.match(text, match.end())
    return label[:-1] if is_name else ""


_MORE = re.compile(r'\s*,\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*[,\]]')  # the next value of a list
_NAMING = frozenset({"name", "title", "label", "field", "key"})  # `{"title": …, "value": …}`
_VALUES = frozenset({"value", "val", "content"})
_SPEAKERS = frozenset(
    {"from", "name", "sender", "speaker", "author", "user", "nick", "nickname", "username"}
)
_SAYS = re.compile(r'\s*,\s*"(?:text|content|body|message|msg|内容|said)"\s*:')
_LONGEST_SPEAKER = 30
_NO_SPEAKERS = (
    SERVICE_LOGINS
    | words("words.toml", "no_handles")
    | words("words.toml", "login_words")
    | words("words.toml", "small_words_too")
)


def _show_speaker(raw: str, look: Look) -> None:
    """Show who said a message of a chat to the look; the name is masked wherever it occurs."""
    name = (json_literal(raw) or "").strip()
    is_name = name[:1].isupper() or not name.isascii()
    is_name = is_name and 2 <= len(name) <= _LONGEST_SPEAKER and len(name.split()) <= 3
    if is_name and can_be_declared(EntityType.PERSON, name) and name.casefold() not in _NO_SPEAKERS:
        look(Piece(name, kind=EntityType.PERSON))


@dataclass(frozen=True, slots=True)
class _Literal:
    """The inside of a JSON string as it is written, and the key that precedes it."""

    raw: str
    key: str
    is_key: bool
    ascii_only: bool


def _literal_edits(literal: _Literal, visit: Visit) -> list[Edit]:
    raw = literal.raw
    plain = json_literal(raw)
    if plain is None:
        return plain_edits(raw, visit)
    if not plain.strip():
        return []
    if literal.is_key:
        edits = plain_edits(plain, visit, accepts=FindingFilter.WHOLE)
    else:
        edits = _string(plain, literal.key, visit)
    if not edits:
        return []
    escape = json_escape(literal.ascii_only)
    if plain is raw:
        return shifted(edits, 0, escape)
    return carried(edits, *literal_offsets(raw), escape)


def _string(plain: str, key: str, visit: Visit) -> list[Edit]:
    if visit.depth < MAX_DEPTH and looks_like_json(plain) and '"' in plain:
        form = jsonl_edits if _is_lines(plain) else json_edits
        return form(plain, visit.deeper())
    label = key if len(plain) <= _SHORT and _is_telling(key) else ""
    return plain_edits(plain, visit, label)


def _is_telling(key: str) -> bool:
    """Does a key say what its value is?"""
    return _TELLING.search(key) is not None or is_label_of_value(key) or field_of(key) is not None


def _is_lines(plain: str) -> bool:
    """Does it hold several documents, one per line?"""
    lines = plain.strip().splitlines()
    return len(lines) > 1 and all(line.strip()[-1:] in "}]" for line in lines if line.strip())


def _between(text: str, start: int, end: int, key: str, visit: Visit) -> list[Edit]:
    """Edits between two strings: of numbers among the structure, or of text that is not JSON."""
    gap = text[start:end]
    if _STRUCTURE.fullmatch(_SCALAR.sub("", gap)) is None:
        return shifted(plain_edits(gap, visit), start)
    is_coded = bool(key) and field_of(key) in (Field.CODED, Field.PAY)
    if len(gap) < _SHORTEST_NUMBER and not is_coded:
        return []
    label = key if _is_telling(key) or key.casefold() in _OF_CLOCKS else ""
    edits: list[Edit] = []
    for match in _SHORT_NUMBER.finditer(gap) if is_coded else ():
        coded = visit.look(labelled(label, match.group()))
        edits += shifted(
            (edit for edit in coded if stays_number(edit, True)), start + match.start()
        )
    for match in _LONG_NUMBER.finditer(gap):
        if label or len(match.group()) >= SHORTEST_CARD:
            number_edits = visit.look(labelled(label, match.group()))
            edits += shifted(
                (edit for edit in number_edits if stays_number(edit, bool(label))),
                start + match.start(),
            )
    for match in _DEGREES.finditer(gap) if "." in gap else ():
        degrees = visit.look(labelled("" if "," in match.group() else label, match.group()))
        kept = [edit for edit in degrees if _DECIMAL.fullmatch(edit.new)]
        edits += shifted(kept, start + match.start())
    return sorted(edits)


# Keys whose numbers are seconds or milliseconds of a clock.
_OF_CLOCKS = words("words.toml", "clock_keys")
SHORTEST_CARD = 15  # digits; shorter numbers pass a card's check by chance too often


def stays_number(edit: Edit, is_labelled: bool) -> bool:
    """Can the edit stand in place of a number, and is it one?

    Without a telling label only cards are, by their check digit; other numbers are amounts.
    """
    is_number = _A_NUMBER.fullmatch(edit.new) is not None
    return is_number and (is_labelled or edit.type is EntityType.BANK_CARD)
