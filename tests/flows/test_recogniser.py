"""A model on the loopback reads what is private, as a user runs it: answers come from a script."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from anonymization.masking_recipe import MaskingLevel
from data.errors import ConfigError
from tests.flows.json_server import json_server
from tests.flows.masking_app import run

NOTE = "Please ask pebble about the order of the week. The keys are at Acorn Hill.\n"
GOOD: dict[str, Any] = {
    "values": [
        {"value": "pebble", "kind": "person"},
        {"value": "Acorn Hill", "kind": "organisation"},
    ],
    "not_private": [],
}
CONFIG = """
[masking.detection]
english_model = ""
chinese_model = ""
japanese_model = ""

[masking.recogniser]
model = "reader"
accepts_proposals = {accepts}

[runtime.recogniser]
base_url = "{url}"
attempts = 1
timeout = 5.0
"""


@contextmanager
def reader(*answers: object) -> Iterator[tuple[str, list[Any]]]:
    """Its address, and the requests that it got; the last answer is given again and again.

    An answer is the text of a reply, a status, or the object of a reply.
    """
    requests: list[Any] = []

    def reply(request: Any, _headers: object) -> tuple[int, Any]:
        answer = answers[min(len(requests), len(answers) - 1)]
        requests.append(request)
        if isinstance(answer, int):
            return answer, {"error": {"message": "no"}}
        text = answer if isinstance(answer, str) else json.dumps(answer)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 9}
        return 200, {"model": "reader", "choices": [choice], "usage": usage}

    with json_server(reply) as url:
        yield url, requests


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "in"
    root.mkdir()
    (root / "note.txt").write_text(NOTE)
    return root


def mask(
    folder: Path, out: str, url: str, *more: object, accepts: bool = False
) -> tuple[str, str, dict[str, Any], list[dict[str, str]]]:
    """What was printed, the masked note, the model's part of the report, and the words."""
    config = folder.parent / f"{out}.toml"
    config.write_text(CONFIG.format(url=url, accepts=str(accepts).lower()))
    made, key = folder.parent / out, folder.parent / "key"
    _, said = run("mask", folder, "--out", made, "--config", config, "--key", key, *more)
    masked = made / "files" / "in" / "note.txt"
    report = json.loads((made / "reports" / "masking.json").read_bytes())["recogniser"]
    words = (made / "private" / "words.csv").read_text(encoding="utf-8-sig").splitlines()
    text = masked.read_text() if masked.exists() else ""
    return said, text, report["counts"], list(csv.DictReader(words))


def test_what_the_model_names_is_masked_and_its_name_stands_in_the_audit(folder: Path) -> None:
    with reader(GOOD) as (url, requests):
        said, text, counts, words = mask(folder, "out", url)
    assert "recogniser: 2 of 2 calls answered" in said and len(requests) == 2
    assert "pebble" not in text and "Acorn" not in text and "Please ask" in text
    assert counts["values"] == 2
    assert not {"pebble", "Acorn Hill"} & {row["word"] for row in words}
    report = json.loads((folder.parent / "out/reports/masking.json").read_bytes())
    assert {row["recognizer"] for row in report["files"][0]["rows"]} == {"recogniser"}
    shown = requests[0]["messages"][1]["content"]
    assert NOTE.strip() in shown and "in/note.txt" in shown


def test_a_second_run_replays_the_replies(folder: Path) -> None:
    with reader(GOOD) as (url, requests):
        _, first, *_ = mask(folder, "one", url)
        captures = folder.parent / "one/private/captures"
        _, second, *_ = mask(folder, "two", url, "--captures", captures)
    assert first == second and len(requests) == 2
    _, third, *_ = mask(folder, "three", "http://127.0.0.1:1/v1", "--captures", captures)
    assert third == first


def test_a_second_look_keeps_and_adds(folder: Path) -> None:
    (folder / "note.txt").write_text(NOTE + "Pebbly is at Dorn Mill.\n")
    second = {
        "keep": ["2"],
        "missed": [{"value": "Dorn Mill", "kind": "organisation", "private": True}],
        "same": [["1", "2"]],
        "keep_parts": [{"row": "1", "part": "peb"}],
    }
    with reader(GOOD, second) as (url, requests):
        _, text, counts, words = mask(folder, "out", url)
        captures = folder.parent / "out/private/captures"
        _, again, *_ = mask(folder, "again", "http://127.0.0.1:1/v1", "--captures", captures)
    shown = requests[1]["messages"][1]["content"]
    assert "2. Acorn Hill → " in shown and "The keys are at ⟦Acorn Hill⟧." in shown
    assert "Acorn Hill" in text and "pebble" not in text and "Dorn Mill" not in text
    assert again == text and counts["second look kept"] == 1
    (row,) = (row for row in words if row["word"] == "Acorn Hill")
    assert row["decision"] == "proposed"
    report = json.loads((folder.parent / "out/reports/masking.json").read_bytes())
    by = {row["recognizer"] for row in report["files"][0]["rows"]}
    assert by == {"recogniser", "second_look"}
    back = folder.parent / "back"
    run("restore", folder.parent / "out", "--out", back, "--key", folder.parent / "key")
    assert (back / "in/note.txt").read_text() == (folder / "note.txt").read_text()


