"""Turns that no person typed: heartbeats, schedules, exec notices, memory flushes.

Each opening is as exact as its writer's template, because people talk about these things too
("A cron job fails every night, please look").
"""

from __future__ import annotations

import re

from data.contracts import Origin

_CRON = re.compile(r"\[cron:[^\]\n]{0,300}\]\s*")
_CRON_WORDS = (
    "A scheduled reminder has been triggered",
    "[Scheduled task",
    "[scheduled task",
    "[定时任务",
    "【定时任务",
)
_AGENT_WORDS = ("[Subagent Context]", "[Inter-session message]", "Agent-to-agent ")
_SYSTEM_WORDS = (
    "Read HEARTBEAT.md if it exists",
    "Pre-compaction memory flush",
    "Session nearing compaction",
    "[Post-compaction",
    "A new session was started via ",
    "An async command you ran earlier ",
    "Continue where you left off. The previous ",
    "[System Message]",
    "[system message]",
    "[CONTEXT COMPACTION",
    "[心跳",
    "【心跳",
)
_NOTICE = re.compile(
    r"\[exec\b|exec notice\b|exec (?:completed|finished|failed|denied|started|running) ?\("
    r"|\[(?:openclaw )?heartbeat\b|heartbeat(?: poll| check| tick)?[ \t]*(?:[:：]|[.!]?$)"
    r"|a (?:subagent|background|cron) (?:task|job) \"[^\"\n]{0,300}\" (?:just |has |was )?"
    r"(?:completed|finished|failed|timed out|cancelled)",
    re.IGNORECASE | re.MULTILINE,
)
_HEARTBEAT_REPLY = re.compile(
    r"\breply (?:with )?(?:only |exactly )?[`\"']?HEARTBEAT_OK\b", re.IGNORECASE
)


def strip_cron(text: str) -> str | None:
    """The prompt of a schedule without its `[cron:…]` head; None if it has none."""
    match = _CRON.match(text) if text.startswith("[cron:") else None
    return text[match.end() :] if match else None


def machine_origin(said: str) -> Origin | None:
    """Which machine wrote an unwrapped text, by its fixed opening; None for a person's."""
    if said.startswith(_SYSTEM_WORDS) or _NOTICE.match(said):
        return Origin.SYSTEM
    if said.startswith(_CRON_WORDS):
        return Origin.CRON
    if said.startswith(_AGENT_WORDS):
        return Origin.AGENT
    if "_" in said and "HEARTBEAT_OK" in said and _HEARTBEAT_REPLY.search(said):
        return Origin.SYSTEM
    return None
