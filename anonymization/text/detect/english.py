"""Names in English text: the spaCy model, loaded and wrapped by Presidio's NLP engine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache

from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine
from spacy.language import Language
from spacy.pipeline import EntityRecognizer
from spacy.tokens import Doc

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.detect.wording import COMMON, in_dictionary, words
from data.text.scripts import has_kana

NAME = "spacy"
_SCORES = {
    EntityType.PERSON: 0.75,
    EntityType.LOCATION: 0.7,
    EntityType.ORGANIZATION: 0.6,
    EntityType.NATIONALITY: 0.7,
}
_LABELS = {
    "PERSON": EntityType.PERSON,
    "GPE": EntityType.LOCATION,
    "LOC": EntityType.LOCATION,
    "FAC": EntityType.LOCATION,
    "ORG": EntityType.ORGANIZATION,
    "NORP": EntityType.NATIONALITY,
}
_CUT = re.compile(
    r"\n| {3,}|[:;] |[\"“”]| as | (?:of|for|in|at|and|the)$| (?:Apt|Suite|Unit|Flat)\b"
)
_LEAD = re.compile(
    r"(?:(?:ex-\w+|the|a|an|this|that|his|her|their|our|and|of|in|to|mr|mrs|ms|miss|dr|prof)\b\.? ?"
    r"|\W|\d{1,6}[.)]? )+",
    re.IGNORECASE,
)
# One character at a time: a repeated run inside a repeated group could backtrack exponentially.
_TAIL = re.compile(r"(?:'s|[^\w.]\.?|(?<=\w{4})\.)+$")
_SHORT_PLACES = frozenset({"UK", "US", "USA", "UAE", "NYC", "U.S.", "U.K."})
_INITIALISM = re.compile(r"[A-Z0-9/&-]{1,5}s?")
_INSTITUTION = words("words.toml", "institutions")
_PEOPLE = words("places.toml", "people")
_COUNTRIES = words("places.toml", "countries")
_TOWNS = words("places.toml", "towns")
_SMALL = frozenset(["of", "for", "and", "the", "in", "on", "at", "to", "by", "de", "du", "&", "or"])
_PARTS = frozenset({"Southern", "Northern", "Eastern", "Western", "Central"})
_NAMED = (
    words("names.toml", "given")
    | words("names.toml", "ambiguous")
    | words("names.toml", "pinyin")
    | _TOWNS
)
_BULLET = re.compile(r"\s*(?:[-*#•|>]|\d{1,3}[.)] |[A-Za-z][)] )|.{0,60}\*\*|[^.!?]{0,60}:\s*$")
_CAPITALISED = r"[^\W\d_a-z][\w-]+"
_POSSESSED = re.compile(
    rf"(?P<house>[^']{{2,60}})'s (?P<member>{_CAPITALISED}(?: {_CAPITALISED}){{1,3}})"
)
_MEMBER = re.compile(rf"({_CAPITALISED}(?: {_CAPITALISED}){{1,2}}) of (?P<firm>.{{2,60}})")
_PAIR = re.compile(rf"({_CAPITALISED}) and ({_CAPITALISED})")
# A capital after a small word or a comma begins no command and no heading.
_INSIDE = re.compile(r"[a-z]{2,},? $")
_LOWER_TAIL = re.compile(r"(?: (?:[a-z]\w*|\W|[^\W\dA-Za-zÀ-ɏͰ-ӿ]))+$")
_GENERAL = _INSTITUTION | _SMALL | COMMON
_QUARTER = re.compile(r"Q[1-4]|H[12]|FY\d{2,4}")
_CODE = re.compile(
    r"[_=<>{}\[\]#|\\`$@*]|://|\w\.\w{2,4}$|[a-z][A-Z][a-z]|\d[A-Za-z]|[A-Za-z]{2,}\d"
)
# The name recogniser has its own vectors: the other components only cost time.
_IDLE = ("tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer")


@cache
def load(model: str) -> Language:
    """The installed spaCy package `model`; nothing is downloaded.

    Errors: OSError when the package is not installed.
    """
    provider = NlpEngineProvider(
        nlp_configuration={
            "nlp_engine_name": "spacy",
            "models": [{"lang_code": "en", "model_name": model}],
        }
    )
    engine = provider.create_engine()
    assert isinstance(engine, SpacyNlpEngine)
    assert engine.nlp is not None
    nlp: Language = engine.nlp["en"]
    nlp.disable_pipes(*(name for name in _IDLE if name in nlp.pipe_names))
    return nlp


@cache
def dictionary(model: str) -> frozenset[str]:
    """Words that the model's lemmatizer lists, in lower case; empty if it has none."""
    return _listed_as(model, ("noun", "verb", "adj", "adv"))


