"""Divides a session into exchanges: a human turn and the agent's work up to the next one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from data.contracts import AgentAct, Origin, Role, Session, ToolCall, Turn

# Extracts the files that a shell command reads, writes and runs, from its plain words.
#
# Nothing is executed: variables, globs and loops are not expanded, and words with them are
# ignored. The time is linear in the length of the command.

READ, WROTE, _RAN = "read", "wrote", "ran"

_MAX_COMMAND = 4000  # characters; the rest is nearly always a here-document
_MAX_FILES = 50
_MAX_PATH = 1000
_TOKEN = re.compile(
    r"""<<-?|>>|>\||&>|>|<|&&|\|\||[;&|\n()]|(?:'[^'\n]*'|"[^"\n]*"|\\.|[^\s;&|()<>'"\\])+|['"\\]"""
)
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_SEPARATORS = frozenset({"&&", "||", ";", "&", "|", "\n", "(", ")"})
_INTO = frozenset({">", ">>", ">|", "&>"})
_NOT_IN_PATHS = frozenset("$*?`{}!|;<>%\"'\\\t\n")  # shell syntax, or not usual in a path

_VIEWERS = frozenset({
    "cat", "head", "tail", "less", "more", "nl", "wc", "sed", "grep", "rg", "awk", "jq", "file",
    "stat", "xxd", "strings", "sort", "uniq", "cut", "diff", "pdftotext", "csvlook", "bat",
    "tac", "column", "source",
})  # fmt: skip
_LISTERS = frozenset(
    {"ls", "find", "tree", "pwd", "cd", "du", "echo", "which", "true", "fd", "dir"}
)
_WITH_PATTERN = frozenset({"sed", "grep", "rg", "awk", "jq"})  # their first word is not a file
_INTERPRETERS = frozenset({
    "python", "python3", "node", "deno", "bun", "bash", "sh", "zsh", "ruby", "perl", "rscript",
    "php", "pwsh", "tsx", "ts-node",
})  # fmt: skip
_LAUNCHERS = frozenset({
    "sudo", "time", "env", "nohup", "uv", "uvx", "npx", "poetry", "pipenv", "run", "exec",
    "timeout", "nice", "xargs",
})  # fmt: skip
_COPIERS = frozenset({"cp", "mv", "install", "rsync"})
_CREATORS = frozenset({"tee", "touch", "truncate"})
_OUTPUT_OPTIONS = frozenset({"-o", "--output", "--out", "--outfile", "-O"})


def _shell_acts(command: str) -> Iterator[tuple[str, str]]:
    """Pairs of (`read` | `wrote` | `ran`, path as written), in order; `ran` names a script."""
    if "." not in command:
        return  # only names with an extension count
    count = 0
    for words in _simple_commands(_without_documents(command[:_MAX_COMMAND])):
        for act in _acts_of_words(words):
            count += 1
            if count > _MAX_FILES:
                return
            yield act


def _only_shows(command: str) -> bool:
    """Does a command only show files and folders, so that it can have made none?"""
    programs = [
        words[0].rsplit("/", 1)[-1].lower()
        for words in _simple_commands(command[:_MAX_COMMAND])
        if words
    ]
    return all(program in _VIEWERS or program in _LISTERS for program in programs) and not any(
        sign in command for sign in (">", "<<")
    )


def _without_documents(command: str) -> str:
    """The command without comment lines and the bodies of its here-documents."""
    if "<<" not in command and "#" not in command:
        return command
    kept: list[str] = []
    ends_with: str | None = None
    for line in command.split("\n"):
        if ends_with is not None:
            ends_with = None if line.strip() == ends_with else ends_with
            continue
        if line.lstrip().startswith("#"):
            continue
        opening = _HERE_DOCUMENT.search(line)
        ends_with = opening[1] if opening else None
        kept.append(_HERE_DOCUMENT.sub(" ", line))
    return "\n".join(kept)


def _simple_commands(command: str) -> Iterator[list[str]]:
    words: list[str] = []
    for token in _TOKEN.findall(command):
        if token in _SEPARATORS:
            yield words
            words = []
        else:
            words.append(token)
    yield words


def _acts_of_words(words: list[str]) -> Iterator[tuple[str, str]]:
    plain: list[str] = []
    previous = ""
    reads_only = bool(words) and words[0] in _VIEWERS  # "grep -o" writes nothing
    for word in words:
        if previous in _INTO or (previous in _OUTPUT_OPTIONS and not reads_only):
            if _is_file(word):
                yield WROTE, _bare_word(word)
        elif previous == "<":
            if _is_file(word):
                yield READ, _bare_word(word)
        elif word not in _INTO and word != "<":
            plain.append(word)
        previous = word
    yield from _acts_of_program(plain)


def _acts_of_program(words: list[str]) -> Iterator[tuple[str, str]]:
    while words and (words[0].lower() in _LAUNCHERS or "=" in words[0]):
        words = words[1:]
    if not words:
        return
    program = words[0].rsplit("/", 1)[-1].lower()
    named = [_bare_word(word) for word in words[1:] if not word.startswith("-")]
    named = [word for word in named if word]
    files = [word for word in named if _is_file(word)]
    if program in _VIEWERS:
        kind = WROTE if program == "sed" and "-i" in words else READ
        named = named[1:] if program in _WITH_PATTERN else named
        yield from ((kind, path) for path in named if _is_file(path))
    elif program in _INTERPRETERS:
        if files and files[0] == named[0] and "-c" not in words and "-m" not in words:
            yield _RAN, files[0]
    elif program in _COPIERS and len(files) > 1:
        yield from ((READ, path) for path in files[:-1])
        yield WROTE, files[-1]
    elif program in _CREATORS:
        yield from ((WROTE, path) for path in files)
    elif "/" in words[0] and _is_file(words[0]):
        yield _RAN, _bare_word(words[0])


def _is_file(word: str) -> bool:
    """True for the name of a file with an extension, quoted or not: `a.csv`, `out/report.md`."""
    word = _bare_word(word)
    if not 2 < len(word) <= _MAX_PATH or word.startswith(("-", "/dev/", "&")) or "://" in word:
        return False
    if _NOT_IN_PATHS.intersection(word):
        return False
    stem, _, extension = word.rsplit("/", 1)[-1].rpartition(".")
    return bool(stem) and extension.isalnum() and not extension.isdigit() and len(extension) <= 8


def _bare_word(word: str) -> str:
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        return word[1:-1]
    return word.replace("\\ ", " ")


_RESET_COMMANDS = frozenset({"/new", "/reset", "/clear", "/newtask", "/new-task", "/new_task"})
# Tool names of all programs, lower case and without separators.
_READERS = frozenset({
    "read", "readfile", "viewfile", "openfile", "view", "open", "notebookread", "viewimage",
    "readimage", "getfile", "fileread", "readmanyfiles", "readmultiplefiles", "readtextfile",
    "readmediafile", "copilotreadfile", "readfilev2", "fsread", "fileopen", "readcurrentfile",
})  # fmt: skip
# What changes a file that is there already, and so counts on its content.
_EDITORS = frozenset({
    "edit", "editfile", "multiedit", "notebookedit", "strreplace", "strreplaceeditor",
    "strreplacebasededittool", "insert", "replace", "fileedit", "editnotebook", "searchreplace",
    "replaceinfile", "applydiff", "strreplacefile", "insertcontent", "searchandreplace",
    "replacestringinfile", "copilotreplacestring", "copilotinsertedit", "insertedit",
    "inserteditintofile", "editfilev2", "replacefilecontent", "multireplacefilecontent",
    "multireplacestringinfile", "copilotmultireplacestring", "editnotebookfile", "editblock",
    "copiloteditnotebook", "editexistingfile", "singlefindandreplace", "fasteditfile", "fsappend",
    "editcode", "jsonedittool", "replacetextinfile", "replaceregex", "replacecontent",
    "replacesymbolbody", "insertaftersymbol", "insertbeforesymbol", "replacelines", "insertatline",
    "replaceinfiles", "replacespecifictext", "updatefile", "appendfile", "editfiles",
})  # fmt: skip
_WRITERS = _EDITORS | {
    "write", "writefile", "createfile", "savefile", "create", "applypatch", "patch", "filewrite",
    "writetofile", "filechange", "texteditor", "fileeditor", "copilotcreatefile",
    "copilotapplypatch", "fswrite", "createnewfile", "createnewfilewithtext", "createtextfile",
    "writetextfile", "newfile", "addfile", "newrule", "replacefiletextbypath", "proposecode",
    "writenewfile", "download", "applypatchcall",
}  # fmt: skip
_RUNNERS = frozenset({
    "bash", "exec", "shell", "execcommand", "runcommand", "localshell", "localshellcall",
    "terminal", "runshellcommand", "runterminalcmd", "runinterminal", "shellcommand",
    "containerexec", "execbash", "commandexecution", "executecommand", "run", "runinterminaltool",
    "executebash", "developershell", "copilotruninterminal", "executeshellcommand",
    "runterminalcommand", "runterminalcommandv2", "executepwsh",
})  # fmt: skip
# What shows folders, or helps an agent to plan, and touches nothing.
_LOOKERS = frozenset({
    "glob", "grep", "ls", "list", "listdir", "listfiles", "listdirectory", "find", "findfiles",
    "search", "searchfiles", "searchfilecontent", "filesearch", "grepsearch", "codebasesearch",
    "todowrite", "todoread", "updateplan", "task", "think", "exitplanmode", "writestdin",
    "taskcreate", "taskupdate", "bashoutput", "killshell", "process", "python", "execute",
})  # fmt: skip
_KINDS = (
    dict.fromkeys(_READERS, READ) | dict.fromkeys(_WRITERS, WROTE) | dict.fromkeys(_RUNNERS, "run")
)
# Names so plain that another word before them (`filesystem_write_file`) names their server.
_SERVED = tuple(
    f"{mark}{name}"
    for mark in "_-./:"
    for name in ("read_file", "read_text_file", "write_file", "edit_file", "append_file")
)
# Tools that call a tool of a server, with its name and arguments among their own.
_BROKERS = frozenset({"usemcptool", "callmcptool", "mcptool", "calltoolmcp", "mcpcall"})
_DROPPED = str.maketrans("", "", "_-. ")
# Arguments that name a file, or files, spelled as the tools are.
_FILE_KEYS = (
    "filepath", "path", "file", "filename", "notebookpath", "targetfile", "relativepath",
    "absolutepath", "pathinproject", "relativeworkspacepath", "targetnotebook",
)  # fmt: skip
_LIST_KEYS = ("paths", "files", "changes", "operations", "operation", "replacements", "edits")
_COMMAND_KEYS = ("command", "cmd", "script", "input", "CommandLine")
_PATCH_MARK = "*** Begin Patch"
_PATCH_FILE = re.compile(r"^\*\*\* (Add File|Update File|Delete File|Move to): (.{1,1000})$", re.M)
_DIFF_FILE = re.compile(r"^--- (?:a/)?(\S[^\t\n]{0,999})\n\+\+\+ (?:b/)?(\S[^\t\n]{0,999})", re.M)
# The answer to who wrote a file: some exports leave out the path among the arguments.
_WRITTEN = re.compile(
    r"\s*The file (\S.{0,999}?) has been updated\b|\s*File created successfully at: (\S.{0,999})"
)
# Aider logs no calls: it says which files it wrote.
_APPLIED = "Applied edit to "
_LONGEST_PATH = 1000
_SCRIPTED = re.compile(r'\bexec_command\(\{\s*"?cmd"?:\s*"((?:[^"\\\n]|\\.)*)("?)')
_SCRIPT_CHARS = 20_000

_LONGEST_NAME = 200  # of a tool


def acts_of(turn: Turn) -> Iterator[AgentAct]:
    """The file acts of one turn, in order; a call that failed or names no file yields none."""
    for line in turn.text.splitlines() if turn.role is _SYSTEM_ROLE else ():
        path = line.removeprefix(_APPLIED).strip()
        if line.startswith(_APPLIED) and 0 < len(path) <= _LONGEST_PATH:
            yield from (AgentAct(act, path, turn.index) for act in (READ, WROTE))
    for call in turn.tool_calls:
        name, arguments = ("", dict[str, Any]()) if call.is_error else _tool(call)
        kind, is_edit = _kind(name)
        if kind is not None:
            for act, path in _file_acts(kind, arguments, call.result or "", is_edit=is_edit):
                yield AgentAct(act, path, turn.index)


def runs_program(call: ToolCall) -> bool:
    """Did a call run more than programs that show files and folders?"""
    if _kind(call.name)[0] != "run":
        return False
    command = _command(call.arguments)
    return not _only_shows(_scripted(command) or command)


def is_reader(call: ToolCall) -> bool:
    """Does a call of a tool show a file, other than by a shell?"""
    return len(call.name) <= _LONGEST_NAME and (
        _kind(call.name)[0] == READ or call.arguments.get("command") == "view"
    )


def command_of(call: ToolCall) -> str:
    """The command line that a call runs; "" for tools of another kind."""
    return _command(call.arguments) if _kind(call.name)[0] == "run" else ""


def handles_files(tool: str) -> bool:
    """Is it a tool that reads, writes or edits files, or runs a shell?"""
    return len(tool) <= _LONGEST_NAME and (
        _kind(tool)[0] is not None or tool.translate(_DROPPED).lower() in _LOOKERS
    )


@lru_cache(maxsize=256)
def _kind(tool: str) -> tuple[str | None, bool]:
    """What a tool does with files, and whether it changes one that is there."""
    if len(tool) > _LONGEST_NAME:
        return None, False
    lower = tool.rsplit("__", 1)[-1].lower()
    served = next((name[1:] for name in _SERVED if lower.endswith(name)), lower)
    name = served.translate(_DROPPED)
    return _KINDS.get(name), name in _EDITORS


def _tool(call: ToolCall) -> tuple[str, dict[str, Any]]:
    """The tool that a call is of, and its arguments, also where a tool of another calls it."""
    spelled = _spelled(call.arguments)
    if call.name[:_LONGEST_NAME].translate(_DROPPED).lower() not in _BROKERS:
        return call.name, call.arguments
    name, given = spelled.get("toolname", spelled.get("tool")), spelled.get("arguments")
    if isinstance(given, str):
        with suppress(ValueError):
            given = json.loads(given)
    return name if isinstance(name, str) else "", given if isinstance(given, dict) else {}


def _file_acts(
    kind: str, arguments: dict[str, Any], result: str, *, is_edit: bool
) -> Iterable[tuple[str, str]]:
    if kind == "run":
        command = _command(arguments)
        command = _scripted(command or result) or command
        return _patched(_unescaped(command)) if _PATCH_MARK in command else _shell_acts(command)
    if kind == WROTE and arguments.get("command", arguments.get("operation")) == "view":
        kind = READ
    paths = _paths(arguments)
    if not paths and kind == WROTE:
        if patched := [act for text in _texts(arguments) for act in _patched(text)]:
            return patched
        answer = _WRITTEN.match(result)
        paths = [answer[1] or answer[2].rstrip()] if answer else []
    if is_edit and kind == WROTE and not _creates(arguments):
        return [(act, path) for path in paths for act in (READ, WROTE)]
    return [(kind, path) for path in paths]


def _creates(arguments: dict[str, Any]) -> bool:
    """Does an edit make a new file? It then replaces nothing by something."""
    replaced = [arguments.get(key) for key in ("old_string", "old_str")]
    return arguments.get("command") == "create" or "" in replaced


def _spelled(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments by their names without separators and capitals; the first of two stays."""
    spelled: dict[str, Any] = {}
    for key, value in arguments.items():
        spelled.setdefault(key[:_LONGEST_NAME].translate(_DROPPED).lower(), value)
    return spelled


