"""The preflight gate: is what is left of an instance solvable as written?

A released task must be a request that a newcomer can meet from the prompt, the input files and
the listed URLs. Much of what people type to an agent is no such thing: replies inside a
conversation, small talk, orders that need an account or yesterday's screen. The gate counts
the demands of the prompt and what prevents each (`signals`), and passes only if most of
them can be met. It prefers to lose a good task over releasing a bad one.
"""

from __future__ import annotations

from dataclasses import asdict

from construction.judging.conversation import Conversation
from construction.judging.missing import missing_in_preflight
from construction.judging.preflight_limits import LIMITS, PreflightReason
from construction.judging.signals import Signals, measure
from data.contracts import Count, Gate, Scalar, Share, StageConfig

_OPENING = 3  # sentences in which a reference to an earlier talk makes the rest hang in the air


class PreflightConfig(StageConfig):
    """Limits of the gate; all shares are of the prompt's demands, 0 to 1."""

    min_words: Count = 4
    max_missing_share: Share = 0.34
    min_opinion_words: Count = 12
    min_later_words: Count = 8
    max_live_share: Share = 0.34
    max_leaning_share: Share = 0.34
    min_met_share: Share = 0.6
    max_mentions_share: Share = 0.15
    max_harness_words: Count = 1
    max_setup_share: Share = 0.5
    max_account: Count = 0
    max_systems: Count = 0
    max_records: Count = 0
    min_thread_words: Count = 120
    min_thread_words_with_files: Count = 20


def measures(signals: Signals) -> dict[str, Scalar]:
    """What is recorded of the signals.

    `status` counts only where one person writes; `account` and `elsewhere` count in all that the
    person typed, the latter for talk of the workspace only if no file is at hand. `inputs` are
    the files that the agent read, `missing_inputs` those of them that are not released. `systems`
    are wanted and nothing stands for them, `records` are to be gathered and no file can hold them;
    `offline` parts of the web may not be reached. `told` counts words of request and background.
    """
    conversation, opening, demands = signals.conversation, signals.opening, signals.demands
    has_past = bool(conversation.said_before)
    at_hand = signals.has_files or signals.has_material
    return {
        "words": signals.words,
        "sentences": signals.sentences,
        "chatter": signals.chatter,
        "demands": demands.count,
        "status": signals.status if conversation.people < 2 else 0,
        "account": signals.account_said,
        "elsewhere": signals.past_sessions_said + (0 if at_hand else signals.workspace_said),
        "live": demands.live,
        "leaning": demands.leaning,
        "mentions": signals.mentions,
        "opinions": demands.opinions,
        "met": demands.met,
        "has_past": has_past,
        "answers": opening.answers or opening.first_leaning == 0,
        "opens_midway": opening.leans_within(_OPENING)
        or (has_past and opening.replies)
        or (opening.dangles and (has_past or not (at_hand or signals.has_background))),
        "inputs": conversation.files_read,
        "missing_inputs": len(conversation.files_missing),
        **_lacking(conversation),
        "people": conversation.people,
        "thread": conversation.is_thread,
        "told": signals.words_shown,
        "at_hand": at_hand,
        **asdict(signals.no_work),
    }


def _lacking(conversation: Conversation) -> dict[str, Scalar]:
    """What the request needs and the task lacks; the last two count words that depend on it."""
    return {
        "systems": len(conversation.systems_missing),
        "records": len(conversation.records_missing),
        "offline": len(conversation.offline),
        "missing_objects": len(conversation.objects_missing),
        "unknown_days": len(conversation.day_unknown),
        "unknown_askers": len(conversation.asker_unknown),
    }


GATE = Gate(
    name="preflight",
    stage="package",
    section="sessions.preflight",
    meaning="Could a newcomer do it as written, with the files and URLs that are released?",
    config=PreflightConfig,
    reasons=PreflightReason,
    measure=measure,
    measures=measures,
    missing=missing_in_preflight,
    limits=LIMITS,
)
