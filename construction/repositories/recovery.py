"""Sessions over a repository as tasks: what ended each, where it began, what was asked."""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath

from construction.repositories.contracts import (
    CONFIDENCE,
    BaseCommit,
    Edit,
    EvidenceKind,
    RepositoriesConfig,
    RepositoryReason,
    Said,
    Speaker,
)
from construction.repositories.git import Commit, Store
from construction.sessions.readers.registry import read_source
from construction.sessions.readers.source import SourceFile
from data.contracts import Origin, Session, ToolCall, Turn

# What an agent changed and read, as its log has it: edits to replay, lines that were shown.

# Tools that edit, by the names of their arguments: path, whole content; path, old text, new text.
_PATHS = ("file_path", "filePath", "path", "absolute_path", "target_file", "filename")
_CONTENTS = ("content", "contents", "file_text", "file_content")
_OLD = ("old_string", "oldString", "old_str", "oldText", "old")
_NEW = ("new_string", "newString", "new_str", "newText", "new")
# Names of tools, in small letters and without `_`.
_EDITORS = frozenset(
    {"write", "writefile", "createfile", "edit", "multiedit", "replace"}
    | {"searchreplace", "fileeditor"}
)
_REPLACES = "strreplace"  # so begin `str_replace_editor` and its like
_READERS = frozenset(("read", "readfile", "view", "openfile"))
_PATCHES = frozenset(("applypatch", "patch"))
_ENVELOPE = re.compile(r"\*\*\* Begin Patch\n(.*?)\n\*\*\* End Patch", re.DOTALL)
_SECTION = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_NUMBERED = re.compile(r"^\s*(\d{1,6})(?:→|\t|\| ?|: )(.*)$")
_LEAST_SHOWN = 5  # lines that a reading must show to be evidence

Files = dict[str, str | None]  # the contents of a tree while edits are replayed; None: no such file


def edits_of(call: ToolCall, root: str | None) -> Iterator[Edit]:
    """The edits of one call that succeeded, with paths relative to the working folder."""
    if call.is_error:
        return
    arguments = call.arguments
    command = arguments.get("command")
    if _tool(call) in _PATCHES or "*** Begin Patch" in str(arguments.get("cmd", command)):
        for text in map(str, arguments.values()):
            yield from _patched(text, root)
        return
    path = _relative(_first(arguments, _PATHS), root)
    if path is None or not (_tool(call) in _EDITORS or _tool(call).startswith(_REPLACES)):
        return
    if isinstance(arguments.get("edits"), list):
        for item in arguments["edits"]:
            if isinstance(item, Mapping):
                yield from _replacement(path, item)
        return
    content = _first(arguments, _CONTENTS)
    if content is not None and command in (None, "create"):
        yield Edit(path, content=content)
    else:
        yield from _replacement(path, arguments)


def _replacement(path: str, arguments: Mapping[str, object]) -> Iterator[Edit]:
    old, new = _first(arguments, _OLD), _first(arguments, _NEW)
    if old is not None and new is not None:
        everywhere = bool(arguments.get("replace_all") or arguments.get("replaceAll"))
        yield Edit(path, old=old, new=new, everywhere=everywhere)


def _first(arguments: Mapping[str, object], names: Sequence[str]) -> str | None:
    values = (arguments[name] for name in names if name in arguments)
    return next((value for value in values if isinstance(value, str)), None)


def _tool(call: ToolCall) -> str:
    return call.name.lower().replace("_", "")


def _relative(path: str | None, root: str | None) -> str | None:
    """A path of the log below the working folder; None for one that is elsewhere."""
    if not path:
        return None
    text = posixpath.normpath(path.replace("\\", "/"))
    if text.startswith("/") or PureWindowsPath(text).is_absolute():
        folder = posixpath.normpath((root or "").replace("\\", "/"))
        if not root or not text.startswith(f"{folder}/"):
            return None
        text = text[len(folder) + 1 :]
    return None if text.startswith("../") or text == ".." else text


