"""The level `strict`: what a label or a position shows, and then what nothing explains.

Each recognizer gives spans; what rules and models have found stays as it is, and a field is filled
up around it. What remains has to be something known: words of no list, codes and long numbers are
unexplained. These, and what its owner may want to hide though it names nobody (pay, health), are
undecided: they are for the owner's list, and not for the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from anonymization.text.contracts import (
    DOUBTED,
    UNEXPLAINED,
    EntityType,
    Finding,
    trimmed,
    uncovered,
)
from anonymization.text.detect import wording
from anonymization.text.detect.capitals import find_capitals
from anonymization.text.detect.explained import (
    find_explained,
    is_amount,
    is_code,
    is_known_lead,
    is_measured,
    is_opaque,
    is_plain,
)
from anonymization.text.detect.joined_words import of_population
from anonymization.text.detect.positions import find_positions, of_group
from anonymization.text.detect.prose import MachineLines
from anonymization.text.detect.strict_fields import (
    Field,
    find_field_rows,
    find_fields,
    firm_spans,
    is_of_firm,
    is_of_thing,
)
from anonymization.text.detect.weight import Weight, weights
from anonymization.text.detect.wording import honoured, is_chosen, is_known, is_meant, words
from data.text.dates import YEAR
from data.text.screened import Screened, find_each, screened
from data.text.scripts import CJK, HAN, HANGUL, KANA, LETTER, has_kana

_NAMES = frozenset({EntityType.PERSON, EntityType.ORGANIZATION, EntityType.LOCATION})
_OF_SOMEBODY = frozenset({EntityType.PERSON, EntityType.UNEXPLAINED})
_SCORE = 0.55
_ATOM = rf"[^\W{CJK}]+"
_CHAIN = re.compile(rf"{_ATOM}(?:(?:[-./#:@+]|,(?=\d{{3}}(?!\d))){_ATOM})*")
_ATOMS = re.compile(_ATOM)
_SEGMENT = re.compile(r"[^/#:@+]+")
_PART = re.compile(
    r"[A-ZÀ-ÖØ-Þ]{2,}(?=[A-ZÀ-ÖØ-Þ][a-zß-ÿ])|[A-ZÀ-ÖØ-Þ]+(?![a-zß-öø-ÿ])"
    r"|[A-ZÀ-ÖØ-Þ]?[^\W\d_A-ZÀ-ÖØ-Þ]+|\d+"
)
_SITES = frozenset(
    label
    for host in words("words.toml", "public_hosts")
    for label in host.split(".")
    if len(label) > len("com")
) | {"example", "localhost"}
_COLOUR = re.compile(r"[0-9A-Fa-f]{6}(?:[0-9A-Fa-f]{2})?")
_NOBODY = words("known_words.toml", "japanese_nobody")
_PIECE = re.compile(r"[^_]+")
# Numbers and codes in groups: at least eight digits, or capitals and digits in turn.
_GROUPS = Screened(
    r"(?<![A-Za-z0-9_.,:/+-])(?:[+(]{0,2}\d{1,6}\)?(?:[ -]\d{2,6}){1,5}|\d(?:[ -]\d){7,18})"
    r"(?![A-Za-z0-9_/]|:\d|[.,]\d)"
)
_DOTS = Screened(r"(?<![\w.])\d{2,5}(?:[・·‧.]\d{3,5}){2,3}(?![\w.])")
_TURNS = Screened(
    r"(?<![\w.-])[A-Z]{1,4}\d{0,4}(?: [A-Z]{0,4}\d{1,6}[A-Z]{0,4}){0,5}(?: [A-Z]{1,4}\d{0,4})?"
    r"(?![\w-])"
)
# A host of a domain that is not widely known, without the end of its name.
_HOST = Screened(
    r"(?<![\w@./-])(?:(?:[a-z0-9-]+\.)+[a-z0-9-]+(?=\.(?:com|net|org|cn|jp|de|fr|uk)(?![\w(.-]))"
    r"|(?:[a-z0-9-]+\.)+[a-z0-9-]{3,}(?=\.(?:io|ai|dev|app|co|local|lan|corp|internal)(?![\w(.-]))"
    r"|[a-z0-9-]{4,}(?=\.(?:com|net|org|cn)(?![\w(.-])))"
)
_SPELLED = Screened(r"(?<![\w-])[A-Za-z](?:-[A-Za-z]){3,}(?![\w-])")
_PASSWORD = Screened(
    r"(?<![^\s\"'`:=(])(?=[^\s\d]{0,30}\d)(?=[A-Za-z0-9_-]{0,30}[!$^&*~#?])[A-Za-z0-9][A-Za-z0-9_!$^&*~#?-]{6,30}"
    r"(?![^\s\"'`,;.)])"
)
_STREET = Screened(
    r"(?<![\w.])\d{1,5}[a-zA-Z]? (?:[A-Z][A-Za-z]+ ){1,3}(?i:Street|St|Road|Rd|Lane|Ln|Avenue|Ave"
    r"|Drive|Dr|Close|Court|Ct|Place|Pl|Parade|Terrace|Row|Way|Walk|Mews|Gardens|Crescent"
    r"|Boulevard|Blvd|Square|Hill|Rise|Grove|Green|Quay|Wharf|Yard|Circle|Trail|Park|View|Vale"
    r"|Gate|Passage|Alley|Fold|Steps|Croft|Meadow|Meadows|Bank|Drove|Brow|End|Chase)(?!\w)"
)
_LONG_PAST = re.compile(
    r"(?<![\d.-])(?:19[2-9]\d|200\d)(?:([-/.])\d{1,2}\1\d{1,2}|年\d{1,2}月\d{1,2}日"
    r"|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))(?![\d-])"
)
_ESCAPED = re.compile(r"\\[nrtbfv](?=[A-Za-z])")
_NUMBERS = re.compile(r"\d+")
_PLATE = re.compile(r"[A-Z]{2}\d{2} [A-Z]{3}")
# A handle that is the whole value of a cell or key, and a name that is written in hiragana.
_WHOLE_VALUE = re.compile(
    r"(?:\A|(?<=: ))(?P<v>[a-z]{2,}(?:_[a-z]{2,})+_?\d{2,4}|[ぁ-ゖー]{2,6}[ 　][ぁ-ゖー]{2,6}"
    rf"|[{HAN}]{{1,4}}[ 　](?![様殿君氏宛])[{HAN}](?=\Z| [様殿氏]))(?: [様殿氏])?\Z"
)
# In Japanese text: a family and a given name with a blank between them, and who is addressed.
_PAIRED = Screened(
    rf"(?<![{HAN}{KANA}])(?<![{HAN}][ 　])[{HAN}]{{1,4}}[ 　](?![様殿君氏宛])[{HAN}]"
    rf"(?![{HAN}{KANA}])(?![ 　][{HAN}])"
)
_ADDRESSED = Screened(
    rf"(?<![{HAN}{KANA}])(?:[{HAN}]{{1,4}}|[ぁ-ゖー]{{2,4}})(?=ちゃん|くん|さん|ママ|パパ)"
)
_FEWEST, _FEWEST_GROUPS = 8, 3  # digits of a number in groups, and groups
_PAIR, _FEW, _MANY = 2, 3, 6  # groups of a code, and digits in it
_LONG = 7  # digits from which a bare number needs an explanation


def find_unexplained(
    text: str, settled: Sequence[Finding], dictionary: frozenset[str]
) -> list[Finding]:
    """Findings of kind UNEXPLAINED beside `settled` (sorted); none without a dictionary."""
    if not dictionary:
        return []
    label, free = _label(text), _Free(settled)
    spans = [(*match.span(), EntityType.DATE) for match in _LONG_PAST.finditer(text)]
    for pattern, accepts in _GROUPED:
        spans += [
            (*match.span(), EntityType.UNEXPLAINED)
            for match in pattern.finditer(text)
            if accepts(match.group())
        ]
    if (whole := _WHOLE_VALUE.search(text)) and not is_known_lead(whole["v"].partition("_")[0]):
        spans.append((*whole.span("v"), EntityType.UNEXPLAINED))
    if has_kana(text):
        spans += [(*match.span(), EntityType.UNEXPLAINED) for match in _PAIRED.finditer(text)]
        spans += [
            (*match.span(), EntityType.UNEXPLAINED)
            for match in _ADDRESSED.finditer(text)
            if honoured(match.group()) and match.group() not in _NOBODY
        ]
    plain = _ESCAPED.sub("  ", text)
    for chain in _CHAIN.finditer(plain):
        word = chain.group()
        if word.isalpha() and not _in_word(word, dictionary):
            continue  # most of a text, for which the steps below only cost time
        spans += (
            (start, end, EntityType.UNEXPLAINED)
            for start, end in _in_chain(chain, label, dictionary)
        )
    taken = 0
    beside: list[Finding] = []
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= taken and free.at(start, end) and not _is_thing(text, start, end):
            beside.append(Finding(start, end, kind, UNEXPLAINED, _SCORE))
            taken = end
    return _joined(text, beside)


def _is_thing(text: str, start: int, end: int) -> bool:
    return is_chosen(text[start:end]) and is_meant(text, start, end)


def beside_codes(text: str, settled: Iterable[Finding]) -> list[Finding]:
    """The findings, with names cut to what is before and behind the codes in them."""
    kept: list[Finding] = []
    for finding in settled:
        whole = finding.start, finding.end
        chains = _CHAIN.finditer(text, *whole) if finding.type in _NAMES else ()
        for rest in uncovered(*whole, (c.span() for c in chains if is_code(c.group()))):
            start, end = rest if rest == whole else trimmed(text, *rest)
            if rest == whole or end - start >= _PAIR:
                kept.append(replace(finding, start=start, end=end))
    return kept


class _Free:
    def __init__(self, settled: Sequence[Finding]) -> None:
        self._settled = settled
        self._ends = [finding.end for finding in settled]

    def at(self, start: int, end: int) -> bool:
        """Does no finding overlap the span?"""
        index = bisect_left(self._ends, start + 1)
        return index == len(self._settled) or self._settled[index].start >= end


def _label(text: str) -> str:
    label, colon, _ = text.partition(": ")
    return label if colon and len(label) <= 40 else ""


def _in_chain(
    chain: re.Match[str], label: str, dictionary: frozenset[str]
) -> Iterator[tuple[int, int]]:
    whole = chain.group()
    is_colour = chain.string[max(0, chain.start() - 1) : chain.start()] == "#"
    if whole.isalpha() and not is_colour:
        offset = chain.start()
        yield from ((offset + start, offset + end) for start, end in _in_word(whole, dictionary))
        return
    if is_plain(whole) or (is_colour and _COLOUR.fullmatch(whole)):
        return
    if is_code(whole):
        yield chain.span()
        return
    segments = [part for part in _SEGMENT.finditer(whole) if is_code(part.group())]
    if segments and len(segments[0].group()) < len(whole):  # `hotfix/FB-3371`
        yield from ((chain.start() + p.start(), chain.start() + p.end()) for p in segments)
        return
    for atom in _ATOMS.finditer(whole):
        start = chain.start() + atom.start()
        word = atom.group()
        end = start + len(word)
        if word.isdigit():
            is_shown = is_plain(word) or is_amount(label) or is_measured(chain.string, start, end)
            if len(word) >= _LONG and not is_shown:
                yield start, end
        elif len(word) <= 256 and not is_plain(word):
            yield from ((start + first, start + last) for first, last in _in_atom(word, dictionary))


@lru_cache(maxsize=1 << 16)
def _in_word(word: str, dictionary: frozenset[str]) -> tuple[tuple[int, int], ...]:
    """What nothing explains in a word of letters: most of a text, and of few different ones."""
    if len(word) > 256 or is_plain(word):
        return ()
    return tuple(_in_atom(word, dictionary))


def _in_atom(word: str, dictionary: frozenset[str]) -> Iterator[tuple[int, int]]:
    """The parts of an identifier that nothing explains."""
    if is_known(word, dictionary) and not is_chosen(word):  # PostgreSQL
        return
    for piece in _PIECE.finditer(word):
        if is_opaque(piece.group()):
            yield piece.span()
            continue
        for part in _PART.finditer(word, *piece.span()):
            listed = part.group()
            if not listed[0].isdigit() and (not is_known(listed, dictionary) or is_chosen(listed)):
                yield part.span()


def _is_number(value: str) -> bool:
    """Is it a long number in groups, and no date, list of years or thousands?"""
    groups = _NUMBERS.findall(value)
    if sum(map(len, groups)) < _FEWEST or any(map(is_plain, (value, value.strip("(+)")))):
        return False
    if all(YEAR.fullmatch(group) or len(group) == _PAIR for group in groups):
        return False  # years, or a year, a month and a day
    return "-" in value or value[0] in "+(0" or len(groups) >= _FEWEST_GROUPS


def _takes_turns(value: str) -> bool:
    """Do capitals and digits take turns in it, as in number plates and account numbers?"""
    groups = value.split(" ")
    digits = sum(map(str.isdigit, value))
    if len(groups) == _PAIR:  # WX19 KDO
        return _PLATE.fullmatch(value) is not None
    ends = (groups[0].isalpha() and groups[-1].isalpha()) or digits >= _MANY
    return len(groups) > _PAIR and digits >= _FEW and ends and not is_known_lead(groups[0])


def _is_own_host(name: str) -> bool:
    """Is none of its last labels a widely known site?"""
    return not any(label in _SITES for label in name.split(".")) and not name.isdigit()


_GROUPED: tuple[tuple[Screened, Callable[[str], bool]], ...] = (
    (_GROUPS, _is_number),
    (_DOTS, lambda value: not is_plain(value)),
    (_TURNS, _takes_turns),
    (_HOST, _is_own_host),
    (_SPELLED, lambda _: True),
    (_STREET, lambda _: True),
    (_PASSWORD, lambda value: sum(map(str.isalpha, value)) > 1),
)


def _joined(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Words side by side as one finding: a name of several words."""
    joined: list[Finding] = []
    for finding in findings:
        last = joined[-1] if joined else None
        between = text[last.end : finding.start] if last else ""
        if (
            last
            and between in (" ", "-", "'", "’")
            and _named(text, last)
            and _named(text, finding)
        ):
            joined[-1] = Finding(last.start, finding.end, last.type, UNEXPLAINED, _SCORE)
        else:
            joined.append(finding)
    return joined


