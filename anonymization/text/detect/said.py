"""Values behind the words of a sentence that say what they are: `her login is mtolg`, 分机60217.

The words decide, not a check digit or a usual grouping. They are in `data/said.toml`, sorted by
what a value behind them looks like: a number, a login, a machine or a password. Each reader returns
where the value that begins at an offset ends; the offset itself if none does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.declared import declared_kind, normalised
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.wording import (
    in_dictionary,
    is_program_word,
    own_handle,
    private_site,
    words,
)
from anonymization.text.secrets.evidence import is_blanked, is_placeholder, repeats_label
from data.text.dates import YEAR
from data.text.folding import lower_in_place
from data.text.lexicon import load_table, trie_pattern
from data.text.scripts import HAN, HAN_KANA, RUNS


@dataclass(frozen=True, slots=True)
class _Link:
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
_NO_TAIL = words("words.toml", "no_tails")
# What stands behind the name of a table, before the keys of its rows.
_OF_STATEMENTS = frozenset({"VALUES", "SELECT", "WHERE", "SET", "FROM"})
_FEWEST = {
    EntityType.PHONE: 5,
    EntityType.BANK_ACCOUNT: 6,
    EntityType.NATIONAL_ID: 5,
    EntityType.PASSPORT: 5,
    EntityType.PLATE: 2,
}
_FEW, _FIVE, _SIX, _MANY = 3, 5, 6, 99
_MOST_OF_PHONE, _MOST_DIGITS = 16, 26  # digits
_WITH_LETTERS = frozenset({EntityType.NATIONAL_ID, EntityType.PASSPORT})
_PEOPLE = words("words.toml", "numbered_people")
_ACCOUNTS, _LONG_ACCOUNT = frozenset({"account", "acc", "acct"}), 8
_PERIOD = re.compile(r"(?:Q[1-4]|H[12]|FY)[ -]?\d*(?:[ -]?\d{2,4})?")
_FLOAT = re.compile(r"\d{7,16}\.0")
_ROUND = re.compile(r"\d{1,3}0{4,}")  # an amount: 200000
_SINGLE = 1


def number(text: str, start: int, kind: EntityType, link: _Link) -> int:
    """A number in any grouping, with capitals in it: `LX 55 812 07`, `44-871-2`, `7719*`."""
    end, digits = _chunks(text, start, kind)
    value = text[start:end]
    if end < len(text) and text[end] in "#*" and kind is EntityType.SECRET:
        end += 1
    if _FLOAT.fullmatch(value):  # a number that a table kept as a float
        return end - 2
    most = _MOST_OF_PHONE if kind is EntityType.PHONE else _MOST_DIGITS
    if link.strength == "bare" and link.words in _ACCOUNTS and digits < _LONG_ACCOUNT:
        return start
    if (
        not _fewest(kind, value, link) <= digits <= most
        or _DATE.fullmatch(value)
        or _COUNTED.match(text, end)
    ):
        return start
    if kind is EntityType.BANK_ACCOUNT and _ROUND.fullmatch(value) and not _calls_it_number(link):
        return start
    if _PERIOD.fullmatch(value) or (link.strength == "bare" and YEAR.fullmatch(value)):
        return start
    if not link.is_eastern and len(link.words) == _SINGLE and value[:1] not in "+0(":
        return start
    is_amount = _AMOUNT.fullmatch(value) is not None
    if is_amount and ("." in value or (digits < _FIVE and kind is EntityType.PERSON_NUMBER)):
        # A short plain number is one only where the words call it a number.
        return end if "." not in value and _calls_it_number(link) else start
    return end


def _fewest(kind: EntityType, value: str, link: _Link) -> int:
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
    return (has_capital or in_groups) and not _PERIOD.match(value) and not YEAR.match(value)


def _calls_it_number(link: _Link) -> bool:
    return (
        link.is_eastern
        or re.search(r"(?:no|number|id|code|ext|extension|pin)$", link.words) is not None
    )


def _chunks(text: str, start: int, kind: EntityType) -> tuple[int, int]:
    """The end of the chunks with digits or capitals from `start`, and how many digits they have."""
    at, end, digits = start, start, 0
    while (chunk := _CHUNK.match(text, at)) is not None:
        word = chunk.group()
        count = sum(map(str.isdigit, word))
        if kind is EntityType.PHONE and count < len(word.lstrip("+")):
            break
        if word in _OF_STATEMENTS:
            break
        is_tail_word = digits > 0 and word in _NO_TAIL
        if count == 0 and not (word.isupper() and len(word) <= 6 and not is_tail_word):
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


_LOGIN = re.compile(r"@?[A-Za-z][A-Za-z0-9_#.+-]{2,40}")
_NICK = re.compile(rf"[{HAN_KANA}]{{2,10}}(?=$|[\s,，。、;；)）」\"'])")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*|[A-Za-z]{1,3}\d{1,2}", re.I)
_FILE = re.compile(
    r".*\.(?:com|org|net|io|py|[jt]sx?|json|ya?ml|md|txt|csv|html?|sh|sql|java|go|rs|toml|jsp|php"
    r"|aspx?|vue|do|action|conf|xml)",
    re.I,
)
_SIGNS = re.compile(r"[\d._#@-]")
_COMMON = words("words.toml", "login_words") | words("words.toml", "no_handles")
_CODE_AFTER = re.compile(r"[(\[{=/\\<>*]|\s?=>|:\S")
# Behind a command, which a label may introduce: `limits：edquota -u`.
_OPTION_AFTER = re.compile(r"[ \t]+--?[A-Za-z]")
_CLAUSE_END = re.compile(r"[ \t]*(?:[,;)。，、；]|\.(?!\w)|\r?\n|\Z)")
# What services call the login of all their customers: `apikey`, `smtptoken`.
_OF_SERVICE = re.compile(r"(?:e?mail|smtp|api|app|user|auth|access)+[-_]?(?:key|token|secret)s?")
_NOTED = re.compile(r"[\"'`]? / [\"'`]?(?=\S)")  # before the password of a login
_ROUTE_WORDS = "users"  # the words of a link that is a part of a path
_SERVICES = words("words.toml", "services")
_INFLECTED = re.compile(r"(?:e[dn]|ing|ly|[ai]ble|al|[ao]ry|ive|[ae]nt|ous|ful|less|y)$")
_OF_LOGINS = re.compile(r"(?:user ?name|login(?: name| id)?|user id|handle|uid|usr)$")
_NAMED_NICK = re.compile(r"昵称|网名|花名|微信名|ハンドル|ニックネーム")


def login(text: str, start: int, kind: EntityType, link: _Link) -> int:
    """A login or handle: with a digit or a sign in it, or a word that no dictionary lists."""
    if link.is_eastern and _NAMED_NICK.search(link.words):
        nick = _NICK.match(text, start)
        if nick is not None:
            return nick.end()
    match = _LOGIN.match(text, start)
    if match is None or link.strength in ("#", "("):
        return start
    value = match.group().rstrip(".-+#_")
    end = start + len(value)
    plain = value.lstrip("@")
    if len(plain) < 3 or _is_code_after(text, end, link) or _FILE.fullmatch(plain):
        return start
    if is_blanked(plain) or is_shared_login(plain):
        return start
    if plain.isalpha() and _OPTION_AFTER.match(text, end):
        return start
    if is_of_image(text, plain) or (link.words == "uid" and _SLUG.fullmatch(plain)):
        return start
    parts = [part.casefold() for part in RUNS.findall(plain)]
    if _VERSION.fullmatch(plain) or all(part in _COMMON for part in parts) or not own_handle(plain):
        return start
    is_noted = _NOTED.match(text, end) is not None
    is_signed = _SIGNS.search(value) is not None and (is_noted or not _is_phrase(plain, link))
    is_service = link.words in _SERVICES
    ends_clause = is_noted or _CLAUSE_END.match(text, end) is not None
    can_be_word = link.is_strong or (not is_service and ends_clause)
    if not link.dictionary:  # then no word is known: "the signal is held" names no account
        can_be_word = _names_login(link) and not _INFLECTED.search(plain)
    can_be_word = can_be_word or (link.is_eastern and link.words.endswith(("名", "号")))
    is_unknown = can_be_word and len(plain) > 3 and not in_dictionary(plain, link.dictionary)
    is_small = plain.islower() or plain.isupper()
    return end if is_signed or (is_unknown and is_small) else start


def is_shared_login(value: str) -> bool:
    """Does a service give this login to all its customers?"""
    return _OF_SERVICE.fullmatch(value.lower()) is not None


# A service that relays mail, as the login that it gives to everybody shows beside it.
_RELAY = re.compile(r"(?:smtp|imap|pop3?|relay|email-smtp)\.[a-z0-9-]{1,40}\.[a-z.]{2,8}")
_SHARED_LOGIN = re.compile(
    rf"(?i)user(?:_?name)?[\"']?\s{{0,2}}[:=]?\s{{0,2}}[\"']?{_OF_SERVICE.pattern}(?![\w@.-])"
)


def is_relay(text: str, host: str) -> bool:
    """Is it the host of a service that relays everybody's mail?"""
    return _RELAY.fullmatch(host.lower()) is not None and _SHARED_LOGIN.search(text) is not None


