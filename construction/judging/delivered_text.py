"""The text of files that agents delivered, each opened in a child process with limits.

    python -m construction.judging.delivered_text SECONDS BYTES

Frames in: the file's name (only its type counts), its content. Frame out: `text` or `trouble`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from construction.grading.file_look import RuleLimits, read_regular
from construction.grading.file_types import type_of
from construction.grading.openers import OPENERS
from construction.grading.text_openers import Encrypted, TooLarge
from data.child import Child, ChildFailed, ChildLimits, confine, read_frame, write_frame

_CHILD = "construction.judging.delivered_text"
_MOST = 1 << 30
_LONGEST = 1_000_000  # characters that are handed on


def text_of(folder: Path, name: str, limits: RuleLimits | None = None) -> tuple[str, str]:
    """The text of a regular file below a folder, and in one word why it has none."""
    limits = limits or RuleLimits()
    try:
        content = read_regular(str(folder), name, limits.file_bytes)
    except (OSError, TooLarge) as error:
        return "", "too_large" if isinstance(error, TooLarge) else "unsafe_file"
    try:
        with Child(_CHILD, ChildLimits(limits.seconds, limits.memory_bytes)) as child:
            child.send(name.encode("utf-8", "surrogateescape"))
            child.send(content)
            report = json.loads(child.receive())
            return str(report["text"]), str(report["trouble"])
    except (ChildFailed, ValueError, KeyError):
        return "", "crashed"


def opened(name: str, content: bytes, limits: RuleLimits) -> tuple[str, str]:
    """The same of content in memory; raises nothing. Only the child may call it."""
    kind = type_of(name)
    if kind is None or kind.opener is None:
        return "", "no_text"
    try:
        return OPENERS[kind.opener](content, limits.bounds).text[:_LONGEST], ""
    except TooLarge:
        return "", "too_large"
    except Encrypted:
        return "", "encrypted"
    except Exception:  # a library may raise anything on a broken file
        return "", "broken"


def main() -> None:
    """Serve one file."""
    source = sys.stdin.buffer
    answer = confine(int(sys.argv[1]), int(sys.argv[2]))
    name = read_frame(source, _MOST).decode("utf-8", "surrogateescape")
    text, trouble = opened(name, read_frame(source, _MOST), RuleLimits())
    shown = text.encode("utf-8", "replace").decode()
    write_frame(answer, json.dumps({"text": shown, "trouble": trouble}).encode())


if __name__ == "__main__":
    main()
