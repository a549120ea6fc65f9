"""What a value looks like behind the words that announce it: a number, a login, a password.

Each reader returns where the value that begins at an offset ends, or the offset itself if none does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from anonymization.text.contracts import EntityType
from anonymization.text.detect.english import in_dictionary
from anonymization.text.detect.wording import own_handle, private_site, words
from anonymization.text.secrets.evidence import is_placeholder
from data.text.scripts import HAN_KANA


@dataclass(frozen=True, slots=True)
class Link:
    """What stands between the words and a value: `bare`, `verb` or the mark itself ("" for none).

    `dictionary` holds English words, in small letters.
    """

    strength: str
    words: str
    dictionary: frozenset[str]
    is_eastern: bool = False

    @property
    def is_strong(self) -> bool:
        """Is there a mark or a verb?"""
        return self.strength not in ("bare", "comma", "")


_CHUNK = re.compile(r"[#+]?[A-Za-z0-9]{1,32}")
_BETWEEN = re.compile(r"\)[ -]?|[ ](?:[-/(])?[ ]?|[-/.·・_]")
_MEASURE = re.compile(
    r"\d+(?:st|nd|rd|th|am|pm|kg|g|mm|cm|km|m|h|min|s|ms|px|gb|mb|kb|tb|k|bn|years?|days?)", re.I
)
_DATE = re.compile(
    r"(?:19|20)\d\d[-/.年]\d{1,2}(?:[-/.月]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](?:19|20)\d\d"
)
_AMOUNT = re.compile(r"\d+(?:\.\d+)?|(?:19|20)\d\d")
_COUNTED = re.compile(
    r" ?%|[A-Za-z_=<>\[{]|\.\d|,\d{3}|[万亿億千百個个名人件行年月日歳岁元円位文桁]"
    r"| (?:people|persons|users|rows|items|records|lines|times|characters|digits|employees|members"
    r"|customers|accounts|units|hours|days|weeks|months|years|points|or more|to \d)\b"
)
_NO_TAIL = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "CNY",
        "RMB",
        "HKD",
        "CHF",
        "AM",
        "PM",
        "OK",
        "AND",
        "OR",
        "NOT",
        "THE",
        "IS",
    ]
)
_FEWEST = {
    EntityType.PHONE: 5,
    EntityType.BANK_ACCOUNT: 6,
    EntityType.NATIONAL_ID: 5,
    EntityType.PASSPORT: 5,
    EntityType.PLATE: 2,
}
_FEW, _FIVE, _SIX, _MANY = 3, 5, 6, 99
_MOST_OF_PHONE, _MOST = 16, 26  # digits
_WITH_LETTERS = frozenset({EntityType.NATIONAL_ID, EntityType.PASSPORT})
_PEOPLE = frozenset(
    [
        "customer",
        "client",
        "patient",
        "member",
        "employee",
        "tenant",
        "subscriber",
        "student",
        "passenger",
    ]
)
_ACCOUNTS, _LONG_ACCOUNT = frozenset({"account", "acc", "acct"}), 8
_PERIOD = re.compile(r"(?:Q[1-4]|H[12]|FY)[ -]?\d*(?:[ -]?\d{2,4})?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_SINGLE = 1


def number(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A number in any grouping, with capitals in it: `LX 55 812 07`, `44-871-2`, `7719*`."""
    end, digits = _chunks(text, start, kind)
    value = text[start:end]
    if end < len(text) and text[end] in "#*" and kind is EntityType.SECRET:
        end += 1
    most = _MOST_OF_PHONE if kind is EntityType.PHONE else _MOST
    if link.strength == "bare" and link.words in _ACCOUNTS and digits < _LONG_ACCOUNT:
        return start
    if (
        not _fewest(kind, value, link) <= digits <= most
        or _DATE.fullmatch(value)
        or _COUNTED.match(text, end)
    ):
        return start
    if _PERIOD.fullmatch(value) or (link.strength == "bare" and _YEAR.fullmatch(value)):
        return start
    if not link.is_eastern and len(link.words) == _SINGLE and value[:1] not in "+0(":
        return start
    is_amount = _AMOUNT.fullmatch(value) is not None
    if is_amount and ("." in value or (digits < _FIVE and kind in (EntityType.PERSON_NUMBER,))):
        # A short plain number is one only where the words call it a number.
        return end if "." not in value and _calls_it_number(link) else start
    return end


def _fewest(kind: EntityType, value: str, link: Link) -> int:
    """How many digits a number needs; fewer, if capitals or marks in it make it a code."""
    is_code = any(map(str.isupper, value)) or any(char in "-/" for char in value)
    fewest = _FEWEST.get(kind, _FEW)
    if kind in _WITH_LETTERS:
        return _FEW if is_code and len(value) >= _SIX else fewest
    if link.strength != "bare" or kind in _FEWEST:
        return fewest
    if link.words in _PEOPLE:
        return _FEW if any(map(str.isupper, value)) and len(value) >= _FIVE else _MANY
    return _FEW if is_code else _FEW + 1


