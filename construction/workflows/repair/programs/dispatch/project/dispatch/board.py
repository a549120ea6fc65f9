"""The board: all jobs. It changes by events alone, live and when the journal is read again."""

from dispatch.jobs import DEAD, DONE, RUNNING, WAITING, Job, as_record, from_record


class Board:
    def __init__(self):
        self.jobs = {}
        self.keys = {}  # key -> id of the job that holds it
        self.marks = {}  # recurring job -> time of its last occurrence
        self.count = 0

    def apply(self, event):
        getattr(self, f"_{event['kind']}")(event)

    def _submitted(self, event):
        self.count += 1
        job = Job(
            id=event["id"],
            number=self.count,
            queue=event["queue"],
            handler=event["handler"],
            payload=event["payload"],
            priority=event.get("priority", 0),
            key=event.get("key", ""),
            ready=event["at"] + event.get("delay", 0),
            changed=event["at"],
        )
        self.jobs[job.id] = job
        if job.key:
            self.keys[job.key] = job.id

    def _started(self, event):
        job = self.jobs[event["id"]]
        job.state, job.started, job.changed = RUNNING, event["at"], event["at"]
        job.attempts += 1
        job.lease_until = job.started + event["lease"]

    def _finished(self, event):
        job = self.jobs[event["id"]]
        job.state, job.result, job.changed = DONE, event["result"], event["at"]
        self._release(job)

    def _failed(self, event):
        job = self.jobs[event["id"]]
        job.error, job.changed = event["error"], event["at"]
        job.history.append(event["error"])
        if event["retry_at"] is None:
            job.state = DEAD
            self._release(job)
        else:
            job.state, job.ready = WAITING, event["retry_at"]

    def _reclaimed(self, event):
        """The lease ran out: the attempt does not count, and the job is ready again."""
        job = self.jobs[event["id"]]
        job.state, job.ready, job.changed = WAITING, event["at"], event["at"]
        job.attempts -= 1
        job.history.append("lease ran out")

    def _occurred(self, event):
        self.marks[event["name"]] = event["due"]

    def _release(self, job):
        if job.key and self.keys.get(job.key) == job.id:
            del self.keys[job.key]

    def ready(self, queue, now):
        """Jobs that may be started, in the order in which they are to be."""
        waiting = [
            job
            for job in self.jobs.values()
            if job.state == WAITING and job.queue == queue and job.ready <= now
        ]
        return sorted(waiting, key=lambda job: (-job.priority, job.number))

    def running(self, queue=None):
        return [
            job
            for job in self.jobs.values()
            if job.state == RUNNING and queue in (None, job.queue)
        ]

    def snapshot(self):
        return {
            "jobs": [as_record(job) for job in self.jobs.values()],
            "keys": dict(self.keys),
            "marks": dict(self.marks),
            "count": self.count,
        }

    @classmethod
    def restored(cls, snapshot, events):
        board = cls()
        if snapshot is not None:
            board.jobs = {record["id"]: from_record(record) for record in snapshot["jobs"]}
            board.keys, board.marks = snapshot["keys"], snapshot["marks"]
            board.count = snapshot["count"]
        for event in events:
            board.apply(event)
        return board