@cache
def usual_words(model: str) -> frozenset[str]:
    """Words of the dictionary that explain themselves: those in the texts that the model was
    trained on, abstract ones, and those of `data/learned.toml`.

    The others (`brindle`) are seen so seldom that they are rather a name.
    """
    # From its file: the vocabulary in memory grows with every text that was read.
    path = load(model).path / "vocab" / "strings.json"
    seen = frozenset(word.lower() for word in json.loads(path.read_text(encoding="utf-8")))
    endings = tuple(words("learned.toml", "endings"))
    learned = words("learned.toml", "words")
    return learned | {word for word in dictionary(model) if word in seen or word.endswith(endings)}


@cache
def nouns(model: str) -> frozenset[str]:
    """Nouns of the dictionary, in lower case."""
    return _listed_as(model, ("noun",))


@cache
def doing_words(model: str) -> frozenset[str]:
    """Verbs, adjectives and adverbs of the dictionary: words that begin commands and headings."""
    return _listed_as(model, ("verb", "adj", "adv"))


def _listed_as(model: str, parts: Sequence[str]) -> frozenset[str]:
    nlp = load(model)
    has_words = "lemmatizer" in nlp.component_names
    lookups = getattr(nlp.get_pipe("lemmatizer"), "lookups", None) if has_words else None
    if lookups is None or not lookups.has_table("lemma_index"):
        return frozenset()
    tables = [lookups.get_table(n) for n in ("lemma_index", "lemma_exc") if lookups.has_table(n)]
    return frozenset(word for table in tables for part in parts for word in table.get(part, ()))


def find_names(units: Sequence[str], model: str, batch: int) -> list[list[Finding]]:
    """The people, places, organisations and nationalities that the model finds in each unit."""
    if not units:
        return []
    listed, doing = dictionary(model), doing_words(model)
    docs = with_entities(units, load(model), batch)
    return [
        [name for name in _findings(words, doc) if not _everyday(words, name, listed, doing)]
        for words, doc in zip(units, docs, strict=True)
    ]


def with_entities(units: Sequence[str], nlp: Language, batch: int) -> Iterator[Doc]:
    """The units as documents with their entities: those of `nlp.pipe`, for less.

    spaCy's loop over the words runs without the interpreter's lock and takes it for each check of a
    word, which costs as much as the model. The same steps taken from Python keep it throughout.
    """
    reader = nlp.get_pipe("ner") if nlp.pipe_names == ["ner"] else None
    if not isinstance(reader, EntityRecognizer) or reader.cfg["beam_width"] != 1:
        yield from nlp.pipe(units, batch_size=batch)
        return
    for start in range(0, len(units), batch):
        docs = [nlp.make_doc(words) for words in units[start : start + batch]]
        states = reader.moves.init_batch(docs)
        unfinished = [state for state in states if not state.is_final()]
        if unfinished:  # the model cannot read documents without words
            scorer = reader.model.predict(docs)
            while unfinished:
                unfinished = reader.transition_states(unfinished, scorer.predict(unfinished))
        reader.set_annotations(docs, states)
        yield from docs