def _patched(text: str, root: str | None) -> Iterator[Edit]:
    """The edits of patches in the form that Codex applies."""
    for envelope in _ENVELOPE.findall(text):
        _, *parts = _SECTION.split(f"{envelope}\n")
        for kind, path, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if name := _relative(path.strip(), root):
                lines = body[1:-1].split("\n") if len(body) > 1 else []
                yield from _section(kind, name, lines)


def _section(kind: str, path: str, lines: Sequence[str]) -> Iterator[Edit]:
    if kind == "Delete":
        yield Edit(path, delete=True)
    elif kind == "Add":
        yield Edit(path, content="".join(f"{line[1:]}\n" for line in lines if line[:1] == "+"))
    else:
        hunks: list[list[str]] = [[]]
        for line in lines:
            if line.startswith("@@"):
                hunks.append([])
            elif not line.startswith("*** "):
                hunks[-1].append(line or " ")
        for hunk in filter(None, hunks):
            old = "\n".join(line[1:] for line in hunk if line[0] in " -")
            yield Edit(path, old=old, new="\n".join(line[1:] for line in hunk if line[0] in " +"))


def replay(edits: Sequence[Edit], files: Files) -> None:
    """Carry edits out on the contents of files, as far as they can be."""
    for edit in edits:
        before = files.get(edit.path)
        if edit.delete:
            files[edit.path] = None
        elif edit.content is not None:
            files[edit.path] = edit.content
        elif edit.old == "" and before is None:
            files[edit.path] = edit.new
        elif before is not None and edit.old and edit.old in before:
            files[edit.path] = before.replace(edit.old, edit.new, -1 if edit.everywhere else 1)


def _shown_lines(call: ToolCall, root: str | None) -> tuple[str, dict[int, str]] | None:
    """The path and the numbered lines that a reading call showed; None if it tells none."""
    path = _relative(_first(call.arguments, _PATHS), root)
    if path is None or call.is_error or not call.result or _tool(call) not in _READERS:
        return None
    seen = (_NUMBERED.match(line) for line in call.result.split("\n"))
    lines = {int(match[1]): match[2] for match in seen if match is not None}
    return (path, lines) if len(lines) >= _LEAST_SHOWN else None


def _agrees(content: bytes, lines: Mapping[int, str]) -> bool:
    """Has a file these lines at these numbers? Readers number what follows its last break too."""
    have = content.decode("utf-8", "replace").split("\n")
    return all(
        0 < number <= len(have) and have[number - 1].rstrip() == text.rstrip()
        for number, text in lines.items()
    )


def _readings(turns: Sequence[Turn], root: str | None) -> list[tuple[str, dict[int, str]]]:
    """What was read of files before the agent changed them."""
    edited, seen = set[str](), []
    for turn in turns:
        for call in turn.tool_calls:
            edited |= {edit.path for edit in edits_of(call, root)}
            shown = _shown_lines(call, root)
            if shown is not None and shown[0] not in edited:
                seen.append(shown)
    return seen


