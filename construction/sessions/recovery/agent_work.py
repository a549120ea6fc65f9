"""What the agent did beyond its file acts: its tools, what its programs made, what it was shown."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from construction.mentions.extensions import extension, is_same_path, is_text, is_tool, tail
from construction.sessions.recovery.exchanges import (
    Exchange,
    acts_of,
    command_of,
    handles_files,
    is_reader,
    runs_program,
)
from construction.sessions.recovery.shell import READ
from construction.sessions.redactions import holds_mark
from data.contracts import KeptText, Role, Session, ToolCall

_MOST_TOOLS = 40
_MOST_FILES = 100
_MOST_CHARS = 400_000  # of one file
_LINE_CUT = 2_000  # characters after which tools cut a line, and lines after which they stop
# A line with its number, as readers of files and `cat -n` write it.
_NUMBERED = re.compile(r"[ \t]{0,8}(\d{1,6})(?:(?:→|\t)(.*))?", re.DOTALL)
_REMINDER = re.compile(r"\n*<system-reminder>.*", re.DOTALL)
# Signs at either end that a tool or an export left something out; whoever writes them in a file
# only keeps it from being taken for whole.
_CUT = re.compile(
    r"(?i)truncated|omitted|too large|more lines|not shown|showing lines|offset"
    r"|\[?\.\.\.\]?\s*$|…\s*$"
)
_RANGES = frozenset(
    {"offset", "limit", "lines", "range", "viewrange", "startline", "endline", "start", "end"}
)
_MARKUP = ("html", "htm", "xhtml", "xml", "svg", "vue")
# Claude Code keeps a long output in a file and says its size, by which a copy proves whole.
_STORED = re.compile(r"\((\d{1,6}\.\d)KB\)\. Full output saved to: (\S{1,1000})")


def tools_called(exchanges: Iterable[Exchange]) -> tuple[str, ...]:
    """The tools that were called, with how often, in the order of their first calls."""
    counts = Counter(
        call.name[:100]
        for exchange in exchanges
        for turn in exchange.answers
        for call in turn.tool_calls
    )
    return tuple(f"{name} ×{count}" for name, count in list(counts.items())[:_MOST_TOOLS])


def other_tools(called: Iterable[str]) -> list[str]:
    """Those of the called tools that do more than handle files or run a shell."""
    return [tool for tool in called if not handles_files(tool.partition(" ×")[0])]


def made_by_programs(session: Session) -> frozenset[str]:
    """The files that the agent read and that a program of its had made, as far as the log tells.

    Such a file was read after a program ran, and its name stands nowhere before that: in no
    message, in no listing, in no other result.
    """
    known: list[str] = [(session.system_prompt or "").casefold()]
    has_run = False
    made: set[str] = set()
    seen: set[str] = set()
    for turn in session.turns:
        if turn.role is Role.USER:
            known += [turn.text.casefold(), *((a.path or "").casefold() for a in turn.attachments)]
        for call in turn.tool_calls:
            for act in acts_of(replace(turn, tool_calls=(call,))):
                is_new = has_run and act.kind == READ and act.path not in seen
                seen.add(act.path)
                if is_new and not any(tail(act.path) in text for text in known):
                    made.add(act.path)
            if runs_program(call):
                has_run = True
            elif not has_run and call.result:
                known.append(call.result.casefold())
    return frozenset(made)


@dataclass(slots=True)
class _Shown:
    """What the log shows of one file until the agent changes it: numbered lines, or its text."""

    path: str
    lines: dict[int, str] = field(default_factory=dict)
    text: str | None = None
    is_open: bool = True  # not yet changed by the agent
    is_seen: bool = False  # the log holds what a call showed of it

    def whole(self, sizes: Mapping[str, str]) -> str | None:
        """The text, if nothing of it is missing as far as can be told."""
        text = self.text
        if text is None and self.lines and set(self.lines) == set(range(1, len(self.lines) + 1)):
            text = "\n".join(self.lines[number] for number in sorted(self.lines))
            is_cut = any(len(line) >= _LINE_CUT for line in self.lines.values())
            # A file ends with an empty line; a part that was asked for seldom does.
            is_ended = not self.lines[len(self.lines)] and len(self.lines) < _LINE_CUT
            size = f"{len(text.encode()) / 1024:.1f}"
            if is_cut or not (is_ended or size == sizes.get(self.path)):
                return None
        if text is None or len(text) > _MOST_CHARS or holds_mark(text) or not is_text(self.path):
            return None
        return None if is_tool(self.path) and self.path not in sizes else text


def shown_files(exchanges: Sequence[Exchange]) -> tuple[tuple[KeptText, ...], tuple[str, ...]]:
    """The text files that the log holds whole, and the paths of files of which it holds a part.

    As they were before the agent, or a program that names them, may have changed them. Tools show
    a file with numbered lines, often in pieces, or plainly: then it counts as whole if it was
    asked for whole and ends with a line.
    """
    seen: list[_Shown] = []
    run: list[str] = []
    for turn in (turn for exchange in exchanges for turn in exchange.answers):
        for call in turn.tool_calls:
            acts = list(acts_of(replace(turn, tool_calls=(call,))))
            for act in acts:
                file = next((f for f in seen if is_same_path(f.path, act.path)), None)
                if file is None and len(seen) < _MOST_FILES:
                    is_named = any(tail(act.path) in words for words in run)
                    seen.append(file := _Shown(act.path, is_open=not is_named))
                if file is not None and act.kind == READ and len(acts) == 1 and file.is_open:
                    _show(file, call)
                elif file is not None and act.kind != READ:
                    file.is_open = False
                if file is not None and act.kind == READ and call.result:
                    file.is_seen = True
            if runs_program(call) or any(act.kind != READ for act in acts):
                run.append(json.dumps(call.arguments, ensure_ascii=False).casefold())
    sizes = dict(_stored(exchanges))
    texts = {file.path: file.whole(sizes) for file in seen if file.is_seen}
    kept = tuple(KeptText(path, text) for path, text in texts.items() if text)
    return kept, tuple(path for path, text in texts.items() if not text)


def _stored(exchanges: Iterable[Exchange]) -> Iterator[tuple[str, str]]:
    """Files of stored outputs, with their size in KB as it was said."""
    for exchange in exchanges:
        results = (call.result or "" for turn in exchange.answers for call in turn.tool_calls)
        for text in (exchange.turn.text, *results):
            for size, path in _STORED.findall(text):
                yield path, size


def _show(file: _Shown, call: ToolCall) -> None:
    """Take in what a call shows of a file."""
    text = _REMINDER.sub("", call.result or "")
    if numbered := {} if extension(file.path) == "tsv" else _numbered(text):
        file.lines = numbered | file.lines  # what was seen first counts
    elif file.text is None and _is_whole(text, file.path) and _asks_for_whole(call):
        file.text = text


def _numbered(text: str) -> dict[int, str]:
    """The lines by their numbers, if all lines have one, rising by one; a heading may go before."""
    lines = text.split("\n")
    if lines and lines[0].endswith(":") and not _NUMBERED.fullmatch(lines[0]):
        lines = lines[1:]
    matches = [_NUMBERED.fullmatch(line) for line in lines]
    listed = [(int(match[1]), match[2]) for match in matches if match]
    if not listed or len(listed) < len(lines) or any(line is None for _, line in listed[:-1]):
        return {}  # an export may have cut the mark off after the number of an empty last line
    first = listed[0][0]
    is_listing = all(number == first + at for at, (number, _) in enumerate(listed))
    return {number: line or "" for number, line in listed} if is_listing else {}


def _is_whole(text: str, path: str) -> bool:
    if not text.strip() or _CUT.search(text[-300:]) or _CUT.search(text[:200]):
        return False
    try:
        is_json = isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        is_json = False
    if is_json or extension(path) == "json":
        return is_json and extension(path) == "json"
    is_wrapped = text.startswith("<") and extension(path) not in _MARKUP
    return text.endswith("\n") and text.count("\n") < _LINE_CUT and not is_wrapped


def _asks_for_whole(call: ToolCall) -> bool:
    """No range is asked for: by a tool that reads files, or as `cat FILE` in a shell."""
    if is_reader(call):
        names = {key.replace("_", "").lower() for key, value in call.arguments.items() if value}
        return names.isdisjoint(_RANGES)
    try:
        words = shlex.split(command_of(call))
    except ValueError:
        return False
    return len(words) == 2 and words[0] == "cat"
