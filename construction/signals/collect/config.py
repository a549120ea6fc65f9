"""What is collected (recipe), and how a registry is asked (runtime: never digested)."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from data.contracts import Popularity, StageConfig
from data.errors import ConfigError

_SOURCE_NAME = r"^[a-z0-9]+(?:[._-][a-z0-9]+)*$"
_MAX_SOURCE_NAME = 64


class CollectConfig(StageConfig):
    """Recipe. The `top` signals by `measure` make a snapshot; None takes all."""

    measure: Popularity = Popularity.DOWNLOADS
    top: Annotated[int, Field(ge=1, le=100_000)] | None = 500


class RegistryConfig(StageConfig):
    """Runtime. A ClawHub-compatible registry, and how politely it is asked.

    `base_url` is set by the operator and may be a loopback address. `timeout` bounds one answer
    from connect to last byte, `max_retry_after` the pause that a registry may ask for; seconds.
    `details` asks for the page of each skill whose owner the listing does not name.
    """

    source: Annotated[str, Field(pattern=_SOURCE_NAME, max_length=_MAX_SOURCE_NAME)] = "registry"
    base_url: str
    page_size: Annotated[int, Field(ge=1, le=200)] = 100
    details: bool = True
    requests_per_second: Annotated[float, Field(gt=0, le=100)] = 2.0
    attempts: Annotated[int, Field(ge=1, le=20)] = 5
    backoff: Annotated[float, Field(ge=0, le=60)] = 1.0
    max_retry_after: Annotated[float, Field(ge=0, le=3600)] = 120.0
    timeout: Annotated[float, Field(gt=0, le=600)] = 30.0
    max_answer_bytes: Annotated[int, Field(ge=1024)] = 8 * 1024 * 1024
    max_pages: Annotated[int, Field(ge=1)] = 1000

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        """http(s), a host, perhaps a path; credentials have no place in a configuration."""
        parts = urlsplit(value)
        plain = value.isascii() and value.isprintable() and " " not in value
        if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
            raise ValueError("expected http://host or https://host, with or without a path")
        if parts.port == 0 or parts.username is not None or parts.query or parts.fragment:
            raise ValueError("expected no user, query or fragment, and a port above 0")
        return value.rstrip("/")


def check_source(source: str) -> str:
    """`source` if it can name a directory of snapshots; raises ConfigError otherwise."""
    if len(source) > _MAX_SOURCE_NAME or not re.fullmatch(_SOURCE_NAME, source):
        raise ConfigError(
            f"source name of {len(source)} characters; expected at most {_MAX_SOURCE_NAME}: "
            "words of a-z and 0-9 with '.', '_' or '-' between them."
        )
    return source
