"""The dispatcher: submits, starts, ends and reclaims jobs; every change is an event."""

from dispatch.board import Board
from dispatch.guard import Guard
from dispatch.handlers import handle
from dispatch.limits import Limits
from dispatch.retry import retry_at
from dispatch.schedule import due


class Refused(Exception):
    """A submission that is not taken; the message says why."""


class Dispatcher:
    """All methods but the constructor expect that the caller holds `guard`."""

    def __init__(self, settings, journal, log, now, wait=0.0):
        self.settings, self.log = settings, log
        self.guard = Guard(wait)
        self._journal = journal
        self.board = Board.restored(*journal.read())
        self._limits = Limits(settings, now)
        self._known = set()  # running jobs that this process started
        self.stopped = ""

    def _record(self, kind, now, **fields):
        event = {"kind": kind, "at": now, **fields}
        self._journal.append(event)
        self.board.apply(event)

    def submit(self, request, now):
        """The id of the new job, or of the one that holds the key already. Raises Refused."""
        queue, key = request.get("queue", ""), request.get("key", "")
        if queue not in self.settings.queues:
            raise Refused(f"no queue {queue}")
        if key and key in self.board.keys:
            return self.board.keys[key]
        identifier = request.get("id") or f"job-{self.board.count + 1}"
        if identifier in self.board.jobs:
            raise Refused(f"there is a job {identifier}")
        self._record(
            "submitted",
            now,
            id=identifier,
            queue=queue,
            handler=request.get("handler", "echo"),
            payload=request.get("payload", {}),
            priority=request.get("priority", 0),
            key=key,
            delay=request.get("delay", 0),
        )
        return identifier

    def reload(self, settings, now):
        """New settings; running jobs go on, and their places stay taken."""
        self._limits = self._limits.changed(settings, now)
        self.settings = settings
        self.log.info("settings read again", now)

    def tick(self, now):
        """Do all that is to be done now."""
        self._end_jobs(now)
        self._reclaim(now)
        self._occur(now)
        for name in sorted(self.settings.queues):
            self._start_jobs(name, now)
        if self._journal.lines >= self.settings.compact_after:
            self._journal.compact(self.board.snapshot())
            self.log.info("journal compacted", now)

    def _end_jobs(self, now):
        for job in sorted(self.board.running(), key=lambda job: job.number):
            takes = job.payload.get("takes", 0)
            if job.id not in self._known or job.payload.get("hangs") == job.attempts:
                continue
            if now >= job.started + takes:
                self._known.discard(job.id)
                self._end(job, now)

    def _end(self, job, now):
        queue = self.settings.queues[job.queue]
        try:
            result = handle(job)
        except Exception as error:
            again = retry_at(queue, job, error, now)
            self._record("failed", now, id=job.id, error=str(error), retry_at=again)
            what = "given up" if again is None else f"again at {again:g}"
            self.log.warning(f"{job.id} attempt {job.attempts}: {error}, {what}", now)
            return
        self._record("finished", now, id=job.id, result=result)
        self.log.info(f"{job.id} done after {job.attempts} attempts", now)

    def _reclaim(self, now):
        for job in self.board.running():
            if now >= job.lease_until:
                self._known.discard(job.id)
                self._record("reclaimed", now, id=job.id)
                self.log.warning(f"{job.id}: lease ran out", now)

    def _occur(self, now):
        for each in self.settings.recurring:
            moment = due(each, self.board.marks.get(each.name), now)
            if moment is None:
                continue
            self._record("occurred", now, name=each.name, due=moment)
            payload = {"text": f"{each.name} of {moment:g}", "takes": each.takes}
            request = {"queue": each.queue, "payload": payload, "key": f"every {each.name}"}
            self.submit({**request, "id": f"{each.name}-{moment:g}"}, now)

    def _start_jobs(self, name, now):
        queue = self.settings.queues[name]
        for job in self.board.ready(name, now):
            if len(self.board.running(name)) >= queue.running:
                break
            if not self._limits.take(name, now):
                break
            self._known.add(job.id)
            self._record("started", now, id=job.id, lease=queue.lease)
