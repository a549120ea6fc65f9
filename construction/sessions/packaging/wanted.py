"""The files that a task asks for, by facts: names in the request, and what the agent wrote."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from construction.grading.file_types import TYPES, extension_of
from construction.mentions.extensions import path_parts, tail
from construction.mentions.named_files import named_files
from construction.prompt_frame import ANSWER
from data.contracts import Deliverable, Fixture, TaskInstance

_MOST = 20  # names kept as hints


def named_outputs(instance: TaskInstance, fixtures: Sequence[Fixture]) -> tuple[str, ...]:
    """The paths of results that the words name, in order, each name once.

    A named file is a result if the agent made it, or if no file of that name is at hand. An input
    that the words name and that the agent changed is delivered under its own name.
    """
    files = named_files(instance)
    given = {tail(fixture.path) for fixture in fixtures}
    changed = {tail(path) for path in _changed(instance)}
    made = {tail(path) for path in files.results}
    attached = {tail(mention.path) for mention in files.attached}
    outputs: dict[str, str] = {}
    for mention in files.named:
        name = tail(mention.path)
        is_new = name not in given and name not in attached
        if extension_of(name) and (name in changed or name in made or is_new):
            is_certain = name in made or name in changed or not mention.doubtful
            if is_certain and (is_new or name in changed or name in made - given):
                outputs.setdefault(name, mention.path)
    return tuple(outputs.values())


def expected(
    instance: TaskInstance, outputs: Sequence[str], fixtures: Sequence[Fixture]
) -> tuple[Deliverable, ...]:
    """The files to expect, sorted by type: what the words name, else what the agent wrote.

    Where there is neither, it is an answer.
    """
    if outputs:
        written = {tail(path) for path in (*named_files(instance).results, *_changed(instance))}
        names = [path.replace("\\", "/").rpartition("/")[2] for path in outputs]
        is_made = all(tail(name) in written for name in names)
        return _by_type(names, "both" if is_made else "request")
    produced = _produced(instance, fixtures)
    if produced:
        return _by_type(produced, "produced")
    return (Deliverable(file_type="md", name_hints=(ANSWER,)),)


def _by_type(names: Iterable[str], source: str) -> tuple[Deliverable, ...]:
    kinds: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        kinds.setdefault(_type_of(name), []).append(name)
    return tuple(
        Deliverable.model_validate(
            {
                "file_type": kind,
                "count": len(named),
                "name_hints": tuple(named[:_MOST]),
                "source": source,
            }
        )
        for kind, named in sorted(kinds.items())
    )


def _type_of(name: str) -> str:
    ending = extension_of(name)
    return next((kind.name for kind in TYPES.values() if ending in kind.extensions), ending)


def _changed(instance: TaskInstance) -> list[str]:
    """The files that the agent read first and wrote afterwards."""
    read: set[str] = set()
    changed: list[str] = []
    for act in instance.acts:
        if act.kind == "read":
            read.add(act.path)
        elif act.kind == "wrote" and act.path in read:
            changed.append(act.path)
    return changed


def _produced(instance: TaskInstance, fixtures: Sequence[Fixture]) -> list[str]:
    """Names of what the agent made; code only where nothing else was made."""
    given = {tail(fixture.path) for fixture in fixtures}
    made = [path for path in named_files(instance).results if tail(path) not in given]
    names = [path.replace("\\", "/").rpartition("/")[2] for path in made if _is_result(path)]
    plain = [name for name in names if not _is_code(name)]
    return plain or names


def _is_result(path: str) -> bool:
    return bool(extension_of(path)) and not any(p.startswith(".") for p in path_parts(path)[-1:])


def _is_code(name: str) -> bool:
    kind = TYPES.get(_type_of(name))
    return kind is not None and kind.kind == "code"
