"""Calls a foreign grader inside the box: an attempt comes in by standard input, its score goes out.

    python3 -I driver.py < attempt.json > score.json

Graders import the framework that they were written for. Where it is not there, its modules are
stood in for: any name that is imported is a class that keeps what it is given, and the class that
graders are derived from has the helpers that published graders call. Each attempt is scored with a
judge that gives it nothing, as any judge has to, and by what the grader does without one.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import sys
import types
from collections.abc import Sequence
from typing import Any

_BASE = "AbstractGrader"
_ERROR = 400  # the first HTTP status that is an error


class _Kept:
    """Keeps its arguments as fields; other fields are there and empty."""

    def __init__(self, *values: Any, **fields: Any) -> None:
        self.values = values
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __getitem__(self, name: str) -> Any:
        return self.__dict__.get(name)

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.__dict__.get(name, otherwise)


class _Helpers(_Kept):
    """What `AbstractGrader` gives to graders: texts and calls of an attempt, by their names."""

    @staticmethod
    def _get_final_assistant_text(messages: Sequence[Any]) -> str:
        texts = [each.message.text for each in messages if each.message.role == "assistant"]
        return texts[-1] if texts else ""

    @staticmethod
    def _get_all_assistant_text(messages: Sequence[Any]) -> str:
        return "\n".join(each.message.text for each in messages if each.message.role == "assistant")

    @staticmethod
    def compute_robustness(dispatches: Sequence[Any]) -> float:
        """The share of tools that failed and later succeeded; 1 where none failed."""
        failed: set[str] = set()
        mended: set[str] = set()
        for each in dispatches:
            if each.response_status >= _ERROR:
                failed.add(each.tool_name)
            elif each.tool_name in failed:
                mended.add(each.tool_name)
        return len(mended) / len(failed) if failed else 1.0

    @staticmethod
    def compute_communication_substance(
        final_text: str, tool_entities: Sequence[str], format_score: float
    ) -> float:
        """Half for the form, half for the entities that the text names."""
        if not tool_entities:
            return min(format_score, 0.7)
        share = sum(each in final_text for each in tool_entities) / len(tool_entities)
        return 0.5 * min(share / 0.4, 1.0) + 0.5 * format_score

    @staticmethod
    def get_service_actions(audit_data: Any, service: str, action_key: str) -> list[Any]:
        actions = ((audit_data or {}).get(service) or {}).get(action_key, [])
        return actions if isinstance(actions, list) else []

    @staticmethod
    def get_audit_calls(audit_data: Any, service: str) -> list[Any]:
        return list(((audit_data or {}).get(service) or {}).get("calls", []))

    @staticmethod
    def format_conversation(messages: Sequence[Any]) -> str:
        return "\n".join(f"{each.message.role}: {each.message.text}" for each in messages)

    @staticmethod
    def summarize_actions(audit_data: Any) -> str:
        return json.dumps(audit_data or {})


class _Strict(_Kept):
    """A judge that finds no merit, whatever it is asked."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_values, **_fields: _Kept(score=0.0, reasoning="", passed=False)


class _StandIn(types.ModuleType):
    """A module in which every name is a class of its own."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (_Helpers if name == _BASE else _Kept,), {})
        setattr(self, name, made)
        return made


class _StandInFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Comes last: for modules that are not installed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """There is nothing to execute."""


def _kept(value: Any) -> Any:
    """JSON values with fields as attributes too."""
    if isinstance(value, dict):
        return _Kept(**{name: _kept(item) for name, item in value.items()})
    return [_kept(item) for item in value] if isinstance(value, list) else value


def _grader(path: str) -> Any:
    """The `grade` of the module, or of the first class in it that has one of its own."""
    spec = importlib.util.spec_from_file_location("grader", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own = [
        each
        for each in vars(module).values()
        if isinstance(each, type) and each.__module__ == "grader" and "grade" in vars(each)
    ]
    if own:
        return own[0]().grade
    return module.grade


def _called(grade: Any, attempt: dict[str, Any], judge: Any) -> Any:
    """Call with what it asks for by name; an argument of another name gets nothing."""
    given = {name: _kept(value) for name, value in attempt.items() if name != "audit_data"}
    given |= {"audit_data": attempt["audit_data"], "judge": judge}
    wanted = inspect.signature(grade).parameters.values()
    named = {
        each.name: given.get(each.name)
        for each in wanted
        if each.kind is not each.VAR_KEYWORD and each.kind is not each.VAR_POSITIONAL
        and (each.name in given or each.default is each.empty)
    }  # fmt: skip
    return grade(**named)


def _score(result: Any) -> float:
    """A number, or the field that holds it."""
    if isinstance(result, int | float):
        return float(result)
    fields = result if isinstance(result, dict) else vars(result)
    for name in ("task_score", "score", "total", "overall", "completion"):
        if isinstance(fields.get(name), int | float):
            return float(fields[name])
    raise TypeError("no score")


def main() -> None:
    """Grade one attempt."""
    sys.meta_path.append(_StandInFinder())
    out, sys.stdout = sys.stdout, sys.stderr
    attempt = json.load(sys.stdin)
    scores: dict[str, float] = {}
    for name, judge in (("without_judge", None), ("score", _Strict())):
        with contextlib.suppress(Exception):  # a grader of somebody else's raises what it likes
            scores[name] = _score(_called(_grader("grader.py"), attempt, judge))
    json.dump(scores, out)


if __name__ == "__main__":
    main()
