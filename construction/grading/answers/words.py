"""The verdict on texts and dates.

Imports nothing but the standard library, text utilities and the reader of
`construction.grading.answers`: the exported bundle takes it along.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise

from construction.grading.answers import lexicon
from construction.grading.answers.lexicon import AnswerReason, Verdict, Wording, stem, wording
from construction.grading.answers.numbers import MAX_TEXT, gives_up, is_doubtful, is_refusal
from construction.grading.answers.question import common_dates
from construction.grading.spec import AnswerSpec
from data.text.dates import Moment, find_dates, read_date
from data.text.folding import fold_case, fold_spaces, fold_width
from data.text.lexicon import pattern_of
from data.text.scripts import HAN, HAN_KANA, has_han, has_kana

_MARKS = pattern_of(r"[\s.,;:!?'\"“”‘’`´「」『』()\[\]_/\-–—。、・]+")
_AND_SIGN = pattern_of(r"\s&\s")
_HAN_GAP = pattern_of(f"(?<=[{HAN_KANA}]) +(?=[{HAN_KANA}])")
_COMMA = pattern_of(r"[,;/|、\n，；]")
_VERB_WORD = pattern_of(r"\b(?:is|was|were|are|by|acted|served)\b|[はが为為是由]")
_EDGE = " \n*_`\"'」”）)"
_LAST_FIRST = pattern_of(r"([^\W\d_][\w'’-]*), ([^\W\d_][\w.'’ -]{0,40})")
_NOTE = pattern_of(r"\s*\((?=[^()]*[0-9])[^()]{1,60}\)[\s.。]*\Z")
_FRAME = pattern_of(
    r"(?:(?:the|my|final|correct|short) )*(?:answer|result|value) (?:is |was )?"
    r"|(?:it|this|that) (?:is|was) |(?:it|that) s "
    r"|(?:es (?:ist|sind)|das ist|c est|es|è|dat is|het is|é) "
    r"|[是为為] ?|(?:答案|答え|回答)(?:是|は|为|為)? ?|the "
)
_POLITE = pattern_of(r" ?(?:です|でした|である|だ|となります)\Z")
_COPULA = pattern_of(r"(?:\b(?:is|was|are|were|equals|namely) (?:the )?|[はが是为為] ?)\Z")
_NOT_OTHER = pattern_of(
    r"\s*[,;，、;] ?(?:and )?(?:not|nicht|pas|non|niet|no|而?不是|而非) ?[^,.;。，]{1,40}"
    r"[.。]?\s*\Z",
    re.I,
)
_OTHERS = pattern_of(
    r"\b(?:not|never|neither|nor|or|either|and|but|while|rather|instead|except|than|versus|vs"
    r"|some|say|said|former|old|previous|rival|competitor|predecessor|successor|deputy|vice)\b"
    r"|n t\b|不是|并非|並非|而不|或|または|もしくは|ではな|じゃな|しかし|但"
)


def compare_text(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A text or one of its aliases, perhaps framed by a sentence that names nothing else."""
    text = _NOT_OTHER.sub("", text[:MAX_TEXT])
    plain = loose(text)
    golds = [loose(gold) for gold in (spec.value, *spec.aliases)]
    forms = (text, _without_note(text[:MAX_TEXT]), _turned(text[:MAX_TEXT]))
    asks = text.rstrip(_EDGE).endswith(("?", "？")) and not spec.value.endswith(("?", "？"))
    if any(is_any(loose(form[:MAX_TEXT]), golds) for form in forms):
        return Verdict(AnswerReason.AMBIGUOUS if asks else None, plain)
    if not plain:
        return Verdict(AnswerReason.MISSING)
    mentions = [gold for gold in golds if gold and _mention(gold).search(plain)]
    if is_refusal(text):
        return Verdict(AnswerReason.REFUSED, plain)
    is_listed = _listed(text[:MAX_TEXT], mentions)
    if not asks and any(_states(plain, gold, wording(question), is_listed) for gold in mentions):
        return Verdict(None, plain)
    return Verdict(AnswerReason.AMBIGUOUS if mentions else AnswerReason.WRONG_VALUE, plain)


