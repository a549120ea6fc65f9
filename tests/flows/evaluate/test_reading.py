"""From the leaderboard to an attempt and its task: all links lead on, on small screens too."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from openpyxl import Workbook

pytest.importorskip("inspect_ai", reason="the extra `evaluate` is not installed: make evaluate")

from flows.commands.evaluate import grade_command
from flows.commands.leaderboard import leaderboard_command
from tests.construction.grading.exports.sample import ids, sample_export, sample_release
from tests.flows.browser import chromium, overflow, violations, watched
from tests.flows.evaluate.test_foreign import trajectory
from tests.page_text import bare_codes

pytestmark = [pytest.mark.timeout(300), pytest.mark.slow(seconds=5)]
_HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reading")
    snapshot = sample_release(root / "release")
    question, _, text = ids(sample_export(snapshot, with_private=True))
    for task, said in ((question, "125"), (text, f"It is 7. {_HOSTILE}")):
        folder = root / "logs" / task
        (folder / "outputs").mkdir(parents=True)
        (folder / "trajectory.json").write_text(json.dumps(trajectory(said)))
        (folder / "outputs" / "page.html").write_text(_HOSTILE)
        book = Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.append(["Days left", _HOSTILE])
        book.save(folder / "outputs" / "leave.xlsx")
    grade_command(root / "logs", snapshot, out=root / "attempts")
    leaderboard_command(snapshot, root / "attempts", root / "board")
    return root / "board"


def test_every_link_of_the_pages_leads_to_a_file(board: Path) -> None:
    pages = sorted((board / "private").rglob("*.html"))
    assert len(pages) == 2 + 5 + 1  # attempts, tasks, the list of tasks
    for path in pages:
        for address in re.findall(r'href="([^"#]+)["#]', path.read_text()):
            assert (path.parent / unquote(address)).is_file(), (path.name, address)


def test_no_code_stands_alone_on_the_board_and_its_pages(board: Path) -> None:
    pages = [path for path in board.rglob("*.html") if "viewer" not in path.parts]
    bare = {path.name: bare_codes(path.read_text()) for path in pages}
    assert len(bare) > 5 and {name: codes for name, codes in bare.items() if codes} == {}


def test_pages_are_private(board: Path) -> None:
    private = [path for path in (board / "private").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o077 for path in private} == {0}
    assert (board / "private").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_a_reader_comes_from_the_board_to_a_failed_attempt_and_its_task(
    board: Path, width: int
) -> None:
    with chromium() as browser:
        page, trouble = watched(browser, viewport={"width": width, "height": 844})
        page.goto((board / "leaderboard.html").as_uri())
        listed = page.locator("#attempts tbody tr")  # all that failed, before anything is chosen
        assert set(listed.locator("td:nth-child(3)").all_inner_texts()) == {
            "failed: its answer is wrong."
        }
        is_whole = "document.querySelector('#attempts').scrollWidth <= innerWidth"
        assert page.evaluate(is_whole)  # no column lies outside of the screen
        page.click("#table tbody th button")
        page.click("#attempts tbody tr:nth-child(1) td:nth-child(1) a >> nth=0")
        page.wait_for_load_state()
        first = page.locator("header").inner_text()
        assert "Expected zanzibar-4711" in first and "The agent's answer is wrong." in first
        assert page.locator("header").bounding_box()["height"] < 844  # of the first screen
        assert _HOSTILE in page.locator("#answer").inner_text()
        assert "Days left" in page.locator("#outputs table").inner_text()
        assert page.title() != "owned"
        assert (overflow(page), violations(page), trouble) == ([], [], [])
        page.click("text=The task, with its inputs and answers")
        page.wait_for_load_state()
        assert "zanzibar-4711" in page.locator("#answers").inner_text()
        assert (overflow(page), violations(page), trouble) == ([], [], [])
        page.click("text=All tasks")
        page.fill("#words", "revenue of Quandell")
        assert page.locator("#list > li:visible").count() == 1
        assert (overflow(page), violations(page), trouble) == ([], [], [])
