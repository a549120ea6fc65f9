"""Settings of config/intake.ini and of each supplier in config/suppliers.toml."""

import tomllib
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Supplier:
    """How a supplier writes its files. `columns`: our name -> theirs."""

    name: str
    form: str  # csv or jsonl
    delimiter: str
    decimal: str
    encoding: str
    day: str  # strptime form
    columns: dict
    units: dict = field(default_factory=dict)  # their unit -> ours


@dataclass(frozen=True)
class Settings:
    root: Path
    home: str  # currency of reports
    suppliers: dict
    aliases: dict  # (supplier, their article) -> ours

    @property
    def database(self):
        return self.root / "var/intake.db"

    @property
    def inbox(self):
        return self.root / "inbox"


_COMMON = {"form": "csv", "delimiter": ",", "decimal": ".", "encoding": "utf-8"}
_COMMON |= {"day": "%Y-%m-%d", "units": {}}


def _suppliers(path):
    table = tomllib.loads(path.read_text("utf-8"))
    common = _COMMON | table.pop("common", {})
    suppliers = {}
    for name, own in table.items():
        merged = {**common, **own}
        for key in ("columns", "units"):
            merged[key] = {**common.get(key, {}), **own.get(key, {})}
        suppliers[name] = Supplier(name=name, **merged)
    return suppliers


def _aliases(path):
    aliases = {}
    for line in path.read_text("utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            supplier, theirs, ours = (part.strip() for part in line.split("|"))
            aliases[supplier, theirs.casefold()] = ours
    return aliases


def read_settings(root):
    parser = ConfigParser()
    parser.read_string((root / "config/intake.ini").read_text("utf-8"))
    return Settings(
        root=root,
        home=parser.get("report", "currency"),
        suppliers=_suppliers(root / "config/suppliers.toml"),
        aliases=_aliases(root / "config/aliases.txt"),
    )