def _named(text: str, finding: Finding) -> bool:
    value = text[finding.start : finding.end]
    return value[0].isupper() and not any(map(str.isdigit, value))


_Span = tuple[int, int, EntityType]
_FieldSpan = tuple[int, int, EntityType, Field]
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
    rf"|(?:aged|ages|ages of) (?P<first>{_AGE}) (?:and|or) (?P<second>{_AGE})(?![\w%]|\.\d)"
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
_AGE_NUMBER = re.compile(
    r"(?<![\w.,:§$€£#-])[1-9]\d{0,2}(?![\d:%]|[.,]\d| (?:(?!I\b)[A-Z§(]|%|per\b))"
)
_SPELLED_AGE = re.compile(
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


def _find_ages(text: str) -> Iterator[_Span]:
    """The spans of ages and post codes, in no order."""
    for number in _AGE_NUMBER.finditer(text):
        start, end = number.span()
        if of_population(text, end):
            continue
        for match in _AGES.finditer(text, max(0, start - _BEFORE), end + _BEHIND):
            for group in match.groupdict():
                if match.start(group) <= start < match.end(group):
                    yield start, max(end, match.end(group)) if group == "decade" else end, _KIND
    if " old" in text or "-old" in text:
        yield from ((*match.span(), _KIND) for match in _SPELLED_AGE.finditer(text))
    if _FIVE.search(text):
        for match in _POST_CODE.finditer(text):
            yield *match.span(match.lastgroup or "v"), EntityType.ADDRESS


def _find_codes_below(text: str, settled: Iterable[Finding]) -> Iterator[_Span]:
    """Post codes on the line below an address."""
    for finding in settled:
        if finding.type is EntityType.ADDRESS and "\n" in text[finding.end : finding.end + 8]:
            code = _BELOW.match(text, finding.end)
            if code and not YEAR.fullmatch(code["v"]):
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
_MODELS = frozenset({"sudachi", "lac", "spacy", "given_name", "unknown_word", "name_said"})
_SMALL = words("words.toml", "function_words")
_TITLES = frozenset(["Dr.", "Mr.", "Mrs.", "Ms.", "Prof.", "Dr", "Mr", "Mrs", "Ms", "Prof"])
_OFFICES = words("japanese.toml", "honorifics") | words("japanese.toml", "honoured_roles")
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
    if not text.isascii():  # a place is one value, of which models know some parts: 浜松市中区
        named = [span for span in fields if span[3] is Field.NAMED]
        settled = [f for f in settled if not (f.recognizer == UNEXPLAINED and _is_in(f, named))]
    settled = _with_whole_firms(text, settled, firm_spans(text, fields))
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


def _with_whole_firms(
    text: str, settled: Sequence[Finding], spans: Iterable[tuple[int, int]]
) -> list[Finding]:
    """The findings, with those of a firm's own field as one: `shop: "Salon de Hana"` is one name,
    though a model sees somebody in it."""
    whole: dict[tuple[int, int], list[Finding]] = {}
    for start, end in spans:
        inside = [found for found in settled if found.start < end and start < found.end]
        if all(f.type in _NAMES and start <= f.start and f.end <= end for f in inside):
            whole[start, end] = inside
    parts = {found for inside in whole.values() for found in inside}
    firms = [Finding(*span, EntityType.ORGANIZATION, NAME, _SCORE) for span in whole]
    return sorted([*(found for found in settled if found not in parts), *firms])


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
    unlikely.update(f for f in logins if wording.NO_LOGIN.search(text, f.start, f.end))
    are_firms = is_of_firm(text)
    waiting = not text.isascii() and any(f.recognizer == UNEXPLAINED for f in findings)
    fields = fields or (_fields(text, dictionary) if waiting else [])
    addressed = [span for span in fields if span[2] is EntityType.PERSON]
    for finding in findings:
        if finding.recognizer == UNEXPLAINED and any(_declares(s, finding) for s in addressed):
            finding = replace(finding, type=EntityType.PERSON, recognizer=NAME)
        if finding in unlikely and not any(_declares(span, finding) for span in fields):
            continue
        is_doubted = any(a <= finding.start and finding.end <= b for a, b in spans)
        is_doubted = is_doubted and finding.recognizer != NAME
        if is_doubted:
            is_declared = any(_declares(span, finding) for span in fields)
            finding = replace(finding, recognizer=NAME if is_declared else DOUBTED)
        if are_firms and finding.recognizer in _MODELS | {NAME} and finding.type in _OF_SOMEBODY:
            finding = replace(finding, type=EntityType.ORGANIZATION)
        yield finding


def _fields(text: str, dictionary: frozenset[str]) -> list[_FieldSpan]:
    fields = [*find_fields(text, dictionary), *find_field_rows(text, dictionary)]
    return [span for span in fields if not of_group(text, span[0])]


def _declares(span: _FieldSpan, finding: Finding) -> bool:
    return span[3] is Field.NAMED and span[0] < finding.end and finding.start < span[1]


def _is_explained(finding: Finding, explained: Sequence[_Span]) -> bool:
    return finding.type is EntityType.UNEXPLAINED and _is_in(finding, explained)


def _is_in(finding: Finding, spans: Sequence[_Span | _FieldSpan]) -> bool:
    return any(span[0] <= finding.start and finding.end <= span[1] for span in spans)


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
            yield from _own_part(text, start, settled[index].start, kind, name)
            start = settled[index].end
        yield from _own_part(text, start, end, kind, name)
        taken = max(taken, end)


def _own_part(text: str, start: int, end: int, kind: EntityType, name: str) -> Iterator[Finding]:
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in ").）°":
        end -= 1
    value = text[start:end]
    is_name = value.lower() not in _SMALL and value not in _TITLES and value not in _OFFICES
    if any(map(str.isalnum, value)) and is_name:
        yield Finding(start, end, kind, name, _SCORE)
