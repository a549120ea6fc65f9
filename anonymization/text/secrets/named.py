"""Values that a name reveals: assignments, settings, flags, headers, `the password is …`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.evidence import (
    NAMES,
    PASSWORDS,
    PROVIDERS,
    claims_a_family,
    entropy,
    is_gibberish,
    is_hexadecimal,
    is_mixed,
    is_placeholder,
    is_public_name,
    is_random,
    is_uuid,
    is_wild,
)

_SCORE = 0.85
_LEFT = re.compile(r"[a-z0-9_.\-]{0,40}\Z")
_RIGHT = re.compile(r"[a-z0-9_.\-]{0,40}")
# What may occur between a name and its value, in lower-case text. Every gap is bounded.
_LINK = re.compile(
    r"""(?P<close>\\{0,3}["'`\])}]{0,3})
    (?:
      [ \t]{0,8}(?::?[ ]?(?:string|str|\[\]byte)[ ]{0,2})?
        (?:[:=?.|+!]{0,3}[:=]>?|[-=]>|[：＝])\s{0,20}(?:os\.environ\.setdefault\()?
      | ,\s{0,8}(?=\\{0,3}["'])
      | \s{1,4}value\s?=\s?(?=["'])
      | [^<>\n]{0,60}>\s{0,20}
      | \\{0,3},?\s{1,20}(?:-[ ]?)?\\{0,3}["']?value\\{0,3}["']?\s?[:=]\s?
      | \s{1,4}(?:[a-z]{1,12}\s){0,4}(?:is|was|are|to|as|with|be|:|=)[:\s]{1,4}
      | \s{1,4}(?:[a-z]{1,12}\s){0,3}[a-z]{1,12}[:：]\s{1,4}
      | \s{0,4}(?:[是为為：:]|就是|改成|设为){1,2}[\s:：]{0,3}
      | (?P<space>[ \t]{1,4})
    )
    (?P<scheme>\\{0,3}["']?(?:bearer|basic|token|apikey|api-token|api-key|sso-key|bot)\s{1,4})?
    (?P<open>\\{0,3}(?:[brful]?["'`]{1,3}|<!\[cdata\[|[“「『])?)""",
    re.VERBOSE,
)
_QUOTED = re.compile(r"[^\s\"'`\\<>”」』]{4,400}")
_UNQUOTED = re.compile(r"[^\s\"'`\\<>,;(){}\[\]|&，。；、！？（）【】《》“”]{4,400}")
# After a space `&` joins no parameters.
_SPOKEN = re.compile(_UNQUOTED.pattern.replace("|&", "|"))
_TRAILING = ".:!?*…"
_ENDED = re.compile(r"[，。；、,;]")  # a mark ends the clause, so that `!` before it is the value's
_CODE_AFTER = re.compile(r"[(\[{]|\s{0,3}(?:\(|=>|\?\s)")
_PATH = re.compile(r"(?:[a-z]{1,10}:/)?/|\.{1,2}/|~/|[a-z]:\\")
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_DATE = re.compile(r"[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{1,3}(?:\.[0-9]{1,4}){2,3}")
# Words with a number behind them, joined: `prod-db-2`, `service.account1`.
_IDENTIFIER = re.compile(
    r"(?:[A-Za-z]+[0-9]{0,4}|[0-9]{1,4})(?:[-_./:](?:[A-Za-z]+[0-9]{0,4}|[0-9]{1,4}))*"
)
_MORE_WORDS = re.compile(r" [A-Za-z]|\(")  # what a type or a sentence goes on with
_SYMBOLS = frozenset("!@#$%^&*~?+")
_LONG_NUMBER = 14
_SHORT_TOKEN, _SHORT_PASSWORD, _SHORT_KEY = 8, 6, 16
_WEAK = re.compile(r"(?:[a-z0-9]+[_.\-])*keys?(?:id|_id)?")
_STRONG_KEY = re.compile(r"api|secret|access|auth|priv|encr|sign|licen|master|service|deploy|token")


def find_named(text: str, folded: str) -> Iterator[Finding]:
    """Values of names such as `password`, `api_key`, `--token`, `密码`."""
    done = 0
    for hit in NAMES.finditer(folded):
        if hit.start() < done:
            continue
        span = _value(text, folded, hit)
        if span:
            done = span[1]
            yield Finding(*span, EntityType.SECRET, "secret.named", _SCORE)


def _value(text: str, folded: str, hit: re.Match[str]) -> tuple[int, int] | None:
    name, end = _whole_name(folded, hit)
    if is_public_name(name):
        return None
    link = _LINK.match(folded, end)
    if link is None or (link["space"] and not _takes_a_space(name)):
        return None
    start = link.end()
    spoken = _SPOKEN if text[start - 1 : start].isspace() else _UNQUOTED
    match = (_QUOTED if link["open"] else spoken).match(text, start)
    if match is None:
        return None
    value = match.group()
    if not link["open"] and not _ENDED.match(text, match.end()):
        value = value.rstrip(_TRAILING)
    stop = start + len(value)
    if not link["open"] and _CODE_AFTER.match(text, stop):
        return None
    return (start, stop) if _is_secret(name, value, text[stop : stop + 3]) else None


def _whole_name(folded: str, hit: re.Match[str]) -> tuple[str, int]:
    """The identifier around a hit, and its end."""
    prefix = _LEFT.search(folded[max(0, hit.start() - 40) : hit.start()])
    suffix = _RIGHT.match(folded, hit.end())
    before = prefix.group() if prefix else ""
    after = suffix.group().rstrip(".-") if suffix else ""
    return before + hit.group() + after, hit.end() + len(after)


def _takes_a_space(name: str) -> bool:
    """Is the name a flag (`--token x`), an npm setting or `Bearer x`?"""
    return name.startswith(("-", "_auth")) or name in ("bearer", "password", "token")


def _is_secret(name: str, value: str, rest: str) -> bool:
    if is_placeholder(value) or _PATH.match(value.lower()) or _DATE.match(value):
        return False
    if any(word in name for word in PASSWORDS):
        in_han = not name.isascii() and not _MORE_WORDS.match(rest)
        return _is_password(value, in_han) or "cleartext" in name
    if claims_a_family(value):
        return False
    if len(value) < _SHORT_TOKEN or _FILE.search(value):
        return False
    if _IDENTIFIER.fullmatch(value) and not is_hexadecimal(value):
        return value.isdigit() and len(value) >= _LONG_NUMBER
    if value.isdigit():
        return len(value) >= _LONG_NUMBER
    if _is_weak(name):
        return len(value) >= _SHORT_KEY and is_random(value) and entropy(value) >= 3.0
    return is_uuid(value) or is_hexadecimal(value) or _is_likely(value)


def _is_likely(value: str) -> bool:
    """Is it random enough for a value with a name?"""
    return is_random(value) or (is_mixed(value) and is_gibberish(value))


def _is_weak(name: str) -> bool:
    """Is it a `key` without a word that makes it secret?"""
    return bool(_WEAK.fullmatch(name)) and not (_STRONG_KEY.search(name) or PROVIDERS.search(name))


def _is_password(value: str, in_han: bool) -> bool:
    """Is it like a password? After a Chinese name (密码) a Western word is enough."""
    if len(value) < _SHORT_PASSWORD:
        return False
    if value.isdigit() or is_mixed(value) or is_wild(value):
        return True
    if in_han and value.isascii() and value.isalpha():
        return True
    letters = any(map(str.isalpha, value))
    return letters and value.isascii() and any(char in _SYMBOLS for char in value[1:])
