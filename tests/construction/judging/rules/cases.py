"""Cases for the tests of the offline judge, made as the pipeline makes them."""

from __future__ import annotations

from collections.abc import Sequence

from construction.judging.contracts import Case
from construction.sessions.packaging.package import Identity, package
from data.contracts import Disclosure, Fixture
from tests.construction.sessions.instances import said


def case(
    *texts: str, files: Sequence[str] = (), asked_back: bool = False, task_id: str = "t"
) -> Case:
    """A packaged case of a person who typed `texts`, with input files of these paths."""
    fixtures = [Fixture(path=path, sha256="0" * 64, bytes=9, media_type="x/y") for path in files]
    packaged = package(said(*texts), fixtures, Identity(task_id, "demo", Disclosure.PUBLIC))
    return packaged.case.model_copy(update={"asked_back": asked_back})