def _paths(arguments: dict[str, Any]) -> list[str]:
    """The files that the arguments name: texts, objects with a path, or a map from paths."""
    spelled = _spelled(arguments)
    for key in (*_FILE_KEYS, *_LIST_KEYS):
        value = spelled.get(key)
        if isinstance(value, dict) and isinstance(value.get("path"), str):
            value = value["path"]
        if isinstance(value, str):
            return [value] if 0 < len(value) <= _MAX_PATH else []
        if isinstance(value, list | dict):
            named = [_path_of(item) if isinstance(item, dict) else item for item in value]
            paths = [item for item in named if isinstance(item, str) and 0 < len(item) <= _MAX_PATH]
            if paths:
                return paths
    return []


def _path_of(item: dict[str, Any]) -> object:
    spelled = _spelled(item)
    return next((spelled[key] for key in _FILE_KEYS if key in spelled), None)


def _texts(arguments: dict[str, Any]) -> Iterator[str]:
    for value in arguments.values():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield text


def _patched(patch: str) -> list[tuple[str, str]]:
    """The acts on files in a patch, of apply_patch or a diff; what it changes was there before."""
    if _PATCH_MARK not in patch:
        return [
            (act, new if new != "/dev/null" else old)
            for old, new in _DIFF_FILE.findall(patch)
            for act in ((WROTE,) if old == "/dev/null" else (READ, WROTE))
        ]
    return [
        (act, path.strip())
        for head, path in _PATCH_FILE.findall(patch)
        for act in ((READ, WROTE) if head == "Update File" else (WROTE,))
    ]


