"""What one run leaves for the next."""

import json
from dataclasses import dataclass, field
from datetime import datetime

from presswork.moments import moment, written


@dataclass
class Published:
    at: datetime
    slug: str


@dataclass
class Waiting:
    """Something that is to be sent to a channel."""

    due: datetime
    revision: int  # for which it was put here
    tries: int = 0


@dataclass
class State:
    until: datetime | None = None
    published: dict = field(default_factory=dict)  # by article
    waiting: dict = field(default_factory=dict)  # by channel and article
    sent: dict = field(default_factory=dict)  # the last revision, by channel and article


def read(path):
    if not path.exists():
        return State()
    stored = json.loads(path.read_text("utf-8"))
    return State(
        moment(stored["until"]),
        {name: Published(moment(each["at"]), each["slug"]) for name, each in stored["published"].items()},
        {
            tuple(each["key"]): Waiting(moment(each["due"]), each["revision"], each.get("tries", 0))
            for each in stored["waiting"]
        },
        {tuple(each["key"]): each["revision"] for each in stored["sent"]},
    )


def _waiting(key, each):
    return {
        "key": key,
        "due": written(each.due),
        "revision": each.revision,
        "tries": each.tries,
    }


def write(path, state):
    stored = {
        "until": written(state.until),
        "published": {
            name: {"at": written(each.at), "slug": each.slug}
            for name, each in sorted(state.published.items())
        },
        "waiting": [_waiting(key, each) for key, each in sorted(state.waiting.items())],
        "sent": [{"key": key, "revision": number} for key, number in sorted(state.sent.items())],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".new")
    aside.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")
    aside.replace(path)
