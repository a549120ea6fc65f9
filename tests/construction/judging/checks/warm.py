"""Programs of tests, each in a fork of one interpreter that has the libraries in it already.

A proof runs about a hundred programs, and starting an interpreter that imports openpyxl takes
longer than any of them. As a script, this is that interpreter.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import runpy
import shlex
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

REPO = Path(__file__).resolve().parents[4]
# What programs import, and the module that lies beside each of them.
LIBRARIES = ("csv", "collections", "datetime", "decimal", "docx", "openpyxl", "pathlib", "re",
             "zipfile", "checking")  # fmt: skip
SECONDS = 30


def completed(command: str, folder: Path) -> tuple[int, bytes]:
    """How a command `python3 -B PROGRAM WORDS [2> ERRORS]` ends in a folder, and what it prints."""
    words = shlex.split(command.removeprefix("mkdir -p outputs && "))
    if words[:2] != ["python3", "-B"] or "&&" in words:
        raise ValueError(f"no command of one program: {command}")
    if words != shlex.split(command):
        (folder / "outputs").mkdir(exist_ok=True)
    errors = words.pop() if "2>" in words else ""
    with TemporaryDirectory() as name:
        printed = Path(name, "stdout")
        given = {"folder": str(folder), "words": [w for w in words[2:] if w != "2>"],
                 "stdout": str(printed), "stderr": errors}  # fmt: skip
        server = _server()
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(given) + "\n")
        server.stdin.flush()
        return int(server.stdout.readline()), printed.read_bytes()


@cache
def _server() -> subprocess.Popen[str]:
    """Ends with the process that started it, when its standard input does."""
    return subprocess.Popen(
        [sys.executable, "-B", __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _serve() -> None:
    sys.path[0] = str(REPO / "construction" / "grading")
    for name in LIBRARIES:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(_run(**json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(folder: str, words: list[str], stdout: str, stderr: str) -> int:
    signal.alarm(SECONDS)
    os.chdir(folder)
    for number, path in ((0, os.devnull), (1, stdout), (2, stderr or os.devnull)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.argv, sys.path[0] = words, folder
    code = 1
    try:
        runpy.run_path(words[0], run_name="__main__")
        code = 0
    except SystemExit as why:
        code = why.code if isinstance(why.code, int) else int(why.code is not None)
    except BaseException:
        traceback.print_exc()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    _serve()
