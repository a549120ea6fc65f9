"""Removes blocks that gateways insert, and recognises turns that no person typed.

The blocks are metadata fences, `System:` notices, chat history, queues, quoted replies and
extracted files. Their beginnings are found by plain search, and a block that is not closed ends
the search, so that hostile text takes only linear time.

Machine turns are heartbeats, schedules, exec notices and memory flushes. Their openings match the
writer's template exactly, because people talk about these things, too ("A cron job fails every
night, please look").
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from construction.sessions.wrappers.envelope import Envelope, read_clock
from data.contracts import Attachment, Origin

# "Conversation info (untrusted metadata):" and a fence; also "Sender", "Chat history since last
# reply", "Replied message" and "Thread starter".
_METADATA = re.compile(
    r"^[A-Z][A-Za-z /-]{0,60}\([^()\n]{0,60}(?:untrusted|for context)[^()\n]{0,60}\):[ \t]*\n"
    r"(```(?:json)?[ \t]*\n)?",
    re.MULTILINE,
)
_CURRENT = "[Current message - respond to this]"
_HISTORY = "[Chat messages since your last reply - for context]"
_QUEUE = re.compile(
    r"^(?:\[Queued messages while agent was busy\]|---\s*\nQueued #\d{1,4}\b.*)\n?", re.M
)
_NOTICE = re.compile(r"System(?: \(untrusted\))?: ?\[[^\]\n]{0,80}\] ?")
_PREVIEW = re.compile(
    r"\w{2,20}(?:\[[^\]\n]{0,40}\])? (?:DM|message)\b[^:：\n]{0,200}(?:[:：][ \t]?([^\n]*))?"
)
_REPLY = re.compile(
    r"^\[(?:Replying to|Quoted|Quoting|In reply to|Forwarded reply)\b[^\]\n]{0,200}\]\n", re.M
)
_REPLY_END = re.compile(r"^\[/(?:Replying|Quoted|Quoting|Reply)\][ \t]*\n?", re.M)
_REPLY_LINE = re.compile(r"^\[(?:引用|回复|Reply to|In reply to)\s?[^\]\n]{1,400}\][ \t]*\n?", re.M)
_RULE = re.compile(r"\n(?:(?:[-—–] ?){5,})[ \t]*\n")
_FILE = re.compile(
    r"<file\b[^>\n]{0,100}?\bname=\"([^\"\n]{1,300})\"(?:[^>\n]{0,60}?mime=\"([^\"\n]{1,100})\")?[^>\n]{0,200}>"
)
_SENDER_KEYS = ("sender", "name", "label", "username", "sender_id", "id")
_CHANNEL_KEYS = ("group_channel", "group_subject", "channel", "provider", "surface")


def strip_blocks(text: str, envelope: Envelope) -> str:
    """The text without these blocks; the names, channel and time in them go to `envelope`."""
    if "(" in text and ("untrusted" in text or "for context)" in text):
        text = _strip_metadata(text, envelope)
    if "[" in text:
        text = _strip_bracketed_blocks(text)
    if "#" in text and "Queued #" in text:
        text = _QUEUE.sub("", text)
    if "<" in text and "</file>" in text:
        text = _strip_files(text, envelope)
    if text.startswith("「") and (rule := _RULE.search(text)) is not None:
        quoted = text[: rule.start()]
        text = text[rule.end() :] if quoted.rstrip().endswith("」") else text
    return text


def _strip_metadata(text: str, envelope: Envelope) -> str:
    kept: list[str] = []
    position = 0
    for match in _METADATA.finditer(text):
        if match.start() < position:
            continue
        closing = "\n```" if match[1] else "\n\n"  # unfenced blocks end at a blank line
        end = text.find(closing, match.end() - 1)
        if end < 0:
            break
        kept.append(text[position : match.start()])
        position = end + len(closing)
        _note_metadata(text[match.end() : end], envelope)
    return "".join(kept) + text[position:].lstrip() if position else text


def _note_metadata(raw: str, envelope: Envelope) -> None:
    try:
        data = orjson.loads(raw.encode("utf-8", "replace"))
    except orjson.JSONDecodeError:
        return
    if not isinstance(data, dict):
        return  # the chat history is a list: messages of others say nothing about this one
    clock = read_clock(str(data.get("timestamp", "")).split())
    envelope.note(_first_text(data, _SENDER_KEYS), _first_text(data, _CHANNEL_KEYS), clock)


def _first_text(data: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    values = (data.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)


# What a harness writes before a person's words, or in their place: blocks about the machine, the
# editor, the tools or the session, events of its own, and a skill that was called.
_TAGS = (
    "available_skills", "environment_context", "environment_details", "manually_attached_skills",
    "mcp_meta_tools", "open_and_recently_viewed_files", "session_context", "state_snapshot",
    "system_reminder", "system-reminder", "uploaded_files", "user_info",
)  # fmt: skip
_LEADING = re.compile(
    rf'\s*(?:<({"|".join(_TAGS)})>|<(skill) name="|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>)'
)
_INTERNAL_END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"


def strip_leading(text: str) -> str:
    """The text without the blocks of a harness at its start."""
    position = 0
    while (opening := _LEADING.match(text, position)) is not None:
        tag, skill = opening.groups()
        closing = f"</{tag}>" if tag else "\n</skill>" if skill else _INTERNAL_END
        end = text.find(closing, opening.end())
        if end < 0:
            break
        position = end + len(closing)
    return text[position:].lstrip() if position else text


def strip_notices(text: str, envelope: Envelope) -> tuple[str, bool]:
    """(text without the `System:` lines at its start, whether there were any).

    A notice about an incoming message repeats the message's first lines. They are removed if the
    message follows; otherwise they are the message.
    """
    if not text.startswith("System"):
        return text, False
    position = 0
    while (match := _NOTICE.match(text, position)) is not None:
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        incoming = _PREVIEW.match(text, match.end(), end)
        if incoming is not None:
            envelope.preview = incoming[1] or ""
        position = min(end + 1, len(text))
    if not position:
        return text, False
    rest = _strip_repeated(text[position:])
    return (rest if rest.strip() else envelope.preview), True


def _strip_repeated(rest: str) -> str:
    """Drop the further lines of a notice, which the message after a blank line repeats."""
    head, blank, body = rest.partition("\n\n")
    if blank and head and all(line.strip() in body for line in head.split("\n", 50)):
        return body
    return rest


def _strip_files(text: str, envelope: Envelope) -> str:
    """Take out `<file name="…">content</file>`: the person sent the file, but did not type it."""
    kept: list[str] = []
    position = 0
    for match in _FILE.finditer(text):
        if match.start() < position:
            continue
        end = text.find("</file>", match.end())
        if end < 0:
            break
        envelope.attachments.append(Attachment(match[1], match[2]))
        kept.append(text[position : match.start()])
        position = end + len("</file>")
    return "".join(kept) + text[position:]


def _strip_bracketed_blocks(text: str) -> str:
    """Take off the history that a gateway adds, and a chat window's quotation above a reply."""
    if _CURRENT in text:
        text = text[text.rindex(_CURRENT) + len(_CURRENT) :]
    elif _HISTORY in text:
        text = text.replace(_HISTORY, "", 1)
    if (opening := _REPLY.search(text)) is not None:
        closing = _REPLY_END.search(text, opening.end())
        if closing is not None:
            text = text[: opening.start()] + text[closing.end() :]
    return _REPLY_LINE.sub("", text)


