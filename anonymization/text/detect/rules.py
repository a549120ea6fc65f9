"""The pattern rules: read from data/*.toml, run over folded text.

A matched value must pass the test that its rule names: a checksum or another one. Values are given
to the tests without separators. Words around a value speak for or against a rule; they are listed
in data/contexts.toml.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    CryptoRecognizer,
    IbanRecognizer,
)

from anonymization.text import identity_numbers
from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect import wording
from anonymization.text.detect.prose import MachineLines
from anonymization.text.secrets.evidence import is_blanked
from anonymization.text.surrogates.net import is_for_examples, is_office
from anonymization.text.surrogates.networks import address_of
from data.text.dates import MONTH_ABBREVIATIONS, MONTHS
from data.text.folding import lower_in_place
from data.text.lexicon import load_table
from data.text.screened import Need, Screened, met_by
from data.text.scripts import AFTER, BEFORE, CAPITALS, HAN, LETTER


@dataclass(frozen=True, slots=True)
class _Context:
    """Words searched for around a value, in lower case."""

    words: tuple[str, ...]
    before: int
    after: int
    of_value: bool

    def holds(self, lowered: str, start: int, end: int) -> bool:
        """Is one of the words near the value, or the value itself one of them?"""
        if self.of_value:
            return lowered[start:end] in self.words
        near = lowered[max(0, start - self.before) : start]
        behind = lowered[end : end + self.after]
        return any(word in near or word in behind for word in self.words)


def _context_named(contexts: Mapping[str, Any], name: str | None) -> _Context | None:
    """The context of a rule; None for a rule without one."""
    if name is None:
        return None
    entry = contexts[name]
    return _Context(
        words=tuple(entry["words"]),
        before=entry.get("before", 0),
        after=entry.get("after", 0),
        of_value=entry.get("value", False),
    )


_CARD = CreditCardRecognizer()
_IBAN = IbanRecognizer()
_CRYPTO = CryptoRecognizer()
_ISSUERS = ("34", "36", "37", "38", "39", "50", "62", "35", "30", "60", "64", "65", "67", "69")
_DATED = re.compile(r"(?:19|20)\d{2}(?:[-. ]?\d{2}[-. ]?\d{2}|-(?:19|20)\d{2})(?: \d{2})?")
_DATE_IN = re.compile(rf"(?<!\d){_DATED.pattern}(?!\d)")
_OF_ADDRESS = 4  # the numbers of an address, which no groups of a telephone number are
# Of a browser or a server: `141.0.7390.54`, `15.20.8511.27`; no telephone number has one figure
# behind its first group, or fewer in the last group than in the one before.
_RELEASE = re.compile(r"\d{1,3}\.\d(?:\.\d{1,5}){1,3}|\d{1,3}\.\d{1,3}\.\d{4,5}\.\d{1,3}")
_ACCOUNT_LENGTHS = {
    pair[:2]: int(pair[2:]) for pair in wording.words("words.toml", "account_lengths")
}
_MAESTRO = ("50", "56", "57", "58", "60", "61", "63", "64", "65", "66", "67", "68", "69")


def bank_card(value: str) -> bool:
    """Luhn, with the length and first digits of an issuer (ISO/IEC 7812)."""
    digits = _digits(value)
    return _issued(digits) and bool(_CARD.validate_result(digits))


def luhn(value: str) -> bool:
    """Luhn only, for numbers that the surrounding words call a card."""
    return bool(_CARD.validate_result(_digits(value)))


def _issued(digits: str) -> bool:
    if len(set(digits)) <= 2:
        return False
    size, two = len(digits), digits[:2]
    if digits[0] in "45" or two == "62" or "2221" <= digits[:4] <= "2720":
        return size in {13, 16, 19} if digits[0] == "4" else 16 <= size <= 19
    if two in {"34", "37"}:
        return size == 15
    if two in {"30", "36", "38", "39"}:
        return size in {14, 16}
    return two in _MAESTRO + _ISSUERS and 16 <= size <= 19


def iban(value: str) -> bool:
    """Country format and mod 97 (ISO 13616)."""
    return bool(_IBAN.validate_result("".join(value.split()).upper()))


def crypto_wallet(value: str) -> bool:
    """A Bitcoin address with a valid checksum."""
    return bool(_CRYPTO.validate_result(value))


def ip_address(value: str) -> bool:
    """An address in any of its forms; whose it is, is asked when all has been found."""
    return address_of(value.split("/")[0]) is not None


def phone(value: str) -> bool:
    """Seven to fifteen digits (ITU-T E.164) of somebody: no date, no number made up for a form."""
    if _DATED.fullmatch(value):
        return False
    digits, groups = _digits(value.split("x")[0]), re.findall(r"[0-9]+", value)
    repeated = len(groups) > 2 and all(len(set(group)) == 1 for group in groups)
    is_sample = repeated or digits in "1234567890"
    is_address = len(groups) == _OF_ADDRESS and "." in value and ip_address(value)
    return not is_address and 7 <= len(digits) <= 15 and len(set(digits)) > 2 and not is_sample


def ip_form(value: str) -> bool:
    """An address, and no version: `2.2.0.0`, `8.0.28.0`."""
    is_version = re.fullmatch(r"\d(?:\.\d){3}|[1-9]\.\d{1,2}\.\d{1,3}\.0", value)
    return ip_address(value) and is_version is None


def grouped_phone(value: str) -> bool:
    """Ten or eleven digits in any groups, as national numbers with their first zero have."""
    if _RELEASE.fullmatch(value):
        return False
    return 10 <= len(_digits(value)) <= 11 and _DATE_IN.search(value) is None and phone(value)


def iban_form(value: str) -> bool:
    """Country and length of an account (ISO 13616), though its check digits do not hold."""
    plain = "".join(value.split())
    return len(plain) == _ACCOUNT_LENGTHS[plain[:2]] and not iban(value)


def credentials(value: str) -> bool:
    """Is it base64 of `user:password` (RFC 7617)?"""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def shown_token(value: str) -> bool:
    """A token that nobody has blanked."""
    return not is_blanked(value)


def licence(value: str) -> bool:
    """A number, and no range of years."""
    return _DATED.fullmatch(value) is None


_EXAMPLES = re.compile(
    r"x{2,}@[\w.-]+|(?:your|my)[-_](?:account|name|e?mail|user|address|login)@[\w.-]+"
    r"|(?:post|web|host)master@domain\.tld|[\w.+-]+@your-?(?:domain|company|site|host)\.(?:com|org|net)"
    r"|(?:test|user|admin|you|me|my|your|name|e?mail|username|address|someone|foo|bar|hello|contact|support|info|john\.?doe|jane\.?doe)\d?"
    r"@(?:(?:[\w-]+\.)?example\.(?:com|net|org)|(?:e?mail|(?:my|your)?-?(?:domain|company))\.com)"
)
_ALGORITHM = re.compile(  # of SSH, with the vendor that has added it
    r"(?:[uh]mac|aes\d+|chacha20|curve\d+|ecdh|ecdsa|ssh|sk|sntrup[\dx]+|mlkem[\dx]+|zlib|rijndael|gss|rsa"
    r"|webauthn|hostkeys|posix|statvfs|fstatvfs|hardlink|fsync|limits|eow|keepalive|no-more|auth"
    r"|kexguess\d|ext|tun|streamlocal|direct|forwarded|copy|users|home|ping|agent|publickey)"
    r"(?:-[a-z0-9-]+)?@(?:openssh\.com|libssh\.org|lysator\.liu\.se|tinyssh\.org|matt\.ucc\.asn\.au)"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # of a calendar's event


def own_mail(value: str) -> bool:
    """An e-mail address that a person reads; `first_last@x.org` and `admin@example.com` are only
    forms of one."""
    name, _, domain = value.lower().partition("@")
    if is_for_examples(domain) and is_office(name):
        return False
    if _EXAMPLES.fullmatch(value.lower()) or _ALGORITHM.fullmatch(value.lower()):
        return False
    return wording.NO_MAILBOX.fullmatch(name) is None and _UUID.match(name) is None


def _digits(value: str) -> str:
    return "".join(char for char in value if char.isdigit())


CHECKS: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (
        bank_card,
        luhn,
        iban,
        crypto_wallet,
        ip_address,
        phone,
        grouped_phone,
        ip_form,
        own_mail,
        credentials,
        licence,
        shown_token,
        iban_form,
    )
}


_BOOST = 0.4
_LONGEST_PROGRAM = 40  # characters
_LINE, _ROW = 300, 3  # characters of a line that are read; numbers that make it a row of a table
_NUMBER = re.compile(r"\d[\d.,]*")
# The version of a program, not a day with the year in two digits: `Apache 2.4.67`.
_SHORT_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{2}")
_PROGRAM_BEFORE = re.compile(r"([A-Za-z][A-Za-z+]{1,24})(?: version)?[ :/|]{1,3}v?$")
_VERSIONED = frozenset(name.casefold() for name in wording.words("words.toml", "products"))
_VERSIONED |= wording.words("words.toml", "versioned")


def _is_version(text: str, start: int, value: str) -> bool:
    if _SHORT_DATE.fullmatch(value) is None:
        return False
    program = _PROGRAM_BEFORE.search(text, max(0, start - _LONGEST_PROGRAM), start)
    return program is not None and program[1].casefold() in _VERSIONED


def _written(month: str) -> str:
    """A month with or without its capital; march and may in lower case are verbs."""
    return month if month in ("March", "May") else f"[{month[0]}{month[0].lower()}]{month[1:]}"


_CHECKS = {**CHECKS, **identity_numbers.CHECKS, **wording.CHECKS}
_OFFICES = "|".join(sorted(wording.words("japanese.toml", "offices")))
_MACROS = {
    "%L": "(?<![A-Za-z0-9_])",
    "%R": "(?![A-Za-z0-9_])",
    "%DL": r"(?<!\d)",
    "%DR": r"(?!\d)",
    "%MONTH": rf"(?:{'|'.join(map(_written, MONTHS))}|(?:{'|'.join(MONTH_ABBREVIATIONS)})\b\.?)",
    "%CAP": rf"[{CAPITALS}](?:{LETTER}|-(?={LETTER})|'(?!s(?![a-z]))(?={LETTER})){{1,24}}",
    "%LINK": "[!#$%&*+./0-9:;=?@A-Z_a-z~,-]",
    "%B": BEFORE,
    "%E": AFTER,
    "%LETTER": LETTER,
    "%HAN": HAN,
    # A unit or a post, which stands before a name and is none: 経理課, 事務長, 課長補佐.
    "%OFFICE": rf"[{HAN}ァ-ヺー]{{0,8}}(?:{_OFFICES})",
    "%UP": f"[{CAPITALS}]",
    "%ANY": rf"{LETTER}(?:{LETTER}|['-](?={LETTER})){{1,24}}",
}


_DIGIT = "0"  # among a rule's needs: any digit


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern; data/rules.toml explains the fields."""

    name: str
    type: EntityType
    score: float
    pattern: Screened
    check: str
    context: _Context | None
    required: bool
    against: _Context | None
    trim: tuple[str, ...]
    prose: bool