def _everyday(text: str, finding: Finding, listed: frozenset[str], doing: frozenset[str]) -> bool:
    """Is it a capitalised verb or adjective, or a heading of dictionary words?"""
    words = [word.strip(".,'()") for word in text[finding.start : finding.end].split()]
    words = [word for word in words if not _QUARTER.fullmatch(word)]
    if not listed or finding.type is EntityType.NATIONALITY:
        return False
    if any(word in _NAMED or word in _COUNTRIES for word in words):
        return False
    if len(words) == 1:
        inside = finding.type is EntityType.PERSON and _INSIDE.search(text, 0, finding.start)
        return not inside and in_dictionary(words[0], doing)
    return _BULLET.match(text) is not None and all(in_dictionary(word, listed) for word in words)


def _findings(text: str, doc: Doc) -> list[Finding]:
    findings = []
    for entity in doc.ents:
        kind = _LABELS.get(entity.label_)
        if kind is None:
            continue
        span = _trim(text, entity.start_char, entity.end_char)
        if span is None or not _plausible(text[span[0] : span[1]], kind):
            continue
        for start, end, part in _own_parts(text[span[0] : span[1]], kind):
            findings.append(Finding(span[0] + start, span[0] + end, part, NAME, _SCORES[part]))
    return findings


def _trim(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without article, title, quotes and possessive, up to a line break or a colon."""
    cut = _CUT.search(text, start + 1, end)
    if cut:
        end = cut.start()
    lead = _LEAD.match(text, start, end)
    if lead:
        start = lead.end()
    tail = _TAIL.search(text, start, end)
    if tail:
        end = tail.start()
    while start < end and has_kana(text[end - 1]):  # a particle behind it, or before it
        end -= 1
    while start < end and has_kana(text[start]):
        start += 1
    return (start, end) if end - start >= 2 else None


def _own_parts(value: str, kind: EntityType) -> list[tuple[int, int, EntityType]]:
    """The names in an entity: what the model took for one organisation may be two names.

    It may be a person and an organisation, or two people.
    """
    if kind is EntityType.ORGANIZATION:
        both = _POSSESSED.fullmatch(value) or _MEMBER.fullmatch(value) or _PAIR.fullmatch(value)
        if both and not any(word in _GENERAL for word in both[1].split()):
            first, second = both.groupdict().get("house"), both.groupdict().get("member")
            kinds = (
                EntityType.ORGANIZATION if first else EntityType.PERSON,
                EntityType.PERSON if second or not both.groupdict() else EntityType.ORGANIZATION,
            )
            return [(*both.span(1), kinds[0]), (*both.span(2), kinds[1])]
    own = _own_part(value, kind)
    return [own] if own is not None else []


def _own_part(value: str, kind: EntityType) -> tuple[int, int, EntityType] | None:
    """The part of an entity that names someone in particular: start, end and kind.

    An institution named in general words names nobody; of one qualified by a nationality only
    that word counts.
    """
    first, _, rest = value.partition(" ")
    if first in _PARTS and (rest in _COUNTRIES or rest in _TOWNS) and value not in _COUNTRIES:
        return len(first) + 1, len(value), EntityType.LOCATION
    if kind in {EntityType.PERSON, EntityType.LOCATION}:
        tail = _LOWER_TAIL.search(value)
        return 0, tail.start() if tail else len(value), kind
    if kind is EntityType.ORGANIZATION and rest:
        own = [word for word in value.split() if word.strip("()'.,") not in _GENERAL]
        if not own:
            return None
        if first in _PEOPLE and own == [first]:
            return 0, len(first), EntityType.NATIONALITY
        if all(word in _COUNTRIES or word in _PEOPLE for word in own):
            return None
    return 0, len(value), kind


def _plausible(value: str, kind: EntityType) -> bool:
    """Is it neither code nor an everyday word, and capitalised unless it is a nationality?"""
    words = value.split()
    if (
        has_kana(value)
        or _CODE.search(value)
        or all(word.strip(".,'()") in COMMON for word in words)
    ):
        return False
    if kind is EntityType.NATIONALITY:
        return any(word in _PEOPLE for word in value.replace("-", " ").split(" "))
    if not any(word[0].isupper() for word in words):
        return False
    return len(words) > 1 or value in _SHORT_PLACES or not _INITIALISM.fullmatch(value)
