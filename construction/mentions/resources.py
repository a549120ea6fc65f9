"""What a request wants of the world beyond its files: systems, the web, a browser, mail.

The words are in `resources.toml`. A system counts only where the request has something done in it
or fetched from it; what it is only about needs no account.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from construction.mentions.extensions import path_words
from construction.mentions.negation import is_negated
from data.text.lexicon import load_table
from data.text.scripts import has_han
from data.text.sentences import sentence_spans

_TABLE = load_table(__package__, "resources.toml")
_REACH = 110  # characters between a verb and the system
_REACH_ZH = 16
_REACH_LIVE = 60
_PAST_ZH = ("的", "到", "过", "了")  # 网上搜的: it was looked up already
_MOST = 400  # sentences


class ResourceKind(StrEnum):
    SYSTEM = "system"  # an account or a service
    WEB = "web"
    BROWSER = "browser"
    MAIL = "mail"
    CALENDAR = "calendar"


_ONLINE = (ResourceKind.WEB, ResourceKind.BROWSER)


@dataclass(frozen=True, slots=True)
class Resource:
    """What is wanted, under the name that the text gives it; `files` are words of paths that can
    stand for it.
    """

    kind: ResourceKind
    name: str
    files: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def resources(text: str) -> tuple[Resource, ...]:
    """Everything that a request wants beyond files, each once, in order. Linear in its length."""
    wanted: dict[Resource, None] = {}
    for number, (start, end) in enumerate(sentence_spans(text)):
        if number == _MOST:
            break
        for resource in _in_sentence(" ".join(text[start:end].lower().split())):
            wanted.setdefault(resource)
    if any(resource.kind in _ONLINE for resource in wanted):
        return tuple(dict.fromkeys(map(_of_a_page, wanted)))
    return tuple(wanted)


def _of_a_page(resource: Resource) -> Resource:
    """Where the web is at work, a picture of the screen is one of a page; a browser takes it."""
    is_screen = resource.kind is ResourceKind.SYSTEM and _OF_SCREEN.search(resource.name)
    return replace(resource, kind=ResourceKind.BROWSER) if is_screen else resource


def missing_systems(text: str, paths: Collection[str]) -> tuple[str, ...]:
    """The names of the systems that a request wants and none of its input files stands for."""
    words = {word for path in paths for word in path_words(path)}
    return tuple(
        resource.name
        for resource in resources(text)
        if resource.kind is ResourceKind.SYSTEM
        and not any(word.startswith(stem) for word in words for stem in resource.files)
    )


def wants(text: str, kind: ResourceKind) -> bool:
    """Does the request want a resource of this kind?"""
    return any(resource.kind is kind for resource in resources(text))


def _in_sentence(sentence: str) -> Iterator[Resource]:
    for kind, pattern in _SAID.items():
        for match in pattern.finditer(sentence):
            is_past = sentence[match.end() : match.end() + 1] in _PAST_ZH
            if not is_past and not is_negated(sentence, match.start()):
                yield Resource(kind, match.group())
    for match in _UNLISTED.finditer(sentence):
        if _is_used(sentence, match.start(), match.group()) and not _SYSTEM.search(match.group()):
            yield Resource(ResourceKind.SYSTEM, match["name"], _content(match["name"]))
    for match in _SYSTEM.finditer(sentence):
        if _is_used(sentence, match.start(), match.group()):
            name = _singular(match.group())
            shown = name.removeprefix("from ").removeprefix("our ")
            yield Resource(ResourceKind.SYSTEM, shown, _FILES.get(name, ()))
    for match in _SCREEN.finditer(sentence):
        if not is_negated(sentence, match.start()):
            yield Resource(ResourceKind.SYSTEM, match.group())
    for match in _LIVE.finditer(sentence):
        if _is_looked_up(sentence, match.start()):
            yield Resource(ResourceKind.SYSTEM, match.group(), _LIVE_FILES)


def _is_used(sentence: str, at: int, name: str) -> bool:
    """Does a verb before the system say that something is done there?"""
    if has_han(sentence):
        is_there = _INSIDE_ZH.match(sentence, at + len(name)) is not None
        if is_there or _VERB_ZH.search(sentence, max(0, at - _REACH_ZH), at) is not None:
            return True
    before = sentence[max(0, at - _REACH) : at]
    is_spoken_of = any(words.search(before) for words in (_NONE, _ABOUT, _WRITTEN_ABOUT))
    return bool(_VERB.search(before)) and not is_spoken_of


def _is_looked_up(sentence: str, at: int) -> bool:
    """Is what changes from day to day to be looked up, and not only spoken of?"""
    before = sentence[max(0, at - _REACH_LIVE) : at]
    return _LIVE_VERB.search(before) is not None and not is_negated(sentence, at)


def _content(name: str) -> tuple[str, ...]:
    """The words of a name but its last: files with one of them stand for it."""
    return tuple(word.removesuffix("s") for word in name.split()[:-1] if len(word) > 2)


def _singular(name: str) -> str:
    return name if name in _FILES else name.removesuffix("s")


def _any(phrases: Collection[str], *, plural: bool = False) -> str:
    """A pattern for phrases; between Latin letters only whole words count."""
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    latin = [re.escape(phrase) for phrase in longest if not has_han(phrase)]
    han = [re.escape(phrase) for phrase in longest if has_han(phrase)]
    words = rf"(?<![a-z0-9_-])(?:{'|'.join(latin)}){'s?' if plural else ''}(?![a-z0-9_-])"
    words = words if latin else ""
    return "|".join(filter(None, (words, *han)))


def _inflected(verbs: Collection[str]) -> list[str]:
    """The verbs, and their forms in -ing."""
    return [form for verb in verbs for form in (verb, verb.removesuffix("e") + "ing")]


_PRODUCTS = frozenset(_TABLE["products"])
_FILES = {name: tuple(stems) for name, stems in _TABLE["systems"].items()} | {
    name: (name,) if name.isalpha() else () for name in _PRODUCTS
}
_SYSTEM = re.compile(_any(_FILES, plural=True))
_VERB = re.compile(_any((*_TABLE["verbs"]["links"], *_inflected(_TABLE["verbs"]["en"]))))
_VERB_ZH = re.compile("|".join(_TABLE["verbs"]["zh"]))
_INSIDE_ZH = re.compile(r" ?(?:[里内]|中(?!心)|上(?![线市]))")
_NONE = re.compile(_any(_TABLE["none"]["en"]))
_ABOUT = re.compile(r"\b(?:for|about|like|than|versus|vs)(?: (?:the|our|my|an?|your))? $")
# "Write a guide on how to tidy up an inbox", "queries against a CRM database": nobody opens one.
_WRITTEN_ABOUT = re.compile(
    r"\b(?:write|draft|create|make|prepare|design)\b[^.;,]{0,40}"
    r"\b(?:guide|tutorial|manual|checklist|instructions|tips|how-to|quer(?:y|ies)|schema)\b[^.;,]*"
    r"\b(?:how to [^.;,]+|(?:against|on|for) )(?:an?|their|your|one's) [^.;,]{0,40}$"
)
_LIVE = re.compile(_any((*_TABLE["live"]["en"], *_TABLE["live"]["zh"]), plural=True))
_LIVE_VERB = re.compile(_any((*_TABLE["live"]["verbs_en"], *_TABLE["live"]["verbs_zh"])))
_SCREEN = re.compile(
    rf"\b(?:{'|'.join(_TABLE['screen']['en'])})\b|{'|'.join(_TABLE['screen']['zh'])}"
)
_OF_SCREEN = re.compile(r"screenshot|\bscreen\b|\bwindow\b|截")
_LIVE_FILES = tuple(_TABLE["live"]["files"])
_UNLISTED = re.compile(
    r"\b(?:the|our|your|company|team|online|external) "
    r"(?P<name>(?:(?!(?:to|and|of|for|in|from|with|by|at|on|via|into) )[a-z-]+ ){1,3}"
    r"(?:service|system|platform|database|portal|warehouse|wiki))\b"
)
_SAID = {
    ResourceKind(kind): re.compile(_any((*_TABLE[kind]["en"], *_TABLE[kind]["zh"])))
    for kind in ("web", "browser", "mail", "calendar")
}
