"""Values that their label declares: a column, key, setting or form field in five languages.

What stands under `Nachname`, `mot de passe` or `担当者` is private, whatever it looks like, in a
form, in settings, in `INSERT … VALUES` and in printed tables. The labels are in
`data/declared.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import (
    COMMON,
    SERVICE_LOGINS,
    chinese_name,
    is_service_login,
    listed,
    words,
)
from data.text.lexicon import load_table, trie_pattern
from data.text.scripts import HAN, HAN_KANA, LETTER, LETTERS, RUNS, has_han, has_kana

NAME = "declared"
LABEL_LANGUAGES = ("en", "de", "fr", "zh", "ja")
_SCORE = 0.9
_TABLE = "declared.toml"
_LONGEST_LABEL, _LONGEST_VALUE = 48, 80  # characters
_MOST_NAMES = 5  # words of a name
_FEWEST_DIGITS = 5  # of a number that identifies somebody
_FEW_IN_CODE = 3  # digits of one with capitals in it
_WHOLE_NAMES = ("full name", "fullname")
_FIRMS = listed("fields.toml", "of_firms", "latin") | {"corporation", "corp", "enterprise", "org"}
_HUMP = re.compile(r"(?<=[a-z0-9äöüéè])(?=[A-Z])")
_BETWEEN = re.compile(r"[\s_./-]+")
_FLAG = re.compile(r"(?:is|has|can|should|num|n|count)(?:_|(?=[A-Z]))\w")
_CLIENT = re.compile(r"(?i)client[_-]?(?:id|secret)[\"']?\s{0,4}[:=]")
_UNIT = re.compile(
    rf"[{HAN_KANA}]{{1,12}}(?:[部課课科室局处處组係]|本部|センター|チーム)[ 　]+(?=\S)"
)
_EDGE = " \t\"'`*:：=#()[]（）【】"
# What stands in a cell that has no value, or refers to it.
_EMPTY = words("words.toml", "empty_cells")
_REFERENCE = re.compile(
    r"[$%#]?\{|(?:env|ref|var|secret)\(|(?:my|your)-\w|<[^<>]*>$|\$\w|%\w+%|\*{3}|x{3}|process\.|os\.|env\.",
    re.I,
)
_NAMED = re.compile(rf"(?:{LETTER}|[{HAN_KANA}])")
# Whom a form means, and nobody's name: 申请人, 接收者, 用户名称.
_PART = re.compile(
    f"[{HAN}]{{1,5}}(?:者|名称|姓名|人员|部门|主管)|(?:申请|负责|审批|联系|经办|发起|创建|处理|操作|收件"
    "|发件|请求|汇报|参会|主持|记录)人"
    f"|[{HAN_KANA}・/／]{{0,8}}(?:企業|会社|法人|団体|組織|店|店舗|施設|商品|製品|ブランド|部署|部門|支店|拠点|案件|物件"
    "|顧客|取引先|得意先|仕入先|担当者?|お客様|ファイル|項目|品|役職|学校|病院|銀行)名"
)
_HINT = re.compile("^(?:请|必填|选填|可选|未|无$)|昵称|用户|名称|[的是]")  # what a form says to do
_NO_LOGINS = words("words.toml", "no_handles")
_LOGIN_WORDS = words("words.toml", "login_words") | SERVICE_LOGINS
_BIRTH = re.compile(
    r"(?:19|20)\d\d[-./年]?\d{1,2}[-./月]?\d{1,2}日?|\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d"
)


@cache
def _labels() -> tuple[Mapping[str, EntityType], Mapping[str, EntityType]]:
    """Labels that count at the end of a longer one, and those that count alone."""
    anywhere: dict[str, EntityType] = {}
    alone: dict[str, EntityType] = {}
    for kind, lists in load_table(__package__, "data", _TABLE).items():
        for language in LABEL_LANGUAGES:
            anywhere.update(dict.fromkeys(lists[language].split("|"), EntityType(kind)))
        alone.update(dict.fromkeys(filter(None, lists["alone"].split("|")), EntityType(kind)))
    return anywhere, alone


@cache
def labels_of(language: str) -> frozenset[str]:
    """The normalised labels of one of the `LABEL_LANGUAGES`."""
    tables = load_table(__package__, "data", _TABLE).values()
    return frozenset(label for lists in tables for label in lists[language].split("|"))


@lru_cache(4096)
def declared_kind(label: str) -> EntityType | None:
    """What the value with this label is; None if the label declares nothing private."""
    plain = normalised(label)
    if not plain or len(plain) > _LONGEST_LABEL or is_flag(label):
        return None
    anywhere, alone = _labels()
    kind = anywhere.get(plain) or alone.get(plain)
    parts = plain.split(" ")
    if kind is None and plain.endswith(_WHOLE_NAMES) and not _FIRMS.isdisjoint(parts):
        return EntityType.ORGANIZATION
    for first in range(1, len(parts)):
        kind = kind or anywhere.get(" ".join(parts[first:]))
    return kind


def normalised(label: str) -> str:
    """A label in small letters, its words separated by blanks."""
    return _BETWEEN.sub(" ", _HUMP.sub(" ", label.strip(_EDGE))).strip().casefold()


def is_flag(label: str) -> bool:
    """Does it name a yes or no, or a count (`is_manager`, `numUsers`), and not somebody?"""
    return _FLAG.match(label.strip(_EDGE)) is not None


def names_software(label: str, text: str) -> bool:
    """Is the client of a name a program that signs in, as its number or secret beside it shows?"""
    return normalised(label) == "client name" and _CLIENT.search(text) is not None


def names_part(value: str) -> bool:
    """Does it say whom a form means, and name nobody: 申请人, 接收者?"""
    return _PART.fullmatch(value) is not None


def unit_before(value: str) -> int:
    """The length of the unit that stands before somebody's name: `情報管理課 水野`."""
    unit = _UNIT.match(value)
    return unit.end() if unit else 0