def _unescaped(script: str) -> str:
    """A patch on lines of its own, also where a script holds it as one literal."""
    return script if _PATCH_FILE.search(script) else script.replace("\\n", "\n")


def _command(arguments: dict[str, Any]) -> str:
    """The command line; for an argument vector such as ["bash", "-lc", "ls"] its last words."""
    for key in _COMMAND_KEYS:
        value = arguments.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            words = [item for item in value if isinstance(item, str)]
            shells = len(words) > 2 and words[1] in ("-c", "-lc", "-ic")
            return " ".join(words[2:] if shells else words)
    return ""


def _scripted(script: str) -> str:
    """The commands in a script that calls tools, in which Codex runs them: one per line."""
    if "exec_command(" not in script[:_SCRIPT_CHARS]:
        return ""
    quoted = _SCRIPTED.findall(script[:_SCRIPT_CHARS])
    return "\n".join(_unquoted(text, is_whole=bool(end)) for text, end in quoted)


def _unquoted(text: str, *, is_whole: bool) -> str:
    """The text of a literal; of one that the export cut short all but the last word."""
    try:
        unquoted = str(json.loads(f'"{text}"'))
    except ValueError:
        return ""
    return unquoted if is_whole else unquoted.rpartition(" ")[0]


_RESET_NOTICE = re.compile(r"(?<![\w/.-])/(?:new|reset|clear)(?![\w/-]|\.\w)")
_NOTICE_CHARS = 400
# A slash command alone, or with a number or name: what is asked stands in the command's own text.
_BARE_COMMAND = re.compile(r"/[\w:.-]{1,80}(?:\s+\S{1,20})?")
_RESET_HEADS = tuple(command + end for command in _RESET_COMMANDS for end in (" ", "\n"))
# The answers of agents to a heartbeat when they have nothing to say.
_SILENT = frozenset({"", "HEARTBEAT_OK", "NO_REPLY"})
# Looking up an enum member costs more than comparing it, and there are many turns.
_HUMAN, _AGENT = Origin.HUMAN, Origin.AGENT
_CRON, _SYSTEM = Origin.CRON, Origin.SYSTEM
_USER, _ASSISTANT, _SYSTEM_ROLE = Role.USER, Role.ASSISTANT, Role.SYSTEM


