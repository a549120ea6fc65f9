"""Logins, machines and passwords behind the words that announce them.

Each reader returns where the value that begins at an offset ends; the offset itself if none does.
"""

from __future__ import annotations

import re

from anonymization.text.contracts import EntityType
from anonymization.text.detect.explained_words import is_program_word
from anonymization.text.detect.said_values import Link
from anonymization.text.detect.wording import in_dictionary, own_handle, private_site, words
from anonymization.text.secrets.evidence import is_placeholder
from data.text.scripts import HAN_KANA

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
_NOTED = re.compile(r"[\"'`]? / [\"'`]?(?=\S)")  # before the password of a login
ROUTE = "users"  # the words of a link that is a part of a path
_SERVICES = words("words.toml", "services")
_INFLECTED = re.compile(r"(?:e[dn]|ing|ly|[ai]ble|al|[ao]ry|ive|[ae]nt|ous|ful|less|y)$")
_OF_LOGINS = re.compile(r"(?:user ?name|login(?: name| id)?|user id|handle|uid|usr)$")
_NAMED_NICK = re.compile(r"昵称|网名|花名|微信名|ハンドル|ニックネーム")


def login(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A login or handle: with a digit or a sign in it, or a word that no dictionary lists."""
    if link.is_eastern and _NAMED_NICK.search(link.words):
        nick = _NICK.match(text, start)
        if nick is not None:
            return nick.end()
    match = _LOGIN.match(text, start)
    if match is None or link.strength in ("#", "("):
        return start
    value = match.group().rstrip(".:-+#_")
    end = start + len(value)
    plain = value.lstrip("@")
    if len(plain) < 3 or _is_code_after(text, end, link) or _FILE.fullmatch(plain):
        return start
    parts = [part.casefold() for part in _PARTS.findall(plain)]
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


def _names_login(link: Link) -> bool:
    """Do the words mean nothing but a login, and does a mark or a verb stand behind them?"""
    return link.is_strong and _OF_LOGINS.search(link.words) is not None


def _is_code_after(text: str, end: int, link: Link) -> bool:
    in_path = link.words == ROUTE and text[end : end + 1] == "/"
    return _CODE_AFTER.match(text, end) is not None and not in_path


def _is_phrase(plain: str, link: Link) -> bool:
    """Is it made of everyday words only, joined by hyphens or dots: `read-only`, `self.name`?"""
    if any(map(str.isdigit, plain)):
        return False
    if not link.dictionary:
        return not _names_login(link)
    return all(in_dictionary(part, link.dictionary) for part in _PARTS.findall(plain))


_MACHINE = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+){0,6}")
_OBJECTS = words("words.toml", "program_objects")


def machine(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A machine: its name has a digit, or a dot or hyphen and a word that is not listed."""
    match = _MACHINE.match(text, start)
    if text.startswith("'s ", start - 3):  # what a server has, not its name
        return start
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


def password(text: str, start: int, kind: EntityType, link: Link) -> int:
    """A password or phrase: with a digit or a sign in it, or joined words that end a clause."""
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
    if len(value) < _SHORTEST_BARE or not value.isascii() or is_placeholder(value) or "/" in value:
        return start
    has_letters, has_digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if has_letters and _SYMBOLS.search(value[1:]):
        return end
    ends = _ENDS.match(text, end) is not None
    is_joined = _JOINED.fullmatch(value) is not None and not _is_listed_pair(value, link)
    is_sure = has_digits or " " in link.words or link.words.startswith(("wi", "wl"))
    return end if has_letters and ends and is_joined and is_sure else start


def _is_listed_pair(value: str, link: Link) -> bool:
    """Is it one word with a prefix: `re-entry`, `sign-in`?"""
    return min(map(len, value.split("-"))) < 3


def _is_phrase_password(phrase: str, link: Link) -> bool:
    parts = phrase.split()
    return (
        parts[0].casefold() not in _NO_PHRASE
        and _RULES.isdisjoint(map(str.casefold, parts))
        and link.strength != "("
        and any(map(str.isdigit, parts[-1]))
        and any(map(str.isalpha, phrase))
    )