def can_be_declared(kind: EntityType, value: str) -> bool:
    """Can a value be of the kind that its label declares, rather than empty or a reference?"""
    plain = value.strip()
    if not 2 <= len(plain) <= _LONGEST_VALUE or "\n" in plain:
        return False
    if plain.casefold() in _EMPTY or _REFERENCE.match(plain) or plain[0] in "[{":
        return False
    return not is_label(plain) and _fits(kind, plain)


def is_label(value: str) -> bool:
    """Is it a label itself, as in a second row of heads or a form: 【ご担当者名】?"""
    plain = value.strip(_EDGE + "…")
    if plain.isascii() and " " not in plain:
        return False  # people are called Case or Porter, too
    anywhere, alone = _labels()
    forms = (normalised(plain), normalised(plain[plain[:1] in tuple("ご御お") :]))
    return any(form in anywhere or form in alone or names_part(form) for form in forms)


def _fits(kind: EntityType, plain: str) -> bool:
    digits = sum(map(str.isdigit, plain))
    if kind is EntityType.PERSON:
        if names_service(plain):
            return False
        is_short = len(plain.split()) <= _MOST_NAMES
        return (
            is_short
            and digits <= 1
            and _NAMED.search(plain) is not None
            and plain.title() not in COMMON
            and not names_part(plain)
        )
    if kind is EntityType.PHONE:
        return 6 <= digits <= 16 and 2 * digits >= len(plain)
    if kind is EntityType.DATE:
        return _BIRTH.fullmatch(plain) is not None
    if kind is EntityType.ORGANIZATION:
        return _NAMED.search(plain) is not None and plain.title() not in COMMON and "@" not in plain
    if kind is EntityType.PLATE:
        return 4 <= len(plain) <= 12 and digits >= 2
    if kind in (EntityType.ADDRESS, EntityType.LOCATION):
        return _NAMED.search(plain) is not None and "@" not in plain
    if kind is EntityType.ACCOUNT:
        return _is_login(plain)
    if kind is EntityType.SECRET:
        return len(plain) >= 4 and " " not in plain
    is_code = len(plain) >= _FEWEST_DIGITS and any(map(str.isupper, plain)) and " " not in plain
    return digits >= _FEWEST_DIGITS or (is_code and digits >= _FEW_IN_CODE)


_TEAM = re.compile(r"(?i)(?:the )?team \S+|.{2,40} team")


def names_service(plain: str) -> bool:
    """Is it whom a machine calls its own (`System Administrator`), or a team of a service?"""
    words_of = plain.casefold().split()
    return all(word in SERVICE_LOGINS for word in words_of) or _TEAM.fullmatch(plain) is not None


