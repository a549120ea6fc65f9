"""Places that notations keep for people and machines, whatever the word there.

At every level where names are looked for: authors of a bibliography, speakers of a transcript,
trailers of a commit, logins in settings and listings, and literals that are a name as a whole. At
`strict` also: speakers of a chat, both sides of `user@host`, logs of logins, zone files, lists of
hosts and of passwords, who signs a letter, distinguished names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.capitals import is_plain_capital
from anonymization.text.detect.wording import (
    COMMON,
    SERVICE_LOGINS,
    chinese_name,
    in_dictionary,
    is_program_word,
    like_password,
    own_handle,
    words,
)
from data.text.lexicon import trie_pattern
from data.text.screened import Screened, find_each, screened
from data.text.scripts import CAPITALS, HAN, HAN_KANA, LETTER, LETTERS

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
    rf"(?i:(?:(?<!password )for|by|as|su) user)[ =](?P<login>{_WORD})(?![\w@.(])",
    r"(?i:file|smb|nfs|ssh|sftp|afp|rdp|vnc|redis|amqp|ldap|https?|ipp)://"
    r"(?P<netloc>[a-z][\w-]{2,40})(?=[/:\s\"'<>)]|\Z)(?!:\d+\.)",
    r"(?i:login|logon|user ?name|user id)[ :=]{1,2}"
    r"(?P<marked>(?=[\w.-]{0,30}\d)[A-Za-z][\w.-]{3,31})(?![\w(@/])",
    rf"(?m:^)[ \t]*[A-Z][A-Za-z]+-by: (?P<trailer>{_WORD})[ \t]*$",
    rf"Accepted \w{{2,20}} for (?P<accepted>{_WORD}) from",
    rf"(?i:^|\n)(?:\[sudo\] password for|su:? ?-?) (?P<su>{_WORD})(?=:|\n)",
    # Prose has these words, too: the line is a command, or the name that of a machine.
    r"(?m:(?:^[ \t>]*|[$%#;&|`(] {0,2}|sudo )(?:ssh|mosh|ping|telnet|rsh|sftp|nslookup|traceroute)"
    r"|(?<![\w-])(?:ssh|ping|telnet|sftp)(?=[ \w-]{1,40} [a-z]\w{0,30}[\d-]))(?: -\w(?: \d+)?)* "
    r"(?P<target>[a-z][\w-]{2,40})(?=[\s`)]|\Z)",
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
# Whose record, bed or sample a short code denotes.
_RECORD = Screened(
    r"(?i)(?<![a-z])(?:donor|patient|subject|participant|pupil|student|resident|tenant|client"
    r"|customer|candidate|witness|suspect|inmate|case|claimant|child|guest|volunteer|respondent"
    r"|病人|患者|受试者|被験者|検体|捐赠者)(?: no\.?| number| id| code)?[ :#]{0,2}"
    r"(?P<v>(?-i:[A-Z]{1,4}-?\d{1,6}[A-Z]?|\d{1,4}[-/]?[A-Z]{1,3}|[A-Z]\d{1,3}-\d{1,4}))(?![\w-])"
)
# The subject of a letter or a school: `Subject: MU1101 endterm report`.
_COURSE = re.compile(r"(?i:subject):? ?[A-Z]{2,4}-?\d{3,4}[A-Z]?(?![\w-])")
# Records of somebody in the path of an address.
_RECORD_PATH = Screened(
    r"(?i)/(?:customers?|users?|patients?|clients?|members?|people|persons?|employees?|accounts?"
    r"|contacts?|tenants?|students?|profiles?|guests?|donors?|cases?|staff|leads?)/"
    r"(?P<v>\d{3,12}|[a-z]{3,}-[a-z-]{3,30})(?![\w.])"
)


# Stand-ins that a manual has for the reader's own machine: `your-ip`, `target_host`, `serverip`.
_STAND_IN = re.compile(
    r"(?i)(?:the|your|my|some|target|victim|attacker|vulnerable|remote|local|server|host|site|domain)"
    r"[-_]?(?:ip|ip[-_]?addr(?:ess)?|host(?:name)?|server|domain|site|address|url|target|name)"
    r"|gateway|router|bastion|jumphost"
)
# Where a program keeps things, and no machine: `auth@file` of a proxy, `left-pad@latest`.
_STORES = frozenset(
    {"internal", "file", "docker", "kubernetes", "latest", "next", "beta", "canary"}
)


def find_positions(text: str) -> Iterator[_Span]:
    """The spans of such values, in no order."""
    for match in find_each(_ACCOUNTS, text):
        for group, value in match.groupdict().items():
            if not value or value.lower() in _NOBODY or is_program_word(value):
                continue
            host = match.groupdict().get("host") or ""
            is_stored = host.lower() in _STORES or (host and host == host.upper() == value.upper())
            if not is_stored and not _STAND_IN.fullmatch(value):
                yield *match.span(group), EntityType.ACCOUNT
    for pattern in (_RECORD, _RECORD_PATH):
        for match in pattern.finditer(text):
            if not _COURSE.match(text, match.start()):
                yield *match.span("v"), EntityType.UNEXPLAINED
    for match in _NAMED.finditer(text):
        group = match.lastgroup or "cn"
        if group == "cn" and (is_program_word(match["cn"]) or of_group(text, match.start("cn"))):
            continue
        yield *match.span(group), EntityType.UNEXPLAINED
    yield from _speakers(text)
    yield from _senders(text)


_GROUP_CLASS = re.compile(r"(?im)^objectClass: ?\w{0,24}(?:group|role|unit)")
_OWN_NAME = re.compile(r"(?:dn: cn=|cn: )\Z")
_LONGEST_RECORD = 4_000  # characters of an entry of a directory that are read


def of_group(text: str, start: int) -> bool:
    """Does the name of an entry of a directory begin there, whose class says that it is a group?"""
    if _OWN_NAME.search(text, max(0, start - 8), start) is None:
        return False
    end = text.find("\n\n", start, start + _LONGEST_RECORD)
    end = end if end >= 0 else start + _LONGEST_RECORD
    begin = text.rfind("\n\n", max(0, start - _LONGEST_RECORD), start) + 1
    return _GROUP_CLASS.search(text, begin or max(0, start - _LONGEST_RECORD), end) is not None


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


NAME, LITERAL = "reserved_place", "literal"
_SCORE, _TITLED = 0.7, 0.8  # a title in words is stronger evidence than what a model guesses
_SECRET = EntityType.SECRET
_SHORTEST = 4  # letters of a name that no list holds
_ANY_GIVEN = words("names.toml", "given") | words("names.toml", "ambiguous")
_GIVEN = words("names.toml", "given")
_NO_LOGINS = words("words.toml", "no_handles") | words("words.toml", "login_words")
# No word is longer: without a limit, a run of capitals would be read again from each of them.
_LATIN = rf"[{CAPITALS}](?:{LETTER}|['-](?={LETTER})|(?<={LETTER})\.){{0,40}}\.?"
_LOWER = r"(?:van|von|de|da|del|der|den|di|le|la|el|al|bin|ibn|y|dos|du|zu|ter|ten)"
_FULL = rf"{_LATIN}(?: (?:{_LOWER} ){{0,2}}{_LATIN}){{1,3}}"
_EAST = rf"[{HAN_KANA}]{{2,6}}(?:[ 　・][{HAN_KANA}]{{1,6}})?"
_ANY = rf"(?:{_FULL}|{_EAST})"
_LOGIN = r"[A-Za-z][A-Za-z0-9._-]{2,31}"
_MARKED = r"(?=[A-Za-z]*[\d_.])[A-Za-z][A-Za-z0-9._-]{2,30}[A-Za-z0-9]"
_STAMP = (
    r"(?:\[[^\]\n]{4,32}\]|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4},? \d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?)"
)
_JOBS = trie_pattern(sorted(words("words.toml", "job_heads")))
# Notations in which a whole name stands: the name alone is what is private.
_NAME_PLACES = screened(
    rf"^{_STAMP}[ \t]*(?:- )?(?P<speaker>{_ANY})[:：](?= )",
    rf"<v(?:\.[\w.]{{1,20}})? (?P<voice>{_ANY})>",
    rf"(?P<mailed>{_ANY})\"? {{0,2}}<[\w.+-]+@[\w.-]+>",
    r"^(?:AU|A1|A2|ED)  - (?P<ris>[^\n]{2,60})$",
    rf"\((?P<blamed>{_ANY}) {{1,30}}\d{{4}}-\d\d-\d\d \d\d:",
    rf"^[ \t]{{0,8}}(?:participant|actor)[ \t]+\"?(?P<actor>{_ANY})",
    rf"^[a-z_][\w.-]{{0,31}}:[^:\n]{{0,40}}:\d{{1,10}}:\d{{1,10}}:(?P<gecos>{_ANY})[,:]",
    rf"\\author(?:\[[^\]\n]{{0,20}}\])?\{{(?P<author>{_ANY})(?=[\\}}])",
    rf"@author[ \t]+(?P<tagged>{_ANY})",
    rf"(?:\bC[A-Z]O|\b[SE]?VP|(?<![{LETTERS}])(?i:{_JOBS})) \((?P<titled>{_FULL})\)",
    flags=re.MULTILINE,
)
_BIBLIOGRAPHY = Screened(r"(?i)\b(?:author|editor)\s*=\s*[{\"]([^{}\"]{3,400})[}\"]")
_AND = re.compile(r"\s+and\s+")
_LOGINS = screened(
    rf"^[ \t]{{0,8}}(?:User|IdentityUser)[ \t]+(?P<ssh>{_LOGIN})[ \t]*\r?$",
    rf"\blogin[ \t]+(?P<net>{_LOGIN})[ \t\n]+password\b",
    rf"^(?P<who>{_LOGIN})[ \t]+(?:pts/\d+|tty\w+|console)\b",
    rf"^\S{{3,60}} - (?P<access>{_LOGIN}) \[\d{{1,2}}/[A-Z]",
    rf"^(?:Author|Commit|Committer|From|[A-Z][a-z]+-by): {{1,4}}(?P<mailer>{_LOGIN}) <",
    rf"(?<![A-Za-z])(?i:line ?id|telegram|discord|wechat|skype|kakao(?:talk)?|snapchat|instagram)"
    rf"(?i: id)?(?:は|[:：]| is|=)? {{0,2}}@?(?P<app>{_MARKED})(?![\w@-])",
    r"(?<=[\s(,])@(?P<at>[A-Za-z][\w.]{2,30}) (?:on|in|via)"
    r" (?:Slack|Teams|Twitter|Discord|Telegram|GitHub)",
    rf"(?<![A-Za-z])(?i:login|user ?name|user ?id|handle)(?: is| was|:) (?P<login>{_MARKED})(?!\w)",
    rf"用户(?:名)?[ :：]{{0,2}}(?P<user>{_MARKED})(?![\w(])",
    rf"\w\.\w[\w.:-]{{1,80}} / (?P<noted>{_LOGIN}) / (?=[!-~]{{0,48}}\d)",
    rf"\buid=\d+\((?P<uid>{_LOGIN})\)",
    rf"\b(?:TODO|FIXME|XXX|HACK|NOTE)\((?P<todo>{_LOGIN})\)",
    rf"(?:USER|GRANTEE|TO|FOR|DEFINER ?=) ?[`'\"](?P<sql>{_LOGIN})[`'\"]@",
    rf"(?<![\w\\:$%])(?!HK)[A-Z][A-Z0-9-]{{2,14}}\\{{1,2}}(?P<domain>[a-z]{_LOGIN})\b",
    rf"(?:s3|gs|smb|nfs|hdfs|abfss?)://[^\s\"']{{1,80}}/(?:home|users)/(?P<home>{_LOGIN})(?=/)",
    rf"\\\\[\w.-]{{2,60}}\\(?:home|users|profiles)\$?\\(?P<share>{_LOGIN})(?=\\)",
    rf"^(?:\[?\d{{1,2}}:\d{{2}}(?::\d{{2}})?\]? )<[@+~&%]?(?P<nick>{_LOGIN})> ",
    r"^NICKNAME[^:\n]{0,40}:(?P<nickname>[^\s,;]{3,40})",
    flags=re.MULTILINE,
)
# What a service sends by itself: it is called by its own name, and not by somebody's.
_SERVICE = re.compile(
    r" {1,4}<(?:[\w.+-]*no-?_?reply[\w.+-]*|notif(?:y|ications?)|feedback|alerts?|news(?:letter)?"
    r"|updates?|digest|marketing|support|billing)@",
    re.IGNORECASE,
)
_HOSTS = Screened(
    r"(?<![\w.@-])(?:(?!(?:com|org|net|io|dev|go|golang|java|sun|src|app|test)\.)[a-z0-9][a-z0-9-]*\.)"
    r"(?:[a-z0-9-]+\.){1,4}(?:internal|intra|intranet|corp|lan|inner|localdomain|home\.arpa)(?![\w(-]|\.\w)"
    r"|(?<=git@)[a-z0-9.-]+\.[a-z]{2,12}(?=:)"
)
# A family name of two characters by itself, as colleagues say it.
_DOUBLE_FAMILIES = (
    "欧阳|上官|诸葛|夏侯|皇甫|尉迟|慕容|令狐|司徒|宇文|申屠|濮阳|钟离|赫连|澹台|淳于|呼延"
)
_FAMILY_ALONE = Screened(
    rf"(?<=[老小])(?:{_DOUBLE_FAMILIES})|(?:{_DOUBLE_FAMILIES})(?=总(?![公部裁共体]))"
)
_PASSWORD = Screened(
    r"(?m)^[ \t]{0,12}(?:export )?(?:[\w.-]{0,30}[._-])?"
    r"(?:(?i:pass|pw|passwd|password|passwort|pwd|passphrase)|(?<=_)PASS[A-Z]) ?[=:] ?"
    r"(?P<v>[!-~]{4,64})[ \t]*\r?$"
)
_BIRTHDAY = re.compile(r"(?m)^BDAY[^:\n]{0,40}:(?P<v>[\d-]{6,10})\r?$")
_SAID_PASSWORD = screened(
    r"(?<![a-z])-p(?P<q>['\"])(?P<option>[^'\"\n]{4,64})(?P=q)",
    r"(?:(?<![\w.+:/-])[\w.+-]{1,64}@[\w.-]{1,64}\w|(?<![\w/])(?:user|login|account)) ?/ ?"
    r"(?P<after>[!-.0-~]{6,48})(?=\s|$)",
    rf"(?:^|[\s{HAN}])[a-z][\w.@-]{{1,40}}(?://|，)"  # a login and its password in a note
    r"(?P<noted>(?=\S{0,40}\d)(?=\S{0,40}[!@#$%^&*])[!-.0-~]{6,40})(?=\s|$)",
    r"(?<![a-z])(?:pw|pwd|password|passwd|passphrase|passcode)(?: [a-z'-]{1,16}){1,6}: ?"
    r"(?P<later>[!-~]{6,48})",
    r"(?:getenv|environ\.get|\benv)\(\s?[\"']\w{0,40}(?:pw|pass|pwd|passwd)[\"'], ?[\"']"
    r"(?P<default>[!#-&(-~]{6,48})[\"']",
    r"(?:\w\.\w[\w.:-]{1,80}|server|host) / [\w.@-]{2,40} / (?P<third>[!-.0-~]{6,48})(?=[\s)]|$)",
    r"(?:wi-?fi|wlan|パスワード|密码|口令)(?:还|就|也)?"
    r"(?: ?は ?|是|为|：|: ?| is )(?P<spoken>[!-;=-~]{6,48})",
    flags=re.IGNORECASE,
)
_POST = re.compile(r"(?m)^ADR[^:\n]{0,60}:;*(?P<v>[^\r\n]*\d[^\r\n]*?);*\r?$")
# A literal or cell that is two or three words with capitals, and nothing else.
_LITERAL = Screened(
    rf"(?<![\w\\])(?P<quote>[\"'`])(?P<v>{_FULL})(?P=quote)(?!\w|[ \t]{{0,8}}=(?!=))"
    rf"|(?<=[|\t])[ ]{{0,20}}(?P<cell>{_FULL})[ ]{{0,20}}(?=[|\t]|$)"
)
_PAIR = Screened(
    rf"(?P<quote>[\"'`])(?P<given>{_LATIN})(?P=quote),\s{{0,4}}(?P=quote)(?P<v>{_LATIN})(?P=quote)"
)
_OF_PERSON = re.compile(
    r"(?i)(?:user|person|people|customer|employee|contact|patient|author|member|name)\w{0,8}\($"
)
_SEVERAL = re.compile(rf"{LETTER}+")
_HAN_ENDS = re.compile(f"[{HAN}]+(?:部|组|司|处|科|室|局|院|所|厅|中心|团队|公司|平台|系统|小组)$")


# Somebody's name in both scripts: 李敏 (Li Min), Ma Li (马丽).
_LATIN_NAME = rf"[{CAPITALS}][a-z]{{1,6}} [{CAPITALS}][a-z]{{1,10}}"
_BOTH_SCRIPTS = Screened(
    rf"(?<![{HAN}])(?P<han>[{HAN}]{{2,4}})\*{{0,2}} ?\(\*{{0,2}}(?P<v>{_LATIN_NAME})\*{{0,2}}\)"
    rf"|(?<![\w-])(?P<latin>{_LATIN_NAME})\*{{0,2}} ?\(\*{{0,2}}(?P<name>[{HAN}]{{2,4}})\*{{0,2}}\)"
)
_FAMILIES = words("names.toml", "pinyin")
ROMANISED = "romanised"


def find_romanised(folded: str) -> Iterator[Finding]:
    """Chinese names, each beside itself in the other script; both are somebody's."""
    for match in _BOTH_SCRIPTS.finditer(folded):
        han, latin = ("han", "v") if match["han"] else ("name", "latin")
        if chinese_name(match[han]) and not _FAMILIES.isdisjoint(match[latin].split()):
            for group in (han, latin):
                yield Finding(*match.span(group), EntityType.PERSON, ROMANISED, 0.9)