def is_code(value: str) -> bool:
    """Are there capitals among three digits or more, or six digits in groups, but no period?"""
    digits = sum(map(str.isdigit, value))
    has_capital = any(map(str.isupper, value)) and digits >= _FEW
    in_groups = digits >= _SIX and any(char in " -/." for char in value)
    return (has_capital or in_groups) and not _PERIOD.match(value) and not _YEAR.match(value)


def _calls_it_number(link: Link) -> bool:
    return (
        link.is_eastern
        or re.search(r"(?:no|number|id|code|ext|extension|pin)$", link.words) is not None
    )


def _chunks(text: str, start: int, kind: EntityType) -> tuple[int, int]:
    """The end of the chunks with digits or capitals from `start`, and the number of their digits."""
    at, end, digits = start, start, 0
    while (chunk := _CHUNK.match(text, at)) is not None:
        word = chunk.group()
        count = sum(map(str.isdigit, word))
        if kind is EntityType.PHONE and count < len(word.lstrip("+")):
            break
        if count == 0 and not (word.isupper() and len(word) <= 6 and word not in _NO_TAIL):
            break
        if _MEASURE.fullmatch(word) or (count and text[chunk.end() : chunk.end() + 1] == ":"):
            break
        digits += count
        is_tail = digits > 0 and len(word) <= 3 and kind is not EntityType.PHONE
        if count or is_tail:
            end = chunk.end()
        between = _BETWEEN.match(text, chunk.end())
        if between is None:
            break
        at = between.end()
    return end, digits


_LOGIN = re.compile(r"@?[A-Za-z][A-Za-z0-9_#:.+-]{2,40}")
_NICK = re.compile(rf"[{HAN_KANA}]{{2,10}}(?=$|[\s,，。、;；)）」\"'])")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*|[A-Za-z]{1,3}\d{1,2}", re.I)
_FILE = re.compile(
    r".*\.(?:com|org|net|io|py|js|ts|json|ya?ml|md|txt|csv|html?|sh|sql|java|go|rs|toml)", re.I
)
_SIGNS = re.compile(r"[\d._#@-]")
_PARTS = re.compile(r"[^\W\d_]+|\d+")
_COMMON = words("words.toml", "login_words") | words("words.toml", "no_handles")
_CODE_AFTER = re.compile(r"[(\[{=/\\<>*]|\s?=>|:\S")
_CLAUSE_END = re.compile(r"[ \t]*(?:[,;)。，、；]|\.(?!\w)|\r?\n|\Z)")
_SERVICES = frozenset(
    "github gitlab slack discord telegram twitter instagram insta skype tiktok snapchat figma notion trello"
    " mastodon bluesky reddit steam twitch xbox psn zoom signal viber jabber kakao bitbucket jira kaggle npm".split()
)
_NAMED_NICK = re.compile(r"昵称|网名|花名|微信名|ハンドル|ニックネーム")


