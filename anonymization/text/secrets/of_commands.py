"""Passwords that a command is given as an argument, however weak: `mysql -pharbour`, `curl -u a:b`.

Which option of which command takes a password, and how, is a table in `words.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from anonymization.text.contracts import EntityType, Finding
from anonymization.text.secrets.evidence import is_mixed, is_placeholder, is_random
from data.text.lexicon import load_table, trie_pattern

_SCORE = 0.85
_SHORT = 2  # characters of an option that its value may touch
_CLOSING = ".,:)]}"  # of the sentence around a command
_MARKS = ":%,"  # between a user and a password in one argument


def _options() -> Mapping[str, tuple[str, ...]]:
    """The options of each command; what stands behind an option says how it takes its value."""
    table: dict[str, tuple[str, ...]] = {}
    for line in load_table(__package__, "words.toml")["commands"].strip().splitlines():
        commands, _, options = line.partition("|")
        ordered = tuple(sorted([*options.split(), "--password_", "--pass_"], key=len, reverse=True))
        table.update((name.strip().replace("+", " "), ordered) for name in commands.split())
    return table


_OPTIONS = _options()
_COMMAND = re.compile(rf"(?<![\w.$-])(?:{trie_pattern(sorted(_OPTIONS))})(?=[ \t=])")
# An argument, of which parts may be quoted.
_ARGUMENT = re.compile(r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^\s\"'`|;<>\\]){1,200}")
_LINE_GOES_ON = "\\\n"
_LONGEST = 600  # characters of a command that are read
_FEWEST, _MOST = 3, 64  # characters of a password
_SURE = 6  # characters of a password that shows itself
_REFERS, _QUOTES = ("$", "<", "{", "[", "%", "@", "-"), "\"'"


def find_of_commands(text: str) -> Iterator[Finding]:
    """The passwords in the arguments of commands."""
    commands = list(_COMMAND.finditer(text))
    begins = [command.start() for command in commands if command.group()[0] != "-"]
    done = 0
    for command in commands:
        start = command.end()
        if command.start() < done:
            continue  # `--user` of a command that is known
        after = bisect_left(begins, start)
        last = begins[after] if after < len(begins) else len(text)
        done = _end(text, start, min(last, start + _LONGEST))
        yield from _of_command(text, start, done, _OPTIONS[command.group()])


def _of_command(text: str, start: int, end: int, options: tuple[str, ...]) -> Iterator[Finding]:
    arguments = list(_ARGUMENT.finditer(text, start, end))
    taken: set[str] = set()  # `sshpass -p … ssh -p 22`: the second is the other command's
    for argument, after in zip_longest(arguments, arguments[1:]):
        for option in options:
            name, mark = option.rstrip("_:%,"), option[-1]
            rest = argument.group().removeprefix(name)
            is_joined = len(name) == _SHORT or rest[:1] in ("", "=")
            if rest == argument.group() or not is_joined or name in taken:
                continue
            taken.add(name)
            span = argument.end() - len(rest.removeprefix("=")), argument.end()
            if not rest and mark in f"_{_MARKS}" and after:
                span = after.span()
            yield from _password(text, *span, mark if mark in _MARKS else "")
            break


def _password(text: str, start: int, end: int, mark: str) -> Iterator[Finding]:
    while end - start > 1 and text[start] in _QUOTES and text[end - 1] == text[start]:
        start, end = start + 1, end - 1
    cut = text.find(mark, start, end) if mark else -1
    if 0 <= cut < end - 1:
        own = text[cut + 1 : end].strip(_QUOTES)
        if own.startswith(_REFERS) or is_placeholder(own):
            return
        is_sure = len(own) >= _SURE and (is_mixed(own) or is_random(own))  # the user belongs to it
        start = start if is_sure else text.index(own, cut)
    elif mark and not (cut > 0 and is_random(text[start:cut])):  # `curl -u TOKEN:`
        return
    value = text[start:end].rstrip(_CLOSING)
    end = start + len(value)
    is_password = _FEWEST <= len(value) <= _MOST and not value.startswith(_REFERS)
    if is_password and not is_placeholder(value):
        yield Finding(start, end, EntityType.SECRET, "secret.named", _SCORE)


def _end(text: str, start: int, last: int) -> int:
    """Where the line of a command ends, which a backslash lets go on in the next."""
    end = text.find("\n", start, last)
    while end > 0 and text[end - 1 : end + 1] == _LINE_GOES_ON:
        end = text.find("\n", end + 1, last)
    return end if end >= 0 else last
