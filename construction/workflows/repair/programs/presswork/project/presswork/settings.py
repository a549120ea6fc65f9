"""Sections and channels."""

from configparser import ConfigParser
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from presswork.moments import MINUTE
from presswork.zones import Zone


@dataclass(frozen=True)
class Channel:
    name: str
    sections: tuple
    delay: timedelta


@dataclass(frozen=True)
class Settings:
    root: Path
    zones: dict  # by section
    channels: tuple
    retries: tuple
    newest: int = 10

    @property
    def var(self):
        return self.root / "var"

    def carrying(self, section):
        """The channels that carry a section."""
        return [channel for channel in self.channels if section in channel.sections]


def _read(path):
    parser = ConfigParser()
    parser.read_string(path.read_text("utf-8"))
    return parser


def _zone(parser, name):
    section = parser[f"zone {name}"]
    return Zone(section.getint("standard_minutes") * MINUTE, section.get("summer"))


def read_settings(root):
    sections, channels = _read(root / "config/sections.ini"), _read(root / "config/channels.ini")
    return Settings(
        root=root,
        zones={
            name: _zone(sections, sections[name]["zone"])
            for name in sections.sections()
            if not name.startswith("zone ")
        },
        channels=tuple(
            Channel(
                name.removeprefix("channel "),
                tuple(channels[name]["sections"].split()),
                channels[name].getint("delay_minutes") * MINUTE,
            )
            for name in channels.sections()
            if name.startswith("channel ")
        ),
        retries=tuple(int(each) * MINUTE for each in channels["retries"]["minutes"].split()),
    )
