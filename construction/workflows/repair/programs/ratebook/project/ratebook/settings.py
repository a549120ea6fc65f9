"""Settings: config/site.ini, zones and plans, and where files are."""

from configparser import ConfigParser
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ratebook.plans import read_plans
from ratebook.zones import Zones


@dataclass(frozen=True)
class Settings:
    root: Path
    grace: timedelta
    night_from: int  # hour of the local day
    night_until: int
    zones: Zones
    plans: dict

    @property
    def data(self):
        return self.root / "data"

    @property
    def var(self):
        return self.root / "var"


def read_settings(root: Path):
    parser = ConfigParser()
    parser.read_string((root / "config/site.ini").read_text("utf-8"))
    night = parser["night"]
    return Settings(
        root=root,
        grace=timedelta(days=parser.getint("late", "grace_days")),
        night_from=night.getint("from_hour"),
        night_until=night.getint("until_hour"),
        zones=Zones.read(root / "config/zones.ini"),
        plans=read_plans(root / "config/plans.toml"),
    )
