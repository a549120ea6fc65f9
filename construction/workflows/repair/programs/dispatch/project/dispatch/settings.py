"""Settings: config/dispatch.ini, then the files of config/conf.d in the order of their names."""

from configparser import ConfigParser
from dataclasses import dataclass


@dataclass(frozen=True)
class QueueSettings:
    """`rate` and `burst` limit how many jobs are started: per second, and at once."""

    name: str
    running: int  # at most so many at a time
    rate: float
    burst: float
    lease: float  # seconds that a job may take
    attempts: int
    first_delay: float
    longest_delay: float


@dataclass(frozen=True)
class Recurring:
    name: str
    queue: str
    every: float
    offset: float
    takes: float


@dataclass(frozen=True)
class Settings:
    queues: dict
    recurring: tuple
    compact_after: int  # lines of the journal
    poll: float
    busy: float  # seconds that the service waits for the board


def _queue(name, section):
    return QueueSettings(
        name=name,
        running=section.getint("running", 2),
        rate=section.getfloat("rate", 5.0),
        burst=section.getfloat("burst", 5.0),
        lease=section.getfloat("lease", 60.0),
        attempts=section.getint("attempts", 3),
        first_delay=section.getfloat("first_delay", 5.0),
        longest_delay=section.getfloat("longest_delay", 60.0),
    )


def _recurring(name, section):
    return Recurring(
        name=name,
        queue=section["queue"],
        every=section.getfloat("every"),
        offset=section.getfloat("offset", 0.0),
        takes=section.getfloat("takes", 1.0),
    )


def read_settings(root, changes=()):
    """The settings; `changes` are texts that are read after all files."""
    parser = ConfigParser()
    for path in (root / "config/dispatch.ini", *sorted((root / "config/conf.d").glob("*.ini"))):
        parser.read_string(path.read_text("utf-8"), str(path))
    for text in changes:
        parser.read_string(text)
    queues, recurring = {}, []
    for title in parser.sections():
        kind, _, name = title.partition(" ")
        if kind == "queue":
            queues[name] = _queue(name, parser[title])
        elif kind == "every":
            recurring.append(_recurring(name, parser[title]))
    service = parser["service"]
    return Settings(
        queues=queues,
        recurring=tuple(recurring),
        compact_after=service.getint("compact_after", 500),
        poll=service.getfloat("poll", 0.05),
        busy=service.getfloat("busy", 1.0),
    )