def login(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A login or handle: with a digit or a sign in it, or a word that no dictionary lists."""
    if link.is_eastern and (link.is_strong or _NAMED_NICK.search(link.words)):
        nick = _NICK.match(text, start)
        if nick is not None and _NAMED_NICK.search(link.words):
            return nick.end()
    match = _LOGIN.match(text, start)
    if match is None or link.strength in ("#", "("):
        return start
    value = match.group().rstrip(".:-+#_")
    end = start + len(value)
    plain = value.lstrip("@")
    if len(plain) < 3 or _CODE_AFTER.match(text, end) or _FILE.fullmatch(plain):
        return start
    parts = [part.casefold() for part in _PARTS.findall(plain)]
    if _VERSION.fullmatch(plain) or all(part in _COMMON for part in parts) or not own_handle(plain):
        return start
    is_signed = _SIGNS.search(value) is not None and not _is_phrase(plain, link)
    is_service = link.words in _SERVICES
    can_be_word = link.is_strong or (not is_service and _CLAUSE_END.match(text, end) is not None)
    can_be_word = can_be_word or (link.is_eastern and link.words.endswith(("名", "号")))
    is_unknown = can_be_word and len(plain) > 3 and not in_dictionary(plain, link.dictionary)
    is_small = plain.islower() or plain.isupper()
    return end if is_signed or (is_unknown and is_small) else start


def _is_phrase(plain: str, link: Link) -> bool:
    """Is it made of everyday words only, joined by hyphens or dots: `read-only`, `self.name`?"""
    if any(map(str.isdigit, plain)):
        return False
    return all(in_dictionary(part, link.dictionary) for part in _PARTS.findall(plain))


_MACHINE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+){0,6}")
_OBJECTS = frozenset(
    [
        "args",
        "self",
        "config",
        "settings",
        "cfg",
        "os",
        "env",
        "this",
        "process",
        "request",
        "options",
        "params",
        "socket",
        "ctx",
        "app",
    ]
)


def machine(text: str, start: int, kind: EntityType, link: Link) -> int:
    """The name of a machine: with a digit, or with a dot or hyphen and a word that is not listed."""
    match = _MACHINE.match(text, start)
    if match is None or _CODE_AFTER.match(text, match.end()):
        return start
    value = match.group()
    parts = [part.casefold() for part in _PARTS.findall(value)]
    if (
        len(value) < 5
        or parts[0] in _OBJECTS
        or value.casefold() in _COMMON
        or _FILE.fullmatch(value)
    ):
        return match.end() if "." in value and _is_own_host(value, parts) else start
    if _VERSION.fullmatch(value) or _is_phrase(value, link):
        return start
    has_sign = any(char in "-_." for char in value)
    has_digit = any(map(str.isdigit, value))
    if not (has_digit or has_sign) or ("." in value and not private_site(value)):
        return start
    return match.end() if has_digit or has_sign else start


def _is_own_host(value: str, parts: list[str]) -> bool:
    return parts[0] not in _OBJECTS and private_site(value) and value.count(".") > 1


_WORD = re.compile(r"[^\s,;，。、；\"'`<>()（）\[\]{}|」』】]{4,64}")
_PHRASE = re.compile(
    r"[A-Za-z0-9]{2,16}(?: [A-Za-z0-9]{1,16}){1,4}(?=[ \t]*(?:[.,;\"'`)，。、；]|\n|$))"
)
_SYMBOLS = re.compile(r"[!@#$%^&*+~?]")
_JOINED = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+")
_ENDS = re.compile(r"[ \t]*(?:[.,;，。、；)）\"'`」』】|]|\n|\\n|$|です|でし|だ|に|で)")
_REFERS = re.compile(
    r"[$%{<\[/\\]|https?:|process\.|os\.|env\.|args\.|self\.|config\.|settings\.|row\.|get"
)
_NO_PHRASE = frozenset(
    [
        "must",
        "should",
        "is",
        "are",
        "was",
        "has",
        "have",
        "had",
        "reset",
        "required",
        "changed",
        "not",
        "too",
        "at",
        "for",
        "the",
        "a",
        "an",
        "to",
        "of",
        "field",
        "protected",
        "hash",
        "hashes",
        "policy",
        "can",
        "will",
        "cannot",
        "may",
        "and",
        "or",
        "if",
        "be",
        "in",
        "on",
        "only",
        "least",
        "min",
        "max",
    ]
)
_EAST_TAIL = re.compile(rf"[A-Za-z{HAN_KANA}]{{2,12}}\d{{1,6}}(?=$|[\s，。、；」』\"')）])")


def password(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A password or phrase: with a digit or a sign in it, or joined words that end a clause."""
    if not link.is_strong and not link.is_eastern:
        return _bare_password(text, start, link)
    tail = _EAST_TAIL.match(text, start) if link.is_eastern else None
    if tail is not None and not (link.is_strong or text[start].isascii() or link.words == "合言葉"):
        tail = None
    if tail is not None:
        return tail.end()
    phrase = _PHRASE.match(text, start)
    if phrase is not None and _is_phrase_password(phrase.group(), link):
        return phrase.end()
    match = _WORD.match(text, start)
    if match is None or link.strength in ("#", "(") or _REFERS.match(match.group()):
        return start
    value = match.group()
    ascii_part = re.match(r"[!-~]+", value)
    value = (ascii_part.group() if ascii_part else "").rstrip(".:?_")
    end = start + len(value)
    if len(value) < 4 or is_placeholder(value) or _FILE.fullmatch(value) or "/" in value:
        return start
    if text[end : end + 1] in ("(", "["):
        return start
    letters = any(map(str.isalpha, value))
    if letters and (_SYMBOLS.search(value[1:]) or any(map(str.isdigit, value))):
        return end
    is_flag = link.strength == "=" and text[start - 1] == "=" and text[end : end + 1].isspace()
    return (
        end
        if _JOINED.fullmatch(value) and letters and (is_flag or _ENDS.match(text, end))
        else start
    )


def _bare_password(text: str, start: int, link: Link) -> int:
    """A password right behind its word: with a symbol, or joined words that end a clause."""
    match = _WORD.match(text, start)
    value = match.group().rstrip(".:?!_*") if match and not _REFERS.match(match.group()) else ""
    end = start + len(value)
    if len(value) < _SIX or not value.isascii() or is_placeholder(value) or "/" in value:
        return start
    has_letters, has_digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if has_letters and _SYMBOLS.search(value[1:]):
        return end
    ends = _ENDS.match(text, end) is not None
    is_joined = _JOINED.fullmatch(value) is not None and not _is_listed_pair(value, link)
    return (
        end if has_letters and ends and is_joined and (has_digits or " " in link.words) else start
    )


def _is_listed_pair(value: str, link: Link) -> bool:
    """Is it one word with a prefix: `re-entry`, `sign-in`?"""
    return min(map(len, value.split("-"))) < 3


def _is_phrase_password(phrase: str, link: Link) -> bool:
    parts = phrase.split()
    is_open = all(part.casefold() not in _NO_PHRASE for part in parts[:1])
    is_open = is_open and not any(
        part.casefold() in ("characters", "digits", "must", "should") for part in parts
    )
    return (
        is_open
        and link.strength != "("
        and any(map(str.isdigit, parts[-1]))
        and any(map(str.isalpha, phrase))
    )
