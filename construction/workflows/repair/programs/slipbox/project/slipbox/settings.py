"""Settings of config/slipbox.ini, and where files are."""

from configparser import ConfigParser
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    root: Path
    box: Path
    batches: Path
    most: int
    in_title: int
    in_text: int

    @property
    def var(self):
        return self.root / "var"


def read_settings(root):
    parser = ConfigParser()
    parser.read_string((root / "config/slipbox.ini").read_text("utf-8"))
    return Settings(
        root=root,
        box=root / parser["box"]["folder"],
        batches=root / parser["box"]["batches"],
        most=parser.getint("search", "most"),
        in_title=parser.getint("search", "title"),
        in_text=parser.getint("search", "text"),
    )