def _is_login(plain: str) -> bool:
    parts = [part.casefold() for part in RUNS.findall(plain)]
    is_word = len(plain) >= (2 if has_han(plain) else 3) and not re.search(
        r"[\s/\\(){}]|^[\d:]+$", plain
    )
    is_common = (
        plain.casefold() in _NO_LOGINS
        or is_service_login(plain)
        or all(part in _LOGIN_WORDS for part in parts)
    )
    return is_word and not is_common and not has_kana(plain) and not _HINT.search(plain)


# In code and settings: a label, a mark of assignment, and a literal or the rest of the line.
_CAPITAL_NAME = rf"(?-i:[^\W\d_a-z]{LETTER}+(?:[ '-]{{1,2}}[^\W\d_a-z]{LETTER}*\.?){{0,4}})"
_EASTERN_NAME = rf"[{HAN_KANA}]{{1,8}}(?:[ 　・][{HAN_KANA}]{{1,8}})?"
_PHONE_NUMBER = r"\+?\(?\d[\d ()./-]{4,18}\d"
_CODE = r"(?=[A-Z0-9 -]{0,12}\d{2})[A-Z0-9]{2,12}(?:[ -][A-Z0-9]{1,12}){0,3}"
_LOGIN = r"[A-Za-z0-9][\w.-]{2,31}"


@cache
def _declaration() -> re.Pattern[str]:
    anywhere, alone = _labels()
    written = {
        form
        for label in (*anywhere, *alone)
        for form in (
            label,
            label.replace(" ", "_"),
            label.replace(" ", "-"),
            label.replace(" ", ""),
        )
        if form
    }
    label = trie_pattern(sorted(written))
    return re.compile(
        rf"(?i)(?<![{LETTERS}.])(?P<label>(?:[a-z]{{1,16}}[._-]){{0,2}}{label})(?![{LETTERS}0-9])"
        r"(?P<close>\.?\\?[\"'`\]*]{0,3})[ \t　]{0,4}"
        r"(?P<mark>=>|:=|={1,2}|[:：＝]|\.{3,40}|…{1,20}|_{3,40}|(?=「)"
        r"| (?:is|was|will be|ist|lautet)(?= [A-Z0-9-]{0,12}[0-9]))[ \t　]{0,3}\*{0,2}"
        rf"(?:「(?P<corner>[^」\n]{{2,40}})」|(?P<open>\\?[\"'`])(?P<quoted>[^\"'`\\\n]{{2,{_LONGEST_VALUE}}})(?=\\?[\"'`])"
        rf"|(?-i:(?P<code>{_CODE}))(?=[ \t]*(?:\r?$|[,;，；。]|\. ))"
        rf"|(?P<east>{_EASTERN_NAME})(?![{HAN_KANA}])|(?P<name>{_CAPITAL_NAME})(?![{LETTERS}0-9(\[{{.=])"
        rf"|(?P<phone>{_PHONE_NUMBER})(?!\w|\.\w)"
        rf"|(?P<login>{_LOGIN})(?=[ \t]*(?:\r?$|[,;#}}]| \w+=)))",
        re.MULTILINE,
    )


# A line of settings, its key in parts or in capitals: `mail.user=ann`, `SMTP_USER=ann`.
_SETTING = re.compile(
    r"[ \t]{0,8}(?:export )?"
    r"(?:(?:[A-Za-z][\w-]{0,40}\.){1,5}[a-z_-]{2,24}|[A-Z][A-Z0-9_]{2,40})"
)
_CELL_UNDER_HEAD = re.compile(
    rf"([^:\n{{}}\"'=]{{1,{_LONGEST_LABEL}}}): ([^\n:=\"'`]{{2,{_LONGEST_VALUE}}})"
)
_NUMBERED = frozenset(
    {EntityType.PHONE, EntityType.NATIONAL_ID, EntityType.BANK_ACCOUNT, EntityType.BANK_CARD}
    | {EntityType.PERSON_NUMBER, EntityType.PASSPORT}
)
_MARKED = re.compile(r"[:=：＝「]|\.{3}|…|___| (?:is|was|will be|ist|lautet) ")
_NUMBER_OF = re.compile(r"[A-Z]{1,5}[ -]?\d{4,12}(?:-\d{1,4})?")
_LOGIN_OF = re.compile(rf"(?=\S*[\d_.])[A-Za-z{HAN_KANA}][\w.{HAN_KANA}-]{{3,31}}")
_BARE = {
    "east": frozenset({EntityType.PERSON, EntityType.ACCOUNT}),
    "name": frozenset({EntityType.PERSON}),
    "phone": _NUMBERED,
    "code": _NUMBERED | {EntityType.PLATE, EntityType.PASSPORT},
    "login": frozenset({EntityType.ACCOUNT}),
}


