"""Ages, and five digits of a post code, that an English sentence says in passing (level `strict`).

`At 42 he stopped`, `a boy of 11`, `in her sixties`, `58/F`, `they live in 70412`. They differ from
quantities by what follows: not the thing that is counted; the sentence goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from anonymization.text.contracts import EntityType

_Span = tuple[int, int, EntityType]
_AGE = r"(?:[1-9]\d?|1[01]\d)"
# How the sentence goes on behind an age: with an end, or with a word that no quantity is of.
_ON = (
    r"(?=[,;:!?)]|\.(?!\d)|\Z|\n| (?:and|or|but|when|while|because|so|if|as|at|in|on|now|then|today"
    r"|yet|already|this|next|last|the|i|we|you|he|she|they|it|who|will|would|is|was|has|had|with|by"
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
    rf"(?i)(?<![\w’'])(?:{_WHO}(?: am| is| was|['’]m|['’]s| will be| would be| became| turned"
    rf"| turns| looks| looked| seems| seemed| reached| hits?) {_ADVERB}(?P<is>{_AGE}){_ON}"
    rf"|live[sd]? to(?: be)? {_ADVERB}(?P<lived>{_AGE}){_ON}"
    rf"|(?:died|dies|passed away|retired?|married|widowed|orphaned|emigrated|graduated|qualified"
    rf"|diagnosed|(?:grand)?(?:mother|father|parent)) (?:at|aged) {_ADVERB}(?P<life>{_AGE}){_ON}"
    rf"|at {_ADVERB}(?P<at>{_LATE}),? (?=(?:i|he|she|we|you|my|his|her)\b(?! ?[:=]))"
    rf"|(?:boy|girl|man|woman|child|kid|toddler|teenager|lad|lass|widow|widower|pensioner"
    rf"|youth)(?: of|,| is| was| aged) (?P<of>{_AGE}){_ON}"
    rf"|(?:aged|ages|ages of|aged between|between the ages of|ages between) {_AGE}"
    rf" ?(?:and|to|-|–|or) ?(?P<second>{_AGE})(?![\w%]|\.\d)"
    rf"|(?:aged between|between the ages of|ages of) (?P<first>{_AGE})(?= (?:and|to|or) {_AGE}\b)"
    rf"|in (?:my|his|her|their|your|our) (?:(?:early|mid|late)[ -])?(?P<decade>[2-9]0['’]?s"
    rf"|twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)(?!\w)"
    rf"|(?<![/.-])(?P<sexed>{_AGE})(?= ?(?:/ ?[mf]|y/?o|yrs?/o|y\.o\.)(?![\w/]))"
    rf"|(?P<young>{_AGE})(?= years? (?:young|of age))"
    rf"|(?:kids|children|sons|daughters|boys|girls|twins|grandchildren) (?:are|were|aged|,) "
    rf"(?P<several>{_AGE}(?:(?:, | and |, and ){_AGE}){{0,5}}){_ON})"
)
_NUMBERS = re.compile(r"\d+")
_CODE = re.compile(
    r"(?i)(?<![a-z])(?:liv(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based|located"
    r"|deliver(?:s|ed|y|ies)?|ship(?:s|ped|ping)?|branch(?:es)?|office|store|shop|weather|restaurant"
    r"|area|neighbou?rhood|district|house|apartment|property|home|somewhere|anywhere|place)"
    r"(?: is)?(?: (?:in|to|near|at|around|from|of))?(?: the)?(?: (?:area|code|district))?"
    rf" (?P<v>\d{{5}}(?:-\d{{4}})?){_ON}"
)


def find_ages(text: str) -> Iterator[_Span]:
    """The spans of ages and post codes, in no order."""
    if not any(map(str.isdigit, text)) and "ies" not in text:  # a screen
        return
    for match in _AGES.finditer(text):
        group = str(match.lastgroup)
        if group == "several":
            for number in _NUMBERS.finditer(text, *match.span(group)):
                yield *number.span(), EntityType.AGE
        else:
            yield *match.span(group), EntityType.AGE
    for match in _CODE.finditer(text):
        yield *match.span("v"), EntityType.ADDRESS
