"""Prompts as files: what a model is told, with a version and a digest that enters stage keys.

A file of `prompts/` holds the instructions (`system`), what of them may be quoted in an answer
(`reference`: definitions of labels), and the sentences around the material (`intro`, `outro`).
What is said about the material itself is the same for all and stands in `prompts/frame.toml`.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from construction.judging.model.block import Block
from data.canonical import digest
from data.errors import ConfigError

_FOLDER = files("construction.judging.model").joinpath("prompts")
_FIELDS = frozenset(
    {"id", "version", "max_tokens", "system", "reference", "intro", "outro", "free_words"}
)
NAMES = ("containment", "grading", "ideas", "phrasing", "task_class", "taxonomy")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt; texts stay out of `repr`.

    `secret` is the part of the system text that no answer may repeat, `canary` the mark in it.
    `digest` covers every text a model gets to see and how long its reply may be.
    """

    name: str
    version: int
    digest: str
    canary: str
    max_tokens: int
    secret: str = field(repr=False)
    reference: str = field(repr=False)
    user_frame: str = field(repr=False)
    free_words: frozenset[str] = field(default=frozenset(), repr=False)

    def system(self, tables: str = "") -> str:
        """The system text; `tables` are label tables of the recipe, never session content."""
        return "\n\n".join(part for part in (self.secret, self.reference, tables.strip()) if part)

    def user(self, block: Block) -> str:
        """The user message: the frame around one block of material."""
        fenced = self.user_frame.replace("{fence}", block.fence)
        return fenced.replace("{data}", block.text)  # last, so that the data fills nothing in


@cache
def load_prompt(name: str) -> Prompt:
    """The prompt of `prompts/<name>.toml`. Raises ConfigError if it is not one."""
    told, frame = _read(name), _read("frame")
    strange = sorted(told.keys() - _FIELDS)
    if strange or told.get("id") != name:
        wrong = f"unknown fields: {', '.join(strange)}" if strange else "another id"
        raise ConfigError(f"prompt {name}: {wrong}")
    texts = {key: str(told[key]).strip() for key in ("system", "reference", "intro", "outro")}
    known = [name, told["version"], told["max_tokens"], texts, frame, told.get("free_words", [])]
    whole = digest(known)
    canary = f"bmk-{whole[:16]}"
    user = frame["user"].strip().replace("{intro}", texts["intro"])
    return Prompt(
        name=name,
        version=told["version"],
        digest=whole,
        canary=canary,
        max_tokens=told["max_tokens"],
        secret=f"{texts['system']}\n\n{frame['system'].strip().replace('{canary}', canary)}",
        reference=texts["reference"],
        user_frame=user.replace("{outro}", texts["outro"]),
        free_words=frozenset(told.get("free_words", ())),
    )


def prompts_digest() -> str:
    """One digest of all prompts, for the key of a stage that asks several."""
    return digest({name: load_prompt(name).digest for name in NAMES})


def _read(name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(_FOLDER.joinpath(f"{name}.toml").read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"prompt {name}: cannot be read ({type(error).__name__})") from None