def find_declared(folded: str) -> Iterator[Finding]:
    """The values that labels declare in code, settings, logs and forms within a text."""
    if _MARKED.search(folded) is None:
        return
    field = list(_field(folded))
    yield from field
    if field:
        return
    for match in _declaration().finditer(folded):
        kind = declared_kind(match["label"])
        group = next(name for name in ("quoted", "corner", *_BARE) if match[name] is not None)
        value = match[group]
        is_parameter = folded[match.start() - 1 : match.start()] in ("?", "&")
        if kind is None or (is_parameter and kind is EntityType.PERSON):
            continue
        if names_software(match["label"], folded):
            continue
        if _shows_thing(match["label"], value):
            continue
        kind = _refined(kind, value)
        is_firm = group == "east" and normalised(match["label"]).endswith(_WHOLE_NAMES)
        if group in _BARE and kind not in _BARE[group] and not is_firm:
            continue
        if group == "login" and not _is_written_login(match):
            continue
        if can_be_declared(kind, value):
            start = match.start(group) + unit_before(value)
            yield Finding(start, match.end(group), kind, NAME, _SCORE)


def _field(text: str) -> Iterator[Finding]:
    """The value of a text that is nothing but a label and a value: a cell under its heading."""
    match = _CELL_UNDER_HEAD.fullmatch(text)
    kind = declared_kind(match[1]) if match else None
    kind = None if match and _shows_thing(match[1], match[2]) else kind
    kind = _refined(kind, match[2].strip()) if match and kind else None
    if match and kind and can_be_declared(kind, match[2]):
        start = match.start(2) + len(match[2]) - len(match[2].lstrip())
        value = match[2].strip()
        yield Finding(start + unit_before(value), start + len(value), kind, NAME, _SCORE)


def _shows_thing(label: str, value: str) -> bool:
    """Is it the name that a program shows for a thing of its own, `display_name: 支付网关`?"""
    plain = value.strip().replace(" ", "")
    is_han = has_han(plain) and not has_kana(plain)
    return is_han and normalised(label) == "display name" and not chinese_name(plain)


def _refined(kind: EntityType, value: str) -> EntityType:
    """The kind of a value under a label of persons: a number or a login of theirs, perhaps."""
    if kind is not EntityType.PERSON:
        return kind
    if _NUMBER_OF.fullmatch(value):
        return EntityType.PERSON_NUMBER
    return EntityType.ACCOUNT if _LOGIN_OF.fullmatch(value) else kind


def _is_written_login(match: re.Match[str]) -> bool:
    """Is a bare word a login rather than a variable or a type?

    It has a digit or a sign, or is the value of a line of settings.
    """
    value = match["login"]
    if match["mark"] == "=" and match.end() == match.start("mark") + 1 + len(value):
        line = match.string.rfind("\n", 0, match.start()) + 1
        if _SETTING.fullmatch(match.string, line, match.start("mark")):
            return not value.isdigit()
    return any(not char.isalpha() for char in value) and not value.isdigit()


_INSERT = re.compile(
    r"(?i)\b(?:INSERT|REPLACE)\s{1,4}(?:IGNORE\s{1,4})?INTO\s{1,4}[\w.\"`\[\]]{1,120}\s{0,4}"
    r"\(([^()]{1,2000})\)\s{0,4}VALUES\s{0,4}"
)
# Rows without their columns, which then stand in the definition of the table.
_INSERT_ALL = re.compile(
    r"(?i)\b(?:INSERT|REPLACE)\s{1,4}(?:IGNORE\s{1,4})?INTO\s{1,4}[\"`\[]?(?P<table>\w{1,64})[\"`\]]?"
    r"\s{1,4}VALUES\s{0,4}(?=\()"
)
_TABLE_OF = re.compile(
    r"(?i)\bCREATE\s{1,4}TABLE\s{1,4}(?:IF\s{1,4}NOT\s{1,4}EXISTS\s{1,4})?[\"`\[]?(?P<table>\w{1,64})"
    r"[\"`\]]?\s{0,4}\((?P<columns>[^;]{1,8000})"
)
_COLUMN = re.compile(
    r"(?m)^\s{0,12}(?P<quote>[\"`\[]?)(?P<name>\w{1,64})[\"`\]]?[ \t]{1,20}(?P<kind>[A-Za-z]{2,20})"
    r"[^\n]{0,200}?(?:COMMENT[ \t]{1,4}'(?P<comment>[^'\n]{1,60})'|,?[ \t]*(?:--[^\n]*)?$)"
)
_NO_COLUMNS = frozenset(
    ["primary", "key", "unique", "constraint", "index", "foreign", "fulltext", "check"]
)
_ROW = re.compile(r"\s{0,8},?\s{0,8}\(")
_VALUE = re.compile(r"\s{0,8}(?:[NE]?'((?:[^']|'')*)'|\"([^\"]*)\"|([^,()']*))\s{0,8}([,)])")
_CELL = re.compile(r"\S+(?: \S+)*")  # printed columns have two blanks or a tab between them
_COMMA_CELL = re.compile(r"(?:(?<=^)|(?<=,))[^,]*")
_BAR = re.compile(r"(?<![^|])[^|]+")
_FEWEST_COLUMNS, _MOST_ROWS = 2, 2_000

