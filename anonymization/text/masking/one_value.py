"""The span of a value without what only stands beside it, so that one value is the same everywhere.

A password is one value in quotes, behind a login, as the default of a variable and in the address
of a database; a name is one with and without a post before it. What refers to a value is none, and
neither is a sentence: only the names in it are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import private_site
from anonymization.text.surrogates.assignment import lexicon
from data.text.dates import find_dates
from data.text.scripts import HAN, has_han

_REFERENCE = re.compile(
    r"\$\{[A-Za-z_][\w.]{0,80}(?=[}:?+=-])|\$\(?[A-Za-z_]\w{0,80}\)?|%[A-Z_]\w{0,80}%|\{\{[^{}\n]{1,80}\}\}"
    r"|%\(\w{1,80}\)s"
)
_DEFAULT = re.compile(r"\$\{[A-Za-z_]\w{0,80}:?\Z")  # and the value behind `-`, `:-` or `:=`
_OPTION_OF_LOGIN = re.compile(r"(?:^|\s)(?:-u|--user)[ =]?[\"']?\Z")
_LOGIN_AND_PASSWORD = re.compile(r"[A-Za-z][\w.-]{0,60}:(?=[^/\s])")
# The password in the address of a service, up to the last @ before its path (RFC 3986, 3.2).
_AUTHORITY = re.compile(
    r"[A-Za-z][A-Za-z0-9+.:-]{1,40}://[^\s/@:\"'<>]{0,80}:(?P<password>[^\s/\"'<>]{1,120})@"
    r"(?P<host>[\w.-]{1,120})"
)
_FINGERPRINT = re.compile(r"(?:SHA256|SHA1|MD5|sha256|sha512|sha1):\Z")
_PERCENT = re.compile("%[0-9A-Fa-f]{2}")
_SHORT_YEAR = re.compile(r"(?<=\d) \d\d(?=[,;\"\n]|\Z)")  # `Jan 21 21`, in a cell
_FIRST_DAY = re.compile(r"(?<![\w.–-])\d{1,2} ?[–-] ?\Z")  # of `12-14 March`
_OF_SERVICE = frozenset({EntityType.SECRET, EntityType.EMAIL})
_FOR_EXAMPLES = ("example.com", "example.org", "example.net")
_QUOTES = "\"'`"
_REACH = 130  # characters before a value that are looked at
_DEFAULTS = "-=?+"
_FULL_NAME = 2  # a family and a given name
_HEAD = "長"  # of an office or a house, in Japanese
_OFFICES = "会部課室店社院局係班所"  # what somebody is the head of, before the post
_NAMING = frozenset({EntityType.PERSON, EntityType.UNEXPLAINED})
_CLAUSES = re.compile(r"[。！？；，][^\W_]")
_LETTER = rf"[{HAN}ァ-ヺー]"
# Particles and ends of verbs between or behind words, which no name has.
_OF_SENTENCES = re.compile(
    rf"{_LETTER}[はがをにでもへ][ \u3000]?[{HAN}ァ-ヺー\d]"
    rf"|{_LETTER}(?:だけ|から|まで|した|して|する|です|ます|ない|いる|たい)"
)
_HONOURED = re.compile(rf"(?P<name>{_LETTER}{{1,6}})(?:さん|様|さま|氏|くん|君|ちゃん)(?!\w*[長])")
_OF_HOUSE = re.compile(r"[ \u3000]\S{1,8}様[邸宅方]")  # `みどり町 阿部様邸 塗装`
_KIN = "父母祖爷爺奶外公婆妻夫丈儿子女兄弟姐妹姊叔伯舅姑姨孙配偶長次"
_BEHIND_NAME = re.compile(rf"[（(][{_KIN}]{{1,3}}[)）]\Z")
# `の長女 西条`, `協力医は まゆみ内科`
_BEFORE_NAME = re.compile(rf"(?:の[{HAN}]{{1,3}}|[{HAN}]{{1,5}}は)[ \u3000]+")
# `改为苏州市…`, `地点乐山市…`
_BEFORE_PLACE = re.compile(
    r"(?:(?:地址|地点|住址|址)(?:[为是在]|[:：] ?)?|(?:变更|更改|改|迁|搬|寄|送|发)[为至到往]"
    r"|位于|家住|现住|住在)+"
)
_AREA = re.compile(r"\d{2,5}\) ?\d")
_ADDRESSEE = re.compile(r"[ \u3000]+[^\s\d]{1,8}(?:様|さん|殿|御中|氏)")  # `三丁目 阿部様邸`
_PLACES = frozenset({EntityType.ADDRESS, EntityType.LOCATION})
_LAST_DAY = re.compile(r" ?[〜～~–—-] ?\d{1,2}日")  # of `9月16日〜30日`
_ENDS_AS_DAY = re.compile(r"\d月\d{1,2}日\Z")
_MONTH_OF_YEAR = re.compile(r"20\d\d/(?:0[1-9]|1[0-2])")  # no number, whatever stands before it
# Which a word for a case beside it takes for its number: `until 24/03`, `報告は4/25まで`.
_DAY_AND_MONTH = re.compile(
    r"(?:0?[1-9]|[12]\d|3[01])/(?:0[1-9]|1[0-2])|(?:0?[1-9]|1[0-2])/(?:[12]\d|3[01]|0?[1-9])"
)
_NUMERIC_DAY = re.compile(
    r"(?:19|20)\d\d([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:19|20)\d\d"
)
_NUMBERS = frozenset({EntityType.CASE_NUMBER, EntityType.PERSON_NUMBER, EntityType.UNEXPLAINED})
_LABELLED = _NUMBERS | {EntityType.ACCOUNT, EntityType.SECRET}


# The name of a setting before its value, and of a method before what it made.
_SETTING = re.compile(r"[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}")
_MADE_WITH = re.compile(r"(?:SHA-?(?:1|224|256|384|512)|MD5):(?=\w)")
_PLACEHOLDERS = frozenset({"tbc", "tba", "tbd", "tbc.", "n/a", "k.a.", "offen", "未定", "待定"})
_ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)")


def _is_technical(text: str, finding: Finding) -> bool:
    """Is it a setting taken for a secret, or an ordinal (a 40th birthday) taken for an age?"""
    if finding.type is EntityType.AGE:
        return _ORDINAL.fullmatch(text, finding.start, finding.end) is not None
    if text[finding.start : finding.end].casefold() in _PLACEHOLDERS:
        return True
    is_setting = _SETTING.fullmatch(text, finding.start, finding.end) is not None
    return finding.type is EntityType.SECRET and is_setting and text[finding.end :][:1] == "="


def _is_day(text: str, finding: Finding) -> bool:
    """Is a number, whatever its label calls it, a day with its year: `patient_dob=1961-08-23`?"""
    value = text[finding.start : finding.end]
    if not _NUMERIC_DAY.fullmatch(value):
        return False
    return any(day.is_day and day.year is not None for *_, day in find_dates(value))


def _as_it_reads(text: str, finding: Finding) -> Finding:
    """A day with its year as a date, whatever its label calls it, and a digest without the method
    before it."""
    if finding.type in _LABELLED and _is_day(text, finding):
        return replace(finding, type=EntityType.DATE)
    made_with = _MADE_WITH.match(text, finding.start, finding.end)
    is_digest = made_with is not None and finding.type in _NUMBERS
    return replace(finding, start=made_with.end()) if made_with and is_digest else finding


def whole_values(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings as values: each without its quotes, login, default sign or post before it.

    References to variables, and fingerprints of public keys, are no values.
    """
    references, passwords = _references(text), set[int]()
    services = list(_AUTHORITY.finditer(text)) if "://" in text else []
    for finding in (_unquoted(text, each) for each in findings):
        if _is_technical(text, finding) or _is_within(finding, references):
            continue
        finding = _as_it_reads(text, finding)
        service = next((each for each in services if _is_of_service(finding, each)), None)
        if service and finding.type in _OF_SERVICE:
            if service.start() not in passwords:
                passwords.add(service.start())
                yield from _of_service(text, finding, service)
        elif finding.type in _NUMBERS and _DAY_AND_MONTH.fullmatch(
            text[finding.start : finding.end]
        ):
            continue
        elif _is_opened(text, finding):
            yield replace(finding, start=finding.start - 1)
        elif finding.type is EntityType.SECRET:
            yield from _of_secret(text, finding)
        elif finding.type is EntityType.DATE:
            yield _whole_date(text, finding)
        elif _MONTH_OF_YEAR.fullmatch(text, finding.start, finding.end):
            yield replace(finding, type=EntityType.DATE) if finding.type in _NUMBERS else finding
        elif finding.type in _PLACES:
            addressee = _ADDRESSEE.search(text, finding.start, finding.end)
            end = addressee.start() if addressee else finding.end
            yield from _behind(text, replace(finding, end=end), _BEFORE_PLACE)
        elif finding.type in _NAMING:
            for named in _names_in(text, finding):
                is_person = named.type is EntityType.PERSON
                yield _without_office(text, named) if is_person else named
        else:
            yield finding


