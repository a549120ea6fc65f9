"""The registry of formats: each with its signature and its reader; detects and reads a file."""

from __future__ import annotations

import re
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from construction.sessions.readers import (
    aider,
    atif,
    benchmark_runs,
    chat,
    claude_code,
    cline,
    codex,
    coding_agents,
    copilot,
    cursor,
    frameworks,
    gemini,
    goose,
    kimi,
    markdown,
    openai_responses,
    openclaw,
    opencode,
    openhands,
    sqlite_store,
    swe_agent,
    tracers,
)
from construction.sessions.readers.source import (
    LARGEST_DOCUMENT,
    Head,
    Sample,
    SourceFile,
    first_records,
    opened_text,
    read_head,
)
from construction.sessions.readers.talk import dicts, kind_of
from data.contracts import ReadIssue, Session, SourceFormat

_Record = dict[str, Any]
_Reader = Callable[[SourceFile], Iterator[Session | ReadIssue]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its signature, which `fits` tests and its docstring states, and its reader.

    `parts` lists the files of a session that lies in several, the one that stands for it first.
    """

    name: SourceFormat
    fits: Callable[[Sample], bool]
    read: _Reader
    parts: Callable[[Path], Sequence[Path]] | None = None
    signed: str = ""

    @property
    def signature(self) -> str:
        """What must be present for a file to be of this format."""
        return self.signed or " ".join((self.fits.__doc__ or "").split()).removesuffix(".")


@dataclass(frozen=True, slots=True)
class Named:
    """A kind of file that is known and not read; `why` says by what it is known.

    `is_part`: a program writes it beside its sessions, which are read.
    """

    name: str
    why: str
    fits: Callable[[Sample], bool]
    is_part: bool = False


class _Module(Protocol):
    """A module of one reader."""

    def fits(self, sample: Sample, /) -> bool: ...
    def read(self, source: SourceFile, /) -> Iterator[Session | ReadIssue]: ...


def _of(
    name: SourceFormat, module: _Module, parts: Callable[[Path], Sequence[Path]] | None = None
) -> Format:
    return Format(name, module.fits, module.read, parts)


def _has(*keys: str) -> Callable[[Sample], bool]:
    wanted = frozenset(keys)
    return lambda sample: any(wanted <= record.keys() for record in sample.records)


def _has_table(*columns: str) -> Callable[[Sample], bool]:
    wanted = frozenset(columns)
    return lambda sample: any(wanted <= held for held in sample.tables.values())


def _is_export_of(app: str) -> Callable[[Sample], bool]:
    return lambda sample: any(kind_of(r, "app").lower() == app for r in sample.records)


def _is_openclaw_index(sample: Sample) -> bool:
    """A map from session keys to facts about the sessions."""
    entries = list(sample.head.values())
    return bool(entries) and all(
        isinstance(entry, dict) and "sessionId" in entry and "updatedAt" in entry
        for entry in entries
    )


def _is_grok(sample: Sample) -> bool:
    kinds = {"system", "user", "assistant", "reasoning", "tool_result"}
    foreign = {"uuid", "sessionId", "timestamp", "message", "role"}
    return any(
        "chat_format_version" in record
        or (kind_of(record) in kinds and "content" in record and not foreign & record.keys())
        for record in sample.records
    )


_SQLITE = b"SQLite format 3\x00"
_ENTIRE = ("content_hash.txt", "prompt.txt", "context.md", "metadata.json")


def _is_entire(sample: Sample) -> bool:
    path = sample.source.path
    if {"checkpoint_id", "cli_version"} <= sample.head.keys():
        return True
    return path.name in _ENTIRE and path.with_name("full.jsonl").is_file()


def _is_kimi_state(sample: Sample) -> bool:
    head, is_named = sample.head.keys(), sample.source.path.name == "state.json"
    return {"agents", "workDir"} <= head or (is_named and {"version", "approval"} <= head)


def _is_beside_database(sample: Sample) -> bool:
    """What SQLite keeps beside a database that is in use."""
    path = sample.source.path
    base, dash, kind = path.name.rpartition("-")
    if not dash or kind not in ("wal", "shm"):
        return False
    with suppress(OSError), path.with_name(base).open("rb") as handle:
        return handle.read(len(_SQLITE)) == _SQLITE
    return False


def _is_harbor(sample: Sample) -> bool:
    head = sample.head
    return {"task_name", "trial_name"} <= head.keys() or {"n_total_trials", "stats"} <= head.keys()


def _is_browser_use(sample: Sample) -> bool:
    steps = dicts(sample.head.get("history"))
    return any({"model_output", "result", "state"} <= step.keys() for step in steps[:5])


def _is_trajectory(sample: Sample) -> bool:
    named = sample.source.relative.endswith(".trajectory.jsonl")
    return named or any("traceSchema" in record for record in sample.records)


_MARKDOWN: tuple[Format | Named, ...] = tuple(
    Format(form.format, form.fits, form.read, signed=form.signature) for form in markdown.FORMS
)
# The first that fits is taken: a later signature may assume that those before it do not hold.
FORMATS: tuple[Format | Named, ...] = (
    _of(SourceFormat.AIDER, aider),
    *_MARKDOWN,
    _of(SourceFormat.ATIF, atif, atif.parts),
    Named(
        "sqlite_log",
        "SQLite keeps it next to a database, and it is read with that",
        _is_beside_database,
        is_part=True,
    ),
    Named("openclaw_trajectory", "traceSchema, or a name in .trajectory.jsonl", _is_trajectory),
    Format(SourceFormat.INSPECT, benchmark_runs.fits_inspect, benchmark_runs.read_inspect),
    Named(
        "harbor_result",
        "a trial's or job's result: agent/trajectory.json has the session",
        _is_harbor,
    ),
    Named(
        "entire_checkpoint",
        "facts about an Entire checkpoint: full.jsonl has the session",
        _is_entire,
        is_part=True,
    ),
    _of(SourceFormat.CODEX, codex),
    Format(SourceFormat.CODEX_EXEC, codex.fits_exec, codex.read_exec),
    Format(
        SourceFormat.MANAGED_AGENTS, frameworks.fits_managed_agents, frameworks.read_managed_agents
    ),
    Format(SourceFormat.CONTINUE, coding_agents.fits_continue_dev, coding_agents.read_continue_dev),
    Format(SourceFormat.VSCODE_CHAT, copilot.fits_vscode, copilot.read_vscode),
    Format(SourceFormat.OTEL_GENAI, tracers.fits_genai, tracers.read_genai),
    Format(SourceFormat.OPENINFERENCE, tracers.fits_openinference, tracers.read_openinference),
    Format(SourceFormat.LANGSMITH, tracers.fits_langsmith, tracers.read_langsmith),
    Format(SourceFormat.LANGFUSE, tracers.fits_langfuse, tracers.read_langfuse),
    Format(SourceFormat.QWEN, gemini.fits_qwen, gemini.read_qwen),
    _of(SourceFormat.GEMINI, gemini),
    Named(
        "kimi_state",
        "a session's state: wire.jsonl or context.jsonl has the session",
        _is_kimi_state,
        is_part=True,
    ),
    _of(SourceFormat.KIMI, kimi),
    Format(SourceFormat.COPILOT_CLI, copilot.fits_cli, copilot.read_cli),
    Format(SourceFormat.DROID, coding_agents.fits_droid, coding_agents.read_droid),
    Format(
        SourceFormat.ANTIGRAVITY, coding_agents.fits_antigravity, coding_agents.read_antigravity
    ),
    Format(SourceFormat.AUTOGEN, frameworks.fits_autogen, frameworks.read_autogen),
    _of(SourceFormat.OPENHANDS, openhands, openhands.parts),
    Format(SourceFormat.ADK, frameworks.fits_adk, frameworks.read_adk),
    _of(SourceFormat.OPENCODE, opencode, opencode.parts),
    Format(SourceFormat.KIRO, coding_agents.fits_kiro, coding_agents.read_kiro),
    Named("kiro_history", "conversation_id and history", _has("conversation_id", "history")),
    _of(SourceFormat.SWE_AGENT, swe_agent),
    Format(SourceFormat.MINI_SWE_AGENT, swe_agent.fits_mini, swe_agent.read_mini),
    Format(SourceFormat.TAU2, benchmark_runs.fits_tau2, benchmark_runs.read_tau2),
    Format(SourceFormat.TERMINUS, benchmark_runs.fits_terminus, benchmark_runs.read_terminus),
    Format(SourceFormat.TRAE, coding_agents.fits_trae, coding_agents.read_trae),
    Format(SourceFormat.AMP, coding_agents.fits_amp, coding_agents.read_amp),
    _of(SourceFormat.GOOSE, goose),
    _of(SourceFormat.CLINE, cline),
    Format(SourceFormat.VERCEL_AI, frameworks.fits_vercel_ai, frameworks.read_vercel_ai),
    _of(SourceFormat.OPENAI_RESPONSES, openai_responses),
    _of(SourceFormat.CURSOR, cursor),
    Named("openclaw_index", "a map of session IDs", _is_openclaw_index),
    _of(SourceFormat.OPENCLAW, openclaw),
    Named("claude_code_meta", "a sub-agent's description", _has("agentType"), is_part=True),
    Named("grok", "chat history without IDs", _is_grok),
    _of(SourceFormat.CLAUDE_CODE, claude_code),
    Named("chatgpt_export", "a mapping of nodes", _has("mapping", "current_node")),
    Format(SourceFormat.HERMES, chat.fits_hermes, chat.read_hermes),
    _of(SourceFormat.CHAT, chat),
    Named("tau2_voice", "a speech simulation, in ticks", _has("task_id", "ticks")),
    Named("browser_use", "browser steps without the request", _is_browser_use),
    Named(
        "who_and_when",
        "a team's history whose roles are agent names, with a failure label",
        _has("history", "mistake_agent"),
    ),
    Named("windsurf", "its app name", _is_export_of("windsurf")),
    Named(
        "continue_index",
        "a list of sessions, each in its own file",
        _has("sessionId", "title", "dateCreated"),
        is_part=True,
    ),
    Named(
        "crewai",
        "tasks with their outputs but no conversation",
        _has("task", "agent", "status", "timestamp"),
    ),
    Named("langgraph", "checkpoints of threads in SQLite", _has_table("thread_id", "checkpoint")),
    Named("zed", "compressed threads in SQLite", _has_table("summary", "data_type", "data")),
    *(
        Format(store.format, store.fits, store.read, sqlite_store.parts, store.signature)
        for store in sqlite_store.STORES
    ),
    Named(
        "editor_state",
        "an editor's state without conversations: Cursor keeps them in globalStorage/state.vscdb",
        lambda sample: "ItemTable" in sample.tables,
    ),
)
_MAGIC = (
    (_SQLITE, "sqlite"),
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_NO_LOG = "not_a_session_log"
_NO_LOGS = frozenset({_NO_LOG, "empty"})
_SAMPLED = 40  # items of a list
_TEXT = 4096  # characters


@dataclass(frozen=True, slots=True)
class _Detection:
    """The kind of a file (`name`), its format if it is read, and the evidence."""

    format: SourceFormat | None
    name: str
    why: str
    entry: Format | None = None
    is_part: bool = False


def detect(source: SourceFile) -> _Detection:
    """Detect the format by the first signature that fits.

    Raises:
        OSError: the file cannot be read.
    """
    head = read_head(source)
    if not head.start:
        return _Detection(None, "empty", "no bytes but white space")
    magic = next((name for magic, name in _MAGIC if head.start.startswith(magic)), None)
    if magic is None and head.is_too_large:
        limit = f"one JSON document of more than {LARGEST_DOCUMENT // 2**20} MiB"
        return _Detection(None, "document_too_large", limit)
    sample, damage = _inside(source, magic) if magic else (_sampled(source, head), "")
    try:
        entry = next((entry for entry in FORMATS if entry.fits(sample)), None)
    except Exception as error:  # what a file holds must not stop the other files
        return _Detection(None, "unreadable", f"{type(error).__name__} at its beginning")
    if isinstance(entry, Format):
        return _Detection(entry.name, str(entry.name), entry.signature, entry)
    if entry is not None:
        return _Detection(None, entry.name, entry.why, is_part=entry.is_part)
    if magic is not None:
        held = f"tables {_named(sample.tables)}" if sample.tables else damage or "its first bytes"
        return _Detection(None, magic, held)
    lines = head.record is not None
    if not lines and head.document is None:
        return _Detection(None, _NO_LOG, "neither JSON lines nor a JSON document")
    kind = "JSON lines" if lines else "a list" if sample.is_list else "a JSON document"
    return _Detection(None, _NO_LOG, f"{kind} that no signature fits{_described(sample)}")


def _sampled(source: SourceFile, head: Head) -> Sample:
    """What a signature may look at in a text: its first objects, or its beginning."""
    if head.record is not None:
        # A page that quotes an object is no log of lines.
        text = "" if head.start[:1] in (b"{", b"[") else _beginning(source.path)
        return Sample(source, tuple(first_records(source)), text=text)
    if isinstance(head.document, list):
        items = [item for item in head.document[:_SAMPLED] if isinstance(item, dict)]
        return Sample(source, tuple(items), is_list=True)
    if isinstance(head.document, dict):
        return Sample(source, (head.document,))
    return Sample(source, text=_beginning(source.path))


def _described(sample: Sample) -> str:
    """What the first objects hold, so that a person can tell what they are."""
    keys = dict.fromkeys(key for record in sample.records for key in record)
    kinds = dict.fromkeys(filter(None, map(kind_of, sample.records)))
    described = f", with {_named(keys)}" if keys else ""
    return f"{described}; types {_named(kinds)}" if kinds else described


def _named(names: Iterable[str]) -> str:
    """The names that programs give; others may be a person's, and are only counted."""
    listed = list(names)
    own = [name for name in listed if _OWN_NAME.fullmatch(name)][:_MOST_NAMES]
    others = len(listed) - len(own)
    return ", ".join(own + ([f"{others} others"] if own else [f"{others} names"]) * bool(others))


_OWN_NAME = re.compile(r"[a-z_$][A-Za-z0-9_.:-]{0,39}")
_MOST_NAMES = 12


def _beginning(path: Path) -> str:
    with opened_text(path) as handle:
        return handle.read(_TEXT).replace("\r\n", "\n")


def _inside(source: SourceFile, magic: str) -> tuple[Sample, str]:
    """What a signature may look at inside a database or an archive, and what is wrong with it."""
    empty = Sample(source)
    try:
        if magic == "sqlite":
            return replace(empty, tables=sqlite_store.tables_of(source.path)), ""
        if magic == "zip":
            with zipfile.ZipFile(source.path) as archive:
                return replace(empty, names=tuple(archive.namelist())), ""
    except (sqlite3.Error, zipfile.BadZipFile, ValueError, NotImplementedError):
        return empty, "cut off or damaged"
    return empty, ""


def parts_of(source_format: SourceFormat, path: Path) -> Sequence[Path]:
    """The files of the session that a file belongs to, its own head first; none if it is alone."""
    listers = (e.parts for e in FORMATS if isinstance(e, Format) and e.name is source_format)
    return next((files for parts in listers if parts and (files := parts(path))), ())


_BY_NAME: Mapping[SourceFormat, Format] = {
    entry.name: entry for entry in reversed(FORMATS) if isinstance(entry, Format)
}
_EXPECTED = "a log of " + ", ".join(SourceFormat)


def read_source(
    source: SourceFile, forced: SourceFormat | None = None
) -> Iterator[Session | ReadIssue]:
    """The sessions of a file, and an issue for each unreadable line, record or file.

    Every file yields at least one item; one of an unsupported format yields an issue of unit
    `file` that names the format. `forced` is a format to assume where the file fits no other of
    that name. No content of a file makes this raise.
    """
    is_empty = True
    try:
        detection = detect(source)
        entry = detection.entry
        if forced is not None and (entry is None or entry.name is not forced):
            entry = _BY_NAME[forced]
        if entry is None:
            yield _unread(source, detection.name, detection.why)
            return
        for item in entry.read(source):
            is_empty = False
            yield item
    except OSError as error:
        yield _failed(source, "file.unreadable", f"{type(error).__name__} {error.errno}")
        return
    except Exception as error:
        # Input that a reader does not expect must not stop the other files. The ledger shows the
        # failure, but not the error message, which may contain text of the file.
        yield _failed(source, "file.reader_failed", f"{type(error).__name__} in the reader")
        return
    if is_empty:
        yield _failed(source, "file.no_session", f"no session for the {entry.name} reader")


def _unread(source: SourceFile, name: str, why: str) -> ReadIssue:
    reason = f"file.{name}" if name in _NO_LOGS else "file.unsupported"
    return _failed(source, reason, f"{name} ({why})")


def _failed(source: SourceFile, reason: str, description: str) -> ReadIssue:
    return ReadIssue("file", source.relative, 0, reason, description, _EXPECTED)
