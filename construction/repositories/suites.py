"""Which tests of a tree decide a task, by which command they run, and what they call by name."""

from __future__ import annotations

import ast
import base64
import posixpath
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import orjson
import yaml
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from construction.repositories.contracts import (
    EnvironmentSpec,
    RepositoriesConfig,
    RepositoryReason,
    RepositoryTask,
    TestPlan,
)
from construction.repositories.git import Entry, Store
from construction.repositories.run_tests import is_protected, is_test

# What the manifests and locks of a tree declare: the packages that its tests need.

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

_Texts = Mapping[str, str]  # the text files of a tree by path


def _manifest_paths(paths: Collection[str]) -> set[str]:
    """The files of a tree that say what it needs."""
    named = {p for p in paths if posixpath.basename(p) in _NAMES or _REQUIREMENTS.match(p)}
    return {path for path in named if "node_modules/" not in path}


def _python_spec(
    texts: _Texts, imported: Collection[str] = ()
) -> EnvironmentSpec | RepositoryReason:
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


def _node_spec(texts: _Texts, folder: str) -> EnvironmentSpec | RepositoryReason:
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
    manager = str((_json_of(texts, posixpath.join(root, _NODE)) or {}).get("packageManager", ""))
    return EnvironmentSpec(_LOCKS[lock], (root,), (manager,), tuple(sorted(kept.items())))


def _json_of(texts: _Texts, path: str) -> dict[str, Any] | None:
    """What a file of JSON holds; nothing if it is not there, None if it is no table."""
    try:
        table = orjson.loads(texts.get(path, "{}"))
    except orjson.JSONDecodeError:
        return None
    return table if isinstance(table, dict) else None


def _workspaces(texts: _Texts, root: str) -> list[re.Pattern[str]]:
    """The folders of the packages that belong to a workspace, as patterns."""
    try:
        workspace = yaml.safe_load(texts.get(posixpath.join(root, "pnpm-workspace.yaml"), "{}"))
    except yaml.YAMLError:
        return []
    named = (_json_of(texts, posixpath.join(root, _NODE)) or {}).get("workspaces", [])
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
    manifest = _json_of({path: text}, path)
    if manifest is None:
        return True
    tables = [table for name in _DEPENDENCIES if isinstance(table := manifest.get(name), dict)]
    return any(str(version).startswith(_OUTSIDE) for t in tables for version in t.values())


