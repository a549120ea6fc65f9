"""Fields that are about somebody, masked whole (level `strict`): the label decides, not the value.

A field is a cell under its column, a key with its value in JSON, YAML, INI or settings, a line
`Label: value`, an option of a command, or a cell of a table of bars. Labels and what they denote
are in `data/fields.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache

from anonymization.text.contracts import EntityType
from anonymization.text.detect.capitals import is_plain_capital
from anonymization.text.detect.declared import (
    declared_kind,
    is_flag,
    is_label,
    names_service,
    names_software,
    normalised,
    unit_before,
)
from anonymization.text.detect.said import is_of_image, is_shared_login
from anonymization.text.detect.wording import (
    GIVEN_NAMES,
    chinese_name,
    is_known,
    is_program_word,
    is_service_login,
    listed,
    private_site,
    words,
)
from anonymization.text.secrets.evidence import is_blanked
from data.text.lexicon import pattern_of
from data.text.screened import Screened
from data.text.scripts import HAN_KANA, LETTER, has_han, has_kana

_TABLE = "fields.toml"
_LONGEST_LABEL, _LONGEST_VALUE, _MOST_WORDS = 48, 120, 7
_EMPTY = words("words.toml", "empty_cells")
_NO_LOGINS = words("words.toml", "no_handles") | words("words.toml", "login_words")
_SMALL = words("words.toml", "function_words")
_CODE = pattern_of(r"[(){}\[\];=<>$%\\^*]|::|->|\w\.\w+\(|^[@&!/.~]|https?:|^\W+$")
_MEMBER = pattern_of(
    r"[a-z_]\w*(?:\.[a-z_]\w*)+(?<!\.com)(?<!\.net)(?<!\.org)(?<!\.lan)(?<!\.local)(?<!\.internal)"
    r"|(?:[\w-]+\.)*example\.(?:com|net|org)"
)
_CLASS = pattern_of(r"[a-z]\w*(?:\.[a-z]\w*)+\.[A-Z]\w*(?:@[0-9a-f]+)?")
_TITLE = pattern_of(rf"{LETTER}{{2,4}}\.")  # of address, or another word that is cut short
_POINTER = pattern_of(r"#?/?[A-Za-z]\w*(?:/[A-Za-z]\w*)+")
_LONGEST_NAME = 5  # words of a name in small letters
_FEWEST_DIGITS = 3  # of a number of somebody
_QUANTITY = pattern_of(r"[\d.,%$€£¥]+(?:\W|$)(?! ?[A-Z])")
_MOST_NAME, _JOINING = (
    4,
    frozenset({"and", "of"}),
)  # words of a name in small letters, in its middle
_LONGEST_HAN = 5  # characters of a name of somebody
_WORD = pattern_of(rf"{LETTER}+")
_HUMP = pattern_of(rf"[A-Z][a-z]+|{LETTER}+")
# Labels of things, too: what stands there is a name only if it looks like one.
_OF_THINGS = listed(_TABLE, "of_things", "latin")
_CLAUSE = pattern_of("[的是了这那哪吗呢]|です|ます|する|した")  # words of a sentence, in no name
_SHORTEST_CLAUSE = 8  # characters
_LETTERS = pattern_of(rf"(?:{LETTER}|[{HAN_KANA}])")


class Field(StrEnum):
    """What a field holds."""

    NAMED = "named"
    CODED = "coded"
    PAY = "pay"
    HEALTH = "health"
    MAYBE = "maybe"  # under a label that things have, too, words that anything may be called


_IN_TABLE = (Field.NAMED, Field.CODED, Field.PAY, Field.HEALTH)


@cache
def _latin(field: Field) -> frozenset[str]:
    return listed(_TABLE, field, "latin") | listed(_TABLE, field, "latin_more")


@lru_cache(8192)
def field_of(label: str) -> Field | None:
    """What the value with this label is; None if it need not be about anybody."""
    plain = normalised(label).replace("(", " ").replace(")", " ")
    if not plain or len(plain) > _LONGEST_LABEL or is_flag(label):
        return None
    if not plain.isascii():
        if _PORT.search(plain):
            return None
        for field in _IN_TABLE:
            if plain.endswith(tuple(listed(_TABLE, field, "cjk"))):
                return field
    for field in _IN_TABLE:
        if plain in _latin(field):
            return field
    parts = plain.split()
    units, things = listed(_TABLE, "units", "latin"), listed(_TABLE, "things", "latin")
    while len(parts) > 1 and parts[-1] in units and " ".join(parts[-2:]) not in _codes():
        parts.pop()
    if any(part in things for part in parts) or (parts[-1] == "name" and parts[-2:-1] == _PLACED):
        return None
    for size in (3, 2, 1):
        head = " ".join(parts[-size:])
        for field in _IN_TABLE:
            if head in _latin(field):
                return field
    return None


# An address of somebody is found as such; what is left is only the form of one.
_MAIL = re.compile(r"[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}")
_COMMAND = re.compile(r"[a-z][\w.-]* --?[A-Za-z]")  # with an option: `edquota -u`
_PORT = re.compile("ポート(?!フォ)|端口")  # of a machine, which is nobody's number
_PLACED = ["location"]  # where something is, and nobody's name: `location_name`


@cache
def _codes() -> frozenset[str]:
    return _latin(Field.CODED) | _latin(Field.NAMED)


def holds(field: Field, value: str, label: str, dictionary: frozenset[str]) -> bool:
    """Can the value be what its field holds, rather than empty, code or a reference to it?"""
    plain = value.strip().strip("\"'`“”「」*_ ")
    small = plain.casefold()
    is_short = len(plain) < 2 and (field is not Field.NAMED or not _LETTERS.match(plain))
    if (
        is_short
        or (plain.isascii() and len(plain) < 2)
        or len(plain) > _LONGEST_VALUE
        or "\n" in plain
        or small in _EMPTY
        or is_label(plain)
    ):
        return False
    if _CLASS.fullmatch(plain) or _POINTER.fullmatch(plain) or _TITLE.fullmatch(value.strip()):
        return False
    if field is not Field.CODED and small in normalised(label).split():
        return False
    if field is Field.CODED:
        is_clause = len(plain) >= _SHORTEST_CLAUSE and _CLAUSE.search(plain) is not None
        digits = sum(map(str.isdigit, plain))
        return digits >= _FEWEST_DIGITS and not is_clause and _CODE.search(plain) is None
    if field is Field.PAY:
        return sum(map(str.isdigit, plain)) >= _FEWEST_DIGITS and len(plain.split()) <= _MOST_WORDS
    if _COMMAND.match(plain) or _MAIL.fullmatch(plain):
        return False
    if _MEMBER.fullmatch(plain) or (plain.islower() and len(plain.split()) > _LONGEST_NAME):
        return False
    if _CODE.search(plain) or not _LETTERS.search(plain) or len(plain.split()) > _MOST_WORDS:
        return False
    if field is Field.HEALTH:
        return not small.isdigit()
    return _is_named(plain, small, normalised(label), dictionary)


def _shows_somebody(plain: str, dictionary: frozenset[str]) -> bool:
    """Is a word of it a given name or in no dictionary, or is it a name in Han characters?"""
    if not plain.isascii():
        return chinese_name(plain.replace(" ", "")) or not has_han(plain)
    words_of = [word for word in _WORD.findall(plain) if word[0].isupper() and not word.isupper()]
    return any(
        w in GIVEN_NAMES or not all(is_known(hump, dictionary) for hump in _HUMP.findall(w))
        for w in words_of
    )


_LOGINS = frozenset({"login", "user", "username", "handle"})
_JOINED = re.compile(r"[a-z]+[a-z0-9]*(?:[-_][a-z0-9]+)+|[A-Z]{2,}(?:_[A-Za-z]+)+")
_PRODUCTS = words("words.toml", "products")
_URI_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,15}://")


def _is_of_program(plain: str, dictionary: frozenset[str]) -> bool:
    """Is it an identifier of everyday words, a service of a program (`redis-primary`), a sample
    (`my-tenant`) or a widely known host?"""
    if "." in plain and not private_site(plain):
        return True
    if not _JOINED.fullmatch(plain):
        return False
    parts = [part for part in plain.replace("_", "-").split("-") if part]
    if parts[0] in ("my", "your"):
        return True
    are_known = all(is_known(part, dictionary) for part in parts if not part.isdigit())
    is_constant = parts[0].isupper()  # `KIND_member`
    return are_known and (is_constant or is_program_word(parts[0]) or plain.count("_") > 1)


def _is_named(plain: str, small: str, label: str, dictionary: frozenset[str]) -> bool:
    if small in _NO_LOGINS or is_service_login(small) or small.replace("_", " ") in _all_labels():
        return False
    if field_of(plain) is Field.CODED:
        return False  # a label in a row of labels
    if small.partition(":")[0] in _NO_LOGINS or is_program_word(small.rstrip("0123456789")):
        return False  # a port behind `localhost`, a protocol with its number
    if is_blanked(plain) or names_service(plain) or is_shared_login(small):
        return False
    parts = small.split()
    if _QUANTITY.match(plain) or all(map(is_program_word, parts)):
        return False
    if _is_of_program(plain, dictionary) or (label in _LOGINS and has_kana(plain)):
        return False
    if label == "name" and not _is_name(plain, parts):
        return False
    if len(parts) == 1 and plain.title() in _PRODUCTS:
        return False
    if label in _OF_THINGS and not _shows_somebody(plain, dictionary):
        return False
    if label == "name":
        return True
    if "name" in label.split() or "names" in label.split():
        return not plain.isascii() or all(w[0].isupper() or w in _SMALL for w in plain.split())
    is_long = len(parts) > _MOST_NAME or any(p in _SMALL and p not in _JOINING for p in parts)
    is_small = (plain[0].lower() + plain[1:]).islower()  # a sentence may begin with a capital
    is_sentence = len(parts) > 1 and is_small and plain.isascii()
    is_sentence = is_sentence and (is_long or plain[0].isupper())
    words_of = _WORD.findall(small)
    return not is_sentence or not all(
        is_known(word, dictionary) or is_program_word(word) for word in words_of
    )


def _is_name(plain: str, parts: Sequence[str]) -> bool:
    """Is it that of a person or a firm rather than of a tool, a report or a column?"""
    if has_han(plain) or has_kana(plain):
        return len(plain) <= _LONGEST_HAN or not has_han(plain)
    if plain in GIVEN_NAMES:
        return True
    is_capital = all(word[0].isupper() or word in _SMALL for word in plain.split())
    return is_capital and len(parts) > 1 and not is_plain_capital(plain.split()[-1])


@cache
def _all_labels() -> frozenset[str]:
    return frozenset().union(*(_latin(field) for field in _IN_TABLE))


_Span = tuple[int, int, EntityType, Field]
_LABEL = rf"(?:[^\W\d_{HAN_KANA}][\w .'’()/-]{{0,46}}?|[{HAN_KANA}][{HAN_KANA}A-Za-z ]{{0,15}}?)"
# A line of a form, of settings or of YAML.
_LINE = pattern_of(
    rf"(?m)^[ \t　>*#|/;+•・-]{{0,12}}(?:\d{{1,2}}[.)] )?(?P<open>[\"'`*【]{{0,3}})"
    rf"(?P<label>{_LABEL})"
    r"[\"'`*】]{0,3}[ \t　]{0,8}(?P<mark>=>|:=|[:：=＝])[ \t　]{0,8}\*{0,2}[ \t]?"
    r"(?P<v>[^\n]{1,200})$"
)
# A value in quotes, in code, markup or settings, and the literals of a list.
_QUOTED = Screened(
    r"(?<![\w])[\"'`]?(?P<label>[^\W\d][\w-]{1,40}|[A-Za-z]{2,20} [A-Za-z]{2,20}"
    r"(?=[\"'`]))[\"'`\]]?"
    r"(?:[ \t]{0,3}(?:=>|:=|[:=])|(?<=[a-z])(?= [\"“]))[ \t]{0,3}[\[(]?[ \t\n]{0,8}"
    r"(?P<q>\\?[\"'`])(?P<v>[^\"'`\\\n]{2,120})(?P=q)"
)
_ITEM = pattern_of(r"\s{0,40},\s{0,40}(?P<q>[\"'`])(?P<v>[^\"'`\\\n]{2,120})(?P=q)")
# In logs, queries and commands.
_PAIR = pattern_of(
    r"(?<![\w.])(?P<label>[A-Za-z][\w.-]{1,40})=(?P<v>[^\s\"'`,;&|(){}\[\]<>=]{2,60})(?=[\s&,;|]"
    r"|\.?$)"
)
_OPTION = Screened(
    r"(?<![\w-])--(?P<label>[a-z][a-z0-9-]{1,40})[ =](?:(?P<q>[\"'])(?P<v>[^\"'\n]{2,120})(?P=q)"
    r"|(?P<v2>[^\s\"'`<>(){}$|;&-][^\s\"'`<>(){}$|;&]{1,60}))"
)
_BULLETS = Screened(
    rf"(?m)^[ \t]*(?:- )?(?P<label>{_LABEL})[:：][ \t]*\n(?P<items>"
    rf"(?:[ \t]*[-*] [^\n]{{2,80}}\n?){{1,60}})"
)
_BULLET = pattern_of(r"[ \t]*[-*] ([^\n]+)")
_ELEMENT = pattern_of(
    r"<(?:\w{1,20}:)?(?P<label>[A-Za-z][\w-]{1,40})(?: [^<>]{0,200})?>(?P<v>[^<>\n]{2,120})</"
)
_COMMENT = pattern_of(r"\s+(?:#|//|--)\s.*$")
_END = pattern_of(r"\s+[|;]\s|\s<|[;；|]|[,，、]\s{0,2}(?=[\w ]{2,24}[:：])|\s{2,}|\t")


def find_fields(text: str, dictionary: frozenset[str]) -> list[_Span]:
    """The spans of values that a label declares, with their kind and field; in no order."""
    spans: list[_Span] = []
    for match in _LINE.finditer(text):
        if "{" not in match["v"]:
            spans += _value(text, match, "v", dictionary, cut=True)
    for match in _QUOTED.finditer(text):
        spans += _value(text, match, "v", dictionary)
        end = match.end()
        if field_of(match["label"]) and "[" in text[match.end("label") : match.start("v")]:
            while item := _ITEM.match(text, end):
                spans += _checked(text, item.span("v"), match["label"], dictionary)
                end = item.end()
    for match in _PAIR.finditer(text):
        # A program writes numbers of its own so: `lock=166121161`.
        if field_of(match["label"]) is not Field.CODED or _is_own_number(match["label"]):
            spans += _value(text, match, "v", dictionary)
    for match in _ELEMENT.finditer(text):
        spans += _value(text, match, "v", dictionary)
    for match in _OPTION.finditer(text):
        spans += _value(text, match, "v" if match["v"] else "v2", dictionary)
    for match in _BULLETS.finditer(text):
        for item in _BULLET.finditer(text, *match.span("items")):
            if ": " not in item[1]:
                spans += _checked(text, item.span(1), match["label"], dictionary)
    return spans


def _is_own_number(label: str) -> bool:
    """Does a label say whose number it is, rather than `lock` or `entry` alone?"""
    return declared_kind(label) is not None or len(normalised(label).split()) > 1


def is_of_thing(text: str) -> bool:
    """Is a text a cell under a label that says that a thing is named: a product, a department?"""
    label, mark, _ = text.partition(": ")
    return bool(mark) and len(label) <= _LONGEST_LABEL and normalised(label) in _THINGS


_THINGS = listed(_TABLE, "named_things", "latin") | listed(_TABLE, "named_things", "cjk")
_FIRMS = listed(_TABLE, "of_firms", "latin")
_FIRMS_CJK = tuple(listed(_TABLE, "of_firms", "cjk"))


def is_of_firm(text: str) -> bool:
    """Is a text a cell under a label of firms or institutions (`company`, `Company Name`)?"""
    label, mark, _ = text.partition(": ")
    if not mark or len(label) > _LONGEST_LABEL:
        return False
    plain = normalised(label).removesuffix(" name")
    return plain.rpartition(" ")[2] in _FIRMS or plain.endswith(_FIRMS_CJK)


# The name of a key or option, before the value that it holds.
_LABEL_BEFORE = re.compile(
    r"(?<![\w-])([A-Za-z][\w-]{1,40})[\"'`]?\]?\s{0,3}(?:=>|:=|[:=])\s{0,3}[\"'`]?$"
)
_LONGEST_FIRM, _BEFORE_VALUE = 40, 48  # characters


def firm_spans(text: str, fields: Iterable[_Span]) -> Iterator[tuple[int, int]]:
    """The spans of fields whose label says that they hold a firm."""
    for start, end, kind, field in fields:
        is_short = end - start <= _LONGEST_FIRM and kind is not EntityType.ACCOUNT
        label = _LABEL_BEFORE.search(text, max(0, start - _BEFORE_VALUE), start)
        if field is Field.NAMED and is_short and label and is_of_firm(f"{label[1]}: "):
            yield start, end


def _value(
    text: str, match: re.Match[str], group: str, dictionary: frozenset[str], cut: bool = False
) -> Iterator[_Span]:
    label = match["label"]
    if field_of(label) is None or names_software(label, text):
        return
    if is_of_image(text, match[group].strip().strip("\"'")):
        return
    start, end = match.span(group)
    if cut:
        value = _COMMENT.sub("", match[group])
        if value[:1] in ('"', "'", "`") and value[-1:] in (",", ";") and match["open"]:
            return  # JSON or code, which is read by its quotes
        stop = _END.search(value)
        end = start + (stop.start() if stop else len(value))
        is_key_of_code = match["open"][:1] in ('"', "'") and value[:1] not in ('"', "'")
        if value.rstrip()[-1:] in (",", "{", "[", "(") or is_key_of_code:
            return
    start += unit_before(text[start:end])
    yield from _checked(text, (start, end), label, dictionary)


def _checked(
    text: str, span: tuple[int, int], label: str, dictionary: frozenset[str]
) -> Iterator[_Span]:
    field = field_of(label)
    value = text[slice(*span)]
    if field is None or not holds(field, value, label, dictionary):
        return
    if field is Field.NAMED and _SEVERAL.search(value):
        for part in re.finditer(r"[^、，；]+", value):
            yield from _checked(
                text, (span[0] + part.start(), span[0] + part.end()), label, dictionary
            )
        return
    start = span[0] + len(value) - len(value.lstrip(" \t\"'`“「*_"))
    end = span[1] - (len(value) - len(value.rstrip(" \t\r\"'`”」*_.,;，。")))
    scheme = _URI_SCHEME.match(text, start, end)
    start = scheme.end() if scheme else start
    addressed = _ADDRESSED.fullmatch(text, start, end)
    if addressed:
        if not addressed["each"] and not addressed["name"].endswith(_ROLES):
            yield *addressed.span("name"), EntityType.PERSON, field
        return
    if end > start:
        is_word = value.strip().isascii() and value.strip().islower() and " " not in value.strip()
        is_login = field is Field.NAMED and is_word
        kind = EntityType.ACCOUNT if is_login else EntityType.UNEXPLAINED
        is_sure = field is not Field.NAMED or _is_sure(label, text[start:end], dictionary)
        yield start, end, kind, field if is_sure else Field.MAYBE


def _is_sure(label: str, value: str, dictionary: frozenset[str]) -> bool:
    """Does the label declare somebody, or does the value look like somebody's name?

    Most labels of people are labels of things elsewhere: `children` of an element, the `editor` of
    a setting, the `ground` of a colour.
    """
    if not label.isascii() or declared_kind(label) is not None:
        return len(value) < _SHORTEST_CLAUSE or _CLAUSE.search(value) is None
    if value.islower() and value.isascii():
        return not all(
            is_known(part, dictionary) or is_program_word(part) for part in _WORD.findall(value)
        )
    return _shows_somebody(value, dictionary)


_SEVERAL = pattern_of("[、，；]")
_ROLES = tuple(words("japanese.toml", "honoured_roles"))
# Who is addressed, with a title that stays: 早蕨課長, and nobody in 各担当様.
_ADDRESSED = pattern_of(
    rf"(?P<each>[各皆全])?(?P<name>[{HAN_KANA}]{{1,6}}?)[ 　]?"
    r"(?:(?:課長|部長|次長|係長|主任|社長|所長|室長|店長)?(?:様|さま|さん|殿|氏)"
    r"|課長|部長|次長|係長|主任|社長|所長|室長|店長)"
)
_BAR = pattern_of(r"(?<![^|])[^|]+")
_WIDE = pattern_of(r"\S+(?: \S+)*")
_COMMAS = pattern_of(r"(?:(?<=^)|(?<=,))[^,]*")
_TABS = pattern_of(r"[^\t]+")
_FEWEST_COLUMNS, _LONGEST_HEAD = 2, 30


def find_field_rows(text: str, dictionary: frozenset[str]) -> list[_Span]:
    """The cells below heads that declare what they hold, in tables within a text."""
    spans: list[_Span] = []
    if "\n" not in text:
        return spans
    lines, offset = [], 0
    for line in text.splitlines(keepends=True):
        lines.append((offset, line.rstrip("\r\n")))
        offset += len(line)
    for mark, cell in (("|", _BAR), ("\t", _TABS), ("  ", _WIDE), (",", _COMMAS)):
        if mark in text:
            spans += _rows(text, lines, mark, cell, dictionary)
    return spans


def _rows(
    text: str,
    lines: Sequence[tuple[int, str]],
    mark: str,
    cell: re.Pattern[str],
    dictionary: frozenset[str],
) -> Iterator[_Span]:
    heads: list[str] = []
    before = 0  # cells of the line above: in a table of bars, heads stand in its first line alone
    for number, (offset, line) in enumerate(lines):
        cells = list(cell.finditer(line)) if mark in line else []
        can_be_heads, before = mark != "|" or before < _FEWEST_COLUMNS, len(cells)
        if len(cells) < _FEWEST_COLUMNS or not heads or len(cells) != len(heads):
            labels = [part.group().strip() for part in cells]
            below = lines[number + 1][1] if number + 1 < len(lines) else ""
            is_table = mark == "|" or len(cell.findall(below)) == len(cells)
            heads = labels if can_be_heads and is_table and _are_heads(labels, mark) else []
            continue
        for label, part in zip(heads, cells, strict=True):
            start, end = offset + part.start(), offset + part.end()
            yield from _checked(text, (start, end), label, dictionary)


def _are_heads(labels: Sequence[str], mark: str) -> bool:
    fewest = _FEWEST_COLUMNS + (mark == ",")
    if len(labels) < fewest or not any(map(field_of, labels)):
        return False
    if labels[-1].endswith((";", "{")):
        return False  # a statement of a program: its first word is a keyword, as in the next line
    return not any(sum(map(str.isdigit, label)) > 1 or ":" in label for label in labels) and all(
        len(label) <= _LONGEST_HEAD for label in labels
    )