_COMMITTED = re.compile(r"(?m)^\s*\[[^\[\]\n]{1,120} ([0-9a-f]{7,40})\] (.{1,200})$")
_NEWEST = re.compile(r"^(?:commit )?([0-9a-f]{7,40})\b")
# Of a branch `a3/b2c4d5e6f7/0/`, of references of their own `f7/a3b2c4d5e6f7/0/`; copied
# out of them often `a3b2c4d5e6f7/0/`.
_CHECKPOINT = re.compile(r"(?:^|/)([0-9A-Za-z]{2})/?([0-9A-Za-z]{10,26})/\d{1,4}/full\.jsonl$")
_DAY = 86_400.0  # seconds
_AGREEMENT, _DISAGREEMENT = 0.04, 0.3  # what contents add to the confidence, or take from it
_BOTH = 0.85  # contents agree with the newest commit before the session
_MOST_TRIED = 60  # commits whose contents are compared
_MOST_BEFORE = 24  # things said before a task that its words may lean on
_LONGEST = {Speaker.AGENT: 4_000, Speaker.OUTPUT: 2_000}  # characters at the end that are kept


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of the store, with its commits by what a log may name."""

    name: str
    store: Store
    licence: str | None
    commits: Sequence[Commit]

    def named(self, text: str) -> Commit | None:
        """The one commit whose name begins so."""
        matches = [commit for commit in self.commits if commit.name.startswith(text)]
        return matches[0] if len(matches) == 1 else None

    def titled(self, subject: str, at: float | None) -> Commit | None:
        """The one commit of that time with this subject."""
        matches = [
            commit
            for commit in self.commits
            if commit.subject == subject and (at is None or abs(commit.at - at) < _DAY)
        ]
        return matches[0] if len(matches) == 1 else None

    def ended_by(self, source_path: str) -> list[Commit]:
        """The commits whose trailer names the checkpoint that a transcript is stored as."""
        match = _CHECKPOINT.search(source_path)
        wanted = {f"{match[1]}{match[2]}", match[2]} if match else set()
        return [commit for commit in self.commits if not wanted.isdisjoint(commit.checkpoints)]


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns of one task, and the commit that ended it, if one did."""

    turns: tuple[Turn, ...]
    ending: Commit | None = None
    kind: EvidenceKind | None = None

    @property
    def messages(self) -> tuple[str, ...]:
        """What a person said, in order."""
        said = (turn.said.strip() for turn in self.turns if turn.origin is Origin.HUMAN)
        return tuple(text for text in said if text)


def talk_of(before: Sequence[Segment], segment: Segment) -> tuple[Said, ...]:
    """What was said in a task and, at last, before it: each message after what it answers."""
    earlier = [said for part in before for said in _said(part)]
    spoken = [n for n, said in enumerate(earlier) if said.speaker is Speaker.PERSON]
    start = max(0, min([len(earlier) - _MOST_BEFORE, *spoken[-1:]]))
    own = (replace(said, before=True) for said in earlier[start:])
    return (*own, *_said(segment))


def _said(segment: Segment) -> Iterator[Said]:
    """Messages of the person, the last words of the agent before each, and two last outputs."""
    answer: list[Said] = []
    for turn in segment.turns:
        if turn.origin is Origin.HUMAN and turn.said.strip():
            yield from _last(answer)
            yield Said(Speaker.PERSON, turn.said.strip())
            answer = []
        elif turn.origin is Origin.AGENT:
            answer.append(Said(Speaker.AGENT, turn.text.strip()))
            answer += (Said(Speaker.OUTPUT, (c.result or "").strip()) for c in turn.tool_calls)
    yield from _last(answer)
    if segment.ending is not None:
        yield Said(Speaker.COMMIT, segment.ending.subject)


def _last(answer: Sequence[Said]) -> Iterator[Said]:
    for speaker, most in ((Speaker.OUTPUT, 2), (Speaker.AGENT, 1)):
        texts = [said.text for said in answer if said.speaker is speaker and said.text]
        yield from (Said(speaker, _end(text, _LONGEST[speaker])) for text in texts[-most:])


def _end(text: str, most: int) -> str:
    """The last whole lines of a text: half a name would not be masked."""
    return text if len(text) <= most else text[-most:].partition("\n")[2]


def matching(
    session: Session, repositories: Sequence[Repository], copies: Sequence[str] = ()
) -> Repository | None:
    """The one repository that a session worked in: by commits or the transcript that it carries.

    Where neither tells, the names of folders do.
    """
    logged = [text for turn in session.turns for text, _ in _commits_printed(turn)]
    scored = []
    for repository in repositories:
        ended = any(repository.ended_by(path) for path in (session.source_path, *copies))
        known = ended or any(repository.named(text) for text in logged)
        known = known or bool(repository.store.carriers(session.source_path.rpartition("/")[2]))
        folders = {*(session.cwd or "").lower().replace("\\", "/").split("/")}
        folders |= {*session.source_path.lower().split("/")[:-1]}
        scored.append((2 * known + (repository.name.lower() in folders), repository))
    best = max((score for score, _ in scored), default=0)
    matches = [repository for score, repository in scored if score == best]
    return matches[0] if best and len(matches) == 1 else None


