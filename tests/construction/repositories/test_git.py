"""The seam to git: hostile repositories are read, and nothing of them is run."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from construction.repositories.contracts import RepositoriesConfig, RepositoryReason
from construction.repositories.git import (
    GitFailed,
    Store,
    _is_inside,
    archive,
    is_safe,
    problem_of,
    references,
    strays,
)
from construction.repositories.tasks import find_repositories, source_digest, take
from tests.construction.repositories.invented import BASE, START, clone, commit, git


def taken(folder: Path, source: Path) -> Store:
    store = Store(folder / "stores" / "a.git")
    store.take(source)
    return store


def test_hooks_filters_and_monitors_of_a_clone_are_not_run(tmp_path: Path) -> None:
    work, _, _ = clone(tmp_path)
    witness = tmp_path / "ran"
    for name in ("post-checkout", "reference-transaction", "pre-auto-gc", "fsmonitor"):
        hook = work / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {witness}\n")
        hook.chmod(0o755)
    for key, value in {
        "core.fsmonitor": f"touch {witness}", "core.hooksPath": f"{work}/.git/hooks",
        "filter.evil.smudge": f"touch {witness}", "filter.evil.clean": f"touch {witness}",
        "diff.evil.textconv": f"touch {witness}", "uploadpack.packObjectsHook": f"touch {witness}",
        "core.sshCommand": f"touch {witness}", "core.alternateRefsCommand": f"touch {witness}",
    }.items():  # fmt: skip
        git(work, "config", key, value)
    (work / ".gitattributes").write_text("* filter=evil diff=evil\n")
    witness.unlink(missing_ok=True)
    store = taken(tmp_path, work)
    base, ending = (commit.name for commit in reversed(store.commits()))
    assert b"mean" in store.patch(base, ending, store.changed(base, ending))
    assert b"mean" in archive(store, ending)
    assert not witness.exists()


def test_a_bundle_and_a_bare_clone_hold_what_a_clone_holds(tmp_path: Path) -> None:
    work, _, ending = clone(tmp_path)
    git(work, "bundle", "create", "-q", str(tmp_path / "repos" / "tally.bundle"), "main")
    git(tmp_path, "clone", "-q", "--bare", str(work), str(tmp_path / "repos" / "bare.git"))
    names = [name for name, _ in find_repositories([tmp_path / "repos"])]
    assert names == ["bare", "tally"]
    work.rename(tmp_path / "repos" / "repo")
    (tmp_path / "repos").rename(tmp_path / "abacus")
    named = dict(find_repositories([tmp_path / "abacus"]))
    assert named["abacus"] == tmp_path / "abacus" / "repo"  # a folder that is called so tells none
    (tmp_path / "abacus").rename(tmp_path / "repos")
    for name, source in (
        ("b", tmp_path / "repos/tally.bundle"),
        ("c", tmp_path / "repos/bare.git"),
    ):
        store = Store(tmp_path / "stores" / f"{name}.git")
        store.take(source)
        assert store.tips()[-1] == ending


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.bundle"
    path.write_bytes(b"# v2 git bundle\nnonsense")
    with pytest.raises(GitFailed, match="git log: no commit"):
        take("a", path, tmp_path / "stores")


def test_a_new_commit_changes_the_digest_of_a_clone(tmp_path: Path) -> None:
    work, _, _ = clone(tmp_path)
    before = source_digest(work)
    commit(work, {"a.py": "a = 1\n"}, "More", START + 900)
    assert source_digest(work) != before


def test_transcripts_branches_stay_behind(tmp_path: Path) -> None:
    work, _, ending = clone(tmp_path)
    git(work, "checkout", "-q", "--orphan", "entire/checkpoints/v1")
    commit(work, {"00/1/full.jsonl": "{}\n"}, "Checkpoint", START + 900)
    assert {c.name for c in taken(tmp_path, work).commits()} >= {ending}
    assert len(taken(tmp_path, work).commits()) == 2


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a/b.py", True), ("../a", False), ("/a", False), ("a/../b", False),
        (".git/hooks/a", False), ("a/.GIT/config", False), ("a\\b", False), ("a\nb", False),
        ("a\x1b[2J", False),
        ("x" * 300, False), ("\udcff", False), ("", False),
    ],
)  # fmt: skip
def test_names_that_cannot_be_written_safely(name: str, safe: bool) -> None:
    assert is_safe(name) is safe


@pytest.mark.parametrize(
    ("target", "inside"),
    [
        (b"b", True),
        (b"../c/d", True),
        (b"../../x", False),
        (b"/etc/passwd", False),
        (b"\xff", False),
    ],
)
def test_links_stay_in_the_tree(target: bytes, inside: bool) -> None:
    assert _is_inside("a/link", target) is inside


def test_hostile_trees_have_their_reasons(tmp_path: Path) -> None:
    work, _, _ = clone(tmp_path)
    store = taken(tmp_path, work)
    head = store.tips()[-1]
    config = RepositoriesConfig(max_bytes=10_000)
    gate = {
        ("120000", b"/etc/passwd"): RepositoryReason.LINK_OUTSIDE,
        ("100644", b"version https://git-lfs.github.com/spec/v1\n"): RepositoryReason.LFS,
        ("100644", b"x" * 20_000): RepositoryReason.TOO_LARGE,
        ("120000", b"tally/sums.py"): None,
    }
    for change, reason in gate.items():
        tree = store.tree_with(head, {"new": change})
        assert problem_of(store, store.entries(tree), config) == reason
    upper = store.tree_with(head, {"TALLY/sums.py": ("100644", b"a")})
    assert problem_of(store, store.entries(upper), config) is RepositoryReason.UNSAFE_PATH


def test_a_clone_is_read_whole_while_git_packs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, _, ending = clone(tmp_path)
    copied, copy = list[str](), shutil.copyfile

    def packing(source: Path, target: Path) -> None:
        if len(copied) == 1:  # all that was listed before is gone, and in a pack
            git(work, "repack", "-q", "-a", "-d")
            git(work, "prune-packed")
        if len(copied) == 4:  # the pack is another one when its index is to be copied
            commit(work, {"more.py": "a = 1\n"}, "More", START + 900)
            git(work, "repack", "-q", "-a", "-d")
        copied.append(source.name)
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", packing)
    store = taken(tmp_path, work)
    assert ending in [commit.name for commit in store.commits()]
    assert store.run("fsck", "--connectivity-only") == b""


def test_references_are_read_whole_while_git_packs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, _, ending = clone(tmp_path)
    glob = Path.rglob

    def packing(path: Path, pattern: str) -> Iterator[Path]:
        listed = [*glob(path, pattern)]
        git(work, "pack-refs", "--all")
        yield from listed

    monkeypatch.setattr(Path, "rglob", packing)
    assert references(work) == [("refs/heads/main", ending)]


def test_submodules_are_refused_and_not_fetched(tmp_path: Path) -> None:
    work, _, ending = clone(tmp_path)
    witness = tmp_path / "ran"
    modules = f'[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c "touch {witness}"\n'
    (work / ".gitmodules").write_text(modules + "\tupdate = !touch ran\n\tfetchRecurse = true\n")
    git(work, "config", "submodule.recurse", "true")
    git(work, "add", ".gitmodules")
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{ending},sub")
    git(work, "commit", "-q", "-m", "Submodule")
    store = taken(tmp_path, work)
    entries = store.entries(store.tips()[-1])
    assert problem_of(store, entries, RepositoriesConfig()) is RepositoryReason.SUBMODULE
    assert strays(store, store.tips()[-1]) == []
    git(work, "bundle", "create", "-q", str(tmp_path / "tally.bundle"), "main")
    assert taken(tmp_path / "bundled", tmp_path / "tally.bundle").tips()[-1] == store.tips()[-1]
    assert not witness.exists()


def test_a_repository_inside_that_nothing_names_is_left_out(tmp_path: Path) -> None:
    work, _, ending = clone(tmp_path)
    git(work, "update-index", "--add", "--cacheinfo", f"160000,{ending},worktrees/a")
    git(work, "commit", "-q", "-m", "A work tree by mistake")
    store = taken(tmp_path, work)
    assert strays(store, store.tips()[-1]) == ["worktrees/a"]


@pytest.mark.parametrize(
    ("limit", "value", "at_the_end", "problem"),
    [
        ("_MOST_OUTPUT", 1 << 20, True, "git ls-tree: printed too much"),
        ("_MOST_MEMORY", 256 << 20, False, "git log: ended with 128"),
        ("_SECONDS", 1, False, "git log: ended with -9"),
    ],
)
def test_a_tree_of_ten_thousand_million_files_is_bounded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: str,
    value: int,
    at_the_end: bool,
    problem: str,
) -> None:
    """Ten objects that name each other ten times each; git would list them for hours."""
    work, _, ending = clone(tmp_path)
    tree, kind = git(work, "rev-parse", "HEAD:LICENSE"), "100644 blob"
    for _ in range(10):
        made = tmp_path / "made"
        made.write_text("".join(f"{kind} {tree}\tf{n}\n" for n in range(10)))
        with made.open() as lines:
            tree = git(work, "mktree", stdin=lines)
        kind = "040000 tree"
    bomb = git(work, "commit-tree", tree, "-p", ending, "-m", "Many files", at=START + 900)
    child = git(work, "commit-tree", f"{ending}^{{tree}}", "-p", bomb, "-m", "Gone", at=START + 950)
    git(work, "update-ref", "refs/heads/main", bomb if at_the_end else child)
    store = taken(tmp_path, work)
    monkeypatch.setattr(f"construction.repositories.git.{limit}", value)
    with pytest.raises(GitFailed, match=problem):
        _ = store.entries(store.tips()[-1]) if at_the_end else store.carriers(".md")


def test_a_clone_reads_nothing_that_lies_elsewhere(tmp_path: Path) -> None:
    """Alternates, links, a file in place of `.git`, and references with odd names."""
    work, _, ending = clone(tmp_path)
    other, _, _ = clone(tmp_path / "other")
    secret = commit(other, {"secret.txt": "x\n"}, "Secret", START + 900)
    objects = work / ".git" / "objects"
    (objects / "info").mkdir(exist_ok=True)
    (objects / "info" / "alternates").write_text(f"{other}/.git/objects\n")
    (objects / secret[:2]).symlink_to(other / ".git" / "objects" / secret[:2])
    names = {"refs/heads/--upload-pack=x": ending, "refs/heads/../../x": ending}
    packed = "".join(f"{target} {name}\n" for name, target in names.items())
    (work / ".git" / "packed-refs").write_text(packed)
    assert next(c.name for c in taken(tmp_path, work).commits()) == ending
    (work / ".git" / "packed-refs").write_text(f"{secret} refs/heads/secret\n")
    with pytest.raises(GitFailed, match="git update-ref: ended with 128"):
        taken(tmp_path / "again", work)
    pointer = tmp_path / "pointers" / "a"
    pointer.mkdir(parents=True)
    (pointer / ".git").write_text(f"gitdir: {other}/.git\n")
    assert find_repositories([tmp_path / "pointers"]) == []


def test_an_archive_has_the_same_bytes_always(tmp_path: Path) -> None:
    work, base, _ = clone(tmp_path)
    first, second = (archive(taken(tmp_path / name, work), base) for name in ("x", "y"))
    assert first == second
    with tarfile.open(fileobj=BytesIO(first)) as tar:
        assert sorted(tar.getnames()) == sorted(BASE)
        assert {item.mtime for item in tar.getmembers()} == {0}


def test_what_is_added_to_scratch_leaves_the_store_alone(tmp_path: Path) -> None:
    work, _, _ = clone(tmp_path)
    store = taken(tmp_path, work)
    before = sorted(store.folder.rglob("*"))
    (tmp_path / "scratch").mkdir()
    other = Store(store.folder, tmp_path / "scratch")
    tree = other.tree_with(other.tips()[-1], {"new.py": ("100644", b"a = 1\n")})
    assert other.changed(other.tips()[-1], tree) == ["new.py"]
    assert sorted(store.folder.rglob("*")) == before
