"""A build with a list of private values: another list has other keys, and no hash of it is kept."""

from __future__ import annotations

from pathlib import Path

from anonymization.masking_recipe import MaskingRecipe
from anonymization.text.contracts import DetectionConfig
from data.canonical import digest
from data.demo.generate import generate
from data.stages import Results, run_stage
from data.survivors import read_survivors, texts_of
from flows.recipe import Recipe, Runtime
from flows.run import open_run
from flows.stages.masking import MASKING
from flows.stages.sessions import DISTINCT, NETWORK, RECOVER, SCAN

NO_MODELS = DetectionConfig.for_tasks().model_copy(
    update={"english_model": "", "chinese_model": "", "japanese_model": ""}
)


def masked(folder: Path, *values: str) -> tuple[str, tuple[str, ...], bool]:
    """The texts of the masked sessions, the names of the stage's outputs, and were they reused."""
    listed = folder / "list.txt"
    listed.write_text("\n".join(values))
    recipe = Recipe(masking=MaskingRecipe(detection=NO_MODELS))
    runtime = Runtime(
        sessions=(folder / "demo" / "sessions",),
        files=(folder / "demo" / "files",),
        out=folder / "workspace",
        private_values=listed,
        workers=1,
        quiet=True,
    )
    run, results = open_run(recipe, runtime), Results()
    ends = [run_stage(run, stage, results) for stage in (SCAN, RECOVER, DISTINCT, NETWORK, MASKING)]
    folders = results.outputs[MASKING.name]
    texts = [text for kept in read_survivors(folders) for text in texts_of(kept.instance)]
    return "\n".join(texts), tuple(folder.name for folder in folders), ends[-1].reused


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
