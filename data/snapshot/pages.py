"""Templates and the content security policy of the HTML pages, which send no requests."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from data.figures import number, percent, plural
from data.neutralise import markdown, one_line

if TYPE_CHECKING:
    from jinja2 import Environment

_BREAKS = re.compile(r"(?<=[._])(?=[^\W\d])")  # not inside numbers
_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(("html.j2",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": markdown, "line": one_line, "n": number, "units": plural}
    environment.filters |= {"percent": _share, "name_parts": _name_parts}
    return environment


def _share(share: float | None) -> str:
    return percent(share) or "–"


def _name_parts(name: str) -> list[str]:
    """A name in parts, between which a narrow column may break: behind dots and underscores."""
    return _BREAKS.split(name)


def render(template: str, **values: Any) -> str:
    """A template filled in; `*.html.j2` escape every value, the others use the filter `md`."""
    return _environment().get_template(template).render(values)


@cache
def asset(name: str) -> str:
    """A style sheet or script that is inlined into pages."""
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _policy(style: str, script: str | None = None) -> str:
    """A policy that allows exactly this style and script, and no network, frame or form."""
    rules = ["default-src 'none'", f"style-src {block_source(style)}"]
    if script is not None:
        rules += [f"script-src {block_source(script)}", "require-trusted-types-for 'script'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def page(template: str, style: str, script: str | None = None, **values: Any) -> str:
    """An HTML page with its inlined assets and the policy that fits them."""
    return render(template, style=style, script=script, policy=_policy(style, script), **values)


def block_source(content: str) -> str:
    """The source expression of an inline style or script in a policy: its SHA-256."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
