"""What the manifests and locks of a tree declare: the packages that its tests need."""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import orjson
import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from construction.repositories.contracts import EnvironmentSpec, RepositoryReason

_GROUPS = frozenset({"test", "tests", "testing", "dev", "develop", "development", "default", "all"})
_REQUIREMENTS = re.compile(
    r"^(?:requirements/)?[^/]*requirements[^/]*\.(?:txt|in)$|^requirements/[^/]+\.txt$"
)
_INDEX = re.compile(r"^(?:-i|-f|--index-url|--extra-index-url|--find-links)\b")
_OUTSIDE = ("git+", "git:", "git@", "github:", "http:", "https:", "ssh:", "@git")
_PYTHON, _PYTHON_LOCKS = "pyproject.toml", ("uv.lock", "poetry.lock")
_NODE = "package.json"
_LOCKS = {
    "bun.lock": "bun",
    "bun.lockb": "bun",
    "pnpm-lock.yaml": "pnpm",
    "package-lock.json": "npm",
}
_NODE_FILES = (_NODE, "pnpm-workspace.yaml", ".npmrc", "bunfig.toml")
_NAMES = {_PYTHON, *_PYTHON_LOCKS, "setup.cfg", *_LOCKS, *_NODE_FILES}
_DEPENDENCIES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
_RUNNER = "pytest"

Texts = Mapping[str, str]  # the text files of a tree by path


def manifest_paths(paths: Collection[str]) -> set[str]:
    """The files of a tree that say what it needs."""
    named = {p for p in paths if posixpath.basename(p) in _NAMES or _REQUIREMENTS.match(p)}
    return {path for path in named if "node_modules/" not in path}


def python_spec(texts: Texts, imported: Collection[str] = ()) -> EnvironmentSpec | RepositoryReason:
    """What the tests of a Python tree need, or why it cannot be had from the registry.

    Of extras and groups that are not for development it is what the tree imports by its name.
    """
    wanted_files = {p: t for p, t in texts.items() if p.endswith(_PYTHON) or p in _PYTHON_LOCKS}
    try:
        tables = {path: tomllib.loads(text) for path, text in wanted_files.items()}
    except tomllib.TOMLDecodeError:
        return RepositoryReason.NO_ENVIRONMENT
    projects = {path: table for path, table in tables.items() if path not in _PYTHON_LOCKS}
    tools = [project.get("tool", {}) for project in projects.values()]
    if any(t.get("uv", {}).get("index") or t.get("poetry", {}).get("source") for t in tools):
        return RepositoryReason.PRIVATE_DEPENDENCY
    members = _members(projects)
    own: set[str] = {
        canonicalize_name(str(p.get("project", {}).get("name", ""))) for p in projects.values()
    }
    lines = [line for path in members for line in _declared(projects[path], imported)]
    for path, text in texts.items():
        lines += text.splitlines() if _REQUIREMENTS.match(path) else []
    wanted = _wanted(lines, own)
    if wanted is None:
        return RepositoryReason.PRIVATE_DEPENDENCY
    if not wanted and not members:
        return RepositoryReason.NO_ENVIRONMENT
    if not any(canonicalize_name(Requirement(text).name) == _RUNNER for text in wanted):
        wanted = [*wanted, _RUNNER]
    pins = sorted(pin for name in _PYTHON_LOCKS for pin in _pins(tables.get(name, {}), own))
    project = projects.get(_PYTHON, {}).get("project", {}).get("requires-python")
    return EnvironmentSpec("python", tuple(sorted(wanted)), tuple(pins), (), project)


def _wanted(lines: Sequence[str], own: set[str]) -> list[str] | None:
    """The requirements of lines; None if one names what the registry does not have."""
    wanted: dict[str, None] = {}
    for line in lines:
        text = re.split(r"\s#|^#", line.strip())[0].strip().rstrip("\\").split(" --hash")[0].strip()
        if _INDEX.match(text):
            return None
        if not text or text.startswith(("-", ".")):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            if any(mark in text for mark in _OUTSIDE):
                return None
            continue
        if requirement.url is not None:
            return None
        if canonicalize_name(requirement.name) not in own:
            wanted[text] = None
    return list(wanted)


