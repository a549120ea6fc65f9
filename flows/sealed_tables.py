"""After sealing a rebuild starts at the pseudonymized tables (law 4): where they are kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import orjson

from anonymization.tables.seal import RECORD
from data.atomic import PRIVATE_FILE, private_dir, replacing_dir, write_bytes
from data.canonical import digest, pretty_json
from data.errors import ConfigError
from data.run_store import StageOutput
from flows.run import Run
from flows.table_stages import ANONYMIZE

_FOLDER, _FACTS = "pseudonymized", "current.json"


def keep(run: Run, inputs: Mapping[str, str], made: StageOutput) -> None:
    """Keep a released stage outside the store, which is pruned, for a rebuild without the key.

    The fresh copy is whole before it becomes the current one and the old one goes.
    """
    folder = private_dir(run.private / _FOLDER)
    target = folder / made.path.name
    if not target.is_dir():
        with replacing_dir(target) as part:
            shutil.copytree(made.path, part, dirs_exist_ok=True)
    facts = {
        "folder": target.name,
        "release_key": run.key_id,
        "recipe": digest(run.recipe.tables.made_from()),
        "inputs": dict(inputs),
    }
    write_bytes(folder / _FACTS, pretty_json(facts), mode=PRIVATE_FILE)
    for other in folder.iterdir():
        if other.is_dir() and other != target:
            shutil.rmtree(other, ignore_errors=True)


def kept(run: Run) -> StageOutput | None:
    """The pseudonymized tables to start at; None where the originals are to be read.

    Errors: `ConfigError` where recipe or originals are others than those of the sealed tables:
    with the key gone, they cannot be perturbed in the same way again.
    """
    facts_file = run.private / _FOLDER / _FACTS
    sealed = (run.out / RECORD).is_file() and facts_file.is_file()
    if not sealed or not run.recipe.tables.tables:
        return None
    facts = orjson.loads(facts_file.read_bytes())
    if facts["release_key"] == run.key_id:
        return None  # it was kept elsewhere, and is there again
    if facts["recipe"] != digest(run.recipe.tables.made_from()):
        raise _sealed(run.out, "[tables] changed")
    return StageOutput(ANONYMIZE, facts_file.parent / facts["folder"], cached=True)


def require_unchanged(run: Run, inputs: Mapping[str, str]) -> None:
    """Raise ConfigError if originals that are still given are not those that were sealed."""
    facts = orjson.loads((run.private / _FOLDER / _FACTS).read_bytes())
    if facts["inputs"] != inputs:
        raise _sealed(run.out, "the tables changed")


def _sealed(out: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{out}: sealed, and {what} since: the release key is gone, so that a rebuild starts at "
        "the pseudonymized tables as they are. Undo the change, or build with another --out."
    )
