"""An endpoint that gives every question of judging a fitting answer at once: PORT_FILE."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from construction.grading.file_types import TYPES
from construction.judging.model.grading import Dimension
from construction.judging.model.labels import default_catalogue
from construction.judging.rules.taxonomy import business_task
from data.atomic import write_bytes
from data.canonical import digest
from tests.construction.judging.calls.fault_replies import Said
from tests.construction.judging.calls.fault_server import Server

_END = "\n⟦end of material"
_WEIGHTS = (0.4, 0.2, 0.2, 0.1, 0.1)
_WHY = "The request says what is to be made, out of which file, and how it would be checked."


class Fitting(Server):
    """The tests' server, with answers of its own."""

    async def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Said:
        requests = json.loads(body)
        schema = requests["response_format"]["json_schema"]["schema"]
        text = json.dumps(_answer(schema["properties"], _material(requests)), ensure_ascii=False)
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4}
        return Said.of(200, {"model": "fake-1", "choices": choices, "usage": usage})


def _material(requests: Any) -> Any:
    """The case that a request is about, out of its block."""
    said = requests["messages"][1]["content"]
    start = said.index("⟧\n") + 2
    return json.loads(said[start : said.index(_END, start)])


def _answer(fields: Any, case: Any) -> dict[str, Any]:
    if "definition" in fields:
        return _class(case)
    draw = int(digest(case["request"])[:8], 16)
    if "self_contained" in fields:
        return _verdict(case, whole=draw % 10 > 0)
    if "business_task" in fields:
        return _labels(case["request"], draw)
    if "criteria" in fields:
        return _grading(case)
    raise ValueError(f"no answer with {sorted(fields)}")


def _verdict(case: Any, *, whole: bool) -> dict[str, Any]:
    return {
        "self_contained": whole,
        "reason_code": "self_contained" if whole else "ambiguous_task",
        "brief_reason": _WHY,
        "confidence": 0.9,
        "rewritten_prompt": case["request"] if whole else None,
    }


def _labels(request: str, draw: int) -> dict[str, Any]:
    catalogue = default_catalogue()
    roles, families = sorted(catalogue.roles), sorted(catalogue.families)
    role = roles[draw % len(roles)]
    skills = sorted(skill for skill in catalogue.skills if skill.startswith(f"{role}."))
    return {
        "business_task": business_task(request) or "Work on what was asked",
        "role": _choice(role),
        "skill_subclass": _choice(skills[draw % len(skills)]),
        "task_family": _choice(families[draw % len(families)]),
    }


def _class(case: Any) -> dict[str, Any]:
    # Words of the letters a to p: a name may hold no figures.
    result = digest(case["group"])[:8].translate(str.maketrans("0123456789", "ghijklmnop"))
    return {
        "big_class": case["big_classes_in_use"][0],
        "name": f"Kind {result}",
        "definition": "Work of this kind makes a file out of another one, as it is described.",
        "confidence": 0.8,
        "reason": _WHY,
    }


def _choice(label: str) -> dict[str, Any]:
    return {"label": label, "confidence": 0.8, "reason": _WHY}


def _grading(case: Any) -> dict[str, Any]:
    paths = [file["path"] for file in case["input_files"]][:2]
    types = sorted({made["type"] for made in case["files_to_make"]} & TYPES.keys()) or ["md"]
    return {
        "deliverables": [{"file_type": kind, "count": 1, "name_hints": []} for kind in types],
        "criteria": [
            {"dimension": name, "weight": weight, "text": f"{_WHY} {name}", "evidence": paths}
            for name, weight in zip(Dimension, _WEIGHTS, strict=True)
        ],
        "route": "text",
        "retrieval": True,
        "accuracy": True,
        "action": False,
        "semantic": True,
    }


async def serve(server: Server, port_file: Path) -> None:
    """Listen until killed; the port stands in the file once it does."""
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1024)
    port: Any = listening.sockets[0].getsockname()[1]
    write_bytes(port_file, str(port).encode())
    async with listening:
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(Fitting(), Path(sys.argv[1])))
