"""Ages and post codes that an English sentence says in passing (level `strict`).

`At 42 he stopped`, `a boy of 11`, `in her 60s`, `58/F`, `they live in 70412`. They differ from
quantities by what follows: not the thing that is counted; the sentence goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anonymization.text.contracts import EntityType, Finding

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
_CODE = re.compile(
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


def find_ages(text: str) -> Iterator[_Span]:
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
        for match in _CODE.finditer(text):
            yield *match.span(match.lastgroup or "v"), EntityType.ADDRESS


def find_codes_below(text: str, settled: Iterable[Finding]) -> Iterator[_Span]:
    """Post codes on the line below an address."""
    for finding in settled:
        if finding.type is EntityType.ADDRESS and "\n" in text[finding.end : finding.end + 8]:
            code = _BELOW.match(text, finding.end)
            if code and not _YEAR.fullmatch(code["v"]):
                yield *code.span("v"), EntityType.ADDRESS
