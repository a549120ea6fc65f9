"""User names, e-mail addresses, hosts, URLs and addresses of machines.

Parts of them that are parts of known names agree with these names.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from types import MappingProxyType

from numpy.random import Generator

from anonymization.text.surrogates.assignment import (
    LETTERS,
    STEM,
    Draw,
    SurrogateTable,
    cased_like,
    digits,
    given_name,
    lexicon,
    same_shape,
    stem,
)
from anonymization.text.surrogates.identifiers import known_services, numbered
from anonymization.text.surrogates.names import (
    FAMILY,
    GIVEN,
    chinese_name,
    initial,
    own_names,
)
from anonymization.text.surrogates.networks import IN_HOST, address_of, is_nobodys, written_like
from anonymization.text.surrogates.places import PLACE, is_state
from data.text.lexicon import load_table
from data.text.scripts import has_han, has_kana

_NONE: Mapping[str, str] = MappingProxyType({})
# A part that was drawn (`1ccb7`), a word, a number.
_HANDLE_PARTS = re.compile(
    r"(?<![^\W_])(?:\d+[a-f]+|[a-f]+\d+[a-f])[0-9a-f]+(?![^\W_])|[^\W\d_]+|\d+"
)
STRUCTURED = re.compile(r"[A-Z]{1,8}[-_]\d{1,12}(?:[-_]\d{1,12}){0,4}")  # CUS-0047
_STAFF = re.compile(r"[A-Z]{3,8}\d{2,8}")  # STAFF001
_LONG_NAME, _SHORTEST_NAME = 4, 3


def handle(
    table: SurrogateTable, value: str, salt: str = "", shared: Mapping[str, str] = _NONE
) -> str:
    """A user name: known parts of names get the same surrogates, all else new ones.

    `shared` are further words, in folded case, with what they become.
    """
    known = ChainMap(table.tokens(FAMILY), table.tokens(GIVEN))
    others = [word.casefold() for word in LETTERS.findall(value) if len(word) > 1]
    kept = lexicon().machine_words.intersection(others)
    kept = kept if len(kept) < len(set(others)) else frozenset()  # the rest is whose it is
    agreeing = _both_parts(table, value) if not salt else _NONE

    def part(match: re.Match[str]) -> str:
        word = match.group()
        if word.isdigit():
            return table.token("handle.digits", word, _digits_like(len(word)), salt, fresh=False)
        if not word.isalpha():
            return table.token("drawn", word, lambda rng, _: same_shape(word, rng), salt)
        if has_han(word):
            return chinese_name(table, word, False, salt)
        folded = word.casefold()
        if folded in agreeing:
            return cased_like(agreeing[folded], word)
        if folded in known and len(word) > 1:
            return cased_like(known[folded], word)
        if folded in kept:
            return word
        if folded in table.logins and not salt:
            return cased_like(table.logins[folded], word)
        if folded in shared and len(word) > 1:
            return cased_like(shared[folded], word)
        if folded[1:] in known and len(folded) > _LONG_NAME:
            return cased_like(initial(table, folded[0]) + known[folded[1:]], word)
        if len(word) == 1:
            return cased_like(_letter(table, folded, others), word)
        return cased_like(_new_login(table, folded, known, salt), word)

    return _HANDLE_PARTS.sub(part, value)


def _new_login(table: SurrogateTable, login: str, known: Mapping[str, str], salt: str) -> str:
    made = "" if salt or login in own_names() else _abbreviated(table, login)
    return made or _joined(login, known) or table.token("handle", login, given_name, salt)


def _letter(table: SurrogateTable, letter: str, others: Iterable[str]) -> str:
    """What a letter of a login becomes: of a person with another of its words, if it is known."""
    whose = (table.logins.get(letter + other, "") for other in others)
    return next(filter(None, whose), initial(table, letter, others))[0]


def _both_parts(table: SurrogateTable, login: str) -> Mapping[str, str]:
    """What the two words of a login become that agree with the name of one person: a family name
    and initials (wang.xm), a given name and the beginning of a family name (rowan_que)."""
    words = [word.casefold() for word in LETTERS.findall(login)]
    if len(words) != 2:
        return _NONE
    becomes = table.parts.get((words[0], words[1]))
    if becomes is not None:
        return dict(zip(words, becomes, strict=True))
    for family, given in table.given_of.items():
        is_begun = family.startswith(words[1]) and family != words[1]
        if words[0] in given and len(words[1]) > 1 and is_begun:
            new = table.tokens(FAMILY).get(family, "")[: len(words[1])].lower()
            return {words[0]: given[words[0]], words[1]: new} if new else _NONE
    return _NONE


def _abbreviated(table: SurrogateTable, login: str) -> str:
    """The login of the surrogate for the beginnings of a known given and family name (lewferr), of
    which the first may be a letter (svenkat)."""
    families = table.tokens(FAMILY)
    for family, known in sorted(table.given_of.items()):
        for given, new in sorted(known.items()):
            for size in range(1, len(login) - _SHORTEST_NAME + 1):
                first, rest = login[:size], login[size:]
                is_long = len(rest) > _SHORTEST_NAME or size >= _SHORTEST_NAME
                is_of = given.startswith(first) and family.startswith(rest) and size != 2
                if is_long and is_of and family in families:
                    made = new if first == given else new[:size]
                    return (made + families[family][: len(rest)]).casefold()
    return ""


def _joined(login: str, known: Mapping[str, str]) -> str:
    """The login of the surrogates for one that joins two known names, or a name and an initial."""
    for size in range(_SHORTEST_NAME, len(login)):
        first, rest = login[:size], login[size:]
        if first in known and rest in known:
            return known[first] + known[rest]
        if first in known and len(rest) == 1:
            initials = sorted(known[name][0] for name in known if name[0] == rest)
            return known[first] + (initials[0] if initials else rest)
    return ""


def _digits_like(size: int) -> Draw:
    def draw(rng: Generator, _: int) -> str:
        return digits(rng, size)

    return draw


def unexplained(table: SurrogateTable, value: str, salt: str = "") -> str:
    """A word by an invented word in its letter case, a number or code by one of its shape."""
    degrees = _DEGREES.fullmatch(value)
    if degrees:  # what is near stays near, and no longitude is beyond 180
        return degrees[1] + numbered(table, degrees[2], salt)
    if STRUCTURED.fullmatch(value) or _STAFF.fullmatch(value):
        return numbered(table, value, salt)
    if _PREFIXED.fullmatch(value):
        return account(table, value, salt)
    if any(map(str.isdigit, value)) or has_han(value) or has_kana(value):
        shape: Draw = lambda rng, _: same_shape(value, rng)  # noqa: E731
        return table.token("code", value, shape, salt)

    def word(match: re.Match[str]) -> str:
        if is_state(value, match):
            return match.group()
        new = table.token(STEM, match.group().casefold(), stem, salt)
        return cased_like(new, match.group())

    return LETTERS.sub(word, value)


_DEGREES = re.compile(r"([+-]?\d{1,3}\.)(\d{4,9})")
HOST, MACHINE, _ADDRESS = "host", "machine", "ip"
_NAMED = (STEM, PLACE)


def email(table: SurrogateTable, value: str, salt: str) -> str:
    """Another person at another host; role names such as info or sales stay.

    So do names that the texts say openly, if the host is another one. Names of other things, and
    words that nothing explains, become in an address what they become in the texts.
    """
    local, at, domain = value.rpartition("@")
    if not at:
        return handle(table, value, salt)
    bounced = _BOUNCED.fullmatch(local)
    if bounced:  # the letter was for somebody
        whose = email(table, f"{bounced['who']}@{bounced['host']}", salt).replace("@", "=")
        return f"{bounced['lead']}{whose}{at}{_host_of_service(table, domain, salt)}"
    names = ChainMap(table.logins, table.tokens(FAMILY), table.tokens(GIVEN))
    is_office_alone = local.casefold() in _offices()  # also `it` and `hr`
    roles = [role for role in _roles(local) if is_office_alone or role not in names]
    is_other = not is_for_examples(domain)
    kept = is_other and bool(roles) and "".join(roles) == "".join(LETTERS.findall(local.casefold()))
    stated = table.open_names.intersection(word.casefold() for word in LETTERS.findall(local))
    of_provider = domain.casefold() in _providers() and not kept
    new_host = domain if of_provider else _other_host(table, domain, salt if kept or stated else "")
    stays = {name: name for name in stated if new_host != domain} | {role: role for role in roles}
    drawn = _MESSAGE.fullmatch(local)
    if drawn:  # its queue is named in the log beside it
        time = handle(table, drawn["time"] or "", salt)
        return f"{time}{drawn['queue'] or drawn['whole']}{at}{new_host}"
    if _NUMBERED.fullmatch(local):  # an account of the same spelling has this login
        return numbered(table, local, salt) + at + new_host
    shared = ChainMap(stays, *map(table.tokens, () if salt else _NAMED))
    return (local if kept else handle(table, local, salt, shared)) + at + new_host


_BOUNCED = re.compile(
    r"(?P<lead>[a-z]+[+-](?:[0-9a-f.]*\d[0-9a-f.]*[+-]|[0-9a-f]{4,32}[+-])*)"
    r"(?P<who>[\w.+-]+)=(?P<host>[A-Za-z0-9.-]+)"
)


def _host_of_service(table: SurrogateTable, domain: str, salt: str) -> str:
    """The host of a machine that sends by itself: that of a service which everybody knows stays."""
    site = domain.casefold().split(".")[-2]
    return domain if site in known_services() else host(table, domain, salt)


@cache
def _providers() -> frozenset[str]:
    """Hosts where everybody may have an address."""
    return frozenset(load_table(_DETECTION, "data", "words.toml")["mail_providers"].split())


_DETECTION = "anonymization.text.detect"  # whose lists say what everybody knows


# The name of a message: when it came, and the place in a queue that it had.
_MESSAGE = re.compile(
    r"(?P<time>\d{8,17}\.)(?P<queue>(?=[A-F]{0,20}\d)[0-9A-F]{6,20})"
    r"|(?P<whole>[0-9A-Za-z]{6,7}-000[0-9A-Za-z]{3,8}(?:-[0-9A-Za-z]{2,4})?)"
)


def _roles(local: str) -> list[str]:
    """The words before the sign that say an office or a service (RFC 2142), and nobody's name."""
    known, folded = _offices(), local.casefold()
    words = LETTERS.findall(folded)
    return words if folded in known else [word for word in words if _is_office(word)]


