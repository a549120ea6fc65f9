"""Scanning of files: where private values are, without writing anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anonymization.documents.contracts import DocumentReport
from anonymization.documents.document import mask_bytes
from anonymization.documents.scopes import Job, MaskingConfig, Paths, Scope, detector, jobs_of
from anonymization.levels import MaskingLevel
from anonymization.text.contracts import Mode
from anonymization.text.masking.known_search import Listed
from anonymization.text.masking.masker import Masker
from data.neutralise import one_line
from data.sharding import map_shards

_SCAN_KEY = bytes(32)  # a scan replaces nothing: its surrogates are discarded


def scan_paths(
    paths: Paths, config: MaskingConfig, workers: int, listed: Listed = ()
) -> list[DocumentReport]:
    """The findings in all files below `paths`; nothing is written."""
    settings = config.model_copy(update={"scope": Scope.FILE, "level": MaskingLevel.FULL})
    jobs = jobs_of(paths, Path("/nonexistent"), _SCAN_KEY, settings, listed)
    return [report for of in map_shards(scan_file, jobs, workers) for report in of]


def scan_file(job: Job) -> list[DocumentReport]:
    """The findings in the files of a job; nothing is written."""
    reports: list[DocumentReport] = []
    finder = detector(job.config.detection)
    for path, name in job.files:
        masker = Masker(finder, _SCAN_KEY, Mode.PLACEHOLDER, str(name), job.listed)
        masked = mask_bytes(path.read_bytes(), str(name), masker, job.config.documents)
        reports.append(replace(masked.report, path=name.as_posix()))
    return reports


def rejection(report: DocumentReport) -> str:
    """One line for the owner of a file that is not released."""
    part = f" (in {report.part})" if report.part else ""
    return one_line(f"{report.original_path or report.path}: rejected, {report.refusal}{part}")


def finding_lines(report: DocumentReport) -> Iterator[str]:
    """A line for each value that looks private, without it, and one if nothing can be released."""
    for row in report.rows:
        location = f"{report.path}!{row.part}" if row.part else report.path
        line = f"{location}:{row.offset}: {row.type} by {row.recognizer}, score {row.score:.2f}"
        yield one_line(line)
    if report.refusal is not None:
        location = f" (in {report.part})" if report.part else ""
        yield one_line(f"{report.path}: cannot be released, {report.refusal}{location}")
