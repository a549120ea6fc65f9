"""What jobs do. A handler gets the job and returns its result, or raises."""

from decimal import Decimal, InvalidOperation
from string import Template

from dispatch.retry import Permanent


def _echo(job):
    return job.payload.get("text", "")


def _sum(job):
    """The sum of decimal amounts."""
    try:
        return sum((Decimal(amount) for amount in job.payload["amounts"]), Decimal(0))
    except (InvalidOperation, KeyError) as error:
        raise Permanent(f"no amounts: {error}") from error


def _render(job):
    try:
        return Template(job.payload["template"]).substitute(job.payload.get("values", {}))
    except KeyError as error:
        raise Permanent(f"missing {error}") from error


def _remote(job):
    """Stands for calls of other systems: the first `fails` attempts fail."""
    if job.attempts <= job.payload.get("fails", 0):
        raise ConnectionError(f"no answer from {job.payload.get('host', 'remote')}")
    return "sent"


HANDLERS = {"echo": _echo, "sum": _sum, "render": _render, "remote": _remote}


def handle(job):
    """The result of a job. Raises what its handler raises; Permanent if there is no handler."""
    if job.handler not in HANDLERS:
        raise Permanent(f"no handler {job.handler}")
    return HANDLERS[job.handler](job)
