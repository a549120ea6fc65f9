"""Names of files in prompts: inputs in `inputs/`, all results in `outputs/`."""

from __future__ import annotations

import pytest

from construction.prompt_frame import with_released_paths
from data.contracts import Fixture
from tests.construction.judging.cases import case

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


@pytest.mark.parametrize(
    ("text", "results", "expected"),
    [
        (r"Sum C:\Users\Lea\sources\log.csv into C:\Users\Lea\sum.docx", [r"C:\Users\Lea\sum.docx"],
         "Sum inputs/sources/log.csv into outputs/sum.docx"),
        (r"Sum \\shed\team\log.csv", [], "Sum inputs/sources/log.csv"),
        ("Sum file:///home/lea/log.csv now", [], "Sum inputs/sources/log.csv now"),
        ("把 /Users/lea/桌面/log.csv 汇总到 /Users/lea/桌面/汇总.md", ["/Users/lea/桌面/汇总.md"],
         "把 inputs/sources/log.csv 汇总到 outputs/汇总.md"),
        # Changed in place it lies in both: its name says which it is.
        ("Sort /srv/x/sources/log.csv itself", ["/srv/x/sources/log.csv"],
         "Sort sources/log.csv itself"),
        ("Sort log.csv itself", ["log.csv"], "Sort log.csv itself"),
    ],
)  # fmt: skip
def test_paths_of_any_machine_become_those_of_the_release(
    text: str, results: list[str], expected: str
) -> None:
    assert with_released_paths(text, [LOG], results) == expected


def test_what_a_person_said_is_shown_with_the_paths_of_the_release() -> None:
    made = case("Sum /home/lea/work/log.csv", "by month please", files=["log.csv"])
    assert made.request == "Sum inputs/log.csv\n\nby month please"
    assert [said.text for said in made.evidence.said] == ["Sum inputs/log.csv", "by month please"]
