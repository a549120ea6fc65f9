"""After sealing a rebuild starts at the pseudonymized tables (law 4): where they are kept."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import orjson

from anonymization.tables.recipe import TablesRecipe
from anonymization.tables.seal import RECORD
from data.atomic import PRIVATE_FILE, private_dir, replacing_dir, write_bytes
from data.canonical import digest, pretty_json
from data.errors import ConfigError

_FOLDER, _FACTS = "pseudonymized", "current.json"


def keep(
    private: Path, tables: Path, recipe: TablesRecipe, key_id: str, inputs: Mapping[str, str]
) -> None:
    """Keep pseudonymized tables outside the run store, for a rebuild after the key is destroyed.

    The copy is complete before it becomes the current one and the old one is removed. `inputs` are
    the digests of the original tables, by table; `key_id` is the digest of the release key.
    """
    folder = private_dir(private / _FOLDER)
    target = folder / tables.name
    if not target.is_dir():
        with replacing_dir(target) as part:
            shutil.copytree(tables, part, dirs_exist_ok=True)
    facts = {
        "folder": target.name,
        "release_key": key_id,
        "recipe": digest(recipe.made_from()),
        "inputs": dict(inputs),
    }
    write_bytes(folder / _FACTS, pretty_json(facts), mode=PRIVATE_FILE)
    for other in folder.iterdir():
        if other.is_dir() and other != target:
            shutil.rmtree(other, ignore_errors=True)


def sealed_tables(out: Path, recipe: TablesRecipe, key_id: str) -> Path | None:
    """The folder of the pseudonymized tables to start at; None where the originals are read.

    Errors: `ConfigError` if the recipe differs from that of the sealed tables: without the key
    they cannot be perturbed in the same way again.
    """
    facts_file = out / "private" / _FOLDER / _FACTS
    is_sealed = (out / RECORD).is_file() and facts_file.is_file()
    if not is_sealed or not recipe.tables:
        return None
    facts = orjson.loads(facts_file.read_bytes())
    if facts["release_key"] == key_id:
        return None  # the key was kept elsewhere and has been put back
    if facts["recipe"] != digest(recipe.made_from()):
        raise _sealed(out, "[tables] changed")
    return facts_file.parent / str(facts["folder"])


def require_unchanged(out: Path, inputs: Mapping[str, str]) -> None:
    """Raise ConfigError if originals that are still given are not those that were sealed."""
    facts = orjson.loads((out / "private" / _FOLDER / _FACTS).read_bytes())
    if facts["inputs"] != inputs:
        raise _sealed(out, "the tables changed")


def _sealed(out: Path, what: str) -> ConfigError:
    return ConfigError(
        f"{out}: sealed, and {what} since. Without the release key a rebuild can only start at "
        "the sealed tables as they are. Undo the change, or build with another --out."
    )
