"""Cases for the tests of judging, made as the pipeline makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from construction.judging.contracts import Case
from construction.sessions.package import Identity, _package
from data.canonical import digest
from data.contracts import Disclosure, Fixture
from tests.construction.sessions.instances import said


def case(
    *texts: str,
    files: Sequence[str] = (),
    acts: Sequence[tuple[str, str, int]] = (),
    reply: str = "",
    tools: Sequence[str] = (),
    task_id: str = "t",
) -> Case:
    """A packaged case of a person who typed `texts`, with input files of these paths.

    `acts` are (kind, path, turn index) of the agent, `reply` its last words.
    """
    fixtures = [
        Fixture(path=path, sha256=digest(path), bytes=9, media_type="x/y") for path in files
    ]
    instance = replace(said(*texts, acts=acts), reply=reply, tools=tuple(tools))
    return _package(instance, fixtures, Identity(task_id, "demo", Disclosure.PUBLIC))