def _names_login(link: _Link) -> bool:
    """Do the words mean nothing but a login, and does a mark or a verb stand behind them?"""
    return link.is_strong and _OF_LOGINS.search(link.words) is not None


def _is_code_after(text: str, end: int, link: _Link) -> bool:
    in_path = link.words == _ROUTE_WORDS and text[end : end + 1] == "/"
    return _CODE_AFTER.match(text, end) is not None and not in_path


def _is_phrase(plain: str, link: _Link) -> bool:
    """Is it made of everyday words only, joined by hyphens or dots: `read-only`, `self.name`?"""
    if any(map(str.isdigit, plain)):
        return False
    if not link.dictionary:
        return not _names_login(link)
    return all(in_dictionary(part, link.dictionary) for part in RUNS.findall(plain))


_MACHINE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+){0,6}")
_CHARSET = re.compile(r"(?i)utf-?8|utf-?16|latin-?1|iso-?8859|gbk|gb18030|sjis|euc-")
_SLUG = re.compile(r"[a-z]+(?:-[a-z]+){2,}")  # what programs call their pages and panels
_IMAGE = re.compile(
    r"(?m)^[ \t-]*(?:image|repository|chart): *[\"']?(?:[\w.:-]+/){0,4}([a-z][\w.-]*)"
)


