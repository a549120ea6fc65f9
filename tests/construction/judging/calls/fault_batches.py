"""The fault server's Batch API.

`settings`: `polls` before a batch is done, `expire` how many of its last requests expire,
`lose_create`: the next batch is made, but its answer is dropped, `finish`: every batch is done,
`path`: which endpoint answers.
"""

from __future__ import annotations

import json
from typing import Any

from tests.construction.judging.calls.fault_replies import Counts, Said, say


class Batches:
    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._polls: dict[str, int] = {}
        self._results: dict[str, dict[str, Any]] = {}
        self.settings: dict[str, Any] = {}

    def answer(self, method: str, path: str, body: bytes) -> Said:
        last = path.rsplit("/", 1)[-1]
        if method == "POST" and last == "files":
            return self._upload(body)
        if method == "POST" and last == "batches":
            return self._create(json.loads(body))
        if method == "GET" and last == "batches":
            listed = list(self._batches.values())
            return Said.of(200, {"object": "list", "data": listed, "has_more": False})
        if last == "content":
            return Said(200, self._files[path.rsplit("/", 2)[-2]])
        return self._retrieve(last) if last in self._batches else Said.of(404, {"error": {}})

    def _upload(self, body: bytes) -> Said:
        """The part of the multipart body that holds the requests."""
        lines = [line for line in body.split(b"\n") if line.startswith(b'{"custom_id"')]
        name = f"file-{len(self._files)}"
        self._files[name] = b"\n".join(line.strip() for line in lines)
        document = {
            "id": name,
            "object": "file",
            "bytes": len(body),
            "created_at": 0,
            "filename": "x.jsonl",
            "purpose": "batch",
            "status": "processed",
        }
        return Said.of(200, document)

    def _create(self, wanted: dict[str, Any]) -> Said:
        name = f"batch-{len(self._batches)}"
        self._batches[name] = {
            "id": name,
            "object": "batch",
            "endpoint": wanted["endpoint"],
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": wanted["input_file_id"],
            "status": "in_progress",
            "metadata": wanted.get("metadata"),
        }
        self._results[name] = self._work(self._batches[name])
        self._polls[name] = int(self.settings.get("polls", 1))
        if self.settings.pop("lose_create", False):
            return Said(0, None)
        return Said.of(200, self._batches[name])

    def _retrieve(self, name: str) -> Said:
        batch = self._batches[name]
        if self._polls[name] > 0 and not self.settings.get("finish"):
            self._polls[name] -= 1
        elif batch["status"] == "in_progress":
            batch.update(self._results[name])
        return Said.of(200, batch)

    def _work(self, batch: dict[str, Any]) -> dict[str, Any]:
        """What a batch has become when it is done; billed whether anybody fetches it or not."""
        good: list[bytes] = []
        bad: list[bytes] = []
        requests = [json.loads(line) for line in self._files[batch["input_file_id"]].split(b"\n")]
        served = len(requests) - int(self.settings.pop("expire", 0))
        for number, request in enumerate(requests):
            line: dict[str, Any] = {"id": f"r{number}", "custom_id": request["custom_id"]}
            if number >= served:
                line |= {"response": None, "error": {"code": "batch_expired", "message": "late"}}
            else:
                said = say(self.settings.get("path", "/v1/"), request["body"], self._counts)
                body = json.loads(said.content or b"{}")
                line |= {"response": {"status_code": said.status, "body": body}, "error": None}
            succeeded = (line["response"] or {}).get("status_code") == 200
            (good if succeeded else bad).append(json.dumps(line).encode())
        done = {"status": "completed" if served == len(requests) else "expired"}
        for field, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                done[field] = f"file-{batch['id']}-{field}"
                self._files[done[field]] = b"\n".join(lines)
        return done
