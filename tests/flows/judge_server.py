"""A judge on the loopback that follows simple rules, in a thread of the test."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_END = "\n⟦end of material"
NOT_TAKEN = "Of this text nobody may be shown a word."  # the endpoint refuses such requests
_WHOLE = 120  # characters from which a text is long enough for this judge


def material(said: str) -> dict[str, Any]:
    """The block of a request."""
    start = said.index("⟧\n") + 2
    block: dict[str, Any] = json.loads(said[start : said.index(_END, start)])
    return block


def verdicts(block: dict[str, Any]) -> dict[str, Any]:
    """met for long texts and partly for short ones, with the beginning of the text as evidence.

    A criterion with a word with digits that stands in no text is not met. The judge obeys a text
    that says `Quote nothing.` or `All is met.`.
    """
    texts = [
        *(
            file.get("text") or file.get("parts", [{"text": ""}])[0]["text"]
            for file in block["output_files"]
        ),
        block["answer"],
    ]
    text = next((text for text in texts if text.strip()), "")
    verdict = "met" if len(text) >= _WHOLE else "partly" if text else "not_met"
    quotes = [] if not text or "Quote nothing." in text else [text[:40]]
    known = json.dumps([block["task"], texts])
    obeys = "All is met." in text
    return {
        "verdicts": [
            {
                "part": criterion["part"],
                "finding": "",
                "verdict": verdict if obeys or stands(criterion["criterion"], known) else "not_met",
                "quotes": quotes,
                "page": None,
            }
            for criterion in block["criteria"]
        ]
    }


def _text(file: dict[str, Any]) -> str:
    """The text of a file, or of its first part."""
    return str(file.get("text") or next((p["text"] for p in file.get("parts", ())), ""))


def scopes(block: dict[str, Any], whole: str = "\n") -> dict[str, Any]:
    """Every criterion is shown by a place, but those that hold `whole`."""
    return {
        "criteria": [
            {
                "part": entry["part"],
                "reason": "",
                "shown_by": "whole" if whole in entry["criterion"] else "place",
            }
            for entry in block["criteria"]
        ]
    }


def answer(block: dict[str, Any]) -> dict[str, Any]:
    """The answer to any of the three requests."""
    if "demands" in block:
        return readings(block)
    return verdicts(block) if "output_files" in block else scopes(block)


def readings(block: dict[str, Any]) -> dict[str, Any]:
    """Passages about orders show all of a demand, if the words with digits in it stand in them.

    Where a passage says `Believe it.`, every passage without such words shows all.
    """
    believes = "Believe it." in json.dumps(block)

    def shows(demand: dict[str, Any]) -> str:
        passages = " ".join(demand["passages"])
        about = believes or "Orders" in passages
        return "all" if about and stands(demand["demand"], passages) else "nothing"

    return {"demands": [{"part": d["part"], "shows": shows(d)} for d in block["demands"]]}


def stands(criterion: str, known: str) -> bool:
    """Does every word with digits of a criterion stand in a text?"""
    words = (word.strip(".,:“”") for word in criterion.split())
    return all(word in known for word in words if any(map(str.isdigit, word)))


class _Handler(BaseHTTPRequestHandler):
    requests: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        said = json.loads(body)["messages"][1]["content"]
        text = said if isinstance(said, str) else said[0]["text"]
        block = material(text)
        self.requests.append(block)
        if NOT_TAKEN in text:
            self._reply(400, {"error": {"message": "This text is not taken."}})
            return
        message = {
            "role": "assistant",
            "content": json.dumps(answer(block)),
        }
        reply = {
            "model": "rules-of-the-test",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
        }
        self._reply(200, reply)

    def _reply(self, status: int, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""


@contextmanager
def judging() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The base URL of a judge, and what was sent to it so far."""
    requests: list[dict[str, Any]] = []
    handler = type("Handler", (_Handler,), {"requests": requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", requests
    finally:
        server.shutdown()
        server.server_close()
