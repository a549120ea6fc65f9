"""Answers of the status service: (method, path, body) -> (status, what is sent as JSON)."""

from collections import Counter

from dispatch.dispatcher import Refused
from dispatch.guard import Busy


class Status:
    def __init__(self, dispatcher, reread):
        self._dispatcher = dispatcher
        self._reread = reread  # returns settings as they are on disk now

    def answer(self, method, path, body, now):
        try:
            return self._answer(method, path.rstrip("/"), body, now)
        except Busy as error:
            return 503, {"error": str(error)}
        except LookupError as error:
            return 404, {"error": f"there is no {error.args[0]}"}
        except (Refused, ValueError, TypeError) as error:
            return 400, {"error": str(error)}

    def _answer(self, method, path, body, now):
        dispatcher = self._dispatcher
        if (method, path) == ("GET", "/health"):
            return self._health()
        if (method, path) == ("GET", "/jobs"):
            with dispatcher.guard:
                counts = Counter(job.state for job in dispatcher.board.jobs.values())
            return 200, dict(sorted(counts.items()))
        if method == "GET" and path.startswith("/jobs/"):
            return 200, self._job(path.removeprefix("/jobs/"))
        if (method, path) == ("POST", "/jobs"):
            with dispatcher.guard:
                return 201, {"id": dispatcher.submit(body, now)}
        if (method, path) == ("POST", "/reload"):
            settings = self._reread()
            with dispatcher.guard:
                dispatcher.reload(settings, now)
            return 200, {"queues": sorted(settings.queues)}
        raise LookupError(path or "/")

    def _health(self):
        if self._dispatcher.stopped:
            return 500, {"error": self._dispatcher.stopped}
        with self._dispatcher.guard:
            return 200, {"running": len(self._dispatcher.board.running())}

    def _job(self, identifier):
        with self._dispatcher.guard:
            return self._dispatcher.board.jobs[identifier].view()
