"""The words around an answer: whether they only state it, in the words of the question.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re

from construction.grading.answer_numbers import is_doubtful
from construction.statements.answers import lexicon
from construction.statements.answers.wording import Wording
from data.text.folding import fold_case
from data.text.scripts import HAN_KANA

_MAX_FRAME = 600  # characters of a frame; a longer one is no mere statement
_WORDS = re.compile(
    rf"[^\W\d_{HAN_KANA}][^\W_{HAN_KANA}'-]*(?:['-][^\W_{HAN_KANA}]+)*|[{HAN_KANA}]+"
)
_NUMBER = re.compile(r"[0-9]+")
_STATING = frozenset(
    word
    for line in (
        "a an the this that these those it its they them their there he she his her we our i was",
        "were is are be been being has have had do does did of in on at for to by with from as",
        "into per all each both which who what when where answer answers final result value name",
        "names list lists listed order report reports reported annual filing filings statement",
        "statements states stated shows shown prospectus accounts notice document page website",
        "table note according given gives give located based situated named names called known",
        "namely follows following",
        "s mr mrs ms dr respectively acted served according year fiscal end company group firm",
    )
    for word in line.split()
)
_PARTICLES = re.compile(
    r"にあり|にある|となってい|となり|となった|とな|であり|である|でした|でし|です|ました|まし|ます|した|"
    r"ている|ていた|てい|され|れた|れて|による|によると|依次|分别|分別|分为|包括|如下|即|根据|根據|年报|"
    r"先生|女士|さん|順番|順|答え|回答|答案|[氏様年月日度期末はがをにでのともやへだるたすまし的是为為由在于於了有共把被以所位其按列]"
)
_OTHERS = re.compile(
    r"\b(?:not|never|neither|nor|no|or|either|and|but|while|rather|instead|except|than|versus|vs|if|"
    r"whether|unless|until|formerly|previously|originally|without|replaced|succeeded)\b|n['’ ]t\b"
    r"|不是|并非|並非|而不|[或非未没沒無无]|または|もしくは|ではな|じゃな|しかし|但|[かな]い|ません|ではあり"
    r"|[?？]"
)


def only_states(rest: str, words: Wording) -> bool:
    """Do these words hold nothing but the question's and those that any statement may have?

    No negation, alternative, doubt or question among them. With a question that offers a choice
    ("A or B?") only its lower-case words are free, because the others may be answers.
    """
    if len(rest) > _MAX_FRAME or is_qualified(rest):
        return False
    return has_no_other_figure(rest, words) and all(
        _is_free(match[0], words) for match in _WORDS.finditer(rest)
    )


def has_no_other_figure(rest: str, words: Wording) -> bool:
    """Are all figures, such as years, those of the question?"""
    return set(_NUMBER.findall(fold_case(rest))) <= set(words.words)


def is_qualified(rest: str) -> bool:
    """Do these words deny, doubt, guess, ask, or name an alternative?"""
    folded = fold_case(rest)
    denies = _OTHERS.search(folded) or lexicon.REFUSAL.search(folded)
    return denies is not None or is_doubtful(rest)


def _is_free(word: str, words: Wording) -> bool:
    if re.match(f"[{HAN_KANA}]", word):
        if offers_choice(words):
            return not _PARTICLES.sub("", word)
        content = _PARTICLES.sub(" ", word)
        return not words.without(content) or not _PARTICLES.sub("", words.without(word))
    plain = fold_case(word).removesuffix("'s")
    free = words.lower_case() if offers_choice(words) else words
    return plain in _STATING or free.has(word) or free.has_initials(plain)


def offers_choice(words: Wording) -> bool:
    """Does the question name the answers that it can have?"""
    return bool(
        {"or", "either", "following"} & set(words.words)
        or re.search(r"还是|還是|或|または|それとも|どちら|いずれ", words.text)
    )