@pytest.mark.parametrize("answer", [500, "no JSON at all", '{"values": 3}', '{"values": [{}]}'])
def test_without_a_usable_answer_evidence_decides(folder: Path, answer: object) -> None:
    with reader(answer) as (url, _):
        said, text, counts, _ = mask(folder, "out", url)
    assert "0 of 1 calls answered; evidence alone decided about the others (call." in said
    assert text == NOTE and counts["calls"] == 1 and "answered" not in counts


_GERMAN = """Sehr geehrte Damen und Herren,

bitte schicken Sie die Rechnung noch in dieser Woche an Frau Kesselbrink, die sie sofort prüft und
weitergibt. Die Ware ist am Montag angekommen, aber zwei Kisten fehlen leider. Wir melden uns
wieder, sobald sie da sind.
"""


@pytest.mark.parametrize(("answer", "is_masked"), [(500, False), (GOOD, True)])
def test_what_the_model_has_read_may_be_in_any_language(
    folder: Path, answer: object, is_masked: bool
) -> None:
    (folder / "note.txt").write_text(_GERMAN)
    if is_masked:
        answer = {**GOOD, "values": [{"value": "Kesselbrink", "kind": "person"}]}
    config = folder.parent / "models.toml"
    with reader(answer) as (url, _):
        config.write_text(
            "[masking.recogniser]"
            + CONFIG.partition("[masking.recogniser]")[2].format(url=url, accepts="false")
        )
        out, key = folder.parent / "out", folder.parent / "key"
        run("mask", folder, "--out", out, "--config", config, "--key", key)
    report = json.loads((out / "reports" / "masking.json").read_bytes())
    (file,) = report["files"]
    assert (file.get("refusal") is None) is is_masked
    if is_masked:
        assert "Kesselbrink" not in (out / "files/in/note.txt").read_text()


def test_a_hostile_answer_changes_no_other_word(folder: Path) -> None:
    lines = [{"value": word, "kind": "person"} for word in ("the", "if", "e", NOTE.strip())]
    lines += [{"value": "x" * 5000, "kind": "person"}, {"value": "<script>", "kind": "person"}]
    lines += [{"value": "pebble", "kind": "=HYPERLINK()"}, {"value": "", "kind": "secret"}]
    hostile = {"values": lines, "not_private": ["1-999999", "-3", "0", "1e9", 7]}
    with reader(hostile) as (url, _):
        _, text, counts, words = mask(folder, "out", url)
    assert text == NOTE and counts["values"] == 0 and counts["proposals"] == 0
    assert sum(n for name, n in counts.items() if name.startswith("dropped")) == 13
    assert all(row["decision"] == "" for row in words)


def test_proposals_are_ranked_last_and_wait_for_the_owner(folder: Path) -> None:
    with reader({"values": [], "not_private": ["1-2"]}) as (url, requests):
        _, _, counts, words = mask(folder, "out", url)
        rows = requests[0]["messages"][1]["content"].split("⟦rows⟧")[1]
        listed = [line.split()[1] for line in rows.splitlines() if line[:1].isdigit()]
        assert counts["proposals"] == 2
        assert [row["decision"] for row in words][-2:] == ["proposed", "proposed"]
        assert all(row["decision"] == "" for row in words[:-2])
        assert {row["word"].split()[0] for row in words[-2:]} == set(listed[:2])
        decided = folder.parent / "decided.csv"
        with decided.open("w", newline="") as handle:
            writer = csv.DictWriter(handle, list(words[0]))
            writer.writeheader()
            writer.writerows(row | {"decision": row["decision"] or "keep"} for row in words)
        _, refused, *_ = mask(folder, "asked", url, "--reviewed", decided)
        _, accepted, *_ = mask(folder, "accepted", url, "--reviewed", decided, accepts=True)
    assert (refused, accepted) == ("", NOTE)


def test_a_model_elsewhere_is_refused_before_it_sees_anything(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"found 192\.0\.2\.7; expected a loopback address"):
        mask(folder, "out", "http://192.0.2.7:8000/v1")
    assert not (folder.parent / "out" / "private").exists()


def test_a_build_asks_masks_and_replays(tmp_path: Path) -> None:
    from data.demo.generate import generate
    from tests.flows.masked_sessions import mask_sessions

    generate(tmp_path / "demo", 6, 7)
    with reader({"values": [], "not_private": []}) as (url, requests):
        plain = mask_sessions(tmp_path, MaskingLevel.STRICT, reader=url)
        assert requests
    word = next(w for w in plain.text.split() if w.islower() and w.isalpha() and len(w) > 7)
    for path in (tmp_path / "workspace").iterdir():
        path.rename(tmp_path / f"old-{path.name}")
    answer = {"values": [{"value": word, "kind": "other"}], "not_private": ["1"]}
    with reader(answer) as (url, requests):
        made = mask_sessions(tmp_path, MaskingLevel.STRICT, reader=url)
        number = len(requests)
        again = mask_sessions(tmp_path, MaskingLevel.STRICT, reader=url)
        assert len(requests) == number and again.reused
    orders = {request["messages"][0]["content"].split(" ")[1] for request in requests}
    assert orders == {"read", "check"}  # texts, and what was replaced in them
    assert word in plain.text.split() and word not in made.text.split()
    (folder,) = made.read
    assert (folder / "model_use.json").exists()