def _commits_printed(turn: Turn) -> Iterator[tuple[str, str]]:
    """Name and subject of commits that git printed in a turn."""
    for text in (turn.text, *(call.result or "" for call in turn.tool_calls)):
        if turn.origin is not Origin.HUMAN:
            yield from ((match[1], match[2].strip()) for match in _COMMITTED.finditer(text))


def segments(session: Session, repository: Repository, copies: Sequence[str] = ()) -> list[Segment]:
    """The tasks of a session: each ends with a commit, the last perhaps with none.

    `copies` are further paths of its transcript, which is stored anew with each checkpoint.
    """
    ends = _endings(session, repository, copies) or _carried(session, repository)
    parts, start = [], 0
    for position in sorted(ends):
        commit, kind = ends[position]
        parts.append(Segment(session.turns[start : position + 1], commit, kind))
        start = position + 1
    rest = Segment(session.turns[start:])
    return [*parts, rest] if rest.messages else parts


def _endings(
    session: Session, repository: Repository, copies: Sequence[str]
) -> dict[int, tuple[Commit, EvidenceKind]]:
    """Positions of turns with the commit that was made there; of several the last."""
    ends: dict[int, tuple[Commit, EvidenceKind]] = {}
    for position, turn in enumerate(session.turns):
        for text, subject in _commits_printed(turn):
            if (commit := repository.named(text)) is not None:
                ends[position] = commit, EvidenceKind.LOGGED
            elif (commit := repository.titled(subject, turn.at)) is not None:
                ends[position] = commit, EvidenceKind.SUBJECT
    known = {commit.name for commit, _ in ends.values()}
    times = [turn.at for turn in session.turns]
    ended = [c for path in (session.source_path, *copies) for c in repository.ended_by(path)]
    if len(ended) > 1:  # a checkpoint may be named by commits of somebody else's work, too
        ended = [c for c in ended if _touches(c, session, repository)] or ended
    for commit in sorted(ended, key=lambda commit: (commit.at, commit.name)):
        if commit.name in known:
            continue
        before = [n for n, at in enumerate(times) if at is not None and at <= commit.at + 60]
        position = before[-1] if before else len(session.turns) - 1
        ends.setdefault(position, (commit, EvidenceKind.TRAILER))
    return ends


def _touches(commit: Commit, session: Session, repository: Repository) -> bool:
    """Did a commit change a file that the session edited?"""
    calls = (call for turn in session.turns for call in turn.tool_calls)
    edited = {edit.path for call in calls for edit in edits_of(call, session.cwd)}
    changed = (repository.store.changed(parent, commit.name) for parent in commit.parents[:1])
    return any(not edited.isdisjoint(paths) for paths in changed)


def _carried(session: Session, repository: Repository) -> dict[int, tuple[Commit, EvidenceKind]]:
    """How far the transcript reached in each commit that carries it together with other files."""
    name = session.source_path.rpartition("/")[2]
    store, ends = repository.store, dict[int, tuple[Commit, EvidenceKind]]()
    carriers = {*store.carriers(name)}
    commits = [c for c in repository.commits if c.name in carriers and len(c.parents) == 1]
    for commit in sorted(commits, key=lambda commit: (commit.at, commit.name)):
        changed = store.changed(commit.parents[0], commit.name)
        pages = [path for path in changed if path.rpartition("/")[2] == name]
        if pages and any(not path.endswith((".md", ".mdc", ".txt")) for path in changed):
            reached = _turns_in(store, commit, pages[0], session)
            ends.setdefault(reached - 1, (commit, EvidenceKind.CARRIED))
    return {position: end for position, end in ends.items() if position >= 0}


