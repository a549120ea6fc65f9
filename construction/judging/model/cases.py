"""A case as material of a request: cleaned, bounded, under plain names."""

from __future__ import annotations

from typing import Any

from construction.judging.contracts import Case
from construction.judging.model.block import Cleaner
from construction.judging.model.contracts import PromptedConfig
from data.contracts import Fixture

_NAME_CHARS = 120


def case_content(case: Case, cleaner: Cleaner, config: PromptedConfig) -> dict[str, Any]:
    """What a judge reads of a case: words, what was said before, files, the agent's last words."""
    candidate = case.candidate
    return {
        "request": cleaner.text(case.request, config.request_chars, "request"),
        "said_before": [
            cleaner.text(text, config.background_chars, f"said_before {number}")
            for number, text in enumerate(case.background, start=1)
        ],
        "input_files": files_content(case, cleaner, config),
        "files_to_make": [
            {
                "type": cleaner.text(item.file_type, _NAME_CHARS, "files_to_make"),
                "count": item.count,
                "names": [
                    cleaner.text(name, _NAME_CHARS, "files_to_make") for name in item.name_hints
                ],
            }
            for item in candidate.deliverables
        ],
        "web_addresses": [
            cleaner.text(url, config.path_chars, "web_addresses") for url in candidate.network.urls
        ],
        "language": candidate.language,
        "agent_asked_back": case.asked_back,
        "agent_last_words": cleaner.text(case.reply, config.reply_chars, "agent_last_words"),
    }


def files_content(case: Case, cleaner: Cleaner, config: PromptedConfig) -> list[dict[str, Any]]:
    """The input files: path, size, type and how they begin; those beyond the limit are counted."""
    fixtures = sorted(case.candidate.fixtures, key=lambda fixture: fixture.path)
    shown = [_file(fixture, case, cleaner, config) for fixture in fixtures[: config.files]]
    if len(fixtures) > config.files:
        cleaner.notes.append(f"input_files: {len(fixtures) - config.files} more not listed")
    return shown


def _file(fixture: Fixture, case: Case, cleaner: Cleaner, config: PromptedConfig) -> dict[str, Any]:
    begins = case.excerpts.get(fixture.path, "")
    return {
        "path": cleaner.text(fixture.path, config.path_chars, "input_files"),
        "bytes": fixture.bytes,
        "type": cleaner.text(fixture.media_type, _NAME_CHARS, "input_files"),
        "begins": cleaner.text(begins, config.excerpt_chars, "input_files"),
    }