def _is_office(word: str) -> bool:
    """Is it a word for an office or a program, or two of them (`dbadmin`)?"""
    known = _offices()
    return word in known or any({word[:at], word[at:]} <= known for at in range(2, len(word) - 1))


@cache
def _offices() -> frozenset[str]:
    listed = load_table(_DETECTION, "data", "words.toml")
    return lexicon().mailboxes.union(
        listed["of_services"].split(), listed["service_logins"].split(), _programs()
    )


_LOCAL = "local|lan|internal|intranet|intra|corp|private|priv|home|localdomain|intern"
DOMAIN = re.compile(
    rf"(?i)(?:[a-z0-9-]{{1,63}}\.){{1,6}}"
    rf"(?:com|org|net|info|biz|edu|gov|io|dev|app|cn|jp|de|fr|uk|us|ca|au|nl|ch|in|eu|co|ai|tech"
    rf"|cloud|{_LOCAL})"
)
# The end under which a domain is registered, the domain's own label, and labels of machines.
_HOST_PARTS = re.compile(
    rf"(?P<machine>(?:[^.]+\.)*?)(?P<own>[^.]+)"
    rf"(?:\.(?:(?P<local>(?:corp\.)?(?:{_LOCAL}))|(?:co|com|net|org|or|ne|ac|go|gov|edu)\.[a-z]{{2}}|[^.]+))?"
)
# `bp1qc8842` was drawn.
_LABEL_PARTS = re.compile(r"(?<![^\W_])[a-z]{1,6}\d+[a-z]+\d[a-z0-9]*(?![^\W_])|[^\W\d_]+|\d+")