def _members(projects: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The manifest at the root and those of its workspace; without one at the root, the highest."""
    root = projects.get(_PYTHON)
    if root is None:
        depth = min((path.count("/") for path in projects), default=0)
        return sorted(path for path in projects if path.count("/") == depth)
    globs = root.get("tool", {}).get("uv", {}).get("workspace", {}).get("members", [])
    patterns = [re.compile(rf"{_pattern(str(glob), '+')}/{_PYTHON}") for glob in globs]
    inside = [path for path in projects if any(p.fullmatch(path) for p in patterns)]
    return [_PYTHON, *sorted(inside)]


def _pattern(glob: str, most: str) -> str:
    """A glob of folders as a pattern; `*` stands for letters of one name."""
    return re.escape(glob).replace(r"\*\*", ".*").replace(r"\*", f"[^/]{most}")


def _declared(project: Mapping[str, Any], imported: Collection[str]) -> Iterator[str]:
    """The requirements of a manifest: its own, its groups for development, what is imported."""
    table = project.get("project", {})
    yield from map(str, table.get("dependencies", []))
    for groups in (table.get("optional-dependencies", {}), project.get("dependency-groups", {})):
        for name, group in groups.items():
            is_wanted = str(name).lower() in _GROUPS
            for item in group:
                if isinstance(item, str) and (is_wanted or _module_of(item) in imported):
                    yield item
    tool = project.get("tool", {})
    yield from map(str, tool.get("uv", {}).get("dev-dependencies", []))
    poetry = tool.get("poetry", {})
    groups = [g for name, g in poetry.get("group", {}).items() if str(name).lower() in _GROUPS]
    tables = [t.get("dependencies", {}) for t in (poetry, *groups)]
    for each in (*tables, poetry.get("dev-dependencies", {})):
        for name, wanted in each.items():
            keys = set(wanted) if isinstance(wanted, dict) else set[str]()
            if name != "python" and "path" not in keys:
                yield f"{name} @ git+unknown" if {"git", "url"} & keys else name


def _module_of(requirement: str) -> str:
    """The name under which a package of this name would be imported."""
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower().replace("-", "_")


def _pins(lock: Mapping[str, Any], own: set[str]) -> Iterator[str]:
    """The versions that a lock of uv or poetry names, of packages that a registry has."""
    for package in lock.get("package", []):
        source = package.get("source", {})
        name = canonicalize_name(str(package.get("name", "")))
        is_listed = not source or ("registry" in source and "url" not in source)
        if is_listed and name and name not in own and "version" in package:
            yield f"{name}=={package['version']}"


def node_spec(texts: Texts, folder: str) -> EnvironmentSpec | RepositoryReason:
    """What the tests of a package of Node need: manifests and the lock above it."""
    above = [folder, *("/".join(p.parts) for p in PurePosixPath(folder).parents)]
    locks = [
        (path, name) for path in above for name in _LOCKS if posixpath.join(path, name) in texts
    ]
    if not locks:
        return RepositoryReason.NO_ENVIRONMENT
    root, lock = locks[0]
    members, names = _workspaces(texts, root), {lock, *_NODE_FILES}
    files = {}
    for path, text in texts.items():
        home, name = posixpath.split(path)
        if name in names and (home == root or any(m.fullmatch(home) for m in members)):
            files[path] = text
    if any(_is_private(path, text) for path, text in files.items()):
        return RepositoryReason.PRIVATE_DEPENDENCY
    kept = {p: t for p, t in files.items() if not p.endswith((".npmrc", "bunfig.toml"))}
    manager = str((json_of(texts, posixpath.join(root, _NODE)) or {}).get("packageManager", ""))
    return EnvironmentSpec(_LOCKS[lock], (root,), (manager,), tuple(sorted(kept.items())))


def json_of(texts: Texts, path: str) -> dict[str, Any] | None:
    """What a file of JSON holds; nothing if it is not there, None if it is no table."""
    try:
        table = orjson.loads(texts.get(path, "{}"))
    except orjson.JSONDecodeError:
        return None
    return table if isinstance(table, dict) else None


def _workspaces(texts: Texts, root: str) -> list[re.Pattern[str]]:
    """The folders of the packages that belong to a workspace, as patterns."""
    try:
        workspace = yaml.safe_load(texts.get(posixpath.join(root, "pnpm-workspace.yaml"), "{}"))
    except yaml.YAMLError:
        return []
    named = (json_of(texts, posixpath.join(root, _NODE)) or {}).get("workspaces", [])
    globs: list[object] = [*(named.get("packages", []) if isinstance(named, dict) else named)]
    globs += (workspace.get("packages") or []) if isinstance(workspace, dict) else []
    return [
        re.compile(posixpath.join(re.escape(root), _pattern(str(g).removeprefix("./"), "*")))
        for g in globs
    ]


def _is_private(path: str, text: str) -> bool:
    """Does a file of a package name packages or a registry of somebody's own?"""
    if not path.endswith(_NODE):
        return path.endswith(".npmrc") and "registry" in text
    manifest = json_of({path: text}, path)
    if manifest is None:
        return True
    tables = [table for name in _DEPENDENCIES if isinstance(table := manifest.get(name), dict)]
    return any(str(version).startswith(_OUTSIDE) for t in tables for version in t.values())
