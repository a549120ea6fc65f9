"""The generated sessions of a folder, masked by a build's stages and without models of language."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymization.masking_recipe import MaskingLevel, MaskingRecipe
from anonymization.recogniser.contracts import RecogniserConfig
from anonymization.text.contracts import DetectionConfig
from construction.judging.calls.contracts import LlmRuntime
from data.pool import read_survivors, texts_of
from data.stages import Results, run_stage
from flows.recipe import Recipe, Runtime
from flows.run import Run, open_run
from flows.stages.sessions import (
    DISTINCT,
    FIND_PRIVATE,
    MASKING,
    NETWORK,
    READ_PRIVATE,
    RECOVER,
    SCAN,
)

_NO_MODELS = DetectionConfig.for_tasks().model_copy(
    update={"english_model": "", "chinese_model": "", "japanese_model": ""}
)


@dataclass(frozen=True, slots=True)
class MaskedSessions:
    """The stage's folders and what all sessions say in them; `reused`: nothing was masked anew.

    `read` are the folders of what a model has read.
    """

    run: Run
    folders: tuple[Path, ...]
    text: str
    reused: bool
    read: tuple[Path, ...] = ()


def mask_sessions(
    folder: Path,
    level: MaskingLevel | None = None,
    *,
    private_values: Path | None = None,
    reviewed: Path | None = None,
    reader: str = "",
) -> MaskedSessions:
    """Mask the sessions below `folder / "demo"` in the workspace of this folder.

    `reader` is the address of a model that reads them.
    """
    runtime = Runtime(
        sessions=(folder / "demo" / "sessions",),
        files=(folder / "demo" / "files",),
        out=folder / "workspace",
        private_values=private_values,
        reviewed=reviewed,
        recogniser=LlmRuntime(base_url=reader, attempts=1) if reader else LlmRuntime(),
        workers=1,
        quiet=True,
    )
    model = RecogniserConfig(model="reader" if reader else "")
    masking = MaskingRecipe(detection=_NO_MODELS, level=level, recogniser=model)
    recipe = Recipe(masking=masking)
    run, results = open_run(recipe, runtime), Results()
    read = (READ_PRIVATE,) if reader else ()
    stages = (SCAN, RECOVER, DISTINCT, NETWORK, *read, FIND_PRIVATE, MASKING)
    ends = [run_stage(run, stage, results) for stage in stages]
    folders = tuple(results.outputs[MASKING.name])
    texts = [text for kept in read_survivors(folders) for text in texts_of(kept.instance)]
    known = tuple(results.outputs.get(READ_PRIVATE.name, ()))
    return MaskedSessions(run, folders, "\n".join(texts), ends[-1].reused, known)
