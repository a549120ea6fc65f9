"""The level `strict`: what a label or a position shows, and then what nothing explains.

Each recognizer gives spans; what rules and models have found stays as it is, and a field is filled
up around it. What is merely unexplained, and what its owner may want to hide though it names nobody
(pay, health), is undecided: it is for the owner's list, and not for the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from anonymization.text.contracts import DOUBTED, EntityType, Finding
from anonymization.text.detect.capitals import find_capitals
from anonymization.text.detect.explained import find_explained
from anonymization.text.detect.positions import find_positions
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.strict_fields import Field, find_field_rows, find_fields, is_of_thing
from anonymization.text.detect.unexplained import find_unexplained
from anonymization.text.detect.weight import Weight, weights
from anonymization.text.detect.wording import is_known, words
from data.text.screened import Screened, find_each, screened
from data.text.scripts import HANGUL, LETTER

_Span = tuple[int, int, EntityType]
_KIND = EntityType.AGE
_AGE = r"(?:[1-9]\d?|1[01]\d)"
# How the sentence goes on behind an age: with an end, or with a word that no quantity is of.
_ON = (
    r"(?=[,;:!?)]|\.(?!\d)|\Z|\n| (?:and|or|but|when|while|because|so|if|as|at|in|on|now|then|today"
    r"|tomorrow|soon|yet|already|this|next|last|the|i|we|you|he|she|they|it|who|will|would|is|was|has|had|with|by"
    r"|from|before|after|since|for|back|again|myself|himself|herself)(?![a-z]))"
)
_WHO = (
    r"(?:i|you|he|she|who|mum|mom|mother|dad|father|grand(?:mother|father|ma|pa|son|daughter)"
    r"|son|daughter|wife|husband|brother|sister|cousin|niece|nephew|aunt|uncle|baby|kid|child|boy|girl"
    r"|patient|client|customer|applicant|victim|suspect|driver|tenant)"
)
_ADVERB = (
    r"(?:(?:now|only|just|already|almost|nearly|about|around|over|still|not yet|exactly"
    r"|barely|roughly|probably|at least|turning) ){0,2}"
)
_LATE = r"(?:2[5-9]|[3-9]\d|1[01]\d)"  # what is no hour of a day
_AGES = re.compile(
    rf"(?i)(?<![\w’'])(?:{_WHO}(?: am| are| is| was|['’](?:m|re|s)| will be| would be| became"
    rf"| turned| turns| looks| looked| seems| seemed| reached| hits?) {_ADVERB}(?P<is>{_AGE}){_ON}"
    rf"|live[sd]? to(?: be)? {_ADVERB}(?P<lived>{_AGE}){_ON}"
    rf"|(?:died|dies|passed away|retired?|married|widowed|orphaned|emigrated|graduated|qualified"
    rf"|diagnosed|(?:grand)?(?:mother|father|parent)) (?:at|aged) {_ADVERB}(?P<life>{_AGE}){_ON}"
    rf"|at {_ADVERB}(?P<at>{_LATE}),? (?=(?:i|he|she|we|you|my|his|her)\b(?! ?[:=]))"
    rf"|(?:boy|girl|man|woman|child|kid|toddler|teenager|lad|lass|widow|widower|pensioner"
    rf"|youth)(?: of|,| is| was| aged) (?P<of>{_AGE}){_ON}"
    rf"|(?:aged|ages|ages of|aged between|between the ages of|ages between) (?P<first>{_AGE})"
    rf" ?(?:and|to|-|–|or) ?(?P<second>{_AGE})(?![\w%]|\.\d)"
    rf"|in (?:my|his|her|their|your|our) (?:(?:early|mid|late)[ -])?(?P<decade>[2-9]0['’]?s)(?!\w)"
    rf"|(?<![/.-])(?P<sexed>{_AGE})(?= ?(?:/ ?[mf]|y/?o|yrs?/o|y\.o\.)(?![\w/]))"
    rf"|(?:patient|an?|male|female|,) (?P<marked>{_AGE})(?=[mf]\b)"
    rf"|(?P<young>{_AGE})(?= years? (?:young|of age))|(?P<mine>{_AGE})(?= is (?:my|his|her) age\b)"
    rf"|(?P<months>\d{{1,2}})(?=[ -](?:months?|weeks?|days?)[ -]old)"
    rf"|(?<![\d.,-] )(?P<listed>{_AGE})(?=, (?:male|female|m|f)[,.;])"
    rf"|(?:to|will|won|would|can|could|should|may|might|i|you|he|she|we|they|who)(?:['’](?:ll|d|t))?"
    rf" turn {_ADVERB}(?P<turn>{_AGE}){_ON}"
    rf"|(?:i|you|he|she)(?:['’]ll be|(?: am| are| is|['’](?:m|re|s)) (?:going to|gonna) be)"
    rf" {_ADVERB}(?P<soon>{_AGE}){_ON}"
    rf"|how old [^.?\n]{{1,40}}\?\s(?:[a-z]+: )?(?P<answer>{_AGE}){_ON}"
    rf"|(?P<short>{_AGE})(?= ?yrs?\.[ -]old(?![a-z])| too (?:young|old)(?![a-z]))"
    rf"|(?:male|female), (?P<sex>{_AGE}){_ON}"
    rf"|(?:kids|children|sons|daughters|boys|girls|twins|grandchildren) (?:are|were|aged|,) "
    rf"(?P<several>{_AGE}(?:(?:, | and |, and ){_AGE}){{0,5}}){_ON})"
)
# A number of up to three digits that stands in a sentence, and is no day of a date.
_NUMBER = re.compile(r"(?<![\w.,:§$€£#-])[1-9]\d{0,2}(?![\d:%]|[.,]\d| (?:(?!I\b)[A-Z§(]|%|per\b))")
_SPELLED = re.compile(
    r"(?i)(?<![a-z-])(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|one|two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen)"
    r"(?=[ -](?:years?|months?)[ -]old(?![a-z]))"
)
_BEFORE, _BEHIND = 56, 40  # characters around a number in which it may be said to be an age
_FIVE = re.compile(r"(?<!\d)\d{5}(?!\d)")
_POST_CODE = re.compile(
    r"(?i)(?<![a-z])(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based|located"
    r"|deliver(?:s|ed|y|ies)?|ship(?:s|ped|ping)?|branch(?:es)?|office|store|shop|weather|restaurant"
    r"|bank|atm|station|doctor|school|hospital|pharmacy|hotel|people|population|prices|rents?"
    r"|area|neighbou?rhood|district|house|apartment|property|home|somewhere|anywhere|place)"
    r"(?: is)?(?: (?:in|to|near|at|around|from|of))?(?: the)?(?: (?:area|code|district))?"
    rf" (?P<v>\d{{5}}(?:-\d{{4}})?){_ON}|in the (?P<area>\d{{5}})(?= (?:area|region|district|code))"
)
# The last lines of an address: a post code by itself below the street or the town.
_BELOW = re.compile(
    r",?[ \t]*\n[ \t]{0,8}(?P<v>\d{4,6}(?:-\d{3,4})?|\d{3} \d{2})[ \t]*(?=[,.]?(?:\n|\Z))"
)
_YEAR = re.compile(r"(?:19|20)\d\d")


def _find_ages(text: str) -> Iterator[_Span]:
    """The spans of ages and post codes, in no order."""
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        for match in _AGES.finditer(text, max(0, start - _BEFORE), end + _BEHIND):
            for group in match.groupdict():
                if match.start(group) <= start < match.end(group):
                    yield start, max(end, match.end(group)) if group == "decade" else end, _KIND
    if " old" in text or "-old" in text:
        yield from ((*match.span(), _KIND) for match in _SPELLED.finditer(text))
    if _FIVE.search(text):
        for match in _POST_CODE.finditer(text):
            yield *match.span(match.lastgroup or "v"), EntityType.ADDRESS


def _find_codes_below(text: str, settled: Iterable[Finding]) -> Iterator[_Span]:
    """Post codes on the line below an address."""
    for finding in settled:
        if finding.type is EntityType.ADDRESS and "\n" in text[finding.end : finding.end + 8]:
            code = _BELOW.match(text, finding.end)
            if code and not _YEAR.fullmatch(code["v"]):
                yield *code.span("v"), EntityType.ADDRESS


_DEGREES = r"[+−-]?\d{1,3}\.\d{4,9}"
# Two numbers side by side, or one with a mark of degrees or a quarter of the sky.
_POSITION = Screened(
    rf"(?<![\w.])(?P<a>{_DEGREES})°?(?: ?[NS]\b)?(?:[,;/] ?|[ \t]{{1,3}}|,\n\s{{0,40}})"
    rf"(?P<b>{_DEGREES})(?![\w.])"
)
_MARKED = screened(
    r"(?<![\w.])[+-]?\d{1,3}(?:\.\d{2,9})? ?(?:°|º|度)(?: ?\d{1,2} ?['′’分](?: ?\d{1,2}"
    r"(?:\.\d{1,4})? ?(?:\"|″|”|''|秒))?)? ?[NSEWO]?(?=\W|\Z)",
    r"(?<![\w.])\d{1,3}\.\d{3,9} ?[NSEW]\b",
    r"(?:(?<=[北南东西東]纬)|(?<=[東西]経)|(?<=[东西]经)|(?<=北緯))\d{1,3}\.\d{2,}",
)
_LATITUDE, _LONGITUDE = 90, 180
_PLACES = 4
_INITIALS = re.compile(r"(?<![A-Za-z.\d])(?:[A-Z]\.){2,4}(?![A-Za-z\d])")
_NO_INITIALS = words("words.toml", "no_initials")


def _find_codes(text: str) -> Iterator[tuple[int, int, EntityType]]:
    """The spans of such values, in no order."""
    for match in _POSITION.finditer(text):
        if _is_position(match["a"], match["b"]):
            yield *match.span("a"), EntityType.UNEXPLAINED
            yield *match.span("b"), EntityType.UNEXPLAINED
    for match in find_each(_MARKED, text):
        if any(mark in match.group() for mark in "NSEWO'′″分.") and len(match.group()) > _PLACES:
            yield *match.span(), EntityType.UNEXPLAINED
    for match in _INITIALS.finditer(text):
        if match.group() not in _NO_INITIALS:
            yield *match.span(), EntityType.UNEXPLAINED


def _is_position(first: str, second: str) -> bool:
    """Are they degrees of latitude and longitude, not two shares or scores?"""
    numbers = [float(part.replace("−", "-")) for part in (first, second)]
    small, large = sorted(map(abs, numbers))
    places = min(len(part.partition(".")[2]) for part in (first, second))
    is_fine = places > _PLACES or large > 1
    return small <= _LATITUDE and large <= _LONGITUDE and is_fine and large > 1


NAME, _EXPLAINED = "position", "explained"
_SCORE = 0.55
_MODELS = frozenset({"sudachi", "lac", "spacy", "given_name", "unknown_word", "name_said"})
_SMALL = words("words.toml", "function_words")
_TITLES = frozenset(["Dr.", "Mr.", "Mrs.", "Ms.", "Prof.", "Dr", "Mr", "Mrs", "Ms", "Prof"])
_WORD = re.compile(rf"{LETTER}+")
_KOREAN = Screened(rf"[{HANGUL}]+")  # no words of Korean are known: nothing explains one


def find_strict(
    text: str,
    settled: Sequence[Finding],
    dictionary: frozenset[str],
    usual: frozenset[str],
    kinds: frozenset[EntityType],
) -> list[Finding]:
    """All findings: `settled` (sorted, without overlap) and more beside them.

    Of ages, which some tasks are about, only those of `kinds`. `usual` are the words of the
    dictionary that are no rare ones. What its sentence explains is kept free of codes, numbers and
    unexplained words; fields and positions decide before it.
    """
    explained = [(*span, EntityType.UNEXPLAINED) for span in find_explained(text)]
    settled = [finding for finding in settled if not _is_explained(finding, explained)]
    fields = _fields(text, dictionary)
    ours = (Field.NAMED, Field.CODED)
    places = [*_find_codes(text), *find_capitals(text, MachineLines(text))]
    places += [(*match.span(), EntityType.UNEXPLAINED) for match in _KOREAN.finditer(text)]
    ages = [span for span in _find_ages(text) if span[2] in kinds]
    ages += _find_codes_below(text, settled)
    for name, spans in (
        (NAME, [span[:3] for span in fields if span[3] in ours]),
        (DOUBTED, [span[:3] for span in fields if span[3] not in ours]),
        (NAME, [*find_positions(text)]),
        (_EXPLAINED, explained),
        (NAME, ages),
        (DOUBTED, places),
    ):
        more = _beside(text, settled, spans, name)
        if name == NAME:
            more = (found for found in more if not _is_rest(text, found, spans, dictionary))
        settled = sorted([*settled, *more])
    settled = sorted([*settled, *find_unexplained(text, settled, usual)])
    return [finding for finding in settled if finding.recognizer != _EXPLAINED]


def _is_rest(
    text: str, finding: Finding, spans: Iterable[_Span], dictionary: frozenset[str]
) -> bool:
    """Is it what everyday words add to a name: `Scholarship in Meteorology`?"""
    is_whole = any(start == finding.start and finding.end == end for start, end, *_ in spans)
    parts = _WORD.findall(text[finding.start : finding.end])
    return not is_whole and bool(parts) and all(is_known(word, dictionary) for word in parts)


def doubting(
    text: str, findings: Sequence[Finding], doubted: Collection[Finding], dictionary: frozenset[str]
) -> Iterator[Finding]:
    """The findings, with the `doubted` ones left to the owner, unless a label declares them."""
    if is_of_thing(text):
        doubted = {*doubted, *(f for f in findings if f.recognizer in _MODELS)}
        fields = []
    else:
        fields = _fields(text, dictionary) if doubted else []
    spans = {(other.start, other.end) for other in doubted}
    logins = [f for f in findings if f.recognizer == NAME and f.type is EntityType.ACCOUNT]
    placed = [f for f in logins if text[max(0, f.start - 5) : f.start].lower() == "user "]
    fields = fields or (_fields(text, dictionary) if placed else [])
    unlikely = {f for f, weight in weights(text, placed, dictionary) if weight is Weight.NONE}
    for finding in findings:
        if finding in unlikely and not any(_declares(span, finding) for span in fields):
            continue
        is_doubted = any(a <= finding.start and finding.end <= b for a, b in spans)
        is_doubted = is_doubted and finding.recognizer != NAME
        if is_doubted:
            is_declared = any(_declares(span, finding) for span in fields)
            finding = replace(finding, recognizer=NAME if is_declared else DOUBTED)
        yield finding


def _fields(text: str, dictionary: frozenset[str]) -> list[tuple[int, int, EntityType, Field]]:
    return [*find_fields(text, dictionary), *find_field_rows(text, dictionary)]


def _declares(span: tuple[int, int, EntityType, Field], finding: Finding) -> bool:
    return span[3] is Field.NAMED and span[0] < finding.end and finding.start < span[1]


def _is_explained(finding: Finding, explained: Sequence[_Span]) -> bool:
    return finding.type is EntityType.UNEXPLAINED and any(
        start <= finding.start and finding.end <= end for start, end, _ in explained
    )


def _beside(
    text: str, settled: Sequence[Finding], spans: Iterable[_Span], name: str
) -> Iterator[Finding]:
    """What of the spans is not yet settled, without overlap, the longest first."""
    ends = [finding.end for finding in settled]
    taken = 0
    for start, end, kind in sorted(set(spans), key=lambda span: (span[0], -span[1], span[2])):
        start = max(start, taken)
        for index in range(bisect_left(ends, start + 1), len(settled)):
            if settled[index].start >= end:
                break
            yield from _part(text, start, settled[index].start, kind, name)
            start = settled[index].end
        yield from _part(text, start, end, kind, name)
        taken = max(taken, end)


def _part(text: str, start: int, end: int, kind: EntityType, name: str) -> Iterator[Finding]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in ").）°":
        end -= 1
    value = text[start:end]
    if any(map(str.isalnum, value)) and value.lower() not in _SMALL and value not in _TITLES:
        yield Finding(start, end, kind, name, _SCORE)