_FOR_EXAMPLES = re.compile(r"(?i)(?:[\w-]+\.)*example\.(?:com|net|org)")


def is_for_examples(domain: str) -> bool:
    """Is it a domain that nobody can have (RFC 2606)? The surrogates' own ones are not meant."""
    return _FOR_EXAMPLES.fullmatch(domain) is not None


def is_office(local: str) -> bool:
    """Do all words before the sign of an address say an office or a service?"""
    return "".join(_roles(local)) == "".join(LETTERS.findall(local.casefold()))


def host(table: SurrogateTable, domain: str, salt: str = "") -> str:
    """A host under .example, or under the end of a private network; one per domain.

    Machines of one domain share its surrogate; words that say what a machine is for stay.
    """
    is_open = is_for_examples(domain) or domain.casefold() in _providers()
    return domain if is_open else _other_host(table, domain, salt)


def _other_host(table: SurrogateTable, domain: str, salt: str) -> str:
    if re.fullmatch(r"[\d.]+|\[.*\]|localhost", domain):
        stays = domain == "localhost" or is_nobodys(domain)
        return domain if stays else ip_address(table, domain, salt)
    if is_for_examples(domain):
        return domain
    parts = _HOST_PARTS.fullmatch(domain.casefold())
    own, end = (parts["own"], parts["local"] or "example") if parts else (domain, "example")
    draw: Draw = lambda rng, attempt: stem(rng, attempt).lower()  # noqa: E731
    agreeing = "" if salt else agreeing_label(table, own, is_local=bool(parts and parts["local"]))
    first: Draw = lambda rng, attempt: agreeing if agreeing and not attempt else draw(rng, attempt)  # noqa: E731
    new = table.token(HOST, own.casefold(), first, salt)
    return f"{machine(table, parts['machine']) if parts else ''}{new}.{end}"