@cache
def load_rules() -> tuple[Rule, ...]:
    """The rules of this package, in declared order."""
    contexts = load_table(__package__, "data", "contexts.toml")
    return tuple(
        _rule(entry, contexts)
        for table in ("rules.toml", "identifiers.toml", "english.toml")
        for entry in load_table(__package__, "data", table)["rule"]
    )


def own_rules(patterns: tuple[str, ...]) -> tuple[Rule, ...]:
    """Rules for the organisation's own person numbers."""
    entry: dict[str, Any] = {"type": "PERSON_NUMBER", "score": 0.9}
    return tuple(
        _rule(entry | {"name": f"person_number_{number}", "pattern": pattern}, {})
        for number, pattern in enumerate(patterns)
    )


def scan(rules: tuple[Rule, ...], folded: str, lines: MachineLines) -> Iterator[Finding]:
    """Findings of all rules, overlapping and in no order. `lines` separates prose from code."""
    lowered = lower_in_place(folded)
    met = met_by(folded)
    for rule in rules:
        for match in rule.pattern.matches(folded, met):
            finding = _judge(rule, match, lowered)
            if finding is None:
                continue
            # Dates in comments are those of versions.
            whole = rule.type is EntityType.DATE
            if not (rule.prose and lines.machine_at(finding.start, whole=whole)):
                yield finding


