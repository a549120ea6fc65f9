"""A build with a list of private values: another list has other keys, and no hash of it is kept."""

from __future__ import annotations

from pathlib import Path

from data.canonical import digest
from data.demo.generate import generate
from tests.flows.masked_sessions import mask_sessions


def masked(folder: Path, *values: str) -> tuple[str, tuple[str, ...], bool]:
    """The texts of the masked sessions, the names of the stage's outputs, and were they reused."""
    listed = folder / "list.txt"
    listed.write_text("\n".join(values))
    made = mask_sessions(folder, private_values=listed)
    return made.text, tuple(each.name for each in made.folders), made.reused


def test_another_list_gives_another_result_and_the_same_list_none(tmp_path: Path) -> None:
    generate(tmp_path / "demo", 6, 5)
    plain, first, _ = masked(tmp_path, "# nothing yet")
    word = next(
        word for word in plain.split() if word.isalpha() and word.islower() and len(word) > 6
    )
    text, second, reused = masked(tmp_path, word)
    assert word in plain.split() and word not in text.split()
    assert not reused and not set(first) & set(second)
    assert masked(tmp_path, "# the same", word) == (text, second, True)
    assert masked(tmp_path, "# nothing yet") == (plain, first, True)
    public = [p for p in (tmp_path / "workspace").rglob("*.json") if "vaults" not in p.parts]
    assert public
    for path in public:
        assert digest(word.encode()) not in path.read_text()
