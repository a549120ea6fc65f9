"""Whether a release has a sandbox: found once, replayed, and looked for again on demand."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import polars as pl
import pytest

from construction.sandbox import sandbox
from construction.sandbox.presence import Presence, presence, sandbox_problem
from construction.workflows.pool import GeneratorJob, _made_by, make_shard
from construction.workflows.screening import ScreeningConfig, ScreenReason
from data.canonical import digest
from data.errors import InputError
from data.pool import read_pool


def works() -> None:
    return None


def not_asked() -> NoReturn:
    raise AssertionError("what was captured is replayed")


def test_what_was_found_is_replayed_and_looked_for_again_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "captures" / "sandbox.jsonl"
    first = presence(path, "demo-2026.01.15", lambda: "none here", look_again=False)
    assert first is Presence.ABSENT
    assert presence(path, "demo-2026.01.15", not_asked, look_again=False) is Presence.ABSENT
    assert presence(path, "demo-2026.01.22", works, look_again=False) is Presence.PRESENT
    assert presence(path, "demo-2026.01.15", works, look_again=True) is Presence.PRESENT
    assert path.read_bytes().splitlines() == [
        b'{"found":"sandbox: present","release":"demo-2026.01.15"}',
        b'{"found":"sandbox: present","release":"demo-2026.01.22"}',
    ]
    path.write_text('{"release":"demo-2026.01.15","found":"perhaps"}\n')
    with pytest.raises(InputError, match="delete it to look again"):
        presence(path, "demo-2026.01.15", works, look_again=False)


def test_the_manifest_names_what_was_found_with_its_digest() -> None:
    assert Presence.ABSENT.inputs == {"sandbox: absent": digest("sandbox: absent")}


def test_without_bubblewrap_the_problem_names_the_command_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    assert sandbox_problem() == "bubblewrap (bwrap) is not installed: `make system` installs it"


def test_a_bubblewrap_that_cannot_start_a_box_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: "/bin/false")
    assert "user namespaces" in (sandbox_problem() or "")


def test_drafts_that_need_a_sandbox_are_left_out_with_the_reason_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    broken = GeneratorJob("site_modes", ("w-1", "w-2"), 5, ScreeningConfig(), has_sandbox=False)
    (tmp_path / "broken").mkdir()
    make_shard(broken, tmp_path / "broken")
    ledger = pl.read_parquet(tmp_path / "broken" / "ledger.parquet")
    assert ledger.select("item_id", "outcome", "reason").rows() == [
        (name, "rejected", ScreenReason.NO_SANDBOX) for name in ("w-1", "w-2")
    ]
    assert read_pool([tmp_path / "broken"]).candidates == ()
    served = GeneratorJob("order_enquiries", ("w-3",), 5, ScreeningConfig(), has_sandbox=False)
    assert [made.verdicts[0].reason for made in _made_by(served)] == [None]


def test_a_sandbox_that_was_captured_and_is_gone_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox, "bubblewrap", lambda: None)
    job = GeneratorJob("site_modes", ("w-1",), 5, ScreeningConfig())
    with pytest.raises(InputError, match=r"make system.*--revision"):
        list(_made_by(job))
