"""Jobs, and how they are written."""

from dataclasses import asdict, dataclass, field, fields

WAITING, RUNNING, DONE, DEAD = "waiting", "running", "done", "dead"


@dataclass
class Job:
    id: str
    number: int  # in the order of submission
    queue: str
    handler: str
    payload: dict
    priority: int = 0  # higher ones first
    key: str = ""  # only one job of a key is waiting or running
    state: str = WAITING
    attempts: int = 0  # that ended, or run now
    ready: float = 0.0
    started: float = 0.0
    lease_until: float = 0.0
    changed: float = 0.0
    result: object = None
    error: str = ""
    history: list = field(default_factory=list)

    @property
    def is_over(self):
        return self.state in (DONE, DEAD)

    def view(self):
        """What the status service shows."""
        shown = ("id", "queue", "state", "attempts", "changed", "result", "error")
        return {name: getattr(self, name) for name in shown}


def as_record(job):
    return asdict(job)


def from_record(record):
    known = {each.name for each in fields(Job)}
    return Job(**{name: value for name, value in record.items() if name in known})