def _span(finding: Finding) -> tuple[int, int]:
    return finding.start, finding.end


def _is_within(finding: Finding, references: Iterable[tuple[int, int]]) -> bool:
    return any(start <= finding.start and finding.end <= end + 1 for start, end in references)


def _references(text: str) -> list[tuple[int, int]]:
    """Where a text refers to variables."""
    may_refer = "$" in text or "{{" in text or "%" in text
    return [match.span() for match in _REFERENCE.finditer(text)] if may_refer else []


def _unquoted(text: str, finding: Finding) -> Finding:
    start, end = finding.start, finding.end
    is_quoted = text[start] in _QUOTES and text[start] == text[end - 1] and end - start > 2
    return replace(finding, start=start + 1, end=end - 1) if is_quoted else finding


def _is_opened(text: str, finding: Finding) -> bool:
    """Is it a number without the bracket before its area?"""
    is_after = finding.start > 0 and text[finding.start - 1] == "("
    return is_after and _AREA.match(text, finding.start, finding.end) is not None


def _behind(text: str, finding: Finding, lead: re.Pattern[str]) -> Iterator[Finding]:
    """The finding without such words before it; none if it is nothing else."""
    before = lead.match(text, finding.start, finding.end)
    start = before.end() if before else finding.start
    if start < finding.end:
        yield replace(finding, start=start)


