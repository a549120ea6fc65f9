"""Settings of config/, and where files are."""

from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Style:
    name: str
    cells: int  # of a line
    rank: int


@dataclass(frozen=True)
class Settings:
    root: Path
    gap: int
    speed: int
    longest: int
    short: int
    styles: dict

    @property
    def data(self):
        return self.root / "data"

    @property
    def var(self):
        return self.root / "var"


def _read(path):
    parser = ConfigParser()
    parser.read_string(path.read_text("utf-8"))
    return parser


def read_settings(root):
    timing, styles = _read(root / "config/subtitler.ini")["timing"], _read(root / "config/styles.ini")
    return Settings(
        root=root,
        gap=timing.getint("gap_ms"),
        speed=timing.getint("cells_per_second"),
        longest=timing.getint("longest_ms"),
        short=timing.getint("short_frames"),
        styles={
            name: Style(name, styles.getint(name, "cells"), rank)
            for rank, name in enumerate(styles.sections())
        },
    )