_CRON = re.compile(r"\[cron:[^\]\n]{0,300}\]\s*")
_CRON_WORDS = (
    "A scheduled reminder has been triggered",
    "[Scheduled task",
    "[scheduled task",
    "[定时任务",
    "【定时任务",
)
# The beginnings of texts of a coding harness that no person wrote to the agent: slash commands and
# their output, shell escapes, notices, the texts of skills.
_HARNESS_WORDS = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<user-memory-input>",
    "<user-prompt-submit-hook>",
    "<task-notification>",
    "<system_notification>",
    "Base directory for this skill: ",
    "<turn_aborted>",
    "[Request interrupted by user",
    "Caveat: The messages below were generated by the user while running local commands.",
    "This session is being continued from a previous conversation that ran out of context",
)
# What a hook answered: "Stop hook feedback:", with its words or its command on the next line.
_HOOK = re.compile(
    r"[A-Z][A-Za-z]{2,40}(?::[\w.|*/-]{1,80})? (?:hook (?:feedback|additional context|success|error"
    r"|stopped continuation|blocking error[^\n]{0,300}?)|operation blocked by hook):"
    r"(?=[ \t]*(?:\n|\[|$))"
)
_COMMAND_CHARS = 2000
# Those of an MCP server and of some plugins have words in brackets behind their name.
_COMMAND = re.compile(
    r"<command-name>\s*/?([\w:./@-]{1,80})(?: \([^()<>\n]{1,40}\))?\s*</command-name>"
)
# Commands of coding harnesses that are about the program itself. Others are written by a person.
_BUILT_IN = frozenset({
    "add-dir", "agents", "allowed-tools", "app", "bashes", "bug", "checkpoint", "chrome", "clear",
    "color", "compact", "config", "context", "copy", "cost", "desktop", "diff", "doctor", "effort",
    "exit", "export", "extra-usage", "fast", "feedback", "help", "hooks", "ide", "init",
    "install-github-app", "keybindings", "login", "logout", "mcp", "memory", "mobile", "model",
    "output-style", "passes", "permissions", "plan", "plugin", "privacy-settings", "quit",
    "release-notes", "reload-plugins", "remote-control", "remote-env", "rename", "resume", "rewind",
    "sandbox", "skills", "stats", "status", "statusline", "stickers", "tasks", "terminal-setup",
    "theme", "todos", "tui", "upgrade", "usage", "vim", "voice",
})  # fmt: skip
_ASKING = frozenset({"plan"})  # built in, and followed by what is to be planned
_AGENT_WORDS = ("[Subagent Context]", "[Inter-session message]", "Agent-to-agent ")
_SYSTEM_WORDS = (
    "Read HEARTBEAT.md if it exists",
    "Pre-compaction memory flush",
    "Session nearing compaction",
    "[Post-compaction",
    "A new session was started via ",
    "Briefly inform the user about the task result and perform any",
    "This is the Gemini CLI. We are setting up the context",
    "An async command you ran earlier ",
    "Continue where you left off. The previous ",
    "[System Message]",
    "[system message]",
    "[CONTEXT COMPACTION",
    "[心跳",
    "【心跳",
)
# What `/init` of a coding harness asks in the person's place.
_INIT = re.compile(r"`?Please analyze this codebase and create an? [*`]{0,2}[A-Z]{2,20}\.md\b")
_MACHINE_NOTICE = re.compile(
    r"\[exec\b|exec notice\b|exec (?:completed|finished|failed|denied|started|running) ?\("
    r"|\[(?:openclaw )?heartbeat\b|heartbeat(?: poll| check| tick)?[ \t]*(?:[:：]|[.!]?$)"
    r"|unknown (?:skill|(?:slash )?command): /?[\w:.-]{1,80}\s*\Z"
    r"|a (?:subagent|background|cron) (?:task|job) \"[^\"\n]{0,300}\" (?:just |has |was )?"
    r"(?:completed|finished|failed|timed out|cancelled)",
    re.IGNORECASE | re.MULTILINE,
)
_HEARTBEAT_REPLY = re.compile(
    r"\breply (?:with )?(?:only |exactly )?[`\"']?HEARTBEAT_OK\b", re.IGNORECASE
)