@lru_cache(8)
def _images(text: str) -> frozenset[str]:
    """What programs the settings in a text run, by the images that they name."""
    return frozenset(match[1] for match in _IMAGE.finditer(text))


def is_of_image(text: str, value: str) -> bool:
    """Is it a service or login called as the program that the settings run: `nextcloud-redis`?"""
    parts = value.lower().split("-")
    return parts[0] in _images(text) and all(
        part in _images(text) or is_program_word(part) for part in parts
    )


_OBJECTS = words("words.toml", "program_objects")


def machine(text: str, start: int, kind: EntityType, link: _Link) -> int:
    """A machine: its name has a digit, or a dot or hyphen and a word that is not listed."""
    match = _MACHINE.match(text, start)
    if text.startswith("'s ", start - 3):  # what a server has, not its name
        return start
    if match is None or _CODE_AFTER.match(text, match.end()):
        return start
    value = match.group()
    if is_relay(text, value):
        return start
    if text.startswith("_", match.end()) or is_of_image(text, value) or _CHARSET.match(value):
        return start  # no host has a low line in its name
    parts = [part.casefold() for part in RUNS.findall(value)]
    if (
        len(value) < 5
        or parts[0] in _OBJECTS
        or value.casefold() in _COMMON
        or _FILE.fullmatch(value)
    ):
        return match.end() if "." in value and _is_own_host(value, parts) else start
    if _VERSION.fullmatch(value) or _is_phrase(value, link) or all(map(is_program_word, parts)):
        return start
    has_sign = any(char in "-_." for char in value)
    has_digit = any(map(str.isdigit, value))
    if not (has_digit or has_sign) or ("." in value and not private_site(value)):
        return start
    return match.end()


