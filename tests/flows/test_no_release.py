"""A build that releases nothing: an outcome with its reasons, not wrong use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import orjson
import pytest

_SAID = "Summarise missing.docx in one page please."


@pytest.mark.slow(seconds=30)
def test_nothing_released_is_told_with_reasons_and_the_next_command(tmp_path: Path) -> None:
    log, out = tmp_path / "log.json", tmp_path / "an out"
    session = {"session_id": "z", "messages": [{"role": "user", "content": _SAID}]}
    log.write_bytes(orjson.dumps(session))
    command = [sys.executable, "-m", "flows.cli", "build", str(log), "--out", str(out)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"1  fixture.unresolved  benchmint audit --reason fixture.unresolved --out '{out}'" in (
        ended.stdout
    )
