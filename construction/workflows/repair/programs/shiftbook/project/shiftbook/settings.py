"""Settings of config/, and where files are."""

from configparser import ConfigParser
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from shiftbook.weeks import Week
from shiftbook.zones import Zone


@dataclass(frozen=True)
class Site:
    name: str
    zone: Zone
    holidays: frozenset


@dataclass(frozen=True)
class Settings:
    root: Path
    first_week: Week
    due: timedelta  # from the Monday after a week
    same_shift: timedelta
    open_after: timedelta
    break_from: timedelta
    quarter: timedelta
    night: tuple  # hours on the wall
    breaks: tuple  # (work, break that it needs), the longest first
    lowest: timedelta
    highest: timedelta
    sites: dict

    @property
    def data(self):
        return self.root / "data"

    @property
    def var(self):
        return self.root / "var"

    @property
    def ledger(self):
        return self.var / "ledger.csv"


def _read(path):
    parser = ConfigParser()
    parser.read_string(path.read_text("utf-8"))
    return parser


def _sites(path):
    parser = _read(path)
    zones = {
        name.removeprefix("zone "): Zone(
            name.removeprefix("zone "),
            timedelta(minutes=parser.getint(name, "standard_minutes")),
            parser.get(name, "summer", fallback="none"),
        )
        for name in parser.sections()
        if name.startswith("zone ")
    }
    return {
        name: Site(
            name,
            zones[parser.get(name, "zone")],
            frozenset(map(date.fromisoformat, parser.get(name, "holidays").split())),
        )
        for name in parser.sections()
        if not name.startswith("zone ")
    }


def read_settings(root):
    parser = _read(root / "config/shiftbook.ini")
    posting, rules, flexitime = parser["posting"], parser["rules"], parser["flexitime"]
    breaks = [(int(hours), int(minutes)) for hours, minutes in parser["breaks"].items()]
    return Settings(
        root=root,
        first_week=Week.parsed(posting["first_week"]),
        due=timedelta(days=posting.getint("weekday"), hours=posting.getint("hour")),
        same_shift=timedelta(hours=rules.getint("same_shift_hours")),
        open_after=timedelta(hours=rules.getint("open_hours")),
        break_from=timedelta(minutes=rules.getint("break_minutes")),
        quarter=timedelta(minutes=rules.getint("round_minutes")),
        night=(rules.getint("night_from"), rules.getint("night_until")),
        breaks=tuple(
            (timedelta(hours=hours), timedelta(minutes=minutes))
            for hours, minutes in sorted(breaks, reverse=True)
        ),
        lowest=timedelta(hours=flexitime.getint("lowest")),
        highest=timedelta(hours=flexitime.getint("highest")),
        sites=_sites(root / "config/sites.ini"),
    )