def _is_own_host(value: str, parts: list[str]) -> bool:
    return parts[0] not in _OBJECTS and private_site(value) and value.count(".") > 1


_WORD = re.compile(r"[^\s,;，。、；\"'`<>()（）\[\]{}|」』】]{4,64}")
_PHRASE = re.compile(
    r"[A-Za-z0-9]{2,16}(?: [A-Za-z0-9]{1,16}){1,4}(?=[ \t]*(?:[.,;\"'`)，。、；]|\n|$))"
)
# The whole name of a setting, of which words that announce a password are the end.
_LABEL_BEFORE = re.compile(r"([A-Za-z][\w-]{1,60})[\"']?\s?[=:]\s?[\"']?$")
_LONGEST_LABEL = 72  # characters
_SHORTEST_BARE = 6  # characters of a password right behind its word
_SYMBOLS = re.compile(r"[!@#$%^&*+~?]")
_JOINED = re.compile(r"[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)+")
_ENDS = re.compile(r"[ \t]*(?:[.,;，。、；)）\"'`」』】|]|\n|\\n|$|です|でし|だ|に|で)")
_REFERS = re.compile(
    r"[$%{<\[/\\]|https?:|process\.|os\.|env\.|args\.|self\.|config\.|settings\.|row\.|get"
)
_NO_PHRASE = words("words.toml", "not_in_passwords")
_RULES = frozenset({"characters", "digits", "must", "should"})  # a rule for passwords, not one
_EAST_TAIL = re.compile(rf"[A-Za-z{HAN_KANA}]{{2,12}}\d{{1,6}}(?=$|[\s，。、；」』\"')）])")


def password(text: str, start: int, kind: EntityType, link: _Link) -> int:
    """A password or phrase: with a digit or a sign in it, or joined words that end a clause."""
    if text[start - 3 : start] in (" | ", '" |'):
        return start  # the next command of a pipe
    if not link.is_strong and not link.is_eastern:
        return _bare_password(text, start, link)
    may_be_word = link.is_strong or text[start : start + 1].isascii() or link.words == "合言葉"
    tail = _EAST_TAIL.match(text, start) if link.is_eastern and may_be_word else None
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
    label = _LABEL_BEFORE.search(text, max(0, start - _LONGEST_LABEL), start)
    if label and repeats_label(label[1], value):
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


def _bare_password(text: str, start: int, link: _Link) -> int:
    """A password right behind its word: with a symbol, or joined words that end a clause."""
    match = _WORD.match(text, start)
    value = match.group().rstrip(".:?!_*") if match and not _REFERS.match(match.group()) else ""
    end = start + len(value)
    if len(value) < _SHORTEST_BARE or not value.isascii() or is_placeholder(value) or "/" in value:
        return start
    has_letters, has_digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if has_letters and _SYMBOLS.search(value[1:]):
        return end
    ends = _ENDS.match(text, end) is not None
    is_joined = _JOINED.fullmatch(value) is not None and not _is_listed_pair(value, link)
    is_sure = has_digits or " " in link.words or link.words.startswith(("wi", "wl"))
    return end if has_letters and ends and is_joined and is_sure else start


def _is_listed_pair(value: str, link: _Link) -> bool:
    """Is it one word with a prefix: `re-entry`, `sign-in`?"""
    return min(map(len, value.split("-"))) < 3


def _is_phrase_password(phrase: str, link: _Link) -> bool:
    parts = phrase.split()
    return (
        parts[0].casefold() not in _NO_PHRASE
        and _RULES.isdisjoint(map(str.casefold, parts))
        and link.strength != "("
        and any(map(str.isdigit, parts[-1]))
        and any(map(str.isalpha, phrase))
    )


NAME = "said"
_SCORE = 0.8
_TABLE = "said.toml"
_READERS = {"password": password, "number": number, "login": login, "host": machine}
Reader = Callable[[str, int, EntityType, _Link], int]

