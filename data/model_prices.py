"""What a model costs: a file of prices with the day that they are of, which the user gives.

date = 2026-11-01
[models."openai/some-model"]     # as `--model` names it; US dollars for a million tokens
input = 1.25
output = 10.0
cache_read = 0.125               # as input, where it is not given
cache_write = 1.25               # likewise
"""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from data.errors import InputError
from data.neutralise import one_line

_PER = 1_000_000
_EXPECTED = "a date, and each model's input and output prices in US dollars per million tokens"
_MOST_BYTES = 1 << 20
_HIGHEST = 1_000_000  # US dollars for a million tokens: a dollar each; more is a mistake
Rate = Annotated[Decimal, Field(ge=0, le=_HIGHEST, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens by kind; `input` are those that were neither read from nor written to a cache."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        return self.input + self.cache_read + self.cache_write + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.output + other.output,
        )


class ModelPrice(BaseModel):
    """US dollars for a million tokens of each kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Rate
    output: Rate
    cache_read: Rate | None = None
    cache_write: Rate | None = None

    def cost(self, tokens: Tokens) -> Decimal:
        """US dollars for tokens that were used."""
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        parts = (
            self.input * tokens.input,
            read * tokens.cache_read,
            write * tokens.cache_write,
            self.output * tokens.output,
        )
        return sum(parts, Decimal(0)) / _PER

    def most(self, tokens: Tokens) -> Decimal:
        """The same if all that is read had the highest of its prices."""
        rates = (self.input, self.cache_read or Decimal(0), self.cache_write or Decimal(0))
        return (max(rates) * (tokens.total - tokens.output) + self.output * tokens.output) / _PER


class PriceList(BaseModel):
    """The prices of models on one day."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: dt.date
    models: dict[str, ModelPrice]


def read_prices(path: Path) -> PriceList:
    """The price list in a TOML file. Raises InputError."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise _refused(path, f"more than {_MOST_BYTES:,} bytes")
        content = tomllib.loads(text.decode("utf-8"), parse_float=Decimal)
        return PriceList.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        problem = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (OSError, ValueError, RecursionError) as error:
        problem = type(error).__name__
    raise _refused(path, one_line(problem))


def _refused(path: Path, problem: str) -> InputError:
    return InputError(str(path), problem, _EXPECTED, "See docs/run.md for an example.")
