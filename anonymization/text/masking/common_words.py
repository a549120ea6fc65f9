"""Words of programs, offices and roles: they name nobody, in whichever place they are found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from anonymization.text.contracts import EntityType, Finding, kinds
from anonymization.text.detect.declared import NAME as DECLARED
from anonymization.text.detect.wording import (
    COMMON,
    GIVEN_NAMES,
    is_known,
    is_program_word,
    is_service_login,
)
from anonymization.text.masking.pieces import FIELD
from anonymization.text.surrogates.assignment import lexicon

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


def without_roles(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without such words that only stand where somebody's name would; with a capital
    they may be one: King."""
    for finding in findings:
        value = text[finding.start : finding.end]
        is_placed = finding.type in _BY_PLACE and finding.recognizer not in _SAID
        if not (is_placed and not value.istitle() and _is_of_machine(value)):
            yield finding
