"""One surrogate token per token, drawn with the key; the ground that names stand on."""

from __future__ import annotations

from collections.abc import Callable

from numpy.random import Generator

from anonymization.text.surrogates.presence import Presence
from data.randomness import keyed_generator

STAGE = "anonymization.text.surrogates"
_ATTEMPTS = 200

Draw = Callable[[Generator, int], str]


class Book:
    """Tokens already given out, per space (given names, family names, hosts …).

    In one space two tokens never get one surrogate. A draw sees how often it was tried before,
    and may then fall back on longer words.
    """

    def __init__(self, key: bytes, presence: Presence) -> None:
        self._key = key
        self._presence = presence
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[tuple[str, str]] = set()

    def knows(self, space: str, token: str) -> bool:
        """Has the token a surrogate in this space?"""
        return (space, token) in self._given

    def tokens(self, space: str) -> dict[str, str]:
        """Tokens of a space with their surrogates."""
        return {token: new for (of, token), new in self._given.items() if of == space}

    def token(
        self, space: str, token: str, draw: Draw, salt: str = "", *, fresh: bool = True
    ) -> str:
        """The surrogate of `token`; `fresh` asks for one that stands in no text so far.

        `salt` asks for another one than without it.
        """
        salted = token + salt
        known = self._given.get((space, salted))
        if known is not None:
            return known
        rng = self.generator(space, salted)
        new = ""
        for attempt in range(_ATTEMPTS):
            new = draw(rng, attempt)
            if new.casefold() != token and self._free(space, new, fresh):
                break
        self._given[space, salted] = new
        self._taken.add((space, new.casefold()))
        return new

    def generator(self, space: str, token: str) -> Generator:
        """The randomness that belongs to a token."""
        return keyed_generator(self._key, f"{STAGE}.{space}", token)

    def _free(self, space: str, new: str, fresh: bool) -> bool:
        if (space, new.casefold()) in self._taken:
            return False
        return not (fresh and self._presence.holds(new))