_SHORTEST_KNOWN, _LONGEST_LABEL = 3, 63  # letters of a name in a label, and of a label


def agreeing_label(table: SurrogateTable, label: str, *, is_local: bool = False) -> str:
    """A label that says the surrogates of the names in it, beside words of trades (torvik-logistics
    as kemplow-logistics), and of a machine what it is for. Empty if it has no such words."""
    if is_local:
        new = machine(table, label)
        words = LETTERS.findall(label)
        return new if new != label and not lexicon().machine_words.isdisjoint(words) else ""
    names = ChainMap(*(table.tokens(space) for space in (STEM, FAMILY, GIVEN, PLACE)))
    kept = lexicon().company_words | lexicon().trade_words | lexicon().person_words
    parts = [
        _in_words(part, names, kept) if part.isalpha() else part
        for part in re.split(r"([-_\d]+)", label.casefold()[:_LONGEST_LABEL])
    ]
    if all(part is None or not part.isalpha() or part in label for part in parts):
        return ""
    unknown = iter(LETTERS.findall(label.casefold()))
    made = []
    for part in parts:
        old = next(unknown, "") if part is None or part.isalpha() else ""
        made.append(table.token(STEM, old, stem).casefold() if part is None else part)
    return "".join(made)[:_LONGEST_LABEL].strip("-")


def _in_words(joined: str, names: Mapping[str, str], kept: Collection[str]) -> str | None:
    """Words that are joined, names by their surrogates; nothing if they are no such words."""
    if not joined:
        return ""
    for size in range(len(joined), 1, -1):
        word = joined[:size]
        is_name = word in names and size >= _SHORTEST_KNOWN
        rest = _in_words(joined[size:], names, kept) if is_name or word in kept else None
        if rest is not None:
            return (names[word].casefold() if is_name else word) + rest
    return None


_SHORT_NUMBER = 2  # digits


@cache
def products() -> frozenset[str]:
    """Words of what runs on machines, and of everyday, that label them (`grafana`, `wiki`)."""
    named, known = (load_table(_DETECTION, "data", f"{table}.toml") for table in _TABLES)
    lists = [named["trade"], named["versioned"], known["everyday"]]
    return _programs().union(" ".join(lists).casefold().split()).difference(own_names())


@cache
def _programs() -> frozenset[str]:
    """Words of what runs on machines."""
    named, known = (load_table(_DETECTION, "data", f"{table}.toml") for table in _TABLES)
    lists = [named["products"], known["programs"], known["more_programs"]]
    return frozenset(" ".join(lists).casefold().split()).difference(own_names())


_TABLES = ("words", "known_words")


def machine(table: SurrogateTable, labels: str) -> str:
    """The labels of a machine before its domain."""
    names = ChainMap(*(table.tokens(space) for space in (FAMILY, GIVEN, *_NAMED)))

    def part(match: re.Match[str]) -> str:
        word = match.group()
        is_short = len(word) <= _SHORT_NUMBER and word.isdigit()  # the second of several machines
        is_letter = len(word) == 1 and word.isalpha()
        folded = word.casefold()
        if folded in lexicon().machine_words or is_short or is_letter:
            return word
        if folded in names:
            return cased_like(names[folded], word)
        if folded in products():
            return word
        if not (word.isdigit() or word.isalpha()):
            return table.token(MACHINE, word, lambda rng, _: same_shape(word, rng))
        draw: Draw = lambda rng, attempt: (  # noqa: E731
            digits(rng, len(word)) if word.isdigit() else stem(rng, attempt).lower()
        )
        return cased_like(table.token(MACHINE, folded, draw, fresh=not word.isdigit()), word)

    if not table.keys.isdisjoint(labels.split(".")):
        each = labels.split(".")
        return ".".join(label if label in table.keys else machine(table, label) for label in each)
    written, done = [], 0
    for match in IN_HOST.finditer(labels):
        written += [
            _LABEL_PARTS.sub(part, labels[done : match.start()]),
            _addressed(table, match.group()),
        ]
        done = match.end()
    return "".join(written) + _LABEL_PARTS.sub(part, labels[done:])


