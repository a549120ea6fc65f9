"""The command of the exported solvers: the reference steps on the tools that are served.

    python -I solver --steps steps.json --answer FILE

Of data tools, the answer is computed, and no gold answer is read. Of services, the requests of the
reference solution are made again, and its report is the answer. Imports the standard library and
modules that import it alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from construction.grading.spec import REPORT, TaskSpec, read_spec
from construction.grading.walk import OracleError, Serve, walk
from construction.statements.tools.client import DataTools


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk the steps on the served tools, and write the answer."""
    parser = argparse.ArgumentParser(prog="solver", description="Compute an answer by its steps.")
    parser.add_argument("--steps", type=Path, required=True, help="the reference steps (JSON)")
    parser.add_argument("--answer", type=Path, required=True, help="where the answer goes")
    parser.add_argument("--url", default="", help="the data tools; default: BENCHMINT_TABLES_URL")
    options = parser.parse_args(arguments)
    try:
        with DataTools(options.url) as tools:
            spec = read_spec(options.steps)
            is_workflow = spec.steps[-1].operation == REPORT
            answer = replay(spec, tools) if is_workflow else walk(spec, _served(tools)).answer
    except (OSError, OracleError) as error:
        print(f"solver: {error}", file=sys.stderr)
        return 1
    options.answer.parent.mkdir(parents=True, exist_ok=True)
    options.answer.write_text(f"{answer}\n", encoding="utf-8")
    return 0


def replay(spec: TaskSpec, tools: DataTools) -> str:
    """Make the requests of a workflow task's steps; refused ones too, as they were. The report."""
    *requests, report = spec.steps
    for step in requests:
        tools.call(step.operation.replace(".", "_", 1), step.arguments or {})
    return str((report.arguments or {})["answer"])


def _served(tools: DataTools) -> Serve:
    def serve(name: str, arguments: Mapping[str, Any]) -> str:
        text, refused = tools.call(name, arguments)
        if refused:
            raise OracleError(f"refused: {text}")
        return text

    return serve