_WESTERN_LINK = (
    r"(?![a-z])[\"'`\])*_]{0,3}"
    r"(?:(?P<between> (?:for|to|on|at|of|in|there|here)(?: [a-z'-]{1,16}){0,3}?)?"
    r"(?:\??[ \t]{0,3}(?P<mark>[:=#(]|->|=>|(?<=\s)[\t|])[ \t]{0,3}"
    r"|\??(?P<verb>'s| (?:it's|that's|is|was|are|as|will be|called|stays|remains)"
    r"(?: now| still| just)?)[ \t:]{1,3})"
    r"|(?P<quoted> (?=[\"'`]))"
    r"|(?: (?:of|for) (?:my|his|her|their|our|your|the)(?: [a-z]{1,16}){1,2})?"
    r"(?P<bare>[ .,\t\\]{1,3}))[\"'`*(_“]{0,3}"
)
_EASTERN_LINK = (
    r"[\"'`\])*_」』】]{0,3}\.?[ \t]{0,2}"
    r"(?P<mark>(?:は|が|も|是|为|為|叫|就是|还是|改成|改为|変更後は|[:=#|(>])?[:=]?)"
    r"[ \t]{0,2}[\"'`「『【(*]{0,2}"
)
# A page about a user: the part of the path behind `users`.
_ROUTE = re.compile(r"/(?:u|users?|members?|people|profiles?|accounts?)/(?=[A-Za-z])")
_MORE = re.compile(r"(?:, | and | or |、|和|と|及び| / )[\"'`]{0,2}")
_MOST_MORE = 12
# Any other number with a name in front of it, unless it is one of goods, papers or programs.
_OTHER_NUMBER = re.compile(
    r"(?<![a-z])(?P<of>[a-z'-]{2,16})[ _-](?P<words>ref|reference|card|fob|tag|code|number|no|id"
    r"|serial|account|acc|chip|microchip|permit|pass|registration)(?: number| no)?\.?"
    r"(?P<close>[\"'`\])*_]{0,3})(?:[ \t]{0,3}(?P<mark>[:=#])[ \t]{0,3}"
    r"|(?P<verb> (?:is|was|reads|are)) {1,2})[\"'`*(_]{0,3}"
)
_OTHER_EASTERN = re.compile(
    rf"(?P<of>[{HAN}]{{1,4}}?)(?P<words>编号|卡号|账号|证号|号码|籍号|车位|番号|手帳|員証|コード|id)"
    r"(?P<mark>は|が|是|为|[:=#])?[ \t]{0,2}[\"'`「]{0,2}"
)
_VARIANTS = ("_", "-", "")


@dataclass(frozen=True, slots=True)
class _Announced:
    """What words announce: the class of the value, its kind, and whether it may stand close."""

    reader: str
    kind: EntityType
    near: bool


@cache
def _announcements() -> tuple[dict[str, list[_Announced]], dict[str, list[_Announced]]]:
    """The words of Western and of Eastern languages, each with what they announce."""
    western: dict[str, list[_Announced]] = {}
    eastern: dict[str, list[_Announced]] = {}
    table = load_table(__package__, "data", _TABLE)
    for reader in _READERS:
        for kind, lists in table[reader].items():
            for key in ("near", "linked"):
                announced = _Announced(reader, EntityType(kind), key == "near")
                for said in filter(None, lists[key].split("|")):
                    for written in (said, *(said.replace(" ", mark) for mark in _VARIANTS)):
                        if announced not in western.setdefault(written, []):
                            western[written].append(announced)
            for said in filter(None, lists["cjk"].split("|")):
                eastern.setdefault(said, []).append(_Announced(reader, EntityType(kind), True))
    return western, eastern


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    western, eastern = _announcements()
    return (
        re.compile(
            rf"(?:(?<![a-z0-9.])|(?<=\\[nrt]))(?P<words>{trie_pattern(western)}){_WESTERN_LINK}"
        ),
        re.compile(
            r"(?:(?<![a-z0-9_])|(?=[^\x00-\x7f]))"
            rf"(?P<words>{trie_pattern(eastern)})(?:(?<=[^\x00-\x7f])|(?![a-z0-9_])){_EASTERN_LINK}"
        ),
    )


