"""Whole names of people of which texts say one part, and logins or addresses the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from anonymization.text.contracts import EntityType, kinds
from anonymization.text.surrogates.names import own_names
from data.text.scripts import WORD_OUTSIDE_CJK, has_han

_KINDS = kinds("ACCOUNT USER_PATH EMAIL")
_LOGIN = re.compile(
    r"(?P<given>[a-z]{1,20})[._](?P<family>[a-z]{1,24})(?:[._]?\d{1,4})?"
    r"|(?P<login>[a-z]{5,24})"
)
_SHORTEST_FAMILY = 5  # letters, behind an initial: p.vorlicek


def names_in_logins(values: Collection[tuple[EntityType, str]]) -> set[str]:
    """Ludmila Sirota, of ludmila.sirota@ and L. Sirota; Graham Thistlewood, of gthistlewood and
    Graham T.; of the values of one file."""
    people = _People([v for kind, v in values if kind is EntityType.PERSON and not has_han(v)])
    names = set[tuple[str, str]]()
    for value in {value for kind, value in values if kind in _KINDS}:
        match = _LOGIN.fullmatch(value.partition("@")[0].casefold())
        if match and match["login"]:
            names.update(people.joined_as(match["login"]))
        elif match:
            names.update(people.said_by(match["given"], match["family"]))
    return {f"{given.title()} {family.title()}" for given, family in names - people.whole}


class _People:
    def __init__(self, names: Collection[str]) -> None:
        people = [WORD_OUTSIDE_CJK.findall(name.casefold()) for name in names]
        self.whole = {(name[0], name[-1]) for name in people if len(name) > 1}
        self._words = {word for name in people for word in name if len(word) > 2}
        self._short = {pair for pair in self.whole if 1 in map(len, pair)}  # Graham T.
        self._joined = {"".join(name[1:]) for name in people}  # mbekilowe, of Mbeki-Lowe
        of_others = {word for pair in self.whole for word in pair}
        self._alone = {name[0] for name in people if len(name) == 1} - of_others

    def joined_as(self, login: str) -> Iterator[tuple[str, str]]:
        """gthistlewood, of Graham T."""
        for given, end in self._short:
            is_begun = len(end) == 1 and len(given) > 1
            if is_begun and login.startswith(given[0] + end):
                yield given, login[1:]

    def said_by(self, given: str, family: str) -> Iterator[tuple[str, str]]:
        """The names of a login in two parts, of which one may be a letter."""
        begun = [word for word in self._alone - {family} if word.startswith(given)]
        if len(family) == 1:  # priyanka.r, of P. Raghunathan
            for first, last in self._short:
                if first == given[0] and last[0] == family:
                    yield given, last
        elif any(last == family and first.startswith(given) for first, last in self.whole):
            return
        elif len(given) == 1 and family in self._words:  # n.rahman, of Nour and Frau Rahman
            if len(begun) == 1:
                yield begun[0], family
        elif len(given) == 1:
            if family not in self._joined and len(family) >= _SHORTEST_FAMILY:
                yield begun[0] if len(begun) == 1 else given, family
        elif (
            not self._words.isdisjoint((given, family))
            or given in own_names()
            or any(given.startswith(word) for word in self._words)
        ):
            yield given, family
