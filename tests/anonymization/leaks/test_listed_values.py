"""Listed values in the searches for leaks, and in the vault that these read."""

from __future__ import annotations

from pathlib import Path

from anonymization.leaks.candidate_leaks import LeakTargets
from anonymization.leaks.contracts import LeakConfig
from anonymization.text.contracts import EntityType, Entry, Mode
from anonymization.text.vault import Vault

KEY = bytes(range(32))
WORD = Entry(EntityType.ORGANIZATION, "harvest", "manhead", False, True)
WORDS = Entry(EntityType.UNEXPLAINED, "Acorn Hill", "Ravenesby Dewsdyke", False, True)
UNLISTED = Entry(EntityType.ORGANIZATION, "orchard", "linward")
LOGIN = Entry(EntityType.ACCOUNT, "backup", "glenn", True)


def test_the_vault_keeps_what_was_listed(tmp_path: Path) -> None:
    vault = Vault("s", Mode.SURROGATE)
    for entry in (WORD, WORDS, UNLISTED, LOGIN):
        vault.add(entry)
    vault.save(tmp_path / "v.json", KEY)
    assert Vault.load(tmp_path / "v.json", KEY).entries == vault.entries


def test_a_listed_word_is_sought_in_its_session_and_several_everywhere() -> None:
    targets = LeakTargets({"s": (WORD, WORDS, UNLISTED)}, (), (), LeakConfig(), KEY)
    assert {v.value for v in targets.of_session("s").values} == {"harvest", "Acorn Hill"}
    assert {v.value for v in targets.everywhere.values} == {"Acorn Hill"}
    assert list(targets.of_session("s").find(b"the harvest is in"))