def find_said(folded: str, lines: MachineLines, dictionary: frozenset[str]) -> Iterator[Finding]:
    """The values that words announce, in no order; `dictionary` holds English words."""
    lowered = lower_in_place(folded)
    western, eastern = _announcements()
    in_western, in_eastern = _patterns()
    for match in in_western.finditer(lowered):
        before = lowered[max(0, match.start("words") - 1) : match.start("words")]
        if before == "$" or (before == "=" and match["words"] == "pass"):
            continue  # a variable, or how a check went: `dkim=pass`
        link = _Link(_strength(match), match["words"], dictionary)
        yield from _read(folded, match.end(), western[match["words"]], link)
    if not folded.isascii():
        for match in in_eastern.finditer(lowered):
            link = _Link(match["mark"], match["words"], dictionary, is_eastern=True)
            yield from _read(folded, match.end(), eastern[match["words"]], link)
    yield from _other_numbers(folded, lowered, lines, dictionary)
    for route in _ROUTE.finditer(folded):
        end = login(folded, route.end(), EntityType.ACCOUNT, _Link("", _ROUTE_WORDS, dictionary))
        if end > route.end():
            yield Finding(route.end(), end, EntityType.ACCOUNT, NAME, _SCORE)


def _strength(link: re.Match[str]) -> str:
    """What stands between Western words and a value, as `Link` names it."""
    if link["bare"]:
        return "comma" if "," in link["bare"] else "bare"
    return "verb" if link["quoted"] or link["verb"] else link["mark"]


_OF_THINGS = re.compile(load_table(__package__, "data", _TABLE)["things"]["words"])


def is_label_of_value(label: str) -> bool:
    """Does the name of a column, key or field say what private value stands in it?"""
    western, eastern = _announcements()
    plain = normalised(label)
    return declared_kind(label) is not None or plain in western or plain in eastern


def _other_numbers(
    folded: str, lowered: str, lines: MachineLines, dictionary: frozenset[str]
) -> Iterator[Finding]:
    """Codes of somebody behind words of no list: `payroll ref: PX/4471`, 水表编号88120-3."""
    for pattern, is_eastern in ((_OTHER_NUMBER, False), (_OTHER_EASTERN, True)):
        if is_eastern and folded.isascii():
            continue
        for match in pattern.finditer(lowered):
            named = match["of"] + match["words"] if is_eastern else match["of"]
            if _OF_THINGS.search(named) or lines.machine_at(match.start()):
                continue
            link = _Link("verb", match["words"], dictionary, is_eastern)
            end = number(folded, match.end(), EntityType.PERSON_NUMBER, link)
            if is_code(folded[match.end() : end]):
                yield Finding(match.end(), end, EntityType.PERSON_NUMBER, NAME, _SCORE)


def _read(text: str, start: int, announced: list[_Announced], link: _Link) -> Iterator[Finding]:
    for choice in announced:
        if link.strength in ("bare", "comma") and not choice.near:
            continue
        if link.strength == "comma" and choice.kind is not EntityType.PHONE:
            continue
        end = _READERS[choice.reader](text, start, choice.kind, link)
        if end > start:
            yield Finding(start, end, choice.kind, NAME, _SCORE)
            yield from _more(text, (start, end), choice.kind)
            return


def _more(text: str, span: tuple[int, int], kind: EntityType) -> Iterator[Finding]:
    """Values of the same shape that follow in a list: `codes: 8841-2207, 6610-9183`."""
    start, end = span
    value = text[start:end]
    if not any(map(str.isdigit, value)):
        return
    shape = re.compile("".join(map(_same_kind, value)) + r"(?![\w-])")
    for _ in range(_MOST_MORE):
        between = _MORE.match(text, end)
        again = shape.match(text, between.end()) if between else None
        if again is None:
            return
        end = again.end()
        yield Finding(*again.span(), kind, NAME, _SCORE)


def _same_kind(char: str) -> str:
    if char.isdigit():
        return "[0-9]"
    return "[A-Z]" if char.isupper() else re.escape(char)