def strip_cron(text: str) -> str | None:
    """The prompt of a schedule without its `[cron:…]` head; None if there is no such head."""
    match = _CRON.match(text) if text.startswith("[cron:") else None
    return text[match.end() :] if match else None


def is_of_harness(said: str) -> bool:
    """Has the text the beginning of one that a coding harness wrote in a person's place?"""
    if said.startswith("<command-"):
        return not calls_own_command(said)
    return said.startswith(_HARNESS_WORDS) or _HOOK.match(said) is not None


def calls_own_command(text: str) -> bool:
    """Does a harness's text call a command that a person wrote, and not one about the program?

    A built-in one that takes a request, and was given one, counts as written by the person.
    """
    command = _COMMAND.search(text[:_COMMAND_CHARS]) if "<command-name>" in text else None
    if command is None:
        return False
    name = command[1].lower()
    return name not in _BUILT_IN or (name in _ASKING and len(_arguments(text).split()) > 1)


def typed_command(text: str) -> str:
    """What a person typed of a command of their own: its name and the words after it."""
    command = _COMMAND.search(text[:_COMMAND_CHARS])
    return f"/{command[1]} {_arguments(text)}".strip() if command is not None else text


def _arguments(text: str) -> str:
    return text.partition("<command-args>")[2].rpartition("</command-args>")[0].strip()


def machine_origin(said: str) -> Origin | None:
    """The origin of an unwrapped text with the opening of a machine's template, else None."""
    if is_of_harness(said) or said.startswith(_SYSTEM_WORDS):
        return Origin.SYSTEM
    if _MACHINE_NOTICE.match(said) or _INIT.match(said):
        return Origin.SYSTEM
    if said.startswith(_CRON_WORDS):
        return Origin.CRON
    if said.startswith(_AGENT_WORDS):
        return Origin.AGENT
    if "_" in said and "HEARTBEAT_OK" in said and _HEARTBEAT_REPLY.search(said):
        return Origin.SYSTEM
    return None
