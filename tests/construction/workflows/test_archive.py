"""An archive of papers: rows show headings only, words are found in texts, requests run out."""

from __future__ import annotations

import pytest

from construction.workflows.declaration import tools_of
from construction.workflows.runs import InProcessClient
from construction.workflows.world_file import ArchivedPaper, archive_world
from data.errors import InputError
from tests.construction.workflows.clients import ids, refused
from tests.construction.workflows.worlds import ACTOR, NOW

PAPERS = (
    ArchivedPaper("Levy of the North", "The levy is due in May.", "levies", "2024-05-02"),
    ArchivedPaper("A note on the Löwen", "行会的名单。"),
)


def test_papers_are_found_by_their_words_and_read_one_by_one() -> None:
    names = [tool.name for tool in tools_of(["archive"])]
    assert names == ["archive_search_papers", "archive_get_paper"]
    client = InProcessClient(archive_world(PAPERS, NOW, ACTOR, 6))
    hits = client.call("archive", "search_papers", query="levy may")
    assert hits["rows"] == [
        {
            "id": "paper-001", "heading": "Levy of the North", "folder": "levies",
            "filed_on": "2024-05-02",
        }
    ]  # fmt: skip
    assert ids(client.call("archive", "search_papers", query="行会")) == ["paper-002"]
    assert ids(client.call("archive", "search_papers", sort="-id")) == ["paper-002", "paper-001"]
    assert client.call("archive", "get_paper", id="paper-002")["body"] == "行会的名单。"
    assert [row.records for row in client.audit] == [(), (), (), ("papers/paper-002",)]
    assert refused(client, "archive", "create_paper", heading="a", body="b").startswith("unknown")
    assert refused(client, "archive", "get_paper", id="paper-003").startswith("not_found")
    assert refused(client, "archive", "get_paper", id="paper-001").startswith("rate_limited")


@pytest.mark.parametrize(
    ("paper", "word"),
    [
        (ArchivedPaper("h" * 201, "text"), "heading"),
        (ArchivedPaper("heading", "b" * 20_001), "body"),
        (ArchivedPaper("heading", " "), "body"),
        (ArchivedPaper("heading", "text", filed_on="in May"), "filed_on"),
    ],
)
def test_what_an_archive_cannot_keep_is_named(paper: ArchivedPaper, word: str) -> None:
    with pytest.raises(InputError, match=f"paper-001: {word}"):
        archive_world([paper], NOW, ACTOR)
