"""Which events belong to which period of an account."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class Usage:
    """What an event adds to a period. `day` is the day whose plan it is charged by."""

    meter: str
    day: date
    quantity: Decimal
    is_night: bool
    is_late: bool


def _is_night(settings, hour):
    return hour >= settings.night_from or hour < settings.night_until


def _home(event_day, spans):
    return next((number for number, span in enumerate(spans) if event_day in span), None)


def _arrival(received_day, number, spans, grace):
    """The period that takes an event of period `number` which was received on a day."""
    if received_day < spans[number].end + grace:
        return number
    return next((n for n, span in enumerate(spans) if n > number and received_day in span), None)


def placed(account, events, spans, settings):
    """For each of the periods `spans`, what is to be charged in it, in the order of events."""
    by_period = [[] for _ in spans]
    for event in events:
        used = settings.zones.local(account.zone, event.at)
        received = settings.zones.local(account.zone, event.received).date()
        home = _home(used.date(), spans)
        if home is None:
            continue
        target = _arrival(received, home, spans, settings.grace)
        if target is None:
            continue
        is_late = target != home
        day = spans[target].start if is_late else used.date()
        is_night = _is_night(settings, used.hour)
        by_period[target].append(Usage(event.meter, day, event.quantity, is_night, is_late))
    return by_period