def find_reserved(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    """People, logins, hosts and postal addresses in the places that notations reserve for them."""
    for match in find_each(_NAME_PLACES, folded):
        group = str(match.lastgroup)
        is_sure = group in ("ris", "gecos", "author", "tagged")
        is_own = _is_own(folded, match, dictionary)
        if is_own or can_be_name(match[group], dictionary, is_sure):
            score = _TITLED if group == "titled" or is_own else _SCORE
            yield Finding(*match.span(group), EntityType.PERSON, NAME, score)
    for listed in _BIBLIOGRAPHY.finditer(folded):
        start = listed.start(1)
        for part in _AND.split(listed[1]):
            at = folded.index(part, start)
            start = at + len(part)
            if part.strip() and part.strip() != "others":
                yield Finding(at, start, EntityType.PERSON, NAME, _SCORE)
    for match in find_each(_LOGINS, folded):
        group = str(match.lastgroup)
        is_sender = group == "mailer" and _SERVICE.match(folded, match.end("mailer")) is not None
        if match[group].lower() not in _NO_LOGINS and own_handle(match[group]) and not is_sender:
            yield Finding(*match.span(group), EntityType.ACCOUNT, NAME, _SCORE)
    for match in _HOSTS.finditer(folded):
        if not match.group().endswith(("github.com", "gitlab.com", "bitbucket.org")):
            yield Finding(*match.span(), EntityType.URL, NAME, _SCORE)
    for match in _PASSWORD.finditer(folded):
        if like_password(match["v"]):
            yield Finding(*match.span("v"), EntityType.SECRET, NAME, 0.8)
    for match in find_each(_SAID_PASSWORD, folded):
        group = str(match.lastgroup)
        value = match[group].rstrip("?.,;")
        if like_password(value) and not value.lower().startswith("passw"):
            yield Finding(match.start(group), match.start(group) + len(value), _SECRET, NAME, 0.8)
    if "BEGIN:VCARD" in folded:
        for match in _BIRTHDAY.finditer(folded):
            yield Finding(*match.span("v"), EntityType.DATE, NAME, 0.9)
        for match in _POST.finditer(folded):
            yield Finding(*match.span("v"), EntityType.ADDRESS, NAME, 0.9)
    for match in _FAMILY_ALONE.finditer(folded):
        yield Finding(*match.span(), EntityType.PERSON, NAME, 0.6)
    yield from _literals(folded, dictionary)


def _is_own(folded: str, match: re.Match[str], dictionary: frozenset[str]) -> bool:
    """Does a given name in it, or the address behind it, show that a value is somebody's name?"""
    if match.lastgroup == "titled":
        return not _ANY_GIVEN.isdisjoint(match["titled"].split())
    return match.lastgroup == "mailed" and _is_own_mail(folded, match, dictionary)


_MAILBOX = re.compile(r"\"? {0,2}<([\w.+-]+)@")


def _is_own_mail(folded: str, match: re.Match[str], dictionary: frozenset[str]) -> bool:
    """Does the address behind a name show a part that is no word, and the initial of another:
    `Bill Okoro <b.okoro@…>`?"""
    mailbox = _MAILBOX.match(folded, match.end("mailed"))
    login = mailbox[1].casefold() if mailbox else ""
    parts = _SEVERAL.findall(match["mailed"].casefold())
    for word in parts[1:]:
        before, is_there, after = login.partition(word)
        is_strange = len(word) >= _SHORTEST and not in_dictionary(word, dictionary)
        if is_there and is_strange and parts[0][0] in before[:1] + after[:2]:
            return True
    return False


def _literals(folded: str, dictionary: frozenset[str]) -> Iterator[Finding]:
    for match in _LITERAL.finditer(folded):
        group = "v" if match["v"] is not None else "cell"
        if dictionary and can_be_name(match[group], dictionary, False):
            yield Finding(*match.span(group), EntityType.PERSON, LITERAL, 0.55)
    for match in _PAIR.finditer(folded):
        is_named = _OF_PERSON.search(folded, max(0, match.start() - 24), match.start()) is not None
        if (match["given"] in _GIVEN or is_named) and match["v"] not in COMMON:
            yield Finding(*match.span("given"), EntityType.PERSON, NAME, 0.6)
            yield Finding(*match.span("v"), EntityType.PERSON, NAME, 0.6)


def can_be_name(value: str, dictionary: frozenset[str], is_sure: bool) -> bool:
    """Can the words be a person's? Not everyday words; one must be a given name or in no
    dictionary, unless the notation is sure."""
    if not value[0].isascii() and re.fullmatch(f"[{HAN_KANA} 　・]+", value):
        return _HAN_ENDS.fullmatch(value) is None and (
            len(value) > 3 or chinese_name(value) or is_sure
        )
    own = [word for word in _SEVERAL.findall(value) if len(word) > 1 and word[0].isupper()]
    if not own or any(word in COMMON or word.isupper() for word in own):
        return False
    if is_sure or own[0] in _GIVEN:
        return "'s " not in value
    is_plain = own[0][1:].islower() and len(own[0]) >= _SHORTEST and not value.endswith("'s")
    return is_plain and not in_dictionary(own[0], dictionary)
