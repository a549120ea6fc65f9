"""Names of files in prompts: inputs in `inputs/`, all results in `outputs/`."""

from __future__ import annotations

import pytest

from construction.sessions.prompts.released_paths import with_released_paths
from data.contracts import Fixture

LOG = Fixture(path="sources/log.csv", sha256="0" * 64, bytes=9, media_type="text/csv")


@pytest.mark.parametrize(
    ("text", "results", "expected"),
    [
        ("Read /tmp/sources/log.csv", [], "Read inputs/sources/log.csv"),
        ("Save it in results/sum.md", ["results/sum.md"], "Save it in outputs/sum.md"),
        ("Put three files under /tmp/work/results/ today", [],
         "Put three files under outputs/ today"),
        ("Save /srv/x/sum.md and /srv/x/b.md", ["/srv/x/sum.md"],
         "Save outputs/sum.md and outputs/b.md"),
        ("Save it in notes/sum.md", ["notes/sum.md"], "Save it in notes/sum.md"),
        ("Give me both under /tmp/made/results/.", ["/tmp/made/results/a.md"],
         "Give me both under outputs/."),
    ],
)  # fmt: skip
def test_there_is_one_folder_for_results(text: str, results: list[str], expected: str) -> None:
    assert with_released_paths(text, [LOG], results) == expected