def _addressed(table: SurrogateTable, label: str) -> str:
    """The label of a host that shows its address."""
    stays = address_of(label) is None or is_nobodys(label)
    return label if stays else ip_address(table, label, "")


def ip_address(table: SurrogateTable, value: str, salt: str) -> str:
    """An address that nobody can have, in the same network; prefix length and port stay."""
    core, slash, mask = value.partition("/")
    bare = core.strip("[]")
    address = address_of(bare)
    end = _END.fullmatch(value)
    if end:
        return table.networks.end(int(end[1]), end[2])
    if address is None:
        draw: Draw = lambda rng, _: _of_device(value, same_shape(value, rng))  # noqa: E731
        return table.token(_ADDRESS, value.casefold(), draw, salt)
    new = table.networks.of(address)
    return core.replace(bare, written_like(new, bare)) + slash + mask


_END = re.compile(r"\.(\d{1,3})\.(\d{1,3})")  # of an address: `.34.7`
_DEVICE = re.compile(r"(?i)[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}")
_KIND_BITS = 0b11  # of many devices or one, made up or given by a maker (IEEE 802, 8.2)


def _of_device(value: str, new: str) -> str:
    """The new address of hardware, of one device and by whom as the old one says."""
    if _DEVICE.fullmatch(value) is None:
        return new
    first = int(new[:2], 16) & ~_KIND_BITS | int(value[:2], 16) & _KIND_BITS
    return (f"{first:02X}" if value.isupper() else f"{first:02x}") + new[2:]


_NUMBERED = re.compile(r"[A-Z]{1,4}[-_]?\d{2,12}")  # U0047, of the same person as C0047
# An id that a program has drawn, behind what says its kind: `cus_9sTq4Rz1Kd`
_PREFIXED = re.compile(
    r"(?P<kind>[a-z]{2,6}[_-])(?P<drawn>(?=\w*\d)(?=\w*[A-Z])(?=\w*[a-z])[A-Za-z0-9]{8,40})"
)

_MACHINE_NAME = re.compile(r"[A-Za-z]{2,12}(?:-[A-Za-z]{2,12}){0,2}-?\d{1,3}")  # hgf-app02
# `AC7f20b9d3e1c84a56`: letters that say its kind, and digits of base 16.
_DRAWN = re.compile(r"(?P<kind>[A-Z]{2})?(?P<drawn>(?=.{0,30}\d)[0-9a-f-]{16,64})")


def account(table: SurrogateTable, value: str, salt: str) -> str:
    """A user name, chat id or the user name in a path; parts of known names agree with them."""
    if DOMAIN.fullmatch(value) or table.has_domain(value):
        return host(table, value, salt)
    hexadecimal = _DRAWN.fullmatch(value)
    if hexadecimal is not None:
        whole = hexadecimal["drawn"]
        new = table.token("drawn", whole, lambda rng, _: same_shape(whole, rng), salt)
        return (hexadecimal["kind"] or "") + new
    if _NUMBERED.fullmatch(value) or STRUCTURED.fullmatch(value):
        return numbered(table, value, salt)
    drawn = _PREFIXED.fullmatch(value)
    if drawn is not None:
        shape: Draw = lambda rng, _: same_shape(drawn["drawn"], rng)  # noqa: E731
        return drawn["kind"] + table.token("drawn", drawn["drawn"], shape, salt)
    if IN_HOST.search(value) and address_of(value) is None:  # ip-10-0-3-7
        return machine(table, value)
    if address_of(value) is not None:
        return ip_address(table, value, salt)
    for space in () if salt else (HOST, MACHINE):
        if table.knows(space, value.casefold()):  # the machine of an address
            return cased_like(table.tokens(space)[value.casefold()], value)
    if _MACHINE_NAME.fullmatch(value) and not salt:
        new = machine(table, value)
        words = LETTERS.findall(value.casefold())
        if new != value and not lexicon().machine_words.isdisjoint(words):
            return new
    if any(map(str.isalnum, value)) or has_han(value):
        return handle(table, value, salt)
    return value
