"""A build that releases nothing: an outcome with its reasons, not wrong use."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tests.flows.command import benchmint

_SAID = "Summarise missing.docx in one page please."


@pytest.mark.slow(seconds=30)
def test_nothing_released_is_told_with_reasons_and_the_next_command(tmp_path: Path) -> None:
    log, out = tmp_path / "log.json", tmp_path / "an out"
    session = {"session_id": "z", "messages": [{"role": "user", "content": _SAID}]}
    log.write_bytes(orjson.dumps(session))
    ended = benchmint("build", log, "--out", out)
    assert ended.returncode == 1
    assert f"1  fixture.unresolved  benchmint audit --reason fixture.unresolved --out '{out}'" in (
        ended.stdout
    )
