"""Where a task belongs, by words: role, skill subclass with its route, business task, family."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from construction.judging.contracts import Case, RoleClass, Taxonomy
from construction.judging.lexicon import table
from construction.judging.reading import Ask, Reading, read
from construction.judging.rules.rewriting import without_lead_ins
from construction.judging.rules.sentences import is_noise
from construction.mentions.spans import find_file_spans
from construction.signals.analyse import with_families
from construction.signals.config import SignalsConfig
from data.contracts import Count, Label, StageConfig, TaskClass, Weight
from data.text.lexicon import any_of
from data.text.numerals import ONE_TO_TEN
from data.text.scripts import HAN, leading_language
from data.text.sentences import phrase_form

_STRENGTHS = ("strong", "usual", "weak")
_MOST = 30_000  # characters of a text that are read
_LATIN = r"[A-Za-z0-9]"
_EDGE = re.compile(rf"(?<=[{HAN}])(?={_LATIN})|(?<={_LATIN})(?=[{HAN}])")
_SIGNS = re.compile(r"[/_.-]")
_NAMED = 3  # words that a reason cites
GENERAL = "general"
_GENERAL_ROUTE = "read what is given → do what is asked → check the result against the request"
_ROLE_BONUS = 1.5  # a skill of the task's own role, against the same words elsewhere
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


class TaxonomyConfig(StageConfig):
    """Weights of a word by its strength and its position; a word counts once.

    `demand` is the factor for sentences that ask for something, `file_name` for names of inputs and
    outputs, `reply` for the agent's last words and earlier messages, which count only if the
    request has no word of any role.
    """

    strong: Weight = 3.0
    usual: Weight = 1.0
    weak: Weight = 0.3
    demand: Weight = 2.0
    file_name: Weight = 1.0
    reply: Weight = 0.3
    words: Count = 5  # the heaviest of each role, so that long requests have no advantage
    fallback: RoleClass = RoleClass.ENGINEERING_IT


def role_of(case: Case, config: TaxonomyConfig) -> Label:
    """The role with the highest score; among equals the first in the contract's order."""
    texts = list(zones(case, config))
    scores, hits = _score(texts, config)
    if not any(scores.values()):
        scores, hits = _score([(text, config.reply) for text in _others(case)], config)
    best = max(RoleClass, key=lambda role: scores[role])
    total = sum(scores.values())
    if not total:
        return Label(value=str(config.fallback), confidence=0.2, reason="no word of any role")
    runner_up = max(score for role, score in scores.items() if role is not best)
    confidence = 0.5 + 0.5 * (scores[best] - runner_up) / (scores[best] + runner_up)
    words = ", ".join(hits[best][:_NAMED])
    return Label(value=str(best), confidence=round(min(confidence, 0.95), 9), reason=words)


def zones(case: Case, config: TaxonomyConfig) -> Iterator[tuple[str, float]]:
    """The texts of a case in plain form, joined by factor, the greatest factor first."""
    wanted: list[str] = []
    others: list[str] = []
    for sentence in read(case.request[:_MOST]):
        (wanted if sentence.demands else others).append(spaced(sentence.text))
    yield "".join(wanted), config.demand
    yield "".join(others), 1.0
    candidate = case.candidate
    names = [fixture.path for fixture in candidate.fixtures]
    names += [name for item in candidate.deliverables for name in item.name_hints]
    yield "".join(spaced(_SIGNS.sub(" ", name)) for name in names), config.file_name


def _others(case: Case) -> Iterator[str]:
    yield spaced(case.reply[:_MOST])
    yield from (spaced(text[:_MOST]) for text in case.background)


def spaced(text: str) -> str:
    """The plain form with a space between Han and Latin letters, so that word boundaries match."""
    return phrase_form(_EDGE.sub(" ", text))


def _score(
    zones: list[tuple[str, float]], config: TaxonomyConfig
) -> tuple[Mapping[RoleClass, float], Mapping[RoleClass, list[str]]]:
    """Scores and the words behind them, the heaviest first."""
    scores: dict[RoleClass, float] = {}
    hits: dict[RoleClass, list[str]] = {}
    for role in RoleClass:
        weights: dict[str, float] = {}
        for strength in _STRENGTHS:
            weight: float = getattr(config, strength)
            for text, factor in zones:
                for match in _pattern(role, strength).finditer(text):
                    word = match[0].strip()
                    weights[word] = max(weights.get(word, 0.0), weight * factor)
        hits[role] = sorted(weights, key=lambda word: (-weights[word], word))
        scores[role] = round(sum(weights[word] for word in hits[role][: config.words]), 9)
    return scores, hits


@cache
def _pattern(role: RoleClass, strength: str) -> re.Pattern[str]:
    return any_of(table("roles")[role][strength])


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
    skill, route = skill_of(case, RoleClass(role.value), config)
    return Taxonomy(
        business_task=business_task(case.request, skill.value) or skill_name(skill.value),
        role=role,
        skill_subclass=skill,
        skill_route=route,
        task_family=family,
        task_class=task_class,
    )


def skill_of(case: Case, role: RoleClass, config: TaxonomyConfig) -> tuple[Label, Label]:
    """The skill subclass ("role.skill") and its route; the role's general one if none matches."""
    texts = list(zones(case, config))
    scores: dict[str, float] = {}
    hits: dict[str, list[str]] = {}
    for name, pattern in _patterns().items():
        weights: dict[str, float] = {}
        for text, factor in texts:
            for match in pattern.finditer(text):
                word = match[0].strip()
                weights[word] = max(weights.get(word, 0.0), factor)
        bonus = _ROLE_BONUS if name.startswith(f"{role}.") else 1.0
        scores[name] = round(sum(weights.values()) * bonus, 9)
        hits[name] = sorted(weights, key=lambda word: (-len(word), word))
    first, second, *_ = sorted(scores, key=lambda name: (-scores[name], name))
    if not scores[first]:
        value = f"{role}.{GENERAL}"
        reason = "no word of any skill"
        return _label(value, 0.2, reason), _label(_GENERAL_ROUTE, 0.2, f"route of {value}")
    margin = (scores[first] - scores[second]) / (scores[first] + scores[second])
    confidence = round(min(0.95, 0.5 + 0.5 * margin), 9)
    skill = _label(first, confidence, ", ".join(hits[first][:3]))
    return skill, _label(_skills()[first]["route"], confidence, f"route of {first}")


def _label(value: str, confidence: float, reason: str) -> Label:
    return Label(value=value, confidence=confidence, reason=reason)


@cache
def _skills() -> Mapping[str, Any]:
    return {
        f"{role}.{skill}": entry
        for role, skills in table("skills").items()
        for skill, entry in skills.items()
    }


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {name: any_of(entry["words"]) for name, entry in _skills().items()}


def skill_name(value: str) -> str:
    """The name of a skill subclass for people."""
    entry = _skills().get(value)
    return entry["name"] if entry else f"{_role_name(value)}, general"


def skill_definition(value: str) -> str:
    """The definition of a skill subclass; of a general one, the definition of its role."""
    entry = _skills().get(value)
    if entry:
        return str(entry["definition"])
    return str(table("roles")[value.partition(".")[0]]["definition"])


def _role_name(value: str) -> str:
    return str(table("roles")[value.partition(".")[0]]["name"])


def business_task(request: str, skill: str = "") -> str:
    """A short phrase for what is asked, in the words of the request; "" if there is none.

    It is the first clause with a word of the skill, else the first directive, without file names
    and details.
    """
    pattern = _patterns().get(skill)
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
