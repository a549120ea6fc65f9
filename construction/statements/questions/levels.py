"""Levels of difficulty: which questions are made harder on purpose, and by which means."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from construction.statements.questions.ambiguity import Database
from construction.statements.questions.combining import combined_question
from construction.statements.questions.contracts import (
    Level,
    Question,
    QuestionConfig,
    QuestionReason,
)
from construction.statements.questions.means import Harder, harder_words
from construction.statements.questions.write import write_question
from data.randomness import keyed_order


def leveled(
    questions: Sequence[Question],
    database: Database,
    config: QuestionConfig,
    askable: Collection[str],
    seed: int,
) -> list[Question]:
    """The questions, in their order, with the shares of medium and hard ones of `config.levels`.

    They are taken in a keyed order, so that neither level depends on the order of the input.
    """
    wanted = {
        Level.HARD: math.floor(config.levels.hard * len(questions)),
        Level.MEDIUM: math.floor(config.levels.medium * len(questions)),
    }
    made = dict.fromkeys(wanted, 0)
    final = list(questions)
    for at in keyed_order(seed, "question.level", [one.point_id for one in questions]):
        if made == wanted:
            break
        harder = harder_words(questions[at], database, config)
        if harder is None:
            continue
        level = None
        if made[Level.HARD] < wanted[Level.HARD] and harder.slots.worded:
            level = combined_question(questions[at], harder, database, config, askable, seed)
        if level is None and made[Level.MEDIUM] < wanted[Level.MEDIUM]:
            level = _medium(questions[at], harder, database, config, seed)
        if level is not None:
            final[at] = level
            made[level.level] += 1
    return final


def _medium(
    question: Question, harder: Harder, database: Database, config: QuestionConfig, seed: int
) -> Question | None:
    written = write_question(harder.slots, database, config, seed, harder.period)
    if isinstance(written, QuestionReason):
        return None
    return replace(
        question,
        text=written.text,
        guideline=written.guideline,
        answer=written.amount.answer,
        gold=written.amount.gold,
        sharpened=tuple(harder.slots.sharpened),
        level=Level.MEDIUM,
        means=harder.means,
    )


def level_counts(questions: Sequence[Question], config: QuestionConfig) -> Mapping[str, Any]:
    """The shares asked for, the questions of each level, and how often each means was used."""
    levels = Counter(str(question.level) for question in questions)
    means = Counter(str(kind) for question in questions for kind in question.means)
    return {
        "shares": {"medium": config.levels.medium, "hard": config.levels.hard},
        "questions": {str(level): levels[str(level)] for level in Level},
        "means": dict(sorted(means.items())),
    }