_USER_BEFORE = re.compile(r"://[^\s/@:]{1,80}:\Z")
_LONGEST_USER = 84


def _is_of_service(text: str, start: int, value: str) -> bool:
    """Is it a password with the public host that it opens: `mongodb+srv://user:…@…mongodb.net`?"""
    before = text[max(0, start - _LONGEST_USER) : start]
    is_user = _USER_BEFORE.search(before) is not None
    return is_user and not wording.private_site(value.rpartition("@")[2])


def _judge(rule: Rule, match: re.Match[str], lowered: str) -> Finding | None:
    start, end = _span(match)
    for lead in rule.trim:
        if lowered.startswith(lead, start):
            start += len(lead)
    value = match.string[start:end]
    if not value or (rule.check and not _CHECKS[rule.check](value)):
        return None
    if rule.type is EntityType.EMAIL and _is_of_service(match.string, start, value):
        return None
    if rule.type is EntityType.DATE and _is_version(match.string, start, value):
        return None
    score = rule.score
    if rule.context is not None:
        if rule.context.holds(lowered, start, end):
            score = min(1.0, score + _BOOST)
        elif rule.required:
            return None
        if rule.required and _in_row_of_numbers(lowered, start, end, rule.context.words):
            return None
    if rule.against is not None and score <= 0.9 and rule.against.holds(lowered, start, end):
        return None
    return Finding(start, end, rule.type, rule.name, round(score, 3))


