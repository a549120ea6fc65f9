"""Values that the layout of a text states to be somebody's, whatever a model says of them.

The head of a mail without addresses, a sheet of labels and values with blanks between them, the
list of those present, who speaks in the export of a chat, a post with its holder, and the secret
behind a mark that follows words about one. Each reader takes a line apart and judges the parts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.declared import can_be_declared, declared_kind
from anonymization.text.detect.wording import (
    COMMON,
    GIVEN_NAMES,
    SERVICE_LOGINS,
    chinese_name,
    in_dictionary,
    is_office_in_han,
    is_program_word,
    like_password,
    words,
)
from data.text.screened import Screened, find_each, screened
from data.text.scripts import CAPITALS, HAN, HAN_KANA, LETTER, has_han, has_kana

NAME = "stated"
_SCORE = 0.8
_HEADERS = frozenset({"from", "to", "cc", "bcc", "reply-to", "sender", "von", "an"})
_ROLES = words("words.toml", "job_heads") | words("words.toml", "no_handles") | SERVICE_LOGINS
_NAME_WORD = rf"[{CAPITALS}](?:{LETTER}|['’-](?={LETTER})){{1,30}}"
_ONE_OR_TWO = rf"{_NAME_WORD}(?: {_NAME_WORD})?"
_TURNED = re.compile(rf"{_ONE_OR_TWO}, ?{_ONE_OR_TWO}")
_WORD = re.compile(rf"{LETTER}+")
_CELL = re.compile(r"\S+(?: \S+)*")
_GAP = re.compile(r" {2,}|\t")
_MOST_LABELS = 4  # words of a label
_WRITERS = frozenset({"记录", "主持", "記録", "司会"})
_PRESENT = _WRITERS | {
    *("present", "attendees", "attending", "in attendance", "participants", "apologies", "absent"),
    *("anwesend", "teilnehmer", "出席", "出席者", "参加者", "欠席"),
    *("参会人员", "出席人员", "与会人员", "列席", "缺席"),
}
_MACHINES = frozenset({"asset", "hostname", "host", "machine", "device", "workstation", "laptop"})
_BORN = re.compile(r"(?i) {2,}(?:dob|d\.o\.b|born|geb|\*\s?\d)")
_POST = Screened(
    r"(?:manager|supervisor|consultant|director|colleague|caretaker|neighbour|neighbor|assistant"
    r"|landlord|landlady|husband|wife|partner|brother|sister|daughter|son|boss|lead|nurse"
    rf"|solicitor|lawyer|doctor), (?P<v>{_NAME_WORD}(?: {_NAME_WORD}){{0,2}})(?=[,.;)\n])"
)
_TIME = r"(?:\d{4}[-/]\d\d?[-/]\d\d?[ T,]{1,2})?\d{1,2}:\d{2}(?::\d{2})?"
_SPEAKERS = screened(
    rf"(?m)^{_TIME}\t(?P<tabbed>[^\t\n]{{2,30}})\t(?=\S)",
    rf"(?m)^(?P<headed>[^\s\d#|:：][^\n\t|:：]{{1,24}}?)[ 　]{{2}}{_TIME}[ \t]*$",
    rf"(?m)^\[{_TIME}\] (?P<named>[^\s:：][^\n:：]{{1,30}})[:：] ",
)
_FEWEST_MESSAGES = 3
_SECRETS = screened(
    r"(?:パスワード|暗証番号|合言葉|密码|口令|(?i:password|passwd|passphrase|passwort|(?<![A-Za-z])pw))"
    r"[^\n:：=→⇒>]{0,16}(?:→|⇒|->|=>|➡)[ \t]?(?P<shown>[!-~]{6,48})",
    r"(?i:log ?in|login|user|account)(?: (?:is|as|was|still|now)){1,3} (?P<login>[\w.-]{3,32})"
    r" (?:with|and|/|pw|password) (?P<beside>[!-~]{6,48})",
    r"(?:密码锁|门锁密码|门禁码|キーボックス|暗証|オートロック)(?:の?番号)?[ :：は是为]{0,2}"
    r"(?P<code>\d{4,10})(?!\d)",
    r"(?i)(?<![a-z])(?:[\w.-]{0,24}(?:token|secret|hmac|signing|api_?key|private_?key|auth_?key"
    r"|salt))[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?P<drawn>[0-9a-f]{40,128})(?![0-9a-z])",
    r"(?m)^[^\n]{0,60}(?:PW|パスワード|密码|口令)[^\n]{0,40}\n?[「『](?P<corner>[!-~]{6,48})[」』]",
)
_PLATES = screened(
    rf"(?<![{HAN}])(?P<japan>[{HAN}]{{2,4}} ?\d{{2,3}} ?[ぁ-ん] ?\d{{1,2}}-?\d{{2}})(?!\d)",
    r"(?i:van|car|lorry|truck|bmw|vehicle|taxi|motorbike) \((?P<bracket>(?=[A-Z0-9 -]{0,8}\d)"
    r"(?=[A-Z0-9 -]{0,8}[A-Z])[A-Z0-9]{1,4}[ -][A-Z0-9]{1,4}(?:[ -][A-Z0-9]{1,4})?)\)",
)
_ADDRESSEE = Screened(
    rf"(?:宛名|届け先|差出人|名義|氏名)は ?(?P<v>[{HAN_KANA}]{{1,5}}[ 　][{HAN_KANA}]{{1,5}})"
    rf"(?=[。、，,\n]|\Z)"
)
# A family name and a given one with a blank between them, as Japanese forms and notes have it.
_SPACED = Screened(
    rf"(?<=[は、　：→])(?P<v>[{HAN}]{{2,3}} (?:[ぁ-ん]{{2,4}}(?=[　、。\n]|\Z)"
    rf"|[{HAN}]{{2}}(?=とある|という|さん|様|氏)))"
)
_BAR = re.compile(r"[^|\n]+")
_RULE = re.compile(r"\|?(?: {0,4}:?-{2,}:? {0,4}\|?){2,40}")
_PERSON, _ACCOUNT = EntityType.PERSON, EntityType.ACCOUNT


def find_stated(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """The values that a layout states, in no order; `dictionary` holds English words."""
    offset = 0
    for line in folded.splitlines(keepends=True):
        for start, end, kind in _of_line(line, dictionary):
            yield Finding(offset + start, offset + end, kind, NAME, _SCORE)
        offset += len(line)
    for match in _POST.finditer(folded):
        if _is_unknown(match["v"], dictionary):
            yield Finding(*match.span("v"), _PERSON, NAME, _SCORE)
    yield from _in_bars(folded, dictionary)
    for match in (*_ADDRESSEE.finditer(folded), *_SPACED.finditer(folded)):
        yield Finding(*match.span("v"), _PERSON, NAME, _SCORE)
    for match in find_each(_PLATES, folded):
        yield Finding(*match.span(str(match.lastgroup)), EntityType.PLATE, NAME, _SCORE)
    yield from _speakers(folded, dictionary)
    yield from _secrets(folded)


def _in_bars(text: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """Names in the columns of a table with bars whose heads are people: `| What | Who |`."""
    offset, columns, before = 0, frozenset[int](), ""
    for line in text.splitlines(keepends=True) if "|--" in text or "| --" in text else ():
        if _RULE.fullmatch(line.strip()):
            heads = enumerate(_BAR.findall(before.strip()))
            columns = frozenset(n for n, head in heads if declared_kind(head) is _PERSON)
        elif "|" not in line:
            columns = frozenset()
        for number, cell in enumerate(_BAR.finditer(line.strip()) if columns else ()):
            value = cell.group().strip()
            if number in columns and _is_capital(value) and _is_unknown(value, dictionary):
                start = offset + line.index(line.strip()) + cell.start()
                start += cell.group().index(value)
                yield Finding(start, start + len(value), _PERSON, NAME, _SCORE)
        before, offset = line, offset + len(line)


_Parts = Iterator[tuple[int, int, EntityType]]


def _of_line(line: str, dictionary: frozenset[str]) -> _Parts:
    bare = line.rstrip()
    if len(bare) > 400 or not bare:
        return
    label, colon, rest = bare.partition(":" if ":" in bare else "：")
    plain = label.strip(" \t#*->・").casefold()
    start = len(label) + len(colon) + len(rest) - len(rest.lstrip(" *"))
    if colon and plain in _HEADERS:
        yield from _of_header(bare, start, dictionary)
    elif colon and plain in _PRESENT:
        yield from _present(bare, start, dictionary)
    if _GAP.search(bare.strip()):
        yield from _aligned(bare)
        yield from _recorded(bare)


def _of_header(line: str, start: int, dictionary: frozenset[str]) -> _Parts:
    """`From: "Family, Given"`, with no address behind it."""
    value = line[start:].strip()
    first = line.index(value, start) if value else start
    inner = value.strip('"')
    first += len(value) - len(value.lstrip('"'))
    if "@" in value:
        return
    is_named = _TURNED.fullmatch(inner) is not None and value[:1] == '"'
    if is_named or (" " in inner and _is_unknown(inner, dictionary) and _is_capital(inner)):
        yield first, first + len(inner), _PERSON


def _present(line: str, start: int, dictionary: frozenset[str]) -> _Parts:
    """Each of those present who has a name, and not a post (`the minute-taker`, 客服部)."""
    for match in re.finditer(r"[^,，、;；()（）]+", line[start:]):
        value = match.group().strip()
        first = start + match.start() + match.group().find(value)
        if has_han(value) or has_kana(value):
            is_named = 2 <= len(value) <= 10 and not is_office_in_han(value)
            is_one = len(value) <= 4 and line[:start].strip(" \t#*->・:：") in _WRITERS
            if is_named and (chinese_name(value) or " " in value or is_one):
                yield first, first + len(value), _PERSON
        elif _is_capital(value) and _is_unknown(value, dictionary):
            yield first, first + len(value), _PERSON


def _aligned(line: str) -> _Parts:
    """Labels in capitals, each with a value behind two blanks: `REPORTER    Ann Holt   SITE  2`."""
    cells = list(_CELL.finditer(line))
    for label, value in pairwise(cells):
        name = label.group().rstrip(":")
        is_label = name.isupper() and name.isascii() and len(name.split()) <= _MOST_LABELS
        if not is_label or (value.group().isupper() and value.group().isalpha()):
            continue
        kind = declared_kind(name)
        if kind is None and name.casefold() in _MACHINES:
            is_host = any(map(str.isdigit, value.group())) and " " not in value.group()
            kind = _ACCOUNT if is_host and "-" in value.group() else None
        if kind is not None and (kind is _ACCOUNT or can_be_declared(kind, value.group())):
            yield *value.span(), kind


def _recorded(line: str) -> _Parts:
    """`Family, Given   dob 03.08.1952`: a person in a list, as the birth behind the name shows."""
    for cell in _CELL.finditer(line):
        if _TURNED.fullmatch(cell.group()) and _BORN.match(line, cell.end()):
            yield *cell.span(), _PERSON


def _speakers(text: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """Who speaks in the export of a chat; posts (会長, `agent`) stay."""
    said = [
        (match.span(str(match.lastgroup)), match[str(match.lastgroup)].strip())
        for match in find_each(_SPEAKERS, text)
    ]
    if len(said) < _FEWEST_MESSAGES:
        return
    times = Counter(name for _, name in said)
    for (start, _), name in said:
        if (times[name] > 1 or len(times) > 1) and _can_speak(name, dictionary):
            is_handle = " " not in name and not (chinese_name(name) or name in GIVEN_NAMES)
            kind = _ACCOUNT if is_handle else _PERSON
            yield Finding(start, start + len(name), kind, NAME, _SCORE)


def _can_speak(name: str, dictionary: frozenset[str]) -> bool:
    if has_han(name) or has_kana(name):
        is_plain = re.fullmatch(f"[{HAN_KANA}ー々]{{2,10}}", name) is not None
        if has_kana(name) or len(name) > 3:
            return is_plain and not is_office_in_han(name)
        return is_plain and chinese_name(name) and not is_office_in_han(name)
    if name.casefold() in _ROLES or is_program_word(name) or len(_WORD.findall(name)) > 3:
        return False
    return _is_unknown(name, dictionary) and not name.isupper()


def _secrets(text: str) -> Iterator[Finding]:
    for match in find_each(_SECRETS, text):
        for group, value in match.groupdict().items():
            if not value:
                continue
            if group == "login":
                yield Finding(*match.span(group), _ACCOUNT, NAME, _SCORE)
                continue
            plain = value.rstrip(".,;\"'")
            is_drawn = not plain[1:].islower() and plain.isalpha() and not plain.isupper()
            if group in ("code", "drawn") or is_drawn or like_password(plain):
                start = match.start(group)
                yield Finding(start, start + len(plain), EntityType.SECRET, NAME, _SCORE)


def _is_capital(value: str) -> bool:
    parts = value.split()
    return 0 < len(parts) <= 4 and all(re.fullmatch(rf"{_NAME_WORD}\.?", part) for part in parts)


def _is_unknown(value: str, dictionary: frozenset[str]) -> bool:
    """Is a word of it a given name, or in no dictionary, and none a common one?"""
    parts = _WORD.findall(value)
    if not dictionary or not parts or any(part.title() in COMMON for part in parts):
        return False
    return any(part in GIVEN_NAMES or not in_dictionary(part, dictionary) for part in parts)