class LeftOutReason(StrEnum):
    """Why a turn belongs to no instance."""

    MACHINE_TURN = "machine_turn"  # a scheduled prompt or heartbeat, and the agent's reaction
    RESET_COMMAND = "reset_command"  # "/new" alone, and the answer to it
    BEFORE_FIRST_REQUEST = "before_first_request"
    NO_TASK = "no_task"  # a model read that it asks for no work
    EMPTY_TURN = "empty_turn"
    SUB_AGENT = "sub_agent_session"


@dataclass(slots=True)
class Exchange:
    """One human turn and the turns after it, up to the next human or scheduled one."""

    turn: Turn
    after_reset: bool
    answers: list[Turn] = field(default_factory=list)
    acts: list[AgentAct] = field(default_factory=list)

    @property
    def ended_at(self) -> float | None:
        """The time of the last turn that has one."""
        for turn in reversed(self.answers):
            if turn.at is not None:
                return turn.at
        return self.turn.at

    @property
    def reply(self) -> str:
        """The agent's last text, "" if it wrote none."""
        for turn in reversed(self.answers):
            if turn.role is _ASSISTANT and turn.text.strip() not in _SILENT:
                return turn.text
        return ""


def read_exchanges(session: Session) -> tuple[list[Exchange], dict[int, LeftOutReason]]:
    """The exchanges of a session in order, and the reason for each turn outside them, by index."""
    exchanges: list[Exchange] = []
    left_out: dict[int, LeftOutReason] = {}
    skipping: LeftOutReason | None = LeftOutReason.BEFORE_FIRST_REQUEST
    after_reset = False
    for turn in session.turns:
        if _opens_exchange(turn):
            reset_inside = turn.said.lstrip()[:12].lower().startswith(_RESET_HEADS)
            exchanges.append(Exchange(turn, after_reset or reset_inside))
            skipping, after_reset = None, False
            continue
        reason = None if turn.origin is _AGENT else _reason_to_skip(turn)
        if reason is not None:
            if reason is LeftOutReason.EMPTY_TURN:
                left_out[turn.index] = reason
                continue
            after_reset = after_reset or reason is LeftOutReason.RESET_COMMAND
            skipping = reason
        if skipping is None:
            exchanges[-1].answers.append(turn)
            exchanges[-1].acts.extend(acts_of(turn))
        else:
            left_out[turn.index] = skipping
    return exchanges, left_out


def _opens_exchange(turn: Turn) -> bool:
    """True if a person says or sends something; empty turns and bare commands do not count."""
    if turn.origin is not _HUMAN:
        return False
    said = turn.said.strip()
    return bool(turn.attachments) or (said != "" and not _is_bare(said))


def _is_bare(said: str) -> bool:
    return said.startswith("/") and _BARE_COMMAND.fullmatch(said) is not None


def _reason_to_skip(turn: Turn) -> LeftOutReason | None:
    """The reason why this turn and the agent's turns after it belong to no task, if any."""
    if turn.origin is _HUMAN:
        said = turn.said.strip().lower()
        is_reset = said in _RESET_COMMANDS
        return (
            LeftOutReason.RESET_COMMAND if is_reset else None if said else LeftOutReason.EMPTY_TURN
        )
    if turn.origin is _CRON:
        return LeftOutReason.MACHINE_TURN
    if turn.role is not _USER or turn.origin is not _SYSTEM:
        return None
    head = turn.text[:_NOTICE_CHARS]
    if "/" in head and _RESET_NOTICE.search(head):
        return LeftOutReason.RESET_COMMAND
    return LeftOutReason.MACHINE_TURN if "HEARTBEAT" in head.upper() else None