Kinds = Sequence[EntityType | None]


def find_rows(folded: str) -> Iterator[Finding]:
    """The values of rows that a column declares."""
    if "INSERT" in folded or "insert" in folded:
        for insert in _INSERT.finditer(folded):
            kinds = [declared_kind(column) for column in insert[1].split(",")]
            if any(kinds):
                yield from _inserted(folded, insert.end(), kinds)
        tables = _tables(folded)
        for insert in _INSERT_ALL.finditer(folded) if tables else ():
            yield from _inserted(folded, insert.end(), tables.get(insert["table"].lower(), ()))
    if "  " in folded or "\t" in folded:
        yield from _below_heads(folded, _CELL, most_more=1)
    if "\n" in folded and "|" in folded:
        yield from _below_heads(folded, _BAR, most_more=0, first_only=True)
    if "\n" in folded and "," in folded:
        yield from _below_heads(folded, _COMMA_CELL, most_more=0)


def _tables(text: str) -> dict[str, Kinds]:
    """What the columns of the tables that a text defines declare, by their names or comments."""
    return {
        table["table"].lower(): [
            declared_kind(column["name"]) or declared_kind(column["comment"] or "")
            for column in _COLUMN.finditer(table["columns"])
            if column["quote"] or column["name"].lower() not in _NO_COLUMNS
        ]
        for table in _TABLE_OF.finditer(text)
    }


def _inserted(text: str, start: int, kinds: Kinds) -> Iterator[Finding]:
    while (row := _ROW.match(text, start)) is not None:
        start = row.end()
        for number in range(len(kinds) + 1):
            value = _VALUE.match(text, start)
            if value is None:
                return
            start = value.end()
            group = next(group for group in (1, 2, 3) if value[group] is not None)
            if number < len(kinds):
                yield from _in_row(kinds[number], value.span(group), text)
            if value[4] == ")":
                break


def _below_heads(
    text: str, cell: re.Pattern[str], most_more: int, *, first_only: bool = False
) -> Iterator[Finding]:
    """Rows below a line of which two heads declare their values; `cell` matches a cell of a line.

    A row may have up to `most_more` cells before those of the heads: programs print row numbers.
    With `first_only`, heads stand in the first of the lines with cells, as in a table with bars.
    """
    kinds: Kinds = ()
    offset = rows = before = 0
    for line in text.splitlines(keepends=True):
        cells = list(cell.finditer(line.rstrip("\r\n")))
        heads = [declared_kind(part.group()) for part in cells]
        can_be_heads = len(cells) >= _FEWEST_COLUMNS and not (first_only and before)
        before = len(cells) if len(cells) >= _FEWEST_COLUMNS else 0
        if can_be_heads and sum(map(bool, heads)) >= _FEWEST_COLUMNS:
            kinds, rows = heads, 0
        elif kinds and rows < _MOST_ROWS and 0 <= len(cells) - len(kinds) <= most_more:
            rows += 1
            for kind, part in zip(kinds, cells[len(cells) - len(kinds) :], strict=True):
                yield from _in_row(kind, (offset + part.start(), offset + part.end()), text)
        else:
            kinds = ()
        offset += len(line)


def _in_row(kind: EntityType | None, span: tuple[int, int], text: str) -> Iterator[Finding]:
    value = text[span[0] : span[1]]
    if kind is not None and can_be_declared(kind, value):
        start = span[0] + len(value) - len(value.lstrip())
        yield Finding(start, start + len(value.strip()), kind, NAME, _SCORE)
