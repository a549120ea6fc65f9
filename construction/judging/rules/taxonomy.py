"""Where a task belongs, by words: its labels, its business task, its family and its class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from construction.judging.contracts import Case, Taxonomy
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.labels import (
    TaxonomyConfig,
    role_of,
    skill_name,
    skill_of,
    skill_pattern,
    spaced,
)
from construction.judging.rules.rewriting import without_lead_ins
from construction.judging.rules.sentences import is_noise
from construction.mentions.spans import find_file_spans
from construction.signals.analyse import with_families
from construction.signals.config import SignalsConfig
from data.contracts import Label, TaskClass
from data.text.numerals import ONE_TO_TEN
from data.text.scripts import HAN, leading_language

_MAX_WORDS = 14
_MAX_HAN = 28
# Own cut: a task's name is a clause as it was written, and a dash or a colon ends it as well.
_CUT = re.compile(rf"[:：;；。!！?？\n]|[,，](?=\s|[{HAN}])|\.(?=\s|$)|\s[-–—]\s")
_BRACKETS = re.compile(r"[(（][^()（）]{0,80}[)）]|[「『“\"'`‘]\s*…?\s*[」』”\"'`’]")
_ATTACHED_ZH = re.compile(rf"附件[里中]的(?:第[{ONE_TO_TEN}\d]个)?文件")
_KEPT_ZH = re.compile("(按照?|根据|用|给|看)…[里中]面?的?")
_DANGLING_ZH = re.compile("(?:从|把)?…[里中]面?的?(?:文件里)?|(?:用|按照?|根据|看一?下?)…")
_MEANS = re.compile(r"(?i)(?:using|based on|given|with|and|or)\b|看(?!板|台)")
_ASKS_ZH = re.compile(r"(?:您好|你好)?(?:请你?|帮我|麻烦你?|给我|需要你)(?!看|确认)")
_HAN_GAP = re.compile(rf"(?<=[{HAN}])\s+(?=[{HAN}])")
_LEAST = 4  # characters; a shorter phrase says nothing
_DANGLING = re.compile(
    r"(?i)(?:(?<!\S)(?:in|from|of|with|as|to|into|using|by|for|the|a|an|and)\s){0,4}…\s*"
)
_OPENING = re.compile(
    r"(?i)(?:(?:can|could|would|will) you |please |kindly |now |i need (?:you to )?|help me )*"
    r"(?:(?:write|make|draft|prepare|create|build|produce|generate|give me|put together|compose)"
    r"\b\s?(?:up )?(?:me )?)?(?:(?:an?|the|our|my|one)\s)?"
)
_OPENING_ZH = re.compile(
    r"(?:请你?|帮我|帮忙|麻烦你?|给我|需要你?|能不能|再|把|先|并(?=[按把将对给用列算写]))*"
)


def judge_taxonomies(
    cases: Sequence[Case],
    config: TaxonomyConfig,
    classes: Mapping[str, TaskClass],
    families: SignalsConfig | None = None,
) -> list[Taxonomy]:
    """One taxonomy per case, in the order given.

    `classes` are the task classes by task id (`induce_classes`); with `families` the task family
    is found in the way the signals lane finds a signal's.
    """
    candidates = [case.candidate for case in cases]
    labelled = with_families(candidates, families) if families is not None else candidates
    return [
        _taxonomy(case, config, classes.get(case.candidate.task_id), candidate.task_family)
        for case, candidate in zip(cases, labelled, strict=True)
    ]


def _taxonomy(
    case: Case, config: TaxonomyConfig, task_class: TaskClass | None, family: Label | None
) -> Taxonomy:
    role = role_of(case, config)
    skill, route = skill_of(case, role.value, config)
    return Taxonomy(
        business_task=business_task(case.request, skill.value) or skill_name(skill.value),
        role=role,
        skill_subclass=skill,
        skill_route=route,
        task_family=family,
        task_class=task_class,
    )


def business_task(request: str, skill: str = "") -> str:
    """A short phrase for what is asked, in the words of the request; "" if there is none.

    It is the first clause with a word of the skill, else the first directive, without file names
    and details.
    """
    pattern = skill_pattern(skill)
    ranked: list[tuple[bool, bool, str]] = []
    for sentence in read(request):
        if not is_noise(sentence):
            clauses = _clauses(without_lead_ins(sentence.text))
            ranked += [
                (not _fits(clause, pattern), not _orders(clause, sentence), clause)
                for clause in clauses
            ]
    ranked.sort(key=lambda item: item[:2])
    phrases = (_shortened(clause) for *_, clause in ranked)
    phrase = next((phrase for phrase in phrases if len(phrase) > _LEAST), "")
    return phrase[:1].upper() + phrase[1:]


def _orders(clause: str, sentence: Reading) -> bool:
    asks = sentence.ask is Ask.DIRECTIVE or _ASKS_ZH.match(clause) is not None
    return asks and _MEANS.match(clause) is None


def _fits(clause: str, pattern: re.Pattern[str] | None) -> bool:
    """Does a clause ask or hold a word of the skill, and say more than "Using the schema"?"""
    has_skill_word = pattern is not None and pattern.search(spaced(clause)) is not None
    return (has_skill_word or _ASKS_ZH.match(clause) is not None) and _MEANS.match(clause) is None


def _clauses(sentence: str) -> list[str]:
    """The clauses of a sentence without file names, in order."""
    return [piece.strip() for piece in _CUT.split(_without_files(sentence)) if piece.strip()]


def _shortened(clause: str) -> str:
    if leading_language(clause) != "en":
        opening = _OPENING_ZH.match(clause)
        clause = _HAN_GAP.sub("", clause[opening.end() if opening else 0 :])
        return clause[:_MAX_HAN].strip(" ，、的")
    opening = _OPENING.match(clause)
    phrase = clause[opening.end() if opening else 0 :]
    return " ".join(phrase.split()[:_MAX_WORDS]).strip(" ,.;")[:200]


def _without_files(sentence: str) -> str:
    pieces, position = [], 0
    for span in find_file_spans(sentence):
        pieces.append(sentence[position : span.start])
        position = span.end
    text = _BRACKETS.sub("…", "…".join([*pieces, sentence[position:]]))
    text = _KEPT_ZH.sub(r"\1", _ATTACHED_ZH.sub("…", text))
    return _DANGLING.sub(" ", _DANGLING_ZH.sub("", text)).strip()
