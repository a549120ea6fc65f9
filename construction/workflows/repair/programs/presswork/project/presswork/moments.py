"""Moments: in UTC inside, with a Z where they are written."""

from datetime import UTC, datetime, timedelta

MINUTE = timedelta(minutes=1)


def moment(text):
    """A moment from a text with an offset."""
    return datetime.fromisoformat(text).astimezone(UTC)


def written(value):
    return value.strftime("%Y-%m-%dT%H:%MZ")
