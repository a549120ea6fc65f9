"""Input that changes or goes while a stage reads it is told, and nothing made of it is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from data.canonical import file_digest
from data.contracts import StageKind
from data.errors import InputError
from data.run_store import RunStore
from data.stage_tables import write_stage_tables
from data.stages import Results, Stage, Unit, Work, run_stage


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("other")])
def test_what_was_made_of_input_that_changed_is_not_found_again(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    given = tmp_path / "given.csv"
    given.write_text("as it was")
    run: Any = SimpleNamespace(recipe=None, store=RunStore(tmp_path / "store", "v1"), key_id="")
    changes = [change]

    def compute(work: Work[Any], out: Path) -> None:
        for alter in changes:
            alter(given)
        write_stage_tables(out, StageKind.DERIVE, [], [], stage="read", unit="row")

    stage: Stage[Any] = Stage(
        name="read",
        meaning="",
        units=(Unit("row", StageKind.DERIVE),),
        inputs=lambda work: {"table": file_digest(given)},
        compute=compute,
    )
    with pytest.raises(InputError, match="stage read: found input that changed while it was read"):
        run_stage(run, stage, Results())
    assert list((tmp_path / "store" / "read").iterdir()) == []
    given.write_text("as it was")
    changes.clear()
    assert not run_stage(run, stage, Results()).reused
    assert run_stage(run, stage, Results()).reused