_SCRIPT = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts")
_IMPORT_MODE = re.compile(r"--import-mode[= ](\w+)")
_IMPORTED = re.compile(r"^[ \t]*(?:import|from)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_NAMED = re.compile(r"import\s+(?:type\s+)?\{([^{}]*)\}\s*from\s*['\"](\.[^'\"]*)['\"]")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_MEMBER = re.compile(r"(?:\.|\[['\"])([A-Za-z_$][\w$]*)")
_KEY = re.compile(
    r"[({,]\s*['\"]?([A-Za-z_$][\w$]*)['\"]?\s*(?:=(?![=>])|:(?!//))"
)  # or an argument
_DEFINED = re.compile(
    r"\b(?:def|class|function|const|let|var|get|set)\s+([A-Za-z_$][\w$]*)"
    r"|([A-Za-z_$][\w$]*)['\"]?\??\s*[:=(]"
)
_TEXT = re.compile(r"\"([^\"\n\\]{6,120})\"|'([^'\n\\]{6,120})'|`([^`\n\\]{6,120})`")
_HOLE = re.compile(r"\$?\{[^{}]*\}")  # where a template has a value
# Lines with paths of modules or with the titles of tests: nothing that a test looks for.
_NOT_SOUGHT = re.compile(
    r"^\s*(?:import|from|export|\} from)\b|\b(?:mock|require|import)\("
    r"|^\s*(?:describe|it|test)(?:\.\w+)?\("
)
_LEAST_NAME, _LEAST_TEXT = 3, 6


@dataclass(frozen=True, slots=True)
class Suite:
    """How the tests of a task run: the environment and the plan."""

    spec: EnvironmentSpec
    plan: TestPlan


def split(changed: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths of a change that a submission has to bring, and those that are hidden from it."""
    hidden = [path for path in changed if is_protected(path)]
    return [path for path in changed if not is_protected(path)], hidden


@dataclass(frozen=True)
class Change:
    """What a task changed. `store` holds its trees."""

    task: RepositoryTask
    store: Store

    @cached_property
    def parts(self) -> tuple[list[str], list[str]]:
        """The paths that a submission has to bring, and those that are hidden from it."""
        return split(self.store.changed(self.task.base_tree, self.task.reference_tree))

    @cached_property
    def patch(self) -> bytes:
        """The reference, as far as a submission brings it."""
        return self.patch_to(self.task.reference_tree, self.parts[0])

    def patch_to(self, tree: str, paths: Sequence[str]) -> bytes:
        """How a tree differs from the base at some paths."""
        return self.store.patch(self.task.base_tree, tree, paths)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The files of the reference by path."""
        return {entry.path: entry for entry in self.store.entries(self.task.reference_tree)}

    @cached_property
    def sources(self) -> dict[str, str]:
        """The sources of the base by path."""
        tree = self.task.base_tree
        return self.texts(tree, {e.path for e in self.store.entries(tree) if is_source(e.path)})

    def texts(self, tree: str, paths: Collection[str]) -> dict[str, str]:
        """The contents of the files among some paths of a tree."""
        contents = self.store.files(tree, paths)
        return {path: content.decode("utf-8", "replace") for path, content in contents.items()}

    def with_file(self, path: str, content: bytes) -> Change:
        """The same with one more file in the reference."""
        tree = self.store.tree_with(self.task.reference_tree, {path: ("100644", content)})
        return Change(replace(self.task, reference_tree=tree), self.store)


def suite_of(change: Change, config: RepositoriesConfig) -> Suite | RepositoryReason:
    """The suite of a task, or why its tests cannot be run. Raises GitFailed."""
    entries, hidden, tree = change.entries, change.parts[1], change.task.reference_tree
    tests = deciding(hidden, entries)
    if not tests:
        return RepositoryReason.NO_TESTS
    texts = change.texts(tree, _manifest_paths(entries))
    near = neighbours(tests, [p for p in entries if is_test(p) and p not in tests], config)
    chosen = [*tests, *near]
    if kind_of(tests[0]) == "python":
        known = change.sources | change.texts(tree, {*chosen})
        modules = {m.lower() for text in known.values() for m in _IMPORTED.findall(text)}
        result = _python(texts, chosen, modules)
    else:
        result = _scripts(texts, chosen)
    if isinstance(result, RepositoryReason):
        return result
    spec, commands = result
    contents = change.store.blobs(entries[path].name for path in hidden if path in entries)
    laid: list[tuple[str, str | None]] = [
        (path, base64.b64encode(contents[entries[path].name]).decode() if path in entries else None)
        for path in sorted(hidden)
    ]
    return Suite(spec, TestPlan(tuple(commands), tuple(laid), seconds=config.test_seconds))


def deciding(hidden: Sequence[str], entries: Collection[str]) -> list[str]:
    """The hidden test files of a tree, those of the kind of the first."""
    tests = [path for path in hidden if is_test(path) and path in entries]
    return [path for path in tests if kind_of(path) == kind_of(tests[0])]


def is_of(path: str, tests: Collection[str]) -> bool:
    """Does a test file hold one of these tests? Reports name them by path or by module."""
    module = path.removesuffix(".py").replace("/", ".")
    return any(test.startswith((f"{path}::", f"{module}.", f"{module}::")) for test in tests)


def unsaid(change: Change, files: Collection[str], request: str) -> dict[str, bool]:
    """What hidden test files rely on, the reference brought and a request does not say.

    Texts stand in “…”. The value is whether the sources of the base lack it altogether.
    """
    tree, known = change.task.reference_tree, change.sources
    tests, written = change.texts(tree, files), change.texts(tree, {*change.parts[0]})
    words = {word for text in known.values() for word in _WORD.findall(text)}
    whole = "\n".join((*known, *known.values()))
    imported = _interface(tests, known, words | set(_WORD.findall(request)))
    options = _options(tests, written, known)
    others = _unsaid(tests, written, known, options, request)
    lacks = {
        name: name in options or name not in words if name[0] != "“" else name[1:-1] not in whole
        for name in others
    }
    return dict.fromkeys(imported, True) | lacks


def kept(change: Change, tests: Collection[str]) -> list[str]:
    """What test files use that the changed files defined before: it has to stay."""
    before = {path: text for path, text in change.sources.items() if path in change.parts[0]}
    defined = {name for text in before.values() for pair in _DEFINED.findall(text) for name in pair}
    texts = change.texts(change.task.reference_tree, tests)
    used = {name for names in _imports(texts, change.sources) for name in names}
    return sorted(used.union(*map(_MEMBER.findall, texts.values())) & defined)


def is_source(path: str) -> bool:
    """Is it code that tests can run?"""
    return path.endswith((".py", *_SCRIPT)) and "node_modules/" not in path


def kind_of(path: str) -> str:
    """Which runner's code is it?"""
    return "python" if path.endswith(".py") else "node"


def neighbours(
    tests: Sequence[str], others: Sequence[str], config: RepositoriesConfig
) -> list[str]:
    """Other test files of the same kind, those nearest in the tree first."""

    def distance(path: str) -> tuple[int, str]:
        common = (posixpath.commonpath([path, test]) for test in tests)
        shared = max(len(PurePosixPath(folder).parts) for folder in common)
        return path.count("/") + 1 - 2 * shared, path

    same = [path for path in others if kind_of(path) == kind_of(tests[0])]
    return sorted(sorted(same, key=distance)[: config.neighbours])


_Commands = tuple[EnvironmentSpec, list[dict[str, Any]]]


def _python(
    texts: Mapping[str, str], chosen: Sequence[str], modules: Collection[str]
) -> _Commands | RepositoryReason:
    spec = _python_spec(texts, modules)
    if isinstance(spec, RepositoryReason):
        return spec
    settings = "".join(text for path, text in texts.items() if path.endswith((".toml", ".cfg")))
    mode = _IMPORT_MODE.search(settings)
    projects = [posixpath.dirname(path) for path in texts if path.endswith("pyproject.toml")]
    words = [
        "{python}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=",
        "-o", "junit_family=xunit1", "--junitxml={report}", "--continue-on-collection-errors",
        *([f"--import-mode={mode[1]}"] if mode else []), *chosen,
    ]  # fmt: skip
    paths = [place for folder in projects for place in (posixpath.join(folder, "src"), folder)]
    return spec, [{"folder": "", "words": words, "paths": paths}]


def _scripts(texts: Mapping[str, str], chosen: Sequence[str]) -> _Commands | RepositoryReason:
    """The tests of Node by the package that they belong to; one lock serves all of them."""
    manifests = {posixpath.dirname(p): t for p, t in texts.items() if p.endswith("package.json")}
    homes: dict[str, list[str]] = {}
    for path in chosen:
        above = posixpath.dirname(path)
        while above and above not in manifests:
            above = posixpath.dirname(above)
        homes.setdefault(above, []).append(path)
    first = next(iter(homes))
    spec = _node_spec(texts, first)
    if isinstance(spec, RepositoryReason):
        return spec
    commands = []
    for home, paths in homes.items():
        inside = [path[len(home) + 1 :] if home else path for path in paths]
        words = _words(manifests.get(home, "{}"), manifests.get(spec.packages[0], "{}"), spec.kind)
        if words is None:
            if home == first:
                return RepositoryReason.NO_ENVIRONMENT
            continue
        commands.append({"folder": home, "words": [*words, *inside], "paths": []})
    return spec, commands


def _words(manifest: str, root: str, kind: str) -> list[str] | None:
    """The command of the test runner that a manifest names; None for one that is not known."""
    said = ""
    for text in (manifest, root):
        table = _json_of({"": text}, "")
        if table is None:
            continue
        scripts: Mapping[str, Any] = table.get("scripts") or {}
        tools: Mapping[str, Any] = table.get("devDependencies") or {}
        said += f" {scripts.get('test', '')} {' '.join(tools)}"
        if "vitest" in said:
            run = ["node", "{modules}/vitest/vitest.mjs", "run", "--reporter=junit"]
            return [*run, "--outputFile={report}"]
        if "jest" in tools:
            run = ["node", "{modules}/jest/bin/jest.js", "--ci", "--json", "--no-cache"]
            return [*run, "--outputFile={report}"]
        if "bun test" in said or (kind == "bun" and "jest" not in said):
            return ["bun", "test", "--reporter=junit", "--reporter-outfile={report}"]
        if "node --test" in said or "tsx --test" in said:
            loader = ["--import", "tsx"] if "tsx" in said else []
            report = ["--test-reporter=junit", "--test-reporter-destination={report}"]
            return ["node", *loader, "--test", *report]
    return None


def _interface(
    tests: Mapping[str, str], known: Collection[str], have: Collection[str]
) -> tuple[str, ...]:
    """The names that hidden tests import from the tree and that nobody has said."""
    imported: dict[str, str] = {}
    for names in _imports(tests, known):
        imported |= {name: module for name, module in names.items() if len(name) >= _LEAST_NAME}
    return tuple(sorted(f"{name} ({m})" for name, m in imported.items() if name not in have))


def _imports(tests: Mapping[str, str], known: Collection[str]) -> Iterator[dict[str, str]]:
    """The names that each file imports from the tree, with their modules."""
    tops = {part for path in known for part in path.removesuffix(".py").split("/")}
    for path, text in tests.items():
        yield _imported(text, tops) if path.endswith(".py") else _imported_by_script(text)


def _options(
    tests: Mapping[str, str], written: Mapping[str, str], known: Mapping[str, str]
) -> set[str]:
    """Arguments that tests give and a changed file did not have, though others may know the word.

    Which option a call takes is nothing that a word elsewhere in the repository says.
    """
    given = {key for text in tests.values() for key in _KEY.findall(text)}
    fresh: set[str] = set()
    for path, text in written.items():
        if path in known:
            added = "\n".join(sorted(set(text.split("\n")) - set(known[path].split("\n"))))
            names = {name for pair in _DEFINED.findall(added) for name in pair}
            fresh |= names - set(_WORD.findall(known[path]))
    return {name for name in given & fresh if len(name) >= _LEAST_NAME}


def _unsaid(
    tests: Mapping[str, str],
    written: Mapping[str, str],
    known: Mapping[str, str],
    options: set[str],
    request: str,
) -> Iterator[str]:
    """Members and texts of hidden tests that the reference brought, so that nobody could guess.

    Texts stand in quotation marks, as they are shown.
    """
    lines = {line.strip() for text in known.values() for line in text.split("\n")}
    tested, brought = (
        "\n".join(
            line
            for text in texts.values()
            for line in text.split("\n")
            if line.strip() not in lines and not _NOT_SOUGHT.search(line)
        )
        for texts in (tests, written)
    )
    defined = {name for pair in _DEFINED.findall(brought) for name in pair}
    keys = set(_KEY.findall(tested)).difference(*map(_WORD.findall, known.values()))
    members = ((keys | set(_MEMBER.findall(tested))) & defined) | options
    members -= set(_WORD.findall(request))
    yield from sorted(name for name in members if len(name) >= _LEAST_NAME)
    whole = (text for groups in _TEXT.findall(tested) for text in groups)
    texts = {part.strip() for text in whole for part in _HOLE.split(text)}
    for text in sorted(text for text in texts if len(text) >= _LEAST_TEXT):
        if text in brought and text not in request:
            yield f"“{text}”"


def _imported(text: str, tops: Collection[str]) -> dict[str, str]:
    """The names that Python imports from modules of the tree, with their modules."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    result: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in tops:
            result |= {alias.name: node.module or "." for alias in node.names if alias.name != "*"}
        elif isinstance(node, ast.Import):
            result |= {
                alias.name.rpartition(".")[2]: alias.name
                for alias in node.names
                if alias.name.partition(".")[0] in tops
            }
    return result


def _imported_by_script(text: str) -> dict[str, str]:
    return {
        word: module
        for names, module in _NAMED.findall(text)
        for name in names.split(",")
        for word in _WORD.findall(name.partition(" as ")[0].replace("type ", ""))[:1]
    }
