"""Extracts the files that a shell command reads, writes and runs, from its plain words.

Nothing is executed: variables, globs and loops are not expanded, and words with them are
ignored. The time is linear in the length of the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

READ, WROTE, RAN = "read", "wrote", "ran"

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


def shell_acts(command: str) -> Iterator[tuple[str, str]]:
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


def only_shows(command: str) -> bool:
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
                yield WROTE, _unquoted(word)
        elif previous == "<":
            if _is_file(word):
                yield READ, _unquoted(word)
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
    named = [_unquoted(word) for word in words[1:] if not word.startswith("-")]
    named = [word for word in named if word]
    files = [word for word in named if _is_file(word)]
    if program in _VIEWERS:
        kind = WROTE if program == "sed" and "-i" in words else READ
        named = named[1:] if program in _WITH_PATTERN else named
        yield from ((kind, path) for path in named if _is_file(path))
    elif program in _INTERPRETERS:
        if files and files[0] == named[0] and "-c" not in words and "-m" not in words:
            yield RAN, files[0]
    elif program in _COPIERS and len(files) > 1:
        yield from ((READ, path) for path in files[:-1])
        yield WROTE, files[-1]
    elif program in _CREATORS:
        yield from ((WROTE, path) for path in files)
    elif "/" in words[0] and _is_file(words[0]):
        yield RAN, _unquoted(words[0])


def _is_file(word: str) -> bool:
    """True for the name of a file with an extension, quoted or not: `a.csv`, `out/report.md`."""
    word = _unquoted(word)
    if not 2 < len(word) <= _MAX_PATH or word.startswith(("-", "/dev/", "&")) or "://" in word:
        return False
    if _NOT_IN_PATHS.intersection(word):
        return False
    stem, _, extension = word.rsplit("/", 1)[-1].rpartition(".")
    return bool(stem) and extension.isalnum() and not extension.isdigit() and len(extension) <= 8


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] in "'\"" and word[-1] == word[0]:
        return word[1:-1]
    return word.replace("\\ ", " ")
