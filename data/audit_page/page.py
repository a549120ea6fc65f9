"""The HTML of the audit page and the policy that fits it: no request leaves the page's origin."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from data.neutralise import script_json
from data.snapshot.pages import block_source

_TEMPLATES = Path(__file__).parent / "templates"
_SCRIPTS = ("whatif", "rejections", "list", "detail", "knobs", "served", "main")


def audit_page(columns: Mapping[str, Any], *, served: bool) -> str:
    """The page. Served, it asks for its columns and offers evidence and sign-off; else it holds
    the columns itself and works from a file.
    """
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        about=columns["about"],
        rejections=f"{columns['about']['n_rows']:,}".replace(",", "\u202f"),
        served=served,
        policy=_policy(served=served),
        style=_asset("page.css"),
        script=_script(),
        island="" if served else script_json(columns),
    )


def header_policy() -> str:
    """The policy of the served page as a header, which alone can forbid framing."""
    return _policy(served=True) + "; frame-ancestors 'none'"


def _policy(*, served: bool) -> str:
    rules = [
        "default-src 'none'",
        f"style-src {block_source(_asset('page.css'))}",
        f"script-src {block_source(_script())}",
        "img-src data:",
        "require-trusted-types-for 'script'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if served else rules)


@cache
def _script() -> str:
    return '"use strict";\n' + "".join(_asset(f"{name}.js") for name in _SCRIPTS)


@cache
def _asset(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
