"""URLs, data source names and paths: what a program needs of them stays, what is private changes.

The scheme, the port, everyday words in the path, parameter names and file extensions stay, and so
does the host of a well-known service.
"""

from __future__ import annotations

import re
from collections import ChainMap

from anonymization.text.surrogates.assignment import (
    STEM,
    SurrogateTable,
    cased_like,
    lexicon,
    same_shape,
)
from anonymization.text.surrogates.identifiers import known_services, numbered, secret
from anonymization.text.surrogates.names import FAMILY, GIVEN
from anonymization.text.surrogates.net import STRUCTURED, handle, host, machine, products
from anonymization.text.surrogates.places import PLACE

_PATH = "url"
_PORT = r"(?P<port>:\d{1,5}(?!\d))?"
_URL = re.compile(
    r"(?P<scheme>(?:[A-Za-z][A-Za-z0-9+.-]*:){1,2}//|www\.)"
    r"(?:(?P<user>[^/@\s:]*)(?P<password>:[^/@\s]*)?@)?"
    rf"(?P<host>\[[^\]\s]*\]|[^/?#:\s]*){_PORT}(?P<rest>.*)",
    re.DOTALL,
)
_HOST_FIRST = re.compile(
    rf"(?i)(?P<host>(?:[a-z0-9-]{{1,63}}\.){{1,6}}[a-z]{{2,24}}){_PORT}(?P<rest>(?:[/?#].*)?)",
    re.DOTALL,
)
_PORT_FIRST = re.compile(r"(?P<port>\d{2,5})(?P<rest>/.*)", re.DOTALL)  # behind a masked host
_SCHEME = re.compile(r"[a-z0-9]+(?:[:+][a-z0-9]+)?(?:://)?")
_BUCKETS = ("s3://", "gs://", "s3a://")
_WORDS = re.compile(rf"{STRUCTURED.pattern}(?![^\W_])|[^\W_]+")
_PARAMETER = re.compile(r"[\w.-]{0,40}=")
_VERSION = re.compile(r"v?\d{1,2}(?:\.\d{1,2})?")
_SHORT = 20


def url(table: SurrogateTable, value: str, salt: str) -> str:
    """The URL of another host, user and password; of a part of one, the same part."""
    match = _URL.fullmatch(value)
    if match is not None:
        user, password = match["user"], match["password"] or ""
        login = "" if user is None else handle(table, user, salt) if user else ""
        login += ":" + secret(table, password[1:], salt) if len(password) > 1 else password
        login += "" if user is None else "@"
        end = (match["port"] or "") + _tail(table, match["rest"], salt)
        return match["scheme"] + login + _host(table, match["host"], match["scheme"], salt) + end
    match = _HOST_FIRST.fullmatch(value)
    if match is not None:
        end = (match["port"] or "") + _tail(table, match["rest"], salt)
        return _host(table, match["host"], "", salt) + end
    match = _PORT_FIRST.fullmatch(value)
    if match is not None:
        return match["port"] + _tail(table, match["rest"], salt)
    return handle(table, value, salt) if len(value) < _SHORT else _tail(table, value, salt)


def says_nothing(value: str) -> bool:
    """Is it a part of a URL that names nobody: a scheme, a port, everyday words of a path?"""
    parts = re.split(r"[:+/]+", value.rstrip(":/"))
    if _SCHEME.fullmatch(value) and lexicon().url_schemes.issuperset(parts):
        return True
    port = _PORT_FIRST.fullmatch(value)
    words = _WORDS.findall(port["rest"] if port else value)
    return bool(words) and all(map(_is_generic, words)) and (bool(port) or value.isalpha())


def _host(table: SurrogateTable, name: str, scheme: str, salt: str) -> str:
    labels = name.split(".")
    site = labels[-2].casefold() if len(labels) > 1 else ""
    if site in known_services() or site in lexicon().sites:
        own = [label if _is_generic(label) else machine(table, label) for label in labels[:-2]]
        return ".".join([*own, *labels[-2:]])
    if not name or len(labels) > 1 or name.startswith("[") or name == "localhost":
        return host(table, name, salt) if name else ""
    if _is_generic(name):  # a service of the same network
        return name
    if scheme in _BUCKETS or "_" not in name:
        return machine(table, name)
    return handle(table, name, salt)  # a user, whose password was masked by itself


def _is_generic(word: str) -> bool:
    folded = word.casefold()
    known = folded in lexicon().url_words or folded in lexicon().machine_words
    return known or folded in products() or _VERSION.fullmatch(folded) is not None


def _tail(table: SurrogateTable, rest: str, salt: str) -> str:
    names = ChainMap(*(table.tokens(space) for space in (FAMILY, GIVEN, STEM, PLACE)))

    def change(match: re.Match[str]) -> str:
        word = match.group()
        named = _PARAMETER.match(rest, match.end()) or rest[: match.start()].endswith("%")
        if named or _is_generic(word) or len(word) == 1:
            return word
        if STRUCTURED.fullmatch(word):  # as texts say it
            return numbered(table, word, salt)
        if word.casefold() in names and not salt:
            return cased_like(names[word.casefold()], word)
        return table.token(_PATH, word, lambda rng, _: same_shape(word, rng), salt, fresh=False)

    return _WORDS.sub(change, rest)
