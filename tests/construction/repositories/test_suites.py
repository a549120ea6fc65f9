"""What manifests declare, and what is never asked of a registry."""

from __future__ import annotations

import pytest

from construction.repositories.contracts import EnvironmentSpec, RepositoryReason
from construction.repositories.environment import name_of
from construction.repositories.suites import _node_spec, _python_spec

PROJECT = """
[project]
name = "Tally_Book"
requires-python = ">=3.11"
dependencies = ["attrs>=23", "tally-book[extra]"]
[project.optional-dependencies]
dev = ["pytest>=8"]
docs = ["sphinx"]
[dependency-groups]
test = ["hypothesis"]
"""
LOCK = """
[[package]]
name = "attrs"
version = "24.1"
source = { registry = "an-index" }
[[package]]
name = "own"
version = "1"
source = { git = "somewhere" }
"""
PRIVATE = RepositoryReason.PRIVATE_DEPENDENCY


def test_of_extras_what_a_tree_imports_is_wanted() -> None:
    text = (
        '[project]\nname = "tally"\ndependencies = ["attrs"]\n[project.optional-dependencies]\n'
        'sql = ["SQL-Model>=1", "psycopg"]\ngpu = ["torch"]\ntest = ["hypothesis"]\n'
    )
    spec = _python_spec({"pyproject.toml": text}, {"sql_model", "os"})
    assert isinstance(spec, EnvironmentSpec)
    assert spec.packages == ("SQL-Model>=1", "attrs", "hypothesis", "pytest")


def test_declared_packages_and_pins_of_a_python_tree() -> None:
    spec = _python_spec({"pyproject.toml": PROJECT, "uv.lock": LOCK})
    assert spec == EnvironmentSpec(
        "python", ("attrs>=23", "hypothesis", "pytest>=8"), ("attrs==24.1",), (), ">=3.11"
    )


def test_a_runner_is_added_where_none_is_declared() -> None:
    spec = _python_spec({"requirements.txt": "attrs==24.1  # pinned\n-e .\n\n"})
    assert isinstance(spec, EnvironmentSpec)
    assert spec.packages == ("attrs==24.1", "pytest")


@pytest.mark.parametrize(
    "text",
    ["--extra-index-url x\na", "git+ssh://example.com/a.git", "a @ https://example.com/a.whl"],
)
def test_packages_of_another_index_are_never_asked_for(text: str) -> None:
    assert _python_spec({"requirements.txt": text}) is PRIVATE


def test_an_index_of_ones_own_is_private() -> None:
    text = PROJECT + '[[tool.uv.index]]\nname = "own"\nurl = "x"\n'
    assert _python_spec({"pyproject.toml": text}) is PRIVATE


def test_a_tree_without_manifests_has_no_environment() -> None:
    assert _python_spec({}) is RepositoryReason.NO_ENVIRONMENT
    assert _node_spec({"package.json": "{}"}, "") is RepositoryReason.NO_ENVIRONMENT


def test_a_workspace_of_node_takes_the_manifests_of_its_members_alone() -> None:
    texts = {
        "package.json": '{"workspaces": ["packages/*"], "packageManager": "bun@1.3.3"}',
        "bun.lock": "{}",
        "packages/core/package.json": "{}",
        "examples/x/package.json": '{"dependencies": {"a": "git+ssh://example.com/a"}}',
    }
    spec = _node_spec(texts, "packages/core")
    assert isinstance(spec, EnvironmentSpec)
    assert (spec.kind, spec.packages, spec.pins) == ("bun", ("",), ("bun@1.3.3",))
    assert [path for path, _ in spec.files] == [
        "bun.lock", "package.json", "packages/core/package.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"dependencies": {"a": "github:b/c"}}', "package-lock.json": "{}"},
        {"package.json": "{}", "package-lock.json": "{}", ".npmrc": "registry=x"},
        {"package.json": "not json", "package-lock.json": "{}"},
    ],
)
def test_private_packages_of_node(files: dict[str, str]) -> None:
    assert _node_spec(files, "") is PRIVATE


def test_an_environment_is_named_by_what_is_declared() -> None:
    first, second = (EnvironmentSpec("python", (name,)) for name in ("a", "b"))
    assert name_of(first) == name_of(EnvironmentSpec("python", ("a",)))
    assert name_of(first) != name_of(second)