def loose(text: str) -> str:
    """Width, case, white space and punctuation do not count; other symbols (C++, %) do."""
    plain = _MARKS.sub(" ", _AND_SIGN.sub(" and ", fold_case(html.unescape(text)))).strip()
    return _HAN_GAP.sub("", plain)


def is_any(plain: str, golds: Sequence[str]) -> bool:
    """Is the text one of the golds, perhaps framed as "the answer is …"?"""
    forms = set(_forms(plain))
    forms |= {form.removeprefix("the ") for form in forms}
    return any(gold in forms or gold.removeprefix("the ") in forms for gold in golds if gold)


def _unframed(text: str) -> Sequence[str]:
    """The text in the form of `loose`, as it is, and without "the answer is" or です."""
    return _forms(loose(text))


def _forms(plain: str) -> Sequence[str]:
    bare = _POLITE.sub("", plain)
    frame = _FRAME.match(bare)
    return (plain, bare, bare[frame.end() :] if frame else bare)


def _without_note(text: str) -> str:
    """Without one remark in brackets at the end that has a figure: "Acme (held 51.2%)"."""
    note = _NOTE.search(fold_width(text))
    return text if note is None or is_qualified(note[0]) else fold_width(text)[: note.start()]


def _turned(text: str) -> str:
    """A name with the last name first, as it is spoken: "Strand, Helena"."""
    name = _LAST_FIRST.fullmatch(text.strip())
    return text if name is None else f"{name[2]} {name[1]}"


def _mention(gold: str) -> re.Pattern[str]:
    """A pattern that finds the gold text whole."""
    before = r"(?<!\w)" if gold[0].isascii() else ""
    after = r"(?!\w)" if gold[-1].isascii() else ""
    return re.compile(before + re.escape(gold) + after)


def _listed(text: str, golds: Sequence[str]) -> bool:
    """Does a comma, slash or line stand beside one of these texts, as between items of a list?"""
    marked = _MARKS.sub(
        " ", _COMMA.sub("§", _AND_SIGN.sub(" and ", fold_case(html.unescape(text))))
    )
    named = "|".join("[ §]+".join(map(re.escape, gold.split())) for gold in golds)
    return (
        bool(golds) and re.search(rf"§ ?(?:{named})|(?:{named}) ?§", marked.strip(" §")) is not None
    )


def _states(plain: str, gold: str, words: Wording, is_listed: bool) -> bool:
    """Does one sentence say that the gold text is it, and name nothing else as an alternative?"""
    bare = _POLITE.sub("", plain)
    rest = _mention(gold).sub(" ", bare)
    if only_states(rest, words) and (not is_listed or _VERB_WORD.search(rest)):
        return True
    if _OTHERS.search(rest) or is_doubtful(rest) or not _has_no_other_figure(rest, words):
        return False
    return bare.endswith(gold) and _COPULA.search(bare[: len(bare) - len(gold)]) is not None


# Dates

