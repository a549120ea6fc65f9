"""The verdict on yes or no: a word for it, or a sentence that affirms or denies what was asked.

Imports nothing but the standard library, text utilities and the reader of
`construction.statements.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import re
from itertools import pairwise

from construction.grading.answer_frames import only_states
from construction.grading.answer_numbers import MAX_TEXT, gives_up, is_refusal
from construction.grading.answer_reasons import AnswerReason, Verdict
from construction.grading.answer_words import loose, unframed
from construction.grading.spec import AnswerSpec
from construction.statements.answers import lexicon
from construction.statements.answers.wording import Wording, stem, wording
from data.text.folding import fold_case, fold_spaces
from data.text.scripts import HAN

_YES = (
    *("yes", "y", "true", "correct", "right", "affirmative"),
    *("はい", "そうです", "そうだ", "正しい", "真", "是", "是的"),
    *("对", "對", "正确", "正確", "有", "有的"),
)
_NO = (
    *("no", "n", "false", "incorrect", "wrong", "negative"),
    *(
        "いいえ",
        "違う",
        "違います",
        "誤り",
        "偽",
        "正しくない",
        "不是",
        "否",
        "假",
        "不对",
        "不對",
        "错",
    ),
    *("错误", "錯", "錯誤", "不正确", "不正確", "没有", "沒有", "没", "沒", "非"),
)
_BOOLEAN = {
    fold_case(word): value for words, value in ((_YES, True), (_NO, False)) for word in words
}
_LEAD = re.compile(
    r"(?P<word>yes|no|true|false|correct|incorrect|right|wrong|はい|いいえ|是的|是|不是|对|對|不对|不對|"
    r"正确|正確|不正确|不正確|错误|错|否|有|没有|沒有)(?=\s*(?:[,.;:!、。(\n—–-]|です|\Z))"
)
_SPOKEN = re.compile(
    r"(?P<no>\b(?:not|n't) (?:true|correct|right)\b|(?:\bis|\banswer|:) [\"']?no\b)"
    r"|(?P<yes>\b(?:not|n't) (?:false|incorrect)\b)|\b(?:true|false|correct|incorrect|yes)\b"
)
_EITHER = re.compile(
    r"(?:yes|true|はい|是|有) ?(?:or|and|/|、|或|または|か|还是) ?(?:no|false|いいえ|否|没有|不是)"
    r"|(?:no|false|いいえ|否) ?(?:or|and|/|、|或|または|か|还是) ?(?:yes|true|はい|是)"
)

# A sentence in the words of the question

_DENIED = re.compile(
    r"\b(?:did|does|do|has|have|had|was|were|is|are) ?(?:not|n't)(?![a-z])"
    r"|\b(?:never|no)(?![a-z])|(?:并|並)?(?:没有|沒有|未曾|未|没|沒)(?!来|來)"
    r"|(?:し|され)?(?:てい|い)?(?:なかった|ない|ませんでした|ません)(?=です|。|\s|\Z)"
)
_AUXILIARIES = frozenset(["did", "has", "have", "had", "was", "were", "is", "are", "does", "do"])
_ARTICLES = frozenset(["a", "an", "the", "its", "their", "in", "on", "at", "of", "for"])
_ASKED_ZH = re.compile(rf"(?:是否|有没有|有沒有|有无|有無)(?:已经|已經|已)?([{HAN}]{{2}})")
_ASKED_JA = re.compile(
    rf"([{HAN}ァ-ヺー]{{1,12}})(?:を?[しさ]|された|[ぁ-ん]{{1,5}})[ぁ-ん]{{0,6}}か[。?]?"
)
_ADVERBS = re.compile("确实|確實|已经|已經|已|曾|确|その通り")


def compare_boolean(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """Yes or no, in words of English, Chinese or Japanese."""
    gold = _BOOLEAN.get(loose(spec.value))
    given = _read(text[:MAX_TEXT], wording(question))
    if isinstance(given, AnswerReason):
        return Verdict(given)
    return Verdict(None if given is gold else AnswerReason.WRONG_VALUE, str(given).lower())


def _read(text: str, words: Wording) -> bool | AnswerReason:
    for form in unframed(text):
        if form in _BOOLEAN:
            return _BOOLEAN[form]
    folded = fold_spaces(fold_case(text)).lstrip("*_\"'「“ ")
    if _EITHER.search(folded):
        return AnswerReason.AMBIGUOUS
    lead = _LEAD.match(folded)
    if lead and not gives_up(text):
        return _BOOLEAN[lead["word"]]
    if is_refusal(text):
        return AnswerReason.REFUSED
    if lexicon.GUESS.search(folded):
        return AnswerReason.AMBIGUOUS
    return _spoken(folded) if _SPOKEN.search(folded) else _asserted(folded, words)


def _spoken(folded: str) -> bool | AnswerReason:
    """What the words for yes and no say that are somewhere in the text, if they agree."""
    spoken = set()
    for match in _SPOKEN.finditer(folded):
        is_yes = match["yes"] or (not match["no"] and _BOOLEAN[match[0]])
        spoken.add(bool(is_yes))
    return spoken.pop() if len(spoken) == 1 else AnswerReason.AMBIGUOUS


def _asserted(folded: str, words: Wording) -> bool | AnswerReason:
    """What a sentence in the words of the question says: it denies once, or it affirms."""
    n_denials = len(_DENIED.findall(folded))
    rest = _ADVERBS.sub("", _DENIED.sub(" ", folded))
    if n_denials > 1 or not only_states(rest, words) or not _names_deed(folded, rest, words):
        return AnswerReason.NO_VALUE
    return not n_denials


def _names_deed(folded: str, rest: str, words: Wording) -> bool:
    """Is there the verb of the question: inflected, behind an auxiliary, or the one asked for?"""
    deed_asked = _ASKED_ZH.search(words.text) or next(
        reversed([*_ASKED_JA.finditer(words.text)]), None
    )
    if deed_asked is not None:
        deed = deed_asked[1][-2:]
        return deed in rest and folded.strip(" 。.") != deed
    tokens = re.findall(r"[a-z]+|[^\sa-z]", _DENIED.sub(" did ", folded))
    inflected = any(
        token not in words.words and token not in _AUXILIARIES and stem(token) in words.stems
        for token in tokens
    )
    return inflected or any(
        first in _AUXILIARIES and second in words.words and second not in _ARTICLES
        for first, second in pairwise(tokens)
    )
