"""Words of programs, offices and roles: they name nobody, in whichever place they are found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from anonymization.text.contracts import EntityType, Finding, kinds
from anonymization.text.detect.declared import NAME as DECLARED
from anonymization.text.detect.wording import (
    COMMON,
    GIVEN_NAMES,
    is_known,
    is_known_firm,
    is_program_word,
    is_service_login,
    job,
)
from anonymization.text.masking.pieces import FIELD
from anonymization.text.surrogates.assignment import LETTERS, lexicon

# Kinds that a position alone shows, whatever the word there.
_BY_PLACE = kinds("UNEXPLAINED ACCOUNT USER_PATH")
_SAID = frozenset({DECLARED, FIELD})  # recognizers of what a label or a form declares
_LOGINS = kinds("ACCOUNT USER_PATH")
_SHORTEST_LOGIN = 8  # letters; a shorter one may be a name in the code


def is_of_role(word: str) -> bool:
    """Is a word, of any letter case, a login of a service or role (`admin`, `git`), a mailbox of an
    office, a product or a word of programs, and what nobody is called?

    Replaced once, it would be replaced in every text of the scope.
    """
    small = word.casefold()
    if small.title() in GIVEN_NAMES:
        return False
    is_listed = small in lexicon().mailboxes or small.title() in COMMON
    return is_listed or is_program_word(small) or is_service_login(small)


def is_own_login(kind: EntityType, value: str, dictionary: frozenset[str]) -> bool:
    """Is it a login that is no word, so that a command means it too: `User besttrust`?"""
    is_login = kind in _LOGINS and value.isalpha() and len(value) >= _SHORTEST_LOGIN
    return is_login and not is_known(value, dictionary)


def _is_of_machine(login: str) -> bool:
    """Is it such a word, or a login of several (`db_backup`)? A user of a machine is somebody."""
    parts = login.casefold().split("_")
    return is_of_role(login) if len(parts) == 1 else "user" not in parts and is_service_login(login)


_POST = re.compile(r" ?\(([A-Za-z][A-Za-z ./&-]{1,40})\)\Z")
_HEADS = frozenset(
    {"lead", "head", "chief", "admin", "owner", "support", "sales", "intern", "chair"}
)
_WORD_BEFORE = re.compile(r"(?<![\w.@/-])([A-Za-z][A-Za-z-]{1,20}) \Z")
_THINGS = kinds("UNEXPLAINED LOCATION ORGANIZATION")


def _without_post(text: str, finding: Finding) -> Finding:
    post = _POST.search(text, finding.start, finding.end)
    if finding.type is not EntityType.PERSON or post is None or post.start() <= finding.start:
        return finding
    last = post[1].rpartition(" ")[2].casefold()
    is_post = last in _HEADS or job(post[1])
    return replace(finding, end=post.start()) if is_post else finding


def _is_of_known_firm(text: str, finding: Finding) -> bool:
    """Is it such a firm, or what it sells, by the word before: `IBM QRadar`?"""
    before = _WORD_BEFORE.search(text, max(0, finding.start - 24), finding.start)
    is_behind = before is not None and before[1][0].isupper() and is_known_firm(before[1])
    value = text[finding.start : finding.end]
    return is_behind or is_known_firm(value)


# A host that only a client's settings know, called after the public one: `github.com-work`.
_ALIASES = tuple(
    f"{host}.{end}-" for host in ("github", "gitlab", "bitbucket") for end in ("com", "org")
)
_OF_SERVICES = frozenset(["service", "services", "svc", "daemon", "worker", "scheduler"])


def _is_service(login: str) -> bool:
    """Is a login, even under a label, that of a service, as its end says: `audit_service`?"""
    *parts, last = login.casefold().replace("_", "-").split("-")
    is_named = any(part.title() in GIVEN_NAMES for part in parts)
    return bool(parts) and last in _OF_SERVICES and not is_named


def without_roles(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without such words that only stand where somebody's name would (with a capital
    they may be one: King), without products of firms that everybody knows, and without the post
    behind a name: `Ana Vos (Sales Lead)`."""
    for finding in map(partial(_without_post, text), findings):
        value = text[finding.start : finding.end]
        if finding.type in _LOGINS and (value.startswith(_ALIASES) or _is_service(value)):
            continue
        is_shouted = finding.type is EntityType.PERSON and value.isupper()
        if (finding.type in _THINGS or is_shouted) and _is_of_known_firm(text, finding):
            continue
        is_placed = finding.type in _BY_PLACE and finding.recognizer not in _SAID
        if not (is_placed and not value.istitle() and _is_of_machine(value)):
            yield finding


def own_words(value: str) -> str:
    """The words of a firm's name without those that many have, in one letter case."""
    words = [word.casefold() for word in LETTERS.findall(value)]
    own = [word for word in words if word not in lexicon().company_words]
    return " ".join(own or words)