_YEAR = pattern_of(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_BOUND = pattern_of(
    r"\b(?:(?i:before|after|until|till|prior to|no later than)|by (?=[0-9A-Z]))|[?？]\s*\Z"
    r"|以前|以后|以降|より前|より後|之前|之后|までに?"
)
_DIGITS = pattern_of(r"[0-9]{8}")


def compare_date(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """A date, as far as the gold value states one; as a text if that is not a date."""
    golds = [_moments(value) for value in (spec.value, *spec.aliases)]
    known = [moments[0] for moments in golds if len(moments) == 1]
    if not known:
        return compare_text(spec, text, question)
    if lexicon.GIVES_UP.search(fold_width(text[:MAX_TEXT])):
        return Verdict(AnswerReason.REFUSED)
    given = _moments(text[:MAX_TEXT])
    if not given:
        reason = AnswerReason.REFUSED if is_refusal(text) else AnswerReason.NO_VALUE
        return Verdict(reason)
    reading = ", ".join(map(str, given))
    if len(given) > 1:
        hit = any(_same_day(moment, gold) for moment in given for gold in known)
        return Verdict(AnswerReason.AMBIGUOUS if hit else AnswerReason.WRONG_VALUE, reading)
    deviation = _date_deviation(given[0], known)
    is_open = deviation is None and (_BOUND.search(text) or is_doubtful(lexicon.MAY.sub(" ", text)))
    return Verdict(AnswerReason.AMBIGUOUS if is_open else deviation, reading)


def _date_deviation(given: Moment, golds: Sequence[Moment]) -> AnswerReason | None:
    fitting = [gold for gold in golds if given.covers(gold)]
    if fitting:
        return AnswerReason.AMBIGUOUS if given.swapped and fitting[0].day else None
    partial = any(gold.covers(given) and given.year is not None for gold in golds)
    return AnswerReason.INCOMPLETE if partial else AnswerReason.WRONG_VALUE


def _same_day(given: Moment, gold: Moment) -> bool:
    return given.covers(gold) or gold.covers(given)


def _moments(text: str) -> list[Moment]:
    """The different dates of a text; a year alone counts where there is nothing else."""
    plain = common_dates(fold_width(text))
    whole = read_date(_DIGITS.search(plain)[0] if _DIGITS.fullmatch(plain.strip()) else plain)  # type: ignore[index]
    if whole is not None:
        return [Moment(whole.year, whole.month, whole.day)]
    dated = [moment for _, _, moment in find_dates(plain) if moment.clock is None]
    if not dated:
        dated = [Moment(int(year)) for year in _YEAR.findall(plain)]
    return list(dict.fromkeys(dated))


_MAX_FRAME = 600  # characters of a frame; a longer one is no mere statement
_WORDS = pattern_of(
    rf"[^\W\d_{HAN_KANA}][^\W_{HAN_KANA}'-]*(?:['-][^\W_{HAN_KANA}]+)*|[{HAN_KANA}]+"
)
_ELIDED = pattern_of(r"^(?:[cdjlmnst]|qu)['’]", re.I)  # French and Italian
_NUMBER = pattern_of(r"[0-9]+")
_STATING = lexicon.FUNCTION_EU | frozenset(
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
_PARTICLES = pattern_of(
    r"にあり|にある|となってい|となり|となった|とな|であり|である|でした|でし|です|ました|まし|ます|した|"
    r"ている|ていた|てい|され|れた|れて|による|によると|依次|分别|分別|分为|包括|如下|即|根据|根據|年报|"
    r"先生|女士|さん|順番|順|答え|回答|答案|[氏様年月日度期末はがをにでのともやへだるたすまし的是为為由在于於了有共把被以所位其按列]"
)
_OTHERS_FRAMES = pattern_of(
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
    return _has_no_other_figure(rest, words) and all(
        _is_free(match[0], words) for match in _WORDS.finditer(rest)
    )


def _has_no_other_figure(rest: str, words: Wording) -> bool:
    """Are all figures, such as years, those of the question?"""
    return set(_NUMBER.findall(fold_case(rest))) <= set(words.words)


def is_qualified(rest: str) -> bool:
    """Do these words deny, doubt, guess, ask, or name an alternative?"""
    folded = fold_case(rest)
    denies = _OTHERS_FRAMES.search(folded) or lexicon.REFUSAL.search(folded)
    return denies is not None or is_doubtful(rest)


def _is_free(word: str, words: Wording) -> bool:
    if has_han(word[:1]) or has_kana(word[:1]):
        if _offers_choice(words):
            return not _PARTICLES.sub("", word)
        content = _PARTICLES.sub(" ", word)
        return not words.without(content) or not _PARTICLES.sub("", words.without(word))
    plain = _ELIDED.sub("", fold_case(word).removesuffix("'s"))
    free = words.lower_case() if _offers_choice(words) else words
    bare = _ELIDED.sub("", word)
    return plain in _STATING or free.has(bare) or free.has_initials(plain)


_CHOOSING = ("还是", "還是", "或", "または", "それとも", "どちら", "いずれ")


def _offers_choice(words: Wording) -> bool:
    """Does the question name the answers that it can have?"""
    return bool(
        {"or", "either", "following"} & set(words.words)
        or any(word in words.text for word in _CHOOSING)
    )


_BOOLEAN = {
    fold_case(form): value
    for words, value in ((lexicon.YES, True), (lexicon.NO, False))
    for word in words
    for form in ([word.removesuffix("?"), word[:-2]] if word.endswith("?") else [word])
}
_SPOKEN = pattern_of(
    r"(?P<no>\b(?:not|n't) (?:true|correct|right|the case)\b|(?:\bis|\banswer|:) [\"']?no\b)"
    r"|(?P<yes>\b(?:not|n't) (?:false|incorrect)\b)|\b(?:true|false|correct|incorrect|yes)\b"
)
_AND_OR = "(?:or|und|oder|et|ou|y|o|e|en|of|and|/|、|或|または|か|还是)"
_EITHER = pattern_of(
    rf"(?:yes|true|はい|(?<!不)是|(?<!没)有|\b(?:ja|oui|sí|sì|sim)\b) ?{_AND_OR} ?"
    r"(?:false|いいえ|否|没有|不是|(?:no|nein|non|não|nee|nej)\b)"
    rf"|(?:\b(?:no|nein|non|não|nee)|false|いいえ|否) ?{_AND_OR} ?"
    r"(?:yes|true|はい|是|\b(?:ja|oui|sí|sì|sim)\b)"
)

_LATIN = pattern_of(rf"{lexicon.LETTER}{{2,}}")
_IT_IS = pattern_of(r"(?:c est|das ist|das|es ist|es|è|dat is|dat|isso é|é|det är|det er|esto es) ")
_SHORT = pattern_of(
    r"(?:it|they|he|she|we|there) (?:did|does|do|has|have|had|was|were|is|are)"
    r"(?P<no>(?: not|n['’]t))?[.! ]*"
)
_PREFIXED = pattern_of(rf"(?<!\w)(?:un|in|im|ir|il|dis|non-?)({lexicon.LETTER}{{4,}})")
_MAY_DO = pattern_of(r"\bmay\b(?! be)")
_CLAUSE = pattern_of(r"[.;:!。；]\s*|[,、，]\s*|\s[—–-]+\s")
_SAID_OF = pattern_of(r"\s*(?:that|to say)\b[^.;。]*")
_FUNCTION = lexicon.FUNCTION_EU | frozenset(
    word
    for line in (
        "it is was were are be been did do does done has have had the an this that there they them",
        "we he she you in on at of for to by with from any such so and or as its their all no not",
        "never none nothing neither nor without true false correct wrong incorrect untrue answer",
    )
    for word in line.split()
)

# A sentence in the words of the question

_LEAST_ROOT = 4  # letters
_LIGHT_VERBS = frozenset(map(stem, lexicon.LIGHT_VERBS))

_DENIED = pattern_of(
    r"\b(?:did|does|do|has|have|had|was|were|is|are) ?(?:not|n't)(?![a-z])"
    rf"|\b(?:never|no|untrue)(?![a-z])|(?P<eu>{lexicon.NEGATION_EU})"
    r"|(?:并|並)?(?:没有|沒有|未曾|未|没|沒)(?!来|來)"
    r"|(?:し|され)?(?:てい|い)?(?:なかった|ない|ませんでした|ません)(?=です|。|\s|\Z)"
)
_AUXILIARIES = frozenset(["did", "has", "have", "had", "was", "were", "is", "are", "does", "do"])
_PERFECT = frozenset(["has", "have", "had", "was", "were", "is", "are"])
_ARTICLES = frozenset(["a", "an", "the", "its", "their", "in", "on", "at", "of", "for"])
_ASKED_ZH = pattern_of(rf"(?:是否|有没有|有沒有|有无|有無)(?:已经|已經|已)?([{HAN}]{{2}})")
_ASKED_JA = pattern_of(
    rf"([{HAN}ァ-ヺー]{{1,12}})(?:を?[しさ]|された|[ぁ-ん]{{1,5}})[ぁ-ん]{{0,6}}か[。?]?"
)
_ADVERBS = pattern_of("确实|確實|已经|已經|已|曾|确|その通り")


def compare_boolean(spec: AnswerSpec, text: str, question: str) -> Verdict:
    """Yes or no, in words of English, other European languages, Chinese or Japanese."""
    gold = _BOOLEAN.get(loose(spec.value))
    given = _read(text[:MAX_TEXT], wording(question))
    if isinstance(given, AnswerReason):
        return Verdict(given)
    return Verdict(None if given is gold else AnswerReason.WRONG_VALUE, str(given).lower())


def _read(text: str, words: Wording) -> bool | AnswerReason:
    for form in _unframed(text):
        bare = _IT_IS.sub("", form)
        if bare in _BOOLEAN:
            return _BOOLEAN[bare]
    folded = fold_spaces(fold_case(text)).lstrip("*_\"'「“ ")
    folded = _PREFIXED.sub(lambda word: _apart(word, words), folded)
    if _EITHER.search(folded):
        return AnswerReason.AMBIGUOUS
    short = _SHORT.fullmatch(folded)
    if short is not None:
        return short["no"] is None
    lead = lexicon.SAID_FIRST.match(folded)
    if lead and not gives_up(text):
        return _borne_out(_BOOLEAN[fold_case(lead["word"])], folded[lead.end() :], words)
    if gives_up(text) or (is_refusal(text) and not _SPOKEN.search(folded)):
        return AnswerReason.REFUSED
    if lexicon.GUESS.search(folded):
        return AnswerReason.AMBIGUOUS
    return _spoken(folded) if _SPOKEN.search(folded) else _asserted(folded, words)


def _apart(word: re.Match[str], words: Wording) -> str:
    """ "Unsecured" as "untrue secured", where the question has the word without the prefix."""
    is_denied = words.has(word[1]) and not words.has(word[0])
    return f"untrue {word[1]}" if is_denied else word[0]


def _borne_out(answer: bool, rest: str, words: Wording) -> bool | AnswerReason:
    """Yes or no, unless what follows says the contrary, another year, or puts a condition."""
    years, years_asked = (set(_YEAR.findall(text)) for text in (rest, words.text))
    if lexicon.GUESS.search(_MAY_DO.sub(" ", rest)) or (
        years and years_asked and not years & years_asked
    ):
        return AnswerReason.AMBIGUOUS
    if lexicon.NEGATION.search(fold_case(words.text)):
        return answer  # of a question that denies, either word may go with a denial
    clauses = [clause for clause in _CLAUSE.split(rest) if clause.strip(" .。!")]
    if answer:
        contrary = lexicon.CONTRAST.search(rest) or any(
            _denies(clause, words) for clause in clauses
        )
    else:
        contrary = any(_asserted(clause.strip(), words) is True for clause in clauses)
    if _SPOKEN.search(rest):
        contrary = contrary or _spoken(rest) is not answer
    return AnswerReason.AMBIGUOUS if contrary else answer


def _denies(clause: str, words: Wording) -> bool:
    """Does a clause deny? What it denies may have other words than the question."""
    omissions = [
        match[0]
        for match in lexicon.OMISSION.finditer(clause)
        if match[0] not in words.text and not words.has(match[0].split()[0])
    ]
    return bool(lexicon.NEGATION.search(clause)) != len(omissions) % 2  # "did not skip" affirms


def _spoken(folded: str) -> bool | AnswerReason:
    """What the words for yes and no say that are somewhere in the text, if they agree: each with
    the denials before it, and with that of the clause that it is said of ("true that no …")."""
    spoken = set()
    for match in _SPOKEN.finditer(folded):
        is_yes = bool(match["yes"] or (not match["no"] and _BOOLEAN[match[0]]))
        said_of = _SAID_OF.match(folded, match.end())
        denials = len(lexicon.NEGATION.findall(said_of[0])) if said_of else 0
        spoken.add(is_yes if denials % 2 == 0 else not is_yes)
    return spoken.pop() if len(spoken) == 1 else AnswerReason.AMBIGUOUS


def _asserted(folded: str, words: Wording) -> bool | AnswerReason:
    """What a sentence in the words of the question says: it denies once, or it affirms."""
    denials = [match["eu"] is not None for match in _DENIED.finditer(folded)]
    n_denials = denials.count(False) or min(1, len(denials))  # "no … ningún" denies once
    rest = _ADVERBS.sub("", _DENIED.sub(" ", folded))
    said = _LATIN.sub(lambda word: " " if _is_deed(word[0], words) else word[0], rest)
    if n_denials > 1 or not only_states(said, words) or not _names_deed(folded, rest, words):
        return AnswerReason.NO_VALUE
    return not n_denials


def _is_deed(word: str, words: Wording) -> bool:
    """Is a word the noun to the verb of the question, or a verb that goes with such nouns?"""
    known = stem(word) in _LIGHT_VERBS or lexicon.is_noun_of(word, words.stems)
    return known or any(_same_root(word, known_word) for known_word in words.words)


def _same_root(first: str, second: str) -> bool:
    """Do two words differ in their endings alone, by two letters at most: fermé, fermée?"""
    least = max(_LEAST_ROOT, max(len(first), len(second)) - 2)
    return first == second or (first[:least] == second[:least] and len(first[:least]) == least)


def _names_deed(folded: str, rest: str, words: Wording) -> bool:
    """Is there the verb of the question: inflected, behind an auxiliary, or the one asked for?"""
    deed_asked = _ASKED_ZH.search(words.text) or next(
        reversed([*_ASKED_JA.finditer(words.text)]), None
    )
    if deed_asked is not None:
        deed = deed_asked[1][-2:]
        return deed in rest and folded.strip(" 。.") != deed
    if lexicon.writes_comma(words.text, ""):
        opened = words.text.removeprefix("¿")  # Spanish questions begin with their verb
        words_asked = _LATIN.findall(
            opened if opened == words.text else opened[:1].lower() + opened[1:]
        )
        deeds = [word for word in words_asked if word[0].islower() and word not in _FUNCTION]
        said = _LATIN.findall(rest)
        return bool(deeds) and all(any(_same_root(deed, word) for word in said) for deed in deeds)
    tokens = re.findall(r"[a-z]+|[^\sa-z]", _DENIED.sub(" did ", folded))
    if any(lexicon.is_noun_of(token, words.stems) for token in tokens):
        return any(stem(token) in _LIGHT_VERBS for token in tokens)
    inflected = any(
        token not in words.words and token not in _AUXILIARIES and stem(token) in words.stems
        for token in tokens
    )
    asks_participle = bool(words.words) and words.words[0] in _PERFECT
    repeated = asks_participle and any(
        token in words.words and token.endswith(("ed", "en")) for token in tokens
    )
    return (
        inflected
        or repeated
        or any(
            first in _AUXILIARIES and second in words.words and second not in _ARTICLES
            for first, second in pairwise(tokens)
        )
    )
