"""A model on the loopback that gives what a function says, in a thread of the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from data.canonical import digest
from tests.flows.json_server import json_server

# The fields that are asked for and the material of the question, to the fields of the answer.
Answers = Callable[[frozenset[str], Any], Mapping[str, Any]]
_END = "\n⟦end of material"


@dataclass
class Served:
    """Where the model listens, and the bodies of what it was asked."""

    url: str
    requests: list[Any] = field(default_factory=list)


@contextmanager
def model_server(answers: Answers) -> Iterator[Served]:
    """A listening model; 100 tokens in and 50 out for every reply."""
    served = Served("")

    def reply(request: Any, _headers: Message) -> tuple[int, Any]:
        served.requests.append(request)
        return 200, _completion(request, answers)

    with json_server(reply) as served.url:
        yield served


def _completion(request: Any, answers: Answers) -> dict[str, Any]:
    fields = frozenset(request["response_format"]["json_schema"]["schema"]["properties"])
    text = json.dumps(answers(fields, _material(request)))
    message = {"role": "assistant", "content": text}
    return {
        "model": "fake-1",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50},
    }


def _material(request: Any) -> Any:
    """The block of a request."""
    said = request["messages"][1]["content"]
    text = said if isinstance(said, str) else next(p["text"] for p in said if p["type"] == "text")
    start = text.index("⟧\n") + 2
    return json.loads(text[start : text.index(_END, start)])


def lanes(fields: frozenset[str], material: Any) -> dict[str, Any]:
    """Answers for the questions and the signals lane: wordings and ideas."""
    return wording(material) if "wording" in fields else ideas(material)


def wording(material: Any) -> dict[str, Any]:
    """Other words for most questions, for some a wording that asks for something else."""
    question = material["question"]
    if digest(question)[0] in "012":
        return {"wording": "How much was it?"}
    return {"wording": f"Can you tell me {question[0].lower()}{question[1:]}"}


def ideas(material: Any) -> dict[str, Any]:
    """As many ideas as are wanted, one of them too short to be worth the time."""
    kind = material["kind_of_work"]
    return {"ideas": [_idea(kind, number) for number in range(material["wanted"])]}


def _idea(kind: str, number: int) -> dict[str, Any]:
    result = digest([kind, number])
    words = " ".join(result[at : at + 4].translate(_LETTERS) for at in range(0, 48, 4))
    return {
        "title": f"{kind} {words[:9]}",
        "task": f"Compare {words} with the ledger and write down what differs.",
        "steps": ["Read the ledger", "Compare it with the list"],
        "artifact": "differences.csv with a row for each case",
        "environment": ["ledger.csv: 90 invented rows"],
        "evidence": ["accuracy"],
        "graded": "the rows are exactly the planted differences",
        "ungraded": "the order of rows",
        "minutes": 5 if number == 0 else 40,
    }


_LETTERS = str.maketrans("0123456789", "ghijklmnop")