def _names_in(text: str, finding: Finding) -> Iterator[Finding]:
    """The name without kin in brackets and words before it; of a sentence the names that it calls
    by a title."""
    start, end = finding.start, finding.end
    value = text[start:end]
    if not (_CLAUSES.search(value) or _OF_SENTENCES.search(value) or _OF_HOUSE.search(value)):
        kin = _BEHIND_NAME.search(value)
        whole = replace(finding, end=start + kin.start()) if kin and kin.start() else finding
        yield from _behind(text, whole, _BEFORE_NAME)
        return
    before = _BEFORE_NAME.match(value)
    if before and not (_CLAUSES.search(value) or _OF_SENTENCES.search(value, before.end())):
        yield replace(finding, start=start + before.end())
        return
    for name in _HONOURED.finditer(text, start, end):
        yield replace(finding, start=name.start(), end=name.end("name"), type=EntityType.PERSON)


def _whole_date(text: str, finding: Finding) -> Finding:
    """The date with a year of two figures behind it, or the other day of its range."""
    if _ENDS_AS_DAY.search(text[finding.start : finding.end]):
        last = _LAST_DAY.match(text, finding.end)
        return replace(finding, end=last.end()) if last else finding
    year = _SHORT_YEAR.match(text, finding.end) if text[finding.start].isalpha() else None
    is_in_words = text[finding.start : finding.end].partition(" ")[2][:1].isalpha()
    first = _FIRST_DAY.search(text, max(0, finding.start - 8), finding.start)
    start = first.start() if first and is_in_words else finding.start
    return replace(finding, start=start, end=year.end() if year else finding.end)


def _is_of_service(finding: Finding, service: re.Match[str]) -> bool:
    return finding.start < service.end("password") and service.start("password") < finding.end


def _of_service(text: str, finding: Finding, service: re.Match[str]) -> Iterator[Finding]:
    """The whole password of a service, and the host that was taken for that of an address."""
    start, end = service.span("password")
    if not _PERCENT.search(text, start, end):  # it is read decoded
        yield replace(finding, start=start, end=end, type=EntityType.SECRET)
    host = service["host"]
    is_taken = finding.type is EntityType.EMAIL and not host.replace(".", "").isdigit()
    if is_taken and private_site(host) and not host.casefold().endswith(_FOR_EXAMPLES):
        start, end = service.span("host")
        yield replace(finding, start=start, end=end, type=EntityType.ACCOUNT)


def _of_secret(text: str, finding: Finding) -> Iterator[Finding]:
    start, end = finding.start, finding.end
    before = text[max(0, start - _REACH) : start]
    if _FINGERPRINT.search(before):
        return
    if text[start] in _DEFAULTS and _DEFAULT.search(before):
        start += 1
    login = _LOGIN_AND_PASSWORD.match(text, start, end)
    if login and _OPTION_OF_LOGIN.search(before):
        yield replace(finding, start=start, end=login.end() - 1, type=EntityType.ACCOUNT)
        start = login.end()
    yield replace(finding, start=start, end=end)


def _without_office(text: str, finding: Finding) -> Finding:
    """The person without an office before the name: 施設長 佐伯 美緒."""
    value = text[finding.start : finding.end]
    if not has_han(value):
        return finding
    words, start = value.replace("\u3000", " ").split(" "), finding.start
    while len(words) > 1 and all(words) and len(words[0]) > 1:
        post, is_full = words[0], len(words) > _FULL_NAME
        ends = _HEAD if len(words) == _FULL_NAME + 1 else _HEAD + _OFFICES
        if not (post in lexicon().ja_titles or (is_full and post[-1] in ends)):
            break
        start += len(post) + 1
        del words[0]
    return replace(finding, start=start)
