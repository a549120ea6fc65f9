"""Which files the code version is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.builds import code_version


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("flows/run.py", True),
        ("construction/sessions/lexicon.toml", True),
        ("data/demonstration.py", True),
        ("data/demo/session.py", False),
        ("data/__pycache__/x.cpython-311.pyc", False),
        ("tests/flows/test_run.py", False),
    ],
)
def test_code_of_stages_counts_and_nothing_else(path: str, counts: bool, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text("before")
    before = code_version.__wrapped__(tmp_path)
    file.write_text("after")
    assert (code_version.__wrapped__(tmp_path) != before) is counts
