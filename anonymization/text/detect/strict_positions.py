"""Positions that notations keep for people and machines, whatever the word there (level `strict`).

Speakers of a chat, the two sides of `user@host`, logs of logins, zone files, lists of hosts and of
passwords, the sender of a letter at its end, distinguished names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType
from anonymization.text.detect.capital_places import is_plain_capital
from anonymization.text.detect.explained_words import is_program_word
from anonymization.text.detect.wording import SERVICE_LOGINS, words
from data.text.screened import Screened, find_each, screened
from data.text.scripts import HAN_KANA

_Span = tuple[int, int, EntityType]
_NOBODY = (
    words("words.toml", "no_handles") | words("words.toml", "login_words") | SERVICE_LOGINS
    | {"www", "mail", "ns", "ns1", "ns2", "smtp", "imap", "ftp", "localhost", "local", "host",
       "debug", "info", "warn", "warning", "error", "fatal", "trace", "notice", "critical", "note",
       "todo", "update", "example"}
)  # fmt: skip
_WORD = r"[A-Za-z][\w.-]{1,31}"
# Each by itself, as most texts have room for none or one of them.
_ACCOUNTS = screened(
    rf"(?<![\w./@:-])(?P<user>{_WORD})@(?P<host>[A-Za-z][\w-]{{1,40}})(?=[\s:'\"`;,)]|\Z)(?!\.\w)"
    r"(?!:\d+\.\d)",
    rf"(?i:(?:for|invalid|unknown|by|as|su) user)[ =](?P<login>{_WORD})(?![\w@.(])",
    r"(?i:file|smb|nfs|ssh|sftp|afp|rdp|vnc|redis|amqp|ldap|https?|ipp)://"
    r"(?P<netloc>[a-z][\w-]{2,40})(?=[/:\s\"'<>)]|\Z)(?!:\d+\.)",
    r"(?i:login|logon|user ?name|user id)[ :=]{1,2}"
    r"(?P<marked>(?=[\w.-]{0,30}\d)[A-Za-z][\w.-]{3,31})(?![\w(@/])",
    r"(?<![:\w/.])//(?P<unc>[a-z]{2,20}-[\w-]{2,40})(?=/\w)",
    rf"(?m:^)[ \t]*[A-Z][A-Za-z]+-by: (?P<trailer>{_WORD})[ \t]*$",
    rf"Accepted \w{{2,20}} for (?P<accepted>{_WORD}) from",
    rf"(?i:^|\n)(?:\[sudo\] password for|su:? ?-?) (?P<su>{_WORD})(?=:|\n)",
    rf"(?i:received: |^received:\s|\n[^\S\n]*)(?:from|by) (?P<relay>{_WORD})(?= \(|;| with| by)",
    r"(?m:^)(?P<zone>[a-z][a-z0-9-]{2,40})[ \t]+(?:\d+[ \t]+)?IN[ \t]+(?:A|AAAA|CNAME|MX|TXT|SRV"
    r"|PTR)\b",
    r"(?m:^)(?:\d{1,3}\.){3}\d{1,3}[ \t]+(?P<known>[a-z][\w.-]{2,60})(?=[ \t]*(?:\n|#|\Z|[a-z]))",
    rf"(?m:^)[\w.*-]+:(?:\d{{2,5}}|\*):[\w*-]+:(?P<pgpass>{_WORD}):(?P<pw>\S{{4,80}})$",
    r"(?<![\w-])(?:ssh|mosh|ping|telnet|rsh|sftp|nslookup|traceroute)(?: -\w(?: \d+)?)* "
    r"(?P<target>[a-z][\w-]{2,40})(?=\s|\Z)",
    r"(?<![\w-])(?:mysql|psql|mongo|redis-cli|mysqldump|pg_dump|sqlcmd)\b[^\n|;]{0,120}? (?:-h"
    r"|--host[= ]) ?(?P<dbhost>[a-z][\w-]{2,40})(?=\s|\Z)",
    r"(?<![\w-])(?:mysql|psql|mongo|mysqldump|pg_dump|sqlcmd|curl|smbclient|svn)\b[^\n|;]{0,120}?"
    rf" (?:-u|-U|--user[= ]) ?(?P<dbuser>{_WORD})(?=[\s:]|\Z)",
)
_NAMED = Screened(
    r"(?i:\bcn)=(?P<cn>[^,;:\"\n+/]{2,60})(?=[,;:\n/]|\Z)|<(?P<mailed>[^<>@\n]{2,40})"
    r"(?= <[\w.+-]+@)"
    r"|(?i:x-user|x-customer|x-client|x-owner|x-forwarded-user|x-requested-by): ?"
    r"(?P<header>[^\s'\"\n]{3,40})"
)
# A message of a chat: a time or a stamp, who speaks, and a colon or a tab.
_SPEAKER = Screened(
    r"(?m)^[ \t]{0,4}(?:\[?(?:\d{4}[-/]\d\d?[-/]\d\d?[ T,]{1,2})?\d{1,2}:\d{2}(?::\d{2})?"
    r"(?: ?[AP]M)?\]?|\[[^\]\n]{4,30}\]) ?(?:- )?"
    rf"(?:<(?P<nick>[^<>\n]{{2,30}})>|(?P<name>[^\W\d_][\w'’.{HAN_KANA}-]{{1,24}}"
    rf"(?: [\w'’.-]{{1,20}}){{0,2}})(?::|\t|：)(?=[ \t　]?\S)"
    rf"|(?P<east>[{HAN_KANA}]{{2,8}})[ 　](?=[{HAN_KANA}]))"
)
_FEWEST_MESSAGES = 2
_LEVELS = re.compile(
    r"(?i)error|warn|info|debug|worker|server|task|job|step|build|test|total|status|http"
)
_CLOSING = Screened(
    r"(?im)^[ \t>]*(?:(?:kind|best|warm|with (?:kind|best)|many)? ?regards|yours (?:sincerely"
    r"|faithfully|truly)|sincerely(?: yours)?"
    r"|best(?: wishes)?|cheers|thanks(?: again)?|thank you|all the best|love|take care|cordially"
    r"|respectfully"
    r"|mit freundlichen grüßen|viele grüße|liebe grüße|herzliche grüße|cordialement|bien à vous"
    r"|amicalement|sincères salutations"
    r"|此致|敬礼|顺颂商祺|祝好|敬具|以上|よろしくお願い(?:いた)?します)[,.!。、]?[ \t]*\r?\n"
    r"(?:[ \t>]*\r?\n)?"
    r"(?P<v>[^\n]{2,60})(?:\r?\n(?P<next>[^\n]{2,60}))?"
)
_LAST = re.compile(r"\s*(?:[-–—~]{1,3} ?)?(?P<v>[A-Z][\w'’-]+(?: [A-Z][\w'’-]*\.?){0,2})")
_TOKENS = Screened(r"(?m)(?:^[^\s/=:,()<>{}|]{6,40}[ \t]*\r?\n){2,}^[^\s/=:,()<>{}|]{6,40}[ \t]*$")
_ENDING = re.compile(r"\.\w{1,5}$")
_EASTERN = re.compile(rf"[{HAN_KANA}]{{3}}|[。、，]")


# Entries of a directory (LDIF, RFC 2849).
_ENTRY = re.compile(
    r"(?im)^(?:sn|givenname|gn|displayname|initials|uid|o|l|street|roomnumber|cn): "
    r"(?P<v>[^\n]{2,60})$"
)


def find_positions(text: str) -> Iterator[_Span]:
    """The spans of such values, in no order."""
    for match in find_each(_ACCOUNTS, text):
        for group, value in match.groupdict().items():
            if value and value.lower() not in _NOBODY and not is_program_word(value):
                kind = EntityType.SECRET if group == "pw" else EntityType.ACCOUNT
                yield *match.span(group), kind
    for match in _NAMED.finditer(text):
        group = match.lastgroup or "cn"
        yield *match.span(group), EntityType.UNEXPLAINED
    if text.startswith("dn: ") or "\ndn: " in text:
        for match in _ENTRY.finditer(text):
            yield *match.span("v"), EntityType.UNEXPLAINED
    yield from _speakers(text)
    yield from _senders(text)
    yield from _passwords(text)


def _speakers(text: str) -> Iterator[_Span]:
    messages = [
        (match.span(group), match[group])
        for match in _SPEAKER.finditer(text)
        for group in ("nick", "name", "east")
        if match[group]
    ]
    is_tabbed = any(text[span[1] : span[1] + 1] == "\t" for span, _ in messages)
    if len(messages) < _FEWEST_MESSAGES and not is_tabbed:
        return
    for span, name in messages:
        if name.lower() in _NOBODY or _LEVELS.search(name) or is_program_word(name):
            continue
        is_login = name.isascii() and name.islower()
        yield *span, EntityType.ACCOUNT if is_login else EntityType.UNEXPLAINED


def _senders(text: str) -> Iterator[_Span]:
    """Who signs a letter: the line below its closing, and the next one if it is a firm."""
    for match in _CLOSING.finditer(text):
        for group in ("v", "next"):
            value = (match[group] or "").strip()
            is_short = 0 < len(value.split()) <= 5 and ":" not in value and "@" not in value
            if (
                is_short
                and value[-1] not in ".!?。"
                and not all(map(is_plain_capital, value.split()))
            ):
                yield *match.span(group), EntityType.UNEXPLAINED
    last = _last_line(text)
    if last and text.count("\n") > 1 and not all(map(is_plain_capital, last["v"].split())):
        yield *last.span("v"), EntityType.UNEXPLAINED


def _last_line(text: str) -> re.Match[str] | None:
    """The last line, if it can be a signature below a sentence."""
    end = len(text.rstrip())
    start = text.rfind("\n", 0, end) + 1
    is_below = text[:start].rstrip().endswith((".", "!", "?", "…"))
    return _LAST.fullmatch(text, start, end) if is_below else None


def _passwords(text: str) -> Iterator[_Span]:
    """Lines of one token each, of which half look like passwords."""
    for block in _TOKENS.finditer(text):
        tokens = list(re.finditer(r"\S+", block.group()))
        alike = [_like_password(token.group()) for token in tokens]
        if 2 * sum(map(bool, alike)) < len(tokens) or alike.count(2) < _FEWEST_MESSAGES:
            continue
        for token in tokens:
            yield block.start() + token.start(), block.start() + token.end(), EntityType.SECRET


def _like_password(token: str) -> int:
    """2 for letters with digits or signs, 1 for capitals inside a word or words joined, else 0.

    A line of Chinese or Japanese is a sentence.
    """
    if _ENDING.search(token) or not any(map(str.isalpha, token)) or _EASTERN.search(token):
        return 0
    if any(map(str.isdigit, token)) or any(char in "!@#$%^&*~?+" for char in token):
        return 2
    return int(any(map(str.isupper, token[1:])) or "-" in token)
