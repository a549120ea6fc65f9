"""The whole pipeline with a real server and a tiny model: live, recorded, replayed without it.

The model is no judge: it accepts, refuses and rambles at random. What counts is that whatever it
says ends in the books, and that a replay makes the same release byte for byte.
"""

from __future__ import annotations

import datetime as dt
import json
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pytest
import tomli_w

from construction.judging.review import Decision, Topic, record
from construction.judging.settings import ModelStage
from data.atomic import private_dir
from data.demo import generate
from tests.construction.judging.calls.real import MODEL, NOWHERE, needs_model, serving
from tests.flows.command import command, environment, key_file, sums

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200), needs_model]
CONTEXT = 4096  # tokens; the longest short prompt takes 3,500
MOST = 500  # of a reply
STORE, REVIEW = Path("private", "captures", "llm"), Path("private", "review")


def workspace_in(folder: Path) -> Path:
    """Two generated sessions, one that is too long for the model, and one popular skill."""
    generate(folder, 2, 3)
    lines = (
        f"第{n}条：第{n}组在{n % 12 + 1}月完成了{n * 37 % 1000}件样品的检验，"
        f"合格{n * 31 % 900}件，负责人要求{n % 28 + 1}日前补交记录并说明原因。"
        for n in range(1, 160)
    )
    requests = (
        "请根据下面的会议记录写一份纪要，存为「纪要.md」，分结论与待办两部分。\n\n"
        + "\n".join(lines)
    )
    said = [
        {"role": "user", "content": requests},
        {"role": "assistant", "content": "好的，已写好。"},
    ]
    (folder / "sessions" / "long.json").write_text(json.dumps({"messages": said}))
    for path in (folder / "signals").glob("*.csv"):  # one skill, so that there is one seed idea
        head, _, skill, *_ = path.read_text().splitlines()
        path.write_text(f"{head}\n{skill}\n")
    return folder


def configuration(workspace: Path, mode: str, url: str, stages: Sequence[ModelStage]) -> Path:
    """The workspace's own settings, the model in these stages, and few questions."""
    result = tomllib.loads((workspace / "benchmint.toml").read_text())
    result["judging"] = {"model": {"name": MODEL, "stages": list(map(str, stages))}}
    result["questions"]["sampling"]["size"] = 2
    result["runtime"] = {
        "signals": sorted(str(path) for path in (workspace / "signals").glob("*.csv")),
        "llm": {"base_url": url, "concurrency": 1, "timeout": 1800},
        "model_calls": {"mode": mode},
    }
    path = workspace / f"{mode}.toml"
    path.write_text(tomli_w.dumps(result))
    return path


def build(
    workspace: Path,
    out: Path,
    mode: str,
    url: str,
    stages: Sequence[ModelStage] = tuple(ModelStage),
) -> None:
    """Build; the whole of the command's words where it fails."""
    arguments = (
        "build",
        workspace / "sessions",
        *("--files", workspace / "files"),
        *("--sec", workspace / "statements" / "sec"),
        *("--config", configuration(workspace, mode, url, stages)),
        *("--key", key_file(workspace)),
        *("--out", out),
        "--quiet",
    )
    done = subprocess.run(
        command(*arguments), capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 0, done.stderr


def costs_of(out: Path) -> list[dict[str, Any]]:
    """What each stage asked, in the run of the newest release."""
    result = json.loads((out / "snapshots" / "latest" / "run.json").read_text())
    costs: list[dict[str, Any]] = result["judging"]
    return costs


def told_by(out: Path, stage: str) -> pl.DataFrame:
    """The rows of the release's ledger about one stage."""
    latest = out / "snapshots" / "latest" / "private"
    return pl.read_parquet(latest / "ledger.parquet").filter(pl.col("stage") == stage)


def packaged(out: Path) -> list[dict[str, Any]]:
    (path,) = (out / "private" / "stages" / "package").glob("*/pool.parquet")
    return [orjson.loads(text) for text in pl.read_parquet(path)["candidate"]]


def accept_all_short(out: Path, folder: Path) -> int:
    """Decide as people that all but the long task are self-contained, whatever the model said."""
    decisions = [
        Decision(
            item_id=task["task_id"],
            topic=Topic.CONTAINMENT,
            decision="self_contained",
            reviewer="A. Reviewer",
            date=dt.date(2026, 1, 15),
        )
        for task in packaged(out)
        if len(task["prompt"]) < 5000
    ]
    return record(private_dir(folder), decisions)


def test_every_stage_asks_a_real_model_and_is_replayed_without_it(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path / "demo")
    live, recorded, replayed = (tmp_path / name for name in ("live", "recorded", "replayed"))
    with serving(tmp_path, CONTEXT, MOST) as url:
        build(workspace, live, "live", url)
        shutil.copytree(live / STORE, recorded / STORE)
        accepted = accept_all_short(live, recorded / REVIEW)
        build(workspace, recorded, "record", url)
    shutil.copytree(recorded / STORE, replayed / STORE)
    shutil.copytree(recorded / REVIEW, replayed / REVIEW)
    build(workspace, replayed, "replay", NOWHERE)
    assert sums(replayed) == sums(recorded)
    verdicts = told_by(live, "self_containment")
    assert verdicts.height == len(packaged(live)) == accepted + 1
    assert "call.too_long" in verdicts["reason"].to_list()
    graded = told_by(recorded, "grade")
    assert graded.height <= accepted
    for row in graded.iter_rows(named=True):
        assert row["outcome"] == "kept" or row["reason"].startswith(("call.", "judge."))
    costs = costs_of(recorded)
    assert {row["judge"] for row in costs} == {f"model:{MODEL}"}
    print(_summary(recorded, live, costs))
    requests = {row["stage"] for row in costs if row["items"]}
    assert requests >= set(ModelStage) - {ModelStage.RECOVERY}  # of sessions with several turns


def _summary(recorded: Path, live: Path, costs: list[dict[str, Any]]) -> str:
    """What the model said, for those who look (`pytest -s`)."""
    lines = [json.dumps(row) for row in costs]
    for out, stage in (
        (live, "self_containment"),
        (recorded, "self_containment"),
        (recorded, "grade"),
    ):
        rows = told_by(out, stage)
        said = Counter(zip(rows["outcome"], rows["reason"], strict=True))
        lines.append(f"{out.name} {stage}: {dict(said)}")
    return "\n".join(lines)