def _turns_in(store: Store, commit: Commit, path: str, session: Session) -> int:
    """How many turns of a session the version of its transcript in a commit has."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page")
        page.write_bytes(b"".join(store.files(commit.name, [path]).values()))
        items = list(read_source(SourceFile(page, session.source_path)))
    turns = [len(item.turns) for item in items if isinstance(item, Session)]
    return min(max(turns, default=0), len(session.turns))


def base_of(
    segment: Segment,
    before: Segment | None,
    session: Session,
    repository: Repository,
    config: RepositoriesConfig,
) -> BaseCommit | RepositoryReason:
    """The commit that a task began at, or why it is not clear. Raises GitFailed."""
    shown = _readings(segment.turns, session.cwd)
    if segment.ending is not None and segment.kind is not None:
        if len(segment.ending.parents) != 1:
            return RepositoryReason.MERGE
        parent = segment.ending.parents[0]
        base: BaseCommit | None = _weighed(repository, parent, segment.kind, shown)
    else:
        base = _searched(segment, before, shown, session.cwd, repository)
    if base is None or base.confidence < config.min_confidence:
        return RepositoryReason.BASE_UNCLEAR
    return base


_Shown = Sequence[tuple[str, dict[int, str]]]


def _weighed(repository: Repository, commit: str, kind: EvidenceKind, shown: _Shown) -> BaseCommit:
    """The evidence of one kind for a commit, with what the agent read set beside it."""
    agree, differ = _compared(repository, commit, shown)
    confidence = CONFIDENCE[kind]
    if differ > agree:
        confidence -= _DISAGREEMENT
    elif agree and not differ:
        confidence += _AGREEMENT
    kinds = (kind, EvidenceKind.CONTENTS) if agree > differ else (kind,)
    return BaseCommit(commit, kinds, round(min(confidence, 1.0), 9), agree, differ)


def _compared(repository: Repository, commit: str, shown: _Shown) -> tuple[int, int]:
    """How many of the files that were read are those of a commit, and how many are not."""
    if not shown:
        return 0, 0
    contents = repository.store.files(commit, {path for path, _ in shown})
    known = [(path, lines) for path, lines in shown if path in contents]
    agree = sum(_agrees(contents[path], lines) for path, lines in known)
    return agree, len(known) - agree


def _searched(
    segment: Segment,
    before: Segment | None,
    shown: _Shown,
    root: str | None,
    repository: Repository,
) -> BaseCommit | None:
    """The base of a task that no commit ended."""
    if before is not None and before.ending is not None:
        return _weighed(repository, before.ending.name, EvidenceKind.LOGGED, shown)
    named = _head_printed(segment, root, repository)
    if named is not None:
        return _weighed(repository, named.name, EvidenceKind.LOGGED, shown)
    at = next((turn.at for turn in segment.turns if turn.at is not None), None)
    earlier = [c for c in repository.commits if at is None or c.at <= at][:_MOST_TRIED]
    if not earlier:
        return None
    newest = max(earlier, key=lambda commit: commit.at)
    agree, differ = _compared(repository, newest.name, shown)
    if agree and not differ and at is not None:
        kinds = (EvidenceKind.CONTENTS, EvidenceKind.TIME)
        return BaseCommit(newest.name, kinds, _BOTH, agree)
    if not shown:
        return BaseCommit(newest.name, (EvidenceKind.TIME,), CONFIDENCE[EvidenceKind.TIME])
    whole = [
        c for c in earlier if (seen := _compared(repository, c.name, shown))[0] and not seen[1]
    ]
    if len(whole) != 1:
        return None
    return _weighed(repository, whole[0].name, EvidenceKind.CONTENTS, shown)


def _head_printed(segment: Segment, root: str | None, repository: Repository) -> Commit | None:
    """The commit at the head of what `git log` printed before the agent changed anything."""
    for turn in segment.turns:
        for call in turn.tool_calls:
            if any(edits_of(call, root)):
                return None
            command = str(call.arguments.get("command") or call.arguments.get("cmd") or "")
            match = _NEWEST.match((call.result or "").strip())
            if "git log" in command and match and (commit := repository.named(match[1])):
                return commit
    return None
