"""Actions on a service: a job that is to be repaired, a to-do that is to be created.

Offline they can only be done in the file that holds the state of the service; that file is then
what is delivered. Without one the action needs the service itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from construction.mentions.brought import brings_code
from construction.mentions.extensions import CODE_EXTENSIONS, tail
from construction.mentions.negation import is_negated
from construction.mentions.spans import find_file_spans
from data.text.lexicon import load_table
from data.text.sentences import sentence_spans

_HEAD = r"(?:^|[.,;:!?] |\b(?:and|then|please|also|you|finally|first|next) )(?:\d+[.)] |[-*] )?"
_KINDS = {
    name: (re.compile(rf"{_HEAD}(?P<action>{row['en']})|(?P<action_zh>{row['zh']})"), row["files"])
    for name, row in load_table(__package__, "services.toml").items()
}
_STATE = frozenset(("json", "jsonl", "yaml", "yml", "toml", "csv", "xlsx", "ini"))
_MOST = 400  # sentences


@dataclass(frozen=True, slots=True)
class Action:
    """What is to be done, as the text says it, and words of paths that stand for the service."""

    name: str
    files: tuple[str, ...]


def service_actions(text: str) -> Iterator[Action]:
    """The actions that a request orders of services. One that names its file is of the file."""
    for start, end in islice(sentence_spans(text), _MOST):
        sentence = " ".join(text[start:end].lower().split())
        if find_file_spans(sentence):
            continue
        for pattern, files in _KINDS.values():
            for match in pattern.finditer(sentence):
                if not is_negated(sentence, match.start()):
                    yield Action(match["action"] or match["action_zh"], tuple(files))


def served_inputs(text: str, given: Sequence[str]) -> tuple[str, ...]:
    """The `given` files in which the actions can be done; none where it is unclear which."""
    single = (_stands_for(action, given) for action in service_actions(text))
    return tuple(dict.fromkeys(paths[0] for paths in single if len(paths) == 1))


def missing_services(text: str, given: Sequence[str]) -> tuple[str, ...]:
    """The actions for which no input file stands; over code they are done in the code."""
    if any(_extension(path) in CODE_EXTENSIONS for path in given) or brings_code(text):
        return ()
    actions = service_actions(text)
    return tuple(dict.fromkeys(item.name for item in actions if not _stands_for(item, given)))


def _stands_for(action: Action, given: Sequence[str]) -> list[str]:
    """The files of the service: those that are called so, or else all in its folder."""
    states = [path for path in given if _extension(path) in _STATE]
    fitting = [path for path in states if _has_word(path, action.files)]
    named = [path for path in fitting if _has_word(tail(path), action.files)]
    return named or fitting


def _has_word(path: str, stems: tuple[str, ...]) -> bool:
    return any(word.startswith(stems) for word in re.split(r"[\W_]+", path.lower()))


def _extension(path: str) -> str:
    return tail(path).rpartition(".")[2].lower()