def _in_row_of_numbers(lowered: str, start: int, end: int, words: tuple[str, ...]) -> bool:
    """Does the value stand among other numbers in its line, without a word that says what it is?"""
    head = lowered[max(lowered.rfind("\n", 0, start) + 1, start - _LINE) : start]
    stop = lowered.find("\n", end)
    rest = lowered[end : min(end + _LINE, stop if stop >= 0 else len(lowered))]
    numbers = len(_NUMBER.findall(head)) + len(_NUMBER.findall(rest))
    return numbers >= _ROW and not any(word in head for word in words)


def _span(match: re.Match[str]) -> tuple[int, int]:
    for name in ("v", "v2", "v3", "v4"):
        if name in match.re.groupindex and match.start(name) >= 0:
            return match.span(name)
    return match.span()


def _declared(texts: Sequence[str]) -> tuple[Need, ...]:
    """The need that an entry declares, if it does."""
    literals = frozenset(texts) - {_DIGIT}
    return (Need(frozenset(), literals, digits=int(_DIGIT in texts)),) if texts else ()


def _rule(entry: Mapping[str, Any], contexts: Mapping[str, Any]) -> Rule:
    pattern = entry["pattern"]
    for name, meaning in _MACROS.items():
        pattern = re.sub(f"{name}(?![A-Z])", meaning.replace("\\", r"\\"), pattern)
    return Rule(
        name=entry["name"],
        type=EntityType(entry["type"]),
        score=float(entry["score"]),
        pattern=Screened(pattern, 0, *_declared(entry.get("needs", ()))),
        check=entry.get("check", ""),
        context=_context_named(contexts, entry.get("context")),
        required=entry.get("required", False),
        against=_context_named(contexts, entry.get("against")),
        trim=tuple(contexts[entry["trim"]]["trim"]) if "trim" in entry else (),
        prose=entry.get("prose", False),
    )
