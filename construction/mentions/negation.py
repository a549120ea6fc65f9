"""Whether a "not" reaches a word: over a list it does, to "but" it does not."""

from __future__ import annotations

import re

_REACH = 160  # characters
_NOT = re.compile(
    r"\b(?:not|never|without|cannot|instead of|rather than|no need(?: to)?|avoid|refrain from)\b"
    r"|n['’]t\b|不要|不得|不可|不能|不用|不必|请勿|切勿|禁止|严禁|无需|避免|别(?![人的处名])"
)
_ENDS = re.compile(
    r"[;；:：]|\b(?:but|just|only|instead|rather|then|please|simply)\b|但|只需|只要|只做|请(?!勿)|而是|然后|再"
)
_COMMA = re.compile(r"[,，]")
_OR = re.compile(r"\b(?:or|nor)\b|或")
_CONDITION = re.compile(r"(?:\b(?:if|when|unless|where|since|because|as)\b|如果|若|当)[^,，]*$")


def is_negated(sentence: str, at: int) -> bool:
    """Does a "not" in a sentence of lower case reach the word at `at`?

    It reaches over commas in a list that "or" closes: "do not edit, send emails or book rooms".
    """
    negations = list(_NOT.finditer(sentence, max(0, at - _REACH), at))
    if not negations:
        return False
    negation = negations[-1]
    between = sentence[negation.end() : at]
    if _ENDS.search(between):
        return False
    if not _COMMA.search(between):
        return True
    is_condition = _CONDITION.search(sentence[: negation.start()]) is not None
    closing = _OR.search(sentence, negation.end())
    end = _ENDS.search(sentence, at)
    is_list = closing is not None and (end is None or closing.start() < end.start())
    return is_list and not is_condition
